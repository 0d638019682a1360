"""Record experiments on this machine: ``python3 -m course.experiments --record DIR``.

Needs torch, numpy and tqdm alone. Goes on when one experiment fails and says so at the end.
"""

from __future__ import annotations

import argparse
import sys

from course.experiments import base
from course.i18n import pick
from course.machine import can, one_line
from course.records import save


def main(argv: list[str] | None = None) -> int:
    """Exit code: 0 all well, 1 something failed, 2 wrong arguments, 130 interrupted."""
    parser = argparse.ArgumentParser(prog="python3 -m course.experiments", description=__doc__.split("\n")[0])
    parser.add_argument("--record", metavar="DIR", help="run the experiments and write recordings into DIR")
    parser.add_argument("--only", metavar="NAME", action="append", help="only this experiment (repeatable)")
    parser.add_argument("--budget", metavar="SECONDS", type=float, help="seconds for each, default its own")
    parser.add_argument("--list", action="store_true", help="list the experiments and what they need")
    args = parser.parse_args(argv)
    try:
        import torch  # noqa: F401
    except ModuleNotFoundError as error:
        print(f"{error}. Next step: pip install torch numpy tqdm", file=sys.stderr)
        return 1
    known = base.load_all()
    if args.list:
        print_list(known)
        return 1 if base.FAILED_MODULES else 0
    if not args.record:
        parser.error("say where to write: --record DIR (or --list to see the experiments)")
    try:
        chosen = [base.get(name) for name in args.only] if args.only else list(known.values())
    except base.ExperimentError as error:
        print(error, file=sys.stderr)
        return 2
    return record_all(chosen, args.record, args.budget)


def print_list(known: dict[str, base.Experiment]) -> None:
    """One line an experiment: name, what it needs, seconds, whether it runs here."""
    for exp in known.values():
        here = "runs here" if can(exp.needs) else "not on this machine"
        print(f"{exp.name:36} needs {exp.needs:7} {exp.seconds:4g} s  {here:20} {pick(exp.title)}")
    for module, why in base.FAILED_MODULES.items():
        print(f"{module}: could not be loaded: {why}", file=sys.stderr)


def record_all(chosen: list[base.Experiment], folder: str, budget_s: float | None) -> int:
    """Run and save each experiment; returns the exit code."""
    print(pick(one_line()))
    failures = [f"{module}: {why}" for module, why in base.FAILED_MODULES.items()]
    saved = skipped = 0
    for exp in chosen:
        if not can(exp.needs):
            skipped += 1
            print(f"skipped  {exp.name}: needs {exp.needs}")
            continue
        try:
            record = base.run_experiment(exp, budget_s)
            if record.interrupted:
                print(f"interrupted during {exp.name}; not saved", file=sys.stderr)
                return 130
            path = save(record, folder)
        except Exception as error:  # noqa: BLE001  (the others still run; the failure is told at the end)
            failures.append(f"{exp.name}: {error}")
            print(f"FAILED   {exp.name}")
            continue
        saved += 1
        print(f"recorded {exp.name}: {len(record.rows)} rows -> {path}")
    print(f"{saved} recorded, {skipped} skipped, {len(failures)} failed")
    for failure in failures:
        print(f"  {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")  # a pipe or an old terminal may lack a sign
    raise SystemExit(main())

"""Run experiments and record them: ``python3 -m course.experiment --record [DIR]``.

Needs torch, numpy and tqdm alone. Goes on when one experiment fails and says so at the end.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from typing import Any

from course.core.catalog import lesson_folder
from course.core.i18n import pick, t
from course.core.machine import can, device_of, one_line, passport
from course.core.records import Record, nearest, save
from course.experiment import base

HOME = "home"  # --record without a folder: each recording goes to its lesson
INTERRUPTED = 130


def main(argv: list[str] | None = None) -> int:
    """Exit code: 0 all well, 1 something failed, 2 wrong arguments, 130 interrupted."""
    parser = argparse.ArgumentParser(prog="python3 -m course.experiment", description=__doc__.split("\n")[0])
    parser.add_argument(
        "--record",
        metavar="DIR",
        nargs="?",
        const=HOME,
        help="run the experiments and write recordings into DIR, without DIR to their lessons",
    )
    parser.add_argument("--only", metavar="NAME", action="append", help="only this experiment (repeatable)")
    parser.add_argument("--needs", choices=base.NEEDS, help="only the experiments that need this")
    parser.add_argument(
        "--missing",
        action="store_true",
        help="only what is not recorded complete from this machine and torch: goes on after a stop",
    )
    parser.add_argument("--budget", metavar="SECONDS", type=float, help="seconds for each, default its own")
    args = parser.parse_args(argv)
    try:
        import torch  # noqa: F401
    except ModuleNotFoundError as error:
        print(f"{error}. Next step: pip install torch numpy tqdm", file=sys.stderr)
        return 1
    known = base.load_all()
    if not args.record:
        parser.error("say --record, with a folder or without one")
    if args.needs and not can(args.needs):
        print(pick(one_line()))
        print(nothing_to_record(args.needs))
        return 0
    try:
        chosen = [base.get(name) for name in args.only] if args.only else list(known.values())
    except base.ExperimentError as error:
        print(error, file=sys.stderr)
        return 2
    chosen = [exp for exp in chosen if args.needs in (None, exp.needs)]
    if args.missing:
        chosen = [exp for exp in chosen if not held(exp, args.record, passport(device_of(exp.needs)))]
    return record_all(chosen, args.record, args.budget)


def nothing_to_record(needs: str) -> str:
    """A sentence where the device that was asked for is missing, with the next step on Colab."""
    if needs != "cuda":
        return t(f"{needs} is not here: nothing to record.", f"这里没有 {needs}：没什么可录的。")
    return t(
        "There is no NVIDIA GPU here: nothing to record. On Colab choose Runtime → Change runtime type → T4 GPU, "
        "then run all cells again.",
        "这里没有 NVIDIA GPU，没什么可录的。在 Colab 上请选“运行时 → 更改运行时类型 → T4 GPU”，再从头运行所有单元格。",
    )


def place_of(exp: base.Experiment, folder: str) -> str:
    """Where its recordings are written: the folder that was named, or that of its lesson."""
    return str(lesson_folder(exp.lesson) / "recordings") if folder == HOME else folder


def held(exp: base.Experiment, folder: str, about: dict[str, Any]) -> bool:
    """Whether the folder or the lesson has a complete recording of this version of the experiment from the machine `about`."""
    places = {place_of(exp, folder), place_of(exp, HOME)}
    found = nearest(exp.name, about, sorted(places), exp.version)
    return (
        found is not None
        and found.complete
        and all(found.machine.get(key) == about[key] for key in ("device", "device_name", "torch"))
    )


def told(exp: base.Experiment, record: Record) -> str:
    """What came out; without PyYAML the outcome alone. Raises what reading it raises."""
    try:
        return pick(exp.headline(record))
    except ModuleNotFoundError:
        return str(exp.reading(record).outcome)


def record_all(chosen: list[base.Experiment], folder: str, budget_s: float | None) -> int:
    """Run and save each experiment; returns the exit code."""
    print(pick(one_line()))
    failures = []
    saved = skipped = 0
    for number, exp in enumerate(chosen, 1):
        if not can(exp.needs):
            skipped += 1
            print(f"skipped  {exp.name}: needs {exp.needs}")
            continue
        left = sum(budget_s or one.seconds for one in chosen[number - 1 :]) / 60
        print(f"{number} of {len(chosen)}: {exp.name} ... up to {left:.0f} min left for all")
        try:
            record = base.run_experiment(exp, budget_s)
            if record.interrupted:
                print(f"interrupted during {exp.name}; not saved", file=sys.stderr)
                return INTERRUPTED
            path = save(record, place_of(exp, folder))
        except Exception as error:  # noqa: BLE001  (the others still run; the failure is told at the end)
            failures.append(f"{exp.name}: {error}")
            print(f"FAILED   {exp.name}: {error}")
            traceback.print_exception(error.__cause__ or error)  # here only: the machine may not be ours tomorrow
            continue
        saved += 1
        print(f"recorded {exp.name}: {len(record.rows)} rows{'' if record.complete else ', not complete'} -> {path}")
        try:
            print(f"         {told(exp, record)}")
        except Exception as error:  # noqa: BLE001  (the rows are saved; that nobody can read them is told)
            failures.append(f"{exp.name}: recorded, but not understood: {type(error).__name__}: {error}")
    print(f"{saved} recorded, {skipped} skipped, {len(failures)} failed")
    for failure in failures:
        print(f"  {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    # A pipe or an old terminal may lack a sign; and what was said is kept if the run is killed.
    sys.stdout.reconfigure(errors="replace", line_buffering=True)
    raise SystemExit(main())

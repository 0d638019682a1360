"""Budgets beside busy neighbours: whether every experiment ends within twice the seconds it says, and what it tells then.

    python -m benchmarks.budgets                        every experiment this machine can run, about 40 minutes
    python -m benchmarks.budgets --only 10-ci           these alone, measured again (repeatable)
    python -m benchmarks.budgets --neighbours 0         on a machine left alone
    python -m benchmarks.budgets --out budgets.md       where the table goes (default build/benchmarks/budgets.md)

Each experiment is run as `observe` runs it, live, in a process of its own which has imported torch and the course before;
beside it go 8 neighbours without a pause, of the same session, or the system would give all of them together one share.
Then what else runs long: the live cases, `place`, `cross_check`, `take_home`, `finish`. What does not end within LIMIT times
its seconds is ended with all that it started. Rows are kept as they come, in a .jsonl file beside the table, with all that
was told: a run that was stopped goes on where it was (--fresh starts anew).
"""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from benchmarks.neighbours import neighbours
from benchmarks.running import Rows, heading, load_now, markdown, options, publish, stoppable
from course import catalog
from course.experiment import base
from course.lessons.l10_tuning_master.tuning_outcome import FEW
from course.machine import can

NEIGHBOURS = 8
TWICE, LIMIT = 2, 4
"""Times its seconds: what a budget holds, and when the benchmark ends it."""
WAIT_S = 10
"""Seconds that a person waits for what says none."""
START_S = 120
"""Seconds in which a process has to begin."""

Call = Callable[[], Any]


@dataclass(frozen=True)
class Job:
    """What is timed. seconds: those that it says; begin: makes what it needs, and gives the call, which returns what it tells."""

    name: str
    seconds: float
    begin: Callable[[], Call]


def observed(name: str) -> Call:
    """An experiment as `observe` runs it live; also how many rows it has and whether it is whole."""
    from course.experiment.result import block

    def run() -> dict[str, Any]:
        record = base.load_or_run(name, replay=False)
        took, told = time.monotonic(), block(record, base.get(name))
        return {
            "at": took,
            "rows": len(record.rows),
            "complete": record.complete,
            "said": told.headline,
            "text": str(told),
        }

    return run


def measured(case: str, table: bool) -> Call:
    """A run of a live case (its last combination), or what its hand-in measures (table)."""
    from course.game import cases
    from course.lessons.l10_tuning_master import game

    found = cases.find(case)
    asked = None if table else game.plan_here(found).configs()[-1:]

    def run() -> dict[str, Any]:
        outcomes = game.measure(found, asked, lambda words: None).outcomes
        few = sum(one["verdict"] == FEW for one in outcomes.values())
        return {"said": f"{len(outcomes)} combinations, {few} of them of too few rounds", "text": str(outcomes)}

    return run


def placed() -> Call:
    """`place` of eight convolutions, the peaks of the machine measured with it."""
    from course.roofline import place

    model, x = _convolutions(), torch.randn(4, 3, 64, 64)
    return lambda: _told(place(model, x))


def cross_checked() -> Call:
    """`cross_check` of eight convolutions with all tools."""
    from course.crosscheck import cross_check

    model, x = _convolutions(), torch.randn(1, 3, 64, 64)
    return lambda: _told(cross_check(model, x))


def taken_home() -> Call:
    """`take_home` of a learner who has done nothing yet."""
    from course.verbs.taking import take_home

    return lambda: _printed(lambda: take_home(Path(tempfile.mkdtemp()) / "home.html"))


def finished() -> Call:
    """`finish` of a lesson that has only begun."""
    from course.verbs import state
    from course.verbs.lessons import finish

    state.now.lesson = catalog.LESSONS[4].id
    return lambda: _printed(finish)


def _convolutions() -> torch.nn.Module:
    return torch.nn.Sequential(*(torch.nn.Conv2d(32 if at else 3, 32, 3, padding=1) for at in range(8)))


def _told(result: object) -> dict[str, Any]:
    text = str(result)
    return {"said": text.strip().split("\n")[0], "text": text}


def _printed(verb: Call) -> dict[str, Any]:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        verb()
    return _told(printed.getvalue())


def jobs() -> dict[str, Job]:
    """Everything that is timed, by name; experiments as far as this machine can run them. What says no seconds has WAIT_S."""
    from course.crosscheck.peers import TOOLS
    from course.game import cases
    from course.lessons.l10_tuning_master import game

    found = [Job(name, one.seconds, partial(observed, name)) for name, one in base.load_all().items() if can(one.needs)]
    for case in cases.cases("10_tuning_master").values():
        if case.evidence == "live" and can(base.get(case.id).needs):
            run, table = game.plan_here(case).seconds
            found.append(Job(f"{case.call}.run", run, partial(measured, case.id, False)))
            found.append(Job(f"{case.call}.hand_in", table, partial(measured, case.id, True)))
    found += [
        Job("place", 8, placed),
        Job("cross_check", 30 * len(TOOLS), cross_checked),
        Job("take_home", WAIT_S, taken_home),
        Job("finish", WAIT_S, finished),
    ]
    return {job.name: job for job in found}


def _one(begin: Callable[[], Call], answers: Any) -> None:
    """In a process of its own: one job; its answer holds the seconds it took, and those until all was told."""
    os.setpgid(0, 0)  # what it starts ends with it, and shares the session with the neighbours
    os.environ["COURSE_HOME"] = tempfile.mkdtemp()
    os.environ.pop("COURSE_REPLAY", None)
    call = begin()
    answers.send({})  # it begins
    began = time.monotonic()
    try:
        told = call()
    except BaseException as error:  # noqa: BLE001  (what a learner would read)
        told = {"said": f"{type(error).__name__}: {error}", "text": str(error)}
    ended = time.monotonic()
    answers.send({**told, "seconds": told.pop("at", ended) - began, "told": ended - began})


def timed(job: Job, context: Any) -> dict[str, Any]:
    """The row of one job. A job that takes LIMIT times its seconds is ended with all that it started, and has no `told`."""
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_one, args=(job.begin, there))
    process.start()
    there.close()
    began, limit, row = time.monotonic(), LIMIT * job.seconds, {}
    try:
        if here.poll(START_S):
            here.recv()
            began = time.monotonic()
            if here.poll(limit):
                row = here.recv()
    except EOFError:
        row = {"said": "the process ended without an answer"}
    seconds = time.monotonic() - began
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.join()
    return {"name": job.name, "says": job.seconds, "seconds": seconds, "load": load_now(), **row}


def table(rows: Rows) -> Iterator[str]:
    """What held, in a sentence, and a line for each job."""
    latest = {row["name"]: row for row in rows.rows}
    over = [name for name, row in latest.items() if row["seconds"] > TWICE * row["says"]]
    yield f"{len(latest) - len(over)} of {len(latest)} took at most {TWICE} times their seconds."
    yield from (f"- longer: {name}" for name in over)
    yield ""
    head = ["what", "says, s", "took, s", "ratio", "told after, s", "ended", "rows", "load", "what it said"]
    yield from markdown(head, [_line(row) for row in latest.values()])


def _line(row: dict[str, Any]) -> list[str]:
    ratio, told = row["seconds"] / row["says"], row.get("told")
    ended = "not at all" if told is None else "cut short" if row.get("complete") is False else "by itself"
    figures = [f"{row['says']:g}", f"{row['seconds']:.1f}", f"{ratio:.2f}", "-" if told is None else f"{told:.1f}"]
    said = row.get("said", "").replace("|", "/")[:90]
    return [row["name"], *figures, ended, str(row.get("rows", "-")), f"{row['load']:.0f}", said]


def main(arguments: list[str] | None = None) -> None:
    """Time what has no row yet, then print the table and write it."""
    parser = options(__doc__, "budgets.md")
    parser.add_argument("--only", action="append", metavar="NAME", help="this alone, anew (repeatable)")
    parser.add_argument("--neighbours", type=int, default=NEIGHBOURS, help=f"busy programs (default {NEIGHBOURS})")
    given = parser.parse_args(arguments)
    known = jobs()
    if strange := set(given.only or ()) - set(known):
        parser.error(f"unknown: {', '.join(sorted(strange))}; there are {', '.join(known)}")
    rows = Rows(given.out.with_suffix(".jsonl"), {"neighbours": given.neighbours}, given.fresh)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([name for name in sys.modules if name.split(".")[0] in ("course", "matplotlib")])
    lines = list(heading("Budgets beside busy neighbours", f"{given.neighbours} neighbours; told in English"))
    print(lines[-1], flush=True)
    with neighbours(given.neighbours):
        for name in given.only or [name for name in known if not rows.find(name=name)]:
            rows.add(**timed(known[name], context))
            print(" ".join(_line(rows.rows[-1])), flush=True)
    publish([*lines, "", *table(rows)], given.out)


if __name__ == "__main__":
    stoppable(main)

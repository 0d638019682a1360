"""Timers side by side: who finds a planted difference, who sees one where there is none.

    python -m benchmarks.timing                     all of it: 12 comparisons a cell, about an hour
    python -m benchmarks.timing --look              for a look: 3 comparisons a cell
    python -m benchmarks.timing --methods ours --neighbours 16 --planted 0 --tries 150     one part alone
    python -m benchmarks.timing --out timing.md     where the table goes (default build/benchmarks/timing.md)

Rows are kept as they come, in a .jsonl file beside the table: a run that was stopped goes on where it was, and parts that
were measured one after another end in the same table (--fresh starts anew).

Truth: both sides repeat the same small piece of work on the same tensors, 34 times against 33, 101 against 100, or equally
often. compute: products of 16 x 16 numbers, which stay in the first cache, about 0.2 ms a call; memory: sums over pieces of
16 KiB, walking through 64 MiB, about 0.1 ms; memory-long: the same six times as long. Every
method gets 1 s for a comparison (those that can stop earlier do). Quiet (as quiet as the machine is), and beside 4
neighbours without a pause, which share this process's session. The methods take turns in random order, so all meet the
same moods. benchmarks/timers.py describes them.
"""

from __future__ import annotations

import functools
import itertools
import math
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

import torch
from tqdm import tqdm

from benchmarks import timers
from benchmarks.neighbours import neighbours
from benchmarks.running import INTERRUPTED, Rows, heading, load_now, markdown, options, publish
from benchmarks.timers import BELIEVED, COMPARISONS
from course.core import machine

STEPS = {3: (33, 34), 1: (100, 101), 0: (33, 33)}
"""Per cent planted -> units of work on the two sides: so few that a call of the memory-bound job stays short."""
EDGE = 16
PIECE, PIECES = 1 << 12, 1 << 12
NEIGHBOURS = (0, 4)
SPELL = 12
"""Comparisons beside one set of neighbours, before these end and new ones start."""

Function = Callable[[], Any]


def compute(units: int) -> Function:
    """A function that multiplies two small matrices `units` times."""
    (a, out), mm = _matrices(), torch.mm

    def run() -> None:
        for _ in itertools.repeat(None, units):
            mm(a, a, out=out)

    return run


@functools.cache
def _matrices() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.full((EDGE, EDGE), 0.5), torch.empty(EDGE, EDGE)


def memory(units: int) -> Function:
    """A function that adds to `units` pieces of 16 KiB, always the next ones of 64 MiB, which no cache of one core holds."""
    pieces, add = _pieces(), torch.add

    def run() -> None:
        for piece in itertools.islice(pieces, units):
            add(piece, 0.5, out=piece)

    return run


@functools.cache
def _pieces() -> Iterator[torch.Tensor]:
    """The same endless walk for both sides."""
    return itertools.cycle(torch.zeros(PIECES, PIECE).unbind())


JOBS: dict[str, tuple[Callable[[int], Function], int]] = {
    "compute": (compute, 6),
    "memory": (memory, 1),
    "memory-long": (memory, 6),
}
"""Name -> the function that makes it, and how many times the units of STEPS it does."""


@dataclass(frozen=True)
class Part:
    """What is asked for: which cells, how many comparisons in each (tries)."""

    neighbours: Sequence[int]
    jobs: Sequence[str]
    planted: Sequence[int]
    methods: Sequence[str]
    tries: int

    def missing(self, rows: Rows) -> list[dict[str, Any]]:
        """The comparisons that have no row yet; neighbours by spells of SPELL tries."""
        wanted = []
        for first in range(0, self.tries, SPELL):
            for count in self.neighbours:
                spell = range(first, min(self.tries, first + SPELL))
                cells = itertools.product([count], self.jobs, self.planted, self.methods, spell)
                turns = [dict(zip(_TURN, cell, strict=True)) for cell in cells]
                random.Random(f"{first} {count}").shuffle(turns)
                wanted += turns
        done = {tuple(row.get(key) for key in _TURN) for row in rows.rows}
        return [turn for turn in wanted if tuple(turn.values()) not in done]


_TURN = ("neighbours", "job", "planted", "method", "number")
"""What tells one turn from another."""


def measure_all(part: Part, rows: Rows) -> None:
    """Measure what is missing, one set of neighbours after another; each row is kept as it comes."""
    torch.set_num_threads(1)
    left = part.missing(rows)
    with tqdm(total=len(left), leave=False) as bar:
        for count, turns in itertools.groupby(left, key=lambda turn: turn["neighbours"]):
            with neighbours(count):
                for turn in turns:
                    bar.set_description(" ".join(map(str, turn.values())))
                    one_turn(turn, rows)
                    bar.update()


def one_turn(turn: dict[str, Any], rows: Rows) -> None:
    """One comparison by one tool, read in one or more ways."""
    make, times = JOBS[turn["job"]]
    units, more = STEPS[turn["planted"]]
    start = time.perf_counter()
    answers = COMPARISONS[turn["method"]](make(times * units), make(times * more))
    seconds = time.perf_counter() - start
    for name, a in answers.items():
        about = {"truth": more / units, "ratio": a.ratio, "says": a.says, "interval": a.interval}
        rows.add(**turn, name=name, **about, seconds=seconds, load=load_now())


def table(rows: Rows) -> Iterator[str]:
    """A line for each method and number of neighbours: all jobs and planted differences together."""
    groups: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in rows.rows:
        groups.setdefault((row["name"], row["neighbours"]), []).append(row)
    planted = sorted({row["planted"] for row in rows.rows if row["planted"]}, reverse=True)
    lines = []
    for (name, count), group in sorted(groups.items(), key=lambda one: (one[0][1], one[0][0] != "ours", one[0])):
        found = [[row["says"] > 0 for row in group if row["planted"] == one] for one in planted]
        alarms = [row["says"] < 0 or (not row["planted"] and row["says"] != 0) for row in group]
        held = [row["interval"][0] <= row["truth"] <= row["interval"][1] for row in group if row["interval"]]
        counts = [f"{sum(some)} of {len(some)}" if some else "no interval" for some in (*found, alarms, held)]
        error = math.sqrt(mean((row["ratio"] - row["truth"]) ** 2 for row in group)) * 100
        means = [f"{mean(row[what] for row in group):.2f}" for what in ("seconds", "load")]
        lines.append([name, str(count) if count else "quiet", *counts, f"{error:.2f}", *means])
    head = ["method", "neighbours", *(f"{one} % found" for one in planted), "false alarms", "truth in interval"]
    yield from ("", *markdown([*head, "RMSE (points)", "seconds", "load"], lines)) if lines else ()


FOOT = (
    "",
    "found: called slower. false alarms: called faster, or on equal code called different at all. A method",
    f'without an interval is read as saying "different" beyond {BELIEVED:.1%}. RMSE: of the ratio, in percentage',
    "points. For torch IQRs the interval is the range of ratios that the interquartile ranges allow. seconds: of",
    "one comparison. load: mean load of the last minute, neighbours included. Budgets count from the first calls;",
    "timeit and do_bench estimate first, then fill theirs.",
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is missing, print the tables and write them; an interrupt writes what there is."""
    parser = options(__doc__, "timing.md")
    add = parser.add_argument
    add("--tries", type=int, default=SPELL, help=f"comparisons a cell (default {SPELL})")
    add("--budget", type=float, default=timers.BUDGET_S, help=f"seconds for one (default {timers.BUDGET_S:g})")
    add("--neighbours", type=int, nargs="+", default=NEIGHBOURS, help=f"such as 0 16 (default {NEIGHBOURS})")
    add("--jobs", nargs="+", choices=JOBS, default=list(JOBS))
    add("--planted", type=int, nargs="+", choices=STEPS, default=list(STEPS), help="per cent")
    add("--methods", nargs="+", choices=COMPARISONS, default=list(COMPARISONS))
    add("--look", action="store_true", help="3 comparisons a cell")
    given = parser.parse_args(arguments)
    if given.tries < 1 or given.budget <= 0:
        parser.error("--tries must be at least 1 and --budget above 0")
    if given.look:
        given.tries = 3
    part = Part(given.neighbours, given.jobs, given.planted, given.methods, given.tries)
    timers.BUDGET_S = given.budget
    about = {"torch": torch.__version__, "course": machine.passport()["course"]}
    rows = Rows(given.out.with_suffix(".jsonl"), {"budget_s": given.budget, "steps": str(STEPS), **about}, given.fresh)
    lines, interrupted = list(heading("Timers side by side", f"{given.budget:g} s a comparison, one thread")), False
    print(lines[-1], flush=True)
    try:
        measure_all(part, rows)
    except KeyboardInterrupt:
        interrupted = True
    lines += [*table(rows), *FOOT]
    publish([*lines, *(("", INTERRUPTED) if interrupted else ())], given.out)
    if interrupted:
        sys.exit(130)


if __name__ == "__main__":
    main()

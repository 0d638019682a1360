"""Timers side by side: who finds a planted difference, who sees one where there is none, what repeats.

    python -m benchmarks.timing                     all of it: 12 comparisons a cell, about 1.5 hours
    python -m benchmarks.timing --look              for a look: quiet and beside 16 neighbours, 3 comparisons a cell
    python -m benchmarks.timing --methods ours --neighbours 16 --planted 0 --tries 150     one part alone
    python -m benchmarks.timing --out timing.md     where the tables go (default build/benchmarks/timing.md)

Rows are kept as they come, in a .jsonl file beside the tables: a run that was stopped goes on where it was, and parts that
were measured one after another end in the same tables (--fresh starts anew).

Truth: both sides repeat the same small piece of work on the same tensors, 34 times against 33, 101 against 100, or equally
often. compute: products of 16 x 16 numbers, which stay in the first cache, about 0.2 ms a call; memory: sums over pieces of
16 KiB, walking through 64 MiB, about 0.1 ms; memory-long: the same six times as long. Every
method gets 1 s for a comparison (those that can stop earlier do). Quiet (as quiet as the machine is), and beside 2, 4, 8 and
16 neighbours without a pause, which share this process's session. The methods take turns in random order, so all meet the
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
from dataclasses import dataclass, field
from statistics import mean, median, quantiles
from typing import Any

import torch
from tqdm import tqdm

from benchmarks import timers
from benchmarks.neighbours import neighbours
from benchmarks.running import INTERRUPTED, Rows, heading, load_now, markdown, options, publish
from benchmarks.timers import BELIEVED, COMPARISONS, Answer, figures, overheads
from course import machine

STEPS = {3: (33, 34), 1: (100, 101), 0: (33, 33)}
"""Per cent planted -> units of work on the two sides: so few that a call of the memory-bound job stays short."""
EDGE = 16
PIECE, PIECES = 1 << 12, 1 << 12
NEIGHBOURS = (0, 2, 4, 8, 16)
SPELL = 12
"""Comparisons beside one set of neighbours, before these end and new ones start."""
BLOCKS = (1, 2, 10, 1000)

Function = Callable[[], Any]


@dataclass
class Cell:
    """All comparisons of one method on one planted difference (in per cent), one job, beside so many neighbours."""

    planted: int
    truth: float
    answers: list[Answer] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    loads: list[float] = field(default_factory=list)

    @property
    def found(self) -> int:
        """How often the slower one was called slower."""
        return sum(a.says > 0 for a in self.answers)

    @property
    def alarms(self) -> int:
        """How often the wrong one was called slower; on equal code, how often a difference was seen."""
        return sum(a.says < 0 if self.planted else a.says != 0 for a in self.answers)

    @property
    def rmse(self) -> float:
        """Root mean square error of the ratio, in percentage points."""
        return math.sqrt(mean((a.ratio - self.truth) ** 2 for a in self.answers)) * 100

    @property
    def intervals(self) -> list[tuple[float, float]]:
        """Those there are: a method may have none, or too few rounds for one."""
        return [a.interval for a in self.answers if a.interval]

    @property
    def covered(self) -> int:
        """How often the interval holds the truth."""
        return sum(low <= self.truth <= high for low, high in self.intervals)


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
    """What is asked for: which cells, how many comparisons in each (tries), whether figures of single functions too."""

    neighbours: Sequence[int]
    jobs: Sequence[str]
    planted: Sequence[int]
    methods: Sequence[str]
    tries: int
    figures: bool

    def missing(self, rows: Rows) -> list[dict[str, Any]]:
        """The comparisons and figures that have no row yet; neighbours by spells of SPELL tries."""
        wanted = []
        for first in range(0, self.tries, SPELL):
            for count in self.neighbours:
                spell = range(first, min(self.tries, first + SPELL))
                cells = itertools.product(self.jobs, self.planted, self.methods, spell)
                turns = [dict(zip(_TURN[1:5], cell, strict=True)) for cell in cells]
                turns += [{"job": job, "figures": n} for job in self.jobs for n in spell if self.figures]
                random.Random(f"{first} {count}").shuffle(turns)
                wanted += [{"neighbours": count, **turn} for turn in turns]
        done = {tuple(row.get(key) for key in _TURN) for row in rows.rows}
        return [turn for turn in wanted if tuple(turn.get(key) for key in _TURN) not in done]


_TURN = ("neighbours", "job", "planted", "method", "number", "figures")
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
    """One comparison by one tool, or the figures of all tools for one function."""
    make, times = JOBS[turn["job"]]
    units, more = STEPS[turn.get("planted", 0)]
    if "figures" in turn:
        for name, value in figures(make(times * units)).items():
            rows.add(**turn, name=name, value=value, load=load_now())
        return
    start = time.perf_counter()
    answers = COMPARISONS[turn["method"]](make(times * units), make(times * more))
    seconds = time.perf_counter() - start
    for name, a in answers.items():
        about = {"ratio": a.ratio, "says": a.says, "interval": a.interval, "clock": a.clock}
        rows.add(**turn, name=name, truth=more / units, **about, seconds=seconds, load=load_now())


def cells(rows: Rows) -> dict[tuple[str, int, str, int], Cell]:
    """(job, planted, name, neighbours) -> everything known."""
    found: dict[tuple[str, int, str, int], Cell] = {}
    for row in rows.rows:
        if "ratio" not in row:
            continue
        key = row["job"], row["planted"], row["name"], row["neighbours"]
        cell = found.setdefault(key, Cell(row["planted"], row["truth"]))
        interval = tuple(row["interval"]) if row["interval"] else None
        cell.answers.append(Answer(row["ratio"], row["says"], interval, row["clock"]))
        cell.seconds.append(row["seconds"])
        cell.loads.append(row["load"])
    return dict(sorted(found.items(), key=lambda one: (one[0][0], -one[0][1], one[0][2] != "ours", one[0][2:])))


def comparison_tables(rows: Rows) -> Iterator[str]:
    """One table for each job and planted difference: a line for each method and number of neighbours."""
    head = ["method", "neighbours", "tries", "found", "false alarms", "truth in interval", "median width (points)"]
    head += ["RMSE (points)", "seconds", "CPU clock", "load"]
    for (job, planted), group in itertools.groupby(cells(rows).items(), key=lambda one: one[0][:2]):
        title = f"{planted} % slower, planted" if planted else "Equal code"
        yield from ("", f"### {job}: {title}", "")
        yield from markdown(head, [_line(name, count, cell) for (_, _, name, count), cell in group])


def summary_table(rows: Rows) -> Iterator[str]:
    """A line for each method and number of neighbours: all jobs and planted differences together."""
    found = cells(rows)
    groups: dict[tuple[str, int], list[Cell]] = {}
    for (_, _, name, count), cell in found.items():
        groups.setdefault((name, count), []).append(cell)
    planted = sorted({cell.planted for cell in found.values() if cell.planted}, reverse=True)
    lines = []
    for (name, count), group in sorted(groups.items(), key=lambda one: (one[0][1], one[0][0] != "ours", one[0])):
        tries, intervals = sum(len(cell.answers) for cell in group), sum(len(cell.intervals) for cell in group)
        line = [name, str(count) if count else "quiet"]
        for one in planted:
            of = [cell for cell in group if cell.planted == one]
            line.append(f"{sum(cell.found for cell in of)} of {sum(len(cell.answers) for cell in of)}")
        line.append(f"{sum(cell.alarms for cell in group)} of {tries}")
        line.append(f"{sum(cell.covered for cell in group)} of {intervals}" if intervals else "no interval")
        lines.append([*line, f"{sum(sum(cell.seconds) for cell in group) / tries:.2f}"])
    if lines:
        yield from ("", "### All of it together", "")
        head = ["method", "neighbours", *(f"{one} % found" for one in planted)]
        yield from markdown([*head, "false alarms", "truth in interval", "seconds"], lines)


def _line(name: str, count: int, cell: Cell) -> list[str]:
    tries, widths = len(cell.answers), [100 * (high - low) for low, high in cell.intervals]
    return [
        name,
        str(count) if count else "quiet",
        str(tries),
        str(cell.found) if cell.planted else "-",
        str(cell.alarms),
        f"{cell.covered} of {len(widths)}" if widths else "no interval",
        f"{median(widths):.2f}" if widths else "-",
        f"{cell.rmse:.2f}",
        f"{mean(cell.seconds):.2f}",
        str(sum(a.clock == "cpu" for a in cell.answers)),
        f"{mean(cell.loads):.1f}",
    ]


def repeat_table(rows: Rows) -> Iterator[str]:
    """How far single figures of the same function stray, run after run."""
    groups: dict[tuple[str, str, int], list[float]] = {}
    for row in rows.rows:
        if "value" in row:
            groups.setdefault((row["job"], row["name"], row["neighbours"]), []).append(row["value"])
    lines = [
        [f"{job}: {name}", str(count) if count else "quiet", str(len(of)), f"{_worst(of):.1%}", f"{_spread(of):.2%}"]
        for (job, name, count), of in sorted(groups.items(), key=lambda one: (one[0][0], one[0][1]))
        if len(of) > 1
    ]
    if lines:
        yield from ("", "### One function measured again and again", "")
        yield from markdown(
            ["figure", "neighbours", "runs", "worst run off the median by", "middle half spreads over"], lines
        )


def _worst(values: Sequence[float]) -> float:
    middle = median(values)
    return max(abs(value / middle - 1) for value in values)


def _spread(values: Sequence[float]) -> float:
    low, middle, high = quantiles(values, n=4, method="inclusive")
    return (high - low) / middle


def overhead_table() -> Iterator[str]:
    """The timers' own share: a function that does nothing."""
    yield from ("", "### A function that does nothing, ns a call", "")
    found = [overheads(block) for block in BLOCKS]
    lines = [[name, *(f"{each[name]:.0f}" for each in found)] for name in found[0]]
    yield from markdown(["calls a block", *map(str, BLOCKS)], lines)


FOOT = (
    "",
    "found: called slower. false alarms: called faster, or on equal code called different at all. A method",
    f'without an interval is read as saying "different" beyond {BELIEVED:.1%}. RMSE: of the ratio, in percentage',
    "points. For torch IQRs the interval is the range of ratios that the interquartile ranges allow. seconds: of",
    "one comparison. CPU clock: comparisons that were decided by CPU time. load: mean load of the last minute, neighbours",
    "included. Budgets count from the first calls; timeit and do_bench estimate first, then fill theirs.",
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
    add("--no-figures", dest="figures", action="store_false", help="comparisons alone")
    add("--look", action="store_true", help="quiet and beside 16 neighbours, 3 comparisons a cell")
    given = parser.parse_args(arguments)
    if given.tries < 1 or given.budget <= 0:
        parser.error("--tries must be at least 1 and --budget above 0")
    if given.look:
        given.neighbours, given.tries = (0, 16), 3
    part = Part(given.neighbours, given.jobs, given.planted, given.methods, given.tries, given.figures)
    timers.BUDGET_S = given.budget
    about = {"torch": torch.__version__, "course": machine.passport()["course"]}
    rows = Rows(given.out.with_suffix(".jsonl"), {"budget_s": given.budget, "steps": str(STEPS), **about}, given.fresh)
    lines, interrupted = list(heading("Timers side by side", f"{given.budget:g} s a comparison, one thread")), False
    print(lines[-1], flush=True)
    lines += overhead_table()
    try:
        measure_all(part, rows)
    except KeyboardInterrupt:
        interrupted = True
    lines += [*summary_table(rows), *comparison_tables(rows), *repeat_table(rows), *FOOT]
    publish([*lines, *(("", INTERRUPTED) if interrupted else ())], given.out)
    if interrupted:
        sys.exit(130)


if __name__ == "__main__":
    main()

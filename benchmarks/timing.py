"""Timers side by side: who finds a planted difference, who sees one where there is none, what repeats.

    python -m benchmarks.timing                     20 comparisons a cell, about 8 minutes
    python -m benchmarks.timing --repeats 5         for a look
    python -m benchmarks.timing --out timing.md     where the tables go (default build/benchmarks/timing.md)

Truth: both sides repeat the same small operator on the same tensors, 200 times against 206, 202 or 200 times,
about 0.2 ms a call. Every method gets 0.4 s for a comparison (those that can stop earlier do). Once quiet (as
quiet as the machine is), once beside neighbour processes that compute and copy in bursts of 5 ms to 1 s.
The methods take turns in random order, so all meet the same moods. benchmarks/timers.py describes them.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from statistics import mean, median, quantiles
from typing import Any

import torch
from tqdm import tqdm

from benchmarks.neighbours import neighbours
from benchmarks.timers import BELIEVED, BUDGET_S, COMPARISONS, Answer, figures, overheads
from course import machine

OUT = Path("build/benchmarks/timing.md")
PLANTED = (3, 1, 0)
UNITS = 200
EDGE = 16
CONDITIONS = ("quiet", "neighbours")
BLOCKS = (1, 2, 10, 1000)

Function = Callable[[], Any]


@dataclass
class Cell:
    """All comparisons of one method on one planted difference (in per cent) under one condition."""

    planted: int
    answers: list[Answer] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    @property
    def truth(self) -> float:
        """The ratio planted."""
        return (100 + self.planted) / 100

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
    def covered(self) -> int | None:
        """How often the interval holds the truth; None without intervals."""
        held = [a.interval[0] <= self.truth <= a.interval[1] for a in self.answers if a.interval]
        return sum(held) if held else None


@dataclass
class Results:
    """Everything measured so far; an interrupted run has fewer answers, not other ones."""

    cells: dict[tuple[int, str, str], Cell] = field(default_factory=dict)
    figures: dict[tuple[str, str], list[float]] = field(default_factory=dict)


def job(units: int, tensors: tuple[torch.Tensor, torch.Tensor]) -> Function:
    """A function that runs one small operator `units` times."""
    a, out = tensors
    mm = torch.mm

    def run() -> None:
        for _ in itertools.repeat(None, units):
            mm(a, a, out=out)

    return run


def work(condition: str, repeats: int, order: random.Random, results: Results) -> Iterator[str]:
    """Measure everything under one condition; yields what comes next, for the progress bar."""
    tensors = torch.full((EDGE, EDGE), 0.5), torch.empty(EDGE, EDGE)
    for _ in range(repeats):
        turns = [(planted, method) for planted in PLANTED for method in COMPARISONS]
        order.shuffle(turns)
        for planted, method in turns:
            yield f"{condition}: {planted} %, {method.__name__}"
            slower = job(UNITS * (100 + planted) // 100, tensors)
            start = time.perf_counter()
            answers = method(job(UNITS, tensors), slower)
            seconds = time.perf_counter() - start
            for name, answer in answers.items():
                cell = results.cells.setdefault((planted, name, condition), Cell(planted))
                cell.answers.append(answer)
                cell.seconds.append(seconds)
        yield f"{condition}: single figures"
        for name, value in figures(job(UNITS, tensors)).items():
            results.figures.setdefault((name, condition), []).append(value)


def measure_all(repeats: int, results: Results) -> None:
    """Fill `results`, quiet and beside as many neighbours as the machine has cores."""
    order = random.Random(0)
    steps = len(CONDITIONS) * repeats * (len(PLANTED) * len(COMPARISONS) + 1)
    with tqdm(total=steps, leave=False) as bar:
        for condition in CONDITIONS:
            with nullcontext() if condition == "quiet" else neighbours(_cores()):
                for what in work(condition, repeats, order, results):
                    bar.set_description(what)
                    bar.update()


def _cores() -> int:
    return machine.passport()["cores"] or 1


def markdown(header: Sequence[str], lines: Sequence[Sequence[str]]) -> Iterator[str]:
    """A Markdown table, padded so that it reads as text too."""
    widths = [max(len(line[at]) for line in [header, *lines]) for at in range(len(header))]
    for line in (header, ["-" * (w - 1) + ("-" if at == 0 else ":") for at, w in enumerate(widths)], *lines):
        cells = [c.ljust(w) if at == 0 else c.rjust(w) for at, (c, w) in enumerate(zip(line, widths, strict=True))]
        yield f"| {' | '.join(cells)} |"


def comparison_tables(results: Results) -> Iterator[str]:
    """One table a planted difference: each column quiet / beside neighbours."""
    for planted in PLANTED:
        names = list(dict.fromkeys(name for p, name, _ in sorted(results.cells) if p == planted))
        names.sort(key=lambda name: name != "ours")
        lines = []
        for name in names:
            found = [results.cells.get((planted, name, condition)) for condition in CONDITIONS]
            columns = [_both(found, "found")] if planted else []
            columns += [_both(found, "alarms"), _both(found, "covered")]
            error = " / ".join(f"{cell.rmse:.2f}" if cell else "-" for cell in found)
            spent = " / ".join(f"{mean(cell.seconds):.2f}" if cell else "-" for cell in found)
            lines.append([name, *columns, error, spent])
        title = f"{planted} % slower, planted" if planted else "Equal code"
        yield from ("", f"### {title} (quiet / beside neighbours)", "")
        head = [
            "method",
            *(["found"] if planted else []),
            "false alarms",
            "truth in interval",
            "RMSE (points)",
            "seconds",
        ]
        if lines:
            yield from markdown(head, lines)


def _both(cells: Sequence[Cell | None], what: str) -> str:
    values = [(getattr(cell, what), len(cell.answers)) for cell in cells if cell]
    if any(value is None for value, _ in values):
        return "no interval"
    return " / ".join(f"{value} of {count}" for value, count in values)


def repeat_table(results: Results) -> Iterator[str]:
    """How far single figures of the same function stray, run after run."""
    yield from ("", "### One function measured again and again (quiet / beside neighbours)", "")
    lines = []
    for name in dict.fromkeys(name for name, _ in results.figures):
        groups = [results.figures.get((name, condition), []) for condition in CONDITIONS]
        together = [value for group in groups for value in group]
        lines.append(
            [
                name,
                " / ".join(f"{_worst(g):.1%}" for g in groups if g),
                " / ".join(f"{_spread(g):.2%}" for g in groups if len(g) > 1),
                f"{_worst(together):.1%}",
            ]
        )
    if lines:
        yield from markdown(
            ["figure", "worst run off the median by", "middle half spreads over", "both together"], lines
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


def heading(repeats: int, each: str = f"{BUDGET_S:g} s each") -> Iterator[str]:
    """When, where, with what; each: how a comparison is made."""
    facts = machine.passport()
    yield from ("# Timers side by side", "")
    yield (
        f"{datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC · {facts['cpu']}, {_cores()} cores, "
        f"{facts['os']} · Python {facts['python']}, torch {facts['torch']}, {facts['threads']} threads, "
        f"course {facts['course']}"
    )
    load = f"; load at the start {os.getloadavg()[0]:.2f}" if hasattr(os, "getloadavg") else ""
    yield f"{repeats} comparisons a cell, {each}{load}"


FOOT = (
    "",
    "found: called slower. false alarms: called faster, or on equal code called different at all. A method",
    f'without an interval is read as saying "different" beyond {BELIEVED:.1%}. RMSE: of the ratio, in percentage',
    "points. For torch IQRs the interval is the range of ratios that the interquartile ranges allow. seconds: of",
    "one comparison. Budgets count from the first calls; timeit and do_bench estimate first, then fill theirs.",
)


def main() -> None:
    """Measure, print the tables and write them; an interrupt writes what there is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=20, help="comparisons a cell (default 20)")
    parser.add_argument("--out", type=Path, default=OUT, help=f"the Markdown file (default {OUT})")
    options = parser.parse_args()
    if options.repeats < 1:
        parser.error("--repeats must be at least 1")
    results, lines = Results(), list(heading(options.repeats))
    interrupted = False
    lines += overhead_table()
    try:
        measure_all(options.repeats, results)
    except KeyboardInterrupt:
        interrupted = True
    lines += [*comparison_tables(results), *repeat_table(results), *FOOT]
    if interrupted:
        lines += ["", "Interrupted: the counts say how many comparisons there were."]
    print("\n".join(lines))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"written to {options.out}")
    if interrupted:
        sys.exit(130)


if __name__ == "__main__":
    main()

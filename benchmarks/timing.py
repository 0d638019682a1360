"""Timers side by side: who finds a planted difference, who sees one where there is none.

    python -m benchmarks.timing             20 comparisons a row, some minutes
    python -m benchmarks.timing --quick     5 comparisons a row, for a look

Truth: both sides repeat the same small operator on the same tensors, 200 times against 206, 202 or 200 times,
about 0.2 ms a call. Every method gets 0.4 s for a comparison (ours stops earlier when the answer is clear).
Once quiet (as quiet as the machine is), once beside neighbour processes that compute and copy in bursts of
5 ms to 1 s. The tables go to build/benchmarks/timing.txt.

    ours            course.timing.compare, its own verdict and interval
    torch medians   torch.utils.benchmark, blocked_autorange, each side alone; ratio of the medians
    torch IQRs      the same runs; a difference counts only if the interquartile ranges do not overlap
    timeit best     smallest block of timeit.repeat, each side alone
    do_bench        the algorithm of triton.testing.do_bench on the CPU: five calls estimate the time, calls
                    for a warm-up, then every call timed alone; mean or median. No cache flush between calls
A figure without an interval is read as people read it: a difference beyond 0.5 % (the `ci` ours gets) counts.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import sys
import time
import timeit
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from statistics import mean, median, quantiles
from typing import Any

import torch
from torch.utils.benchmark import Timer

from benchmarks.neighbours import neighbours
from course import machine
from course.i18n import pick
from course.timing import compare, measure

OUT = Path("build/benchmarks/timing.txt")
BUDGET_S = 0.4
BELIEVED = 0.005
PLANTED = (3, 1, 0)
REPEATABILITY_RUNS = 8
UNITS = 200
EDGE = 16

Function = Callable[[], Any]


@dataclass(frozen=True)
class Answer:
    """One comparison: ratio of the times, what it says (+1 slower, -1 faster, 0 no difference), interval."""

    ratio: float
    says: int
    interval: tuple[float, float] | None = None


@dataclass
class Row:
    """All comparisons of one method on one planted difference (in per cent)."""

    method: str
    planted: int
    answers: list[Answer] = field(default_factory=list)

    @property
    def truth(self) -> float:
        """The ratio planted."""
        return (100 + self.planted) / 100

    def cells(self) -> list[str]:
        """Method, detected, false alarms, RMSE in percentage points, coverage."""
        count = len(self.answers)
        right = sum(a.says > 0 for a in self.answers) / count
        wrong = sum(a.says < 0 if self.planted else a.says != 0 for a in self.answers) / count
        error = math.sqrt(mean((a.ratio - self.truth) ** 2 for a in self.answers)) * 100
        covered = [a.interval[0] <= self.truth <= a.interval[1] for a in self.answers if a.interval]
        return [self.method, f"{right:.0%}" if self.planted else "-", f"{wrong:.0%}", f"{error:.2f}",
                f"{mean(covered):.0%}" if covered else "no interval"]


def job(units: int, tensors: tuple[torch.Tensor, torch.Tensor]) -> Function:
    """A function that runs one small operator `units` times."""
    a, out = tensors
    mm = torch.mm

    def run() -> None:
        for _ in itertools.repeat(None, units):
            mm(a, a, out=out)

    return run


def ours(a: Function, b: Function) -> dict[str, Answer]:
    """course.timing.compare."""
    found = compare({"a": a, "b": b}, max_time=BUDGET_S, ci=BELIEVED, device="cpu")
    says = {"slower": 1, "faster": -1}.get(found.verdict, 0)
    return {"ours": Answer(found.ratio, says, (found.low, found.high))}


def torch_timer(a: Function, b: Function) -> dict[str, Answer]:
    """torch.utils.benchmark, half of the time for each side."""
    left, right = (Timer("f()", globals={"f": f}, num_threads=torch.get_num_threads())
                   .blocked_autorange(min_run_time=BUDGET_S / 2) for f in (a, b))
    ratio = right.median / left.median
    low_a, _, high_a = quantiles(left.times, n=4, method="inclusive")
    low_b, _, high_b = quantiles(right.times, n=4, method="inclusive")
    apart = 1 if low_b > high_a else -1 if high_b < low_a else 0
    return {"torch medians": _by_ratio(ratio),
            "torch IQRs": Answer(ratio, apart, (low_b / high_a, high_b / low_a))}


def timeit_best(a: Function, b: Function) -> dict[str, Answer]:
    """The smallest of 20 blocks of timeit, half of the time for each side."""

    def best(f: Function) -> float:
        once = min(timeit.repeat(f, number=1, repeat=5))
        number = max(1, round(BUDGET_S / 2 / 20 / once))
        return min(timeit.repeat(f, number=number, repeat=20)) / number

    left = best(a)
    return {"timeit best": _by_ratio(best(b) / left)}


def do_bench(a: Function, b: Function) -> dict[str, Answer]:
    """The public do_bench algorithm, half of the time for each side, a fifth of that for its warm-up."""
    left, right = _do_bench_samples(a), _do_bench_samples(b)
    return {"do_bench mean": _by_ratio(mean(right) / mean(left)),
            "do_bench median": _by_ratio(median(right) / median(left))}


def _do_bench_samples(f: Function) -> list[float]:
    f()
    start = time.perf_counter()
    for _ in range(5):
        f()
    estimate = (time.perf_counter() - start) / 5
    for _ in range(max(1, int(0.2 * BUDGET_S / 2 / estimate))):
        f()
    samples = []
    for _ in range(max(1, int(0.8 * BUDGET_S / 2 / estimate))):
        start = time.perf_counter()
        f()
        samples.append(time.perf_counter() - start)
    return samples


def _by_ratio(ratio: float) -> Answer:
    return Answer(ratio, 1 if ratio > 1 + BELIEVED else -1 if ratio < 1 - BELIEVED else 0)


METHODS = (ours, torch_timer, timeit_best, do_bench)


def rows(repeats: int) -> list[Row]:
    """Every method on every planted difference; the methods take turns, so all meet the same moods."""
    tensors = torch.full((EDGE, EDGE), 0.5), torch.empty(EDGE, EDGE)
    found: dict[tuple[str, int], Row] = {}
    for _ in range(repeats):
        for planted, method in itertools.product(PLANTED, METHODS):
            slower = job(UNITS * (100 + planted) // 100, tensors)
            for name, answer in method(job(UNITS, tensors), slower).items():
                found.setdefault((name, planted), Row(name, planted)).answers.append(answer)
    return sorted(found.values(), key=lambda row: -row.planted)


def repeatability() -> Iterator[str]:
    """How far single measurements of the same function stray from their median, run after run."""
    f = job(UNITS, (torch.full((EDGE, EDGE), 0.5), torch.empty(EDGE, EDGE)))
    kinds: dict[str, list[float]] = {"median_ms": []}
    for _, yard in itertools.product(range(REPEATABILITY_RUNS), ("compute", "python")):
        run = measure(f, max_time=BUDGET_S, device="cpu", name="job", calibrate=yard)
        if yard == "compute":
            kinds["median_ms"].append(run.median_ms)
        kinds.setdefault(f"relative, calibrate={yard!r}", []).append(run.relative or math.nan)
    for name, values in kinds.items():
        middle = median(values)
        off = [abs(value - middle) / middle for value in values]
        yield (f"  measure(f).{name}: {len(values)} runs, median {middle:.4g}, half of them within "
               f"{median(off):.1%} of it, all within {max(off):.1%}")


HEADER = ["method", "detected", "false alarms", "RMSE (points)", "coverage"]


def table(found: list[Row]) -> Iterator[str]:
    """One block of lines for each planted difference."""
    for planted, group in itertools.groupby(found, key=lambda row: row.planted):
        yield f"  {planted} % slower, planted" if planted else "  equal code"
        lines = [HEADER, *(row.cells() for row in group)]
        widths = [max(len(line[at]) for line in lines) for at in range(len(HEADER))]
        widths = [max(width, len(name)) for width, name in zip(widths, HEADER, strict=True)]
        for line in lines:
            yield "    " + "  ".join(cell.rjust(width) if at else f"{cell:<17}"
                                     for at, (cell, width) in enumerate(zip(line, widths, strict=True)))


def report(repeats: int) -> Iterator[str]:
    """The lines of the report, as soon as they are measured."""
    cores = machine.passport()["cores"] or 1
    when = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    yield f"Timers side by side, {when}"
    yield f"{pick(machine.one_line())}, {cores} cores"
    if hasattr(os, "getloadavg"):
        yield f"load of the machine at the start: {os.getloadavg()[0]:.2f}"
    f = job(UNITS, (torch.full((EDGE, EDGE), 0.5), torch.empty(EDGE, EDGE)))
    yield (f"{repeats} comparisons a row, {BUDGET_S:g} s each; one call takes "
           f"{min(timeit.repeat(f, number=20, repeat=5)) / 20 * 1e3:.3f} ms")
    for name, company in (("quiet", nullcontext()), (f"beside {cores} noisy neighbours", neighbours(cores))):
        with company:
            yield f"\n{name}"
            yield from table(rows(repeats))
            yield from repeatability()
    yield ("\ndetected: called slower. false alarms: called faster, or on equal code called different at all."
           "\nRMSE: of the ratio. coverage: how often the interval holds the truth; for IQRs, the range of "
           "ratios they allow.")


def main() -> None:
    """Print the report and write it to build/benchmarks/timing.txt."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="5 comparisons a row instead of 20")
    options = parser.parse_args()
    lines = []
    try:
        for line in report(5 if options.quick else 20):
            print(line, flush=True)
            lines.append(line)
    except KeyboardInterrupt:
        lines.append("\nInterrupted: the tables above are complete, the rest was not measured.")
        print(lines[-1])
        sys.exit(130)
    finally:
        OUT.parent.mkdir(parents=True, exist_ok=True)
        OUT.write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"written to {OUT}")


if __name__ == "__main__":
    main()

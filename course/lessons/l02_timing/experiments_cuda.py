"""Experiments of lesson 02 that need a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch

from course.core.i18n import both
from course.experiment.base import Budget, experiment
from course.experiment.reading import Reading
from course.experiment.rows import groups
from course.lessons.l02_timing.experiments import LESSON, _summary, clock_ms

# --- 02-stopwatches-cuda ------------------------------------------------------------------------------------


def _cuda_stopwatches(x: torch.Tensor) -> dict[str, Callable[[], float]]:
    """Five ways to time ten products of one square matrix on the GPU, in milliseconds."""
    wait = torch.cuda.synchronize

    def work() -> torch.Tensor:
        for _ in range(10):
            y = x @ x
        return y

    def events() -> float:
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        work()
        end.record()
        wait()
        return start.elapsed_time(end)

    return {
        "no fence": lambda: clock_ms(work),
        "fence before and after": lambda: clock_ms(lambda: (work(), wait())),
        "two events": events,
        "fence before, then print": lambda: clock_ms(lambda: str(work())),
        "fence before, then .cpu()": lambda: clock_ms(lambda: work().cpu()),
    }


@experiment(name="02-stopwatches-cuda", lesson=LESSON, needs="cuda", seconds=8, whole=True)
def stopwatches_cuda(budget: Budget, sizes: tuple[int, ...] = (512, 4096)) -> Iterator[dict]:
    """Read the stopwatches in turn at two sizes; the queue is empty before each reading."""
    for size in sizes:
        readings: dict[str, list[float]] = {}
        stopwatches = _cuda_stopwatches(torch.randn(size, size, device="cuda"))
        for repeat in budget.loop(range(14), desc=both(f"matrices of {size}", f"{size} 阶矩阵"), least=4):
            for name, stopwatch in stopwatches.items():
                torch.cuda.synchronize()
                reading = stopwatch()
                if repeat >= 3:
                    readings.setdefault(name, []).append(reading)
        yield from [{"size": size, "stopwatch": name, **_summary(samples)} for name, samples in readings.items()]


EVENTS = "two events"


def read_stopwatches_cuda(rows: list[dict]) -> Reading | None:
    """Each stopwatch over the events, which the GPU itself writes down.

    A clock without a fence stops too early where its whole interval is under four fifths of what the events read.
    """
    drawn = []
    for size, mine in groups(rows, "size").items():
        truth = next((row["median_ms"] for row in mine if row["stopwatch"] == EVENTS), None)
        for row in mine if truth else []:
            spans = {
                name: row[key] / truth for name, key in (("ratio", "median_ms"), ("low", "low_ms"), ("high", "high_ms"))
            }
            name = row["stopwatch"]
            drawn += [{"case": (size, name), "stopwatch": name, "size": size, **spans}] * (name != EVENTS)
    unfenced = [row for row in drawn if row["stopwatch"] == "no fence"]
    early = [row for row in unfenced if row["high"] < 0.8]
    if not unfenced or len(early) + sum(row["low"] >= 0.8 for row in unfenced) < len(unfenced):
        return Reading(drawn=drawn)
    if not early:
        return Reading("in time", drawn=drawn)
    numbers = {"missed": 1 - min(row["ratio"] for row in early)}
    return Reading("early" if len(early) == len(unfenced) else "early at one size", numbers, drawn)

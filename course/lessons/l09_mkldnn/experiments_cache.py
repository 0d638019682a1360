"""Experiment of lesson 09 about the primitive cache: what each call finds there, and what a new size costs."""

from __future__ import annotations

import statistics
from typing import Any

import torch
from torch import nn

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.reading import Reading
from course.experiment.rows import groups
from course.lessons.l09_mkldnn.experiments import LESSON
from course.onednn_log import log_of

VISITS = (33, 47, 33, 47, 60, 33)
"""Height and width of the image of each call, in pixels."""
BATCHES = (8, 9, 10, 11, 12)
"""Each batch size is a problem of its own: five rounds that all begin with nothing in the cache."""


def visits() -> list[dict[str, Any]]:
    """One convolution layer called with images of these sizes, in five rounds; for a new process, whose cache is empty."""
    torch.set_num_threads(1)
    layer, rows = nn.Conv2d(16, 32, 3, padding=1), []
    with torch.inference_mode():
        layer(torch.zeros(1, 16, 20, 20))  # start the library with a problem that is not counted
        for batch in BATCHES:
            for call, size in enumerate(VISITS, start=1):
                image = torch.zeros(batch, 16, size, size)
                made = [
                    line
                    for line in log_of(lambda image=image: layer(image), creation=True)
                    if line.event.startswith("create:")
                ]
                events = [line.event.removeprefix("create:") for line in made if line.primitive == "convolution"]
                rows.append(
                    {
                        "batch": batch,
                        "call": call,
                        "size": size,
                        "event": events[0] if events else "",
                        "create_ms": sum(one.time_ms for one in made),
                    }
                )
    return rows


@experiment(name="09-cache", lesson=LESSON, needs="mkldnn", seconds=8)
def cache(budget: Budget) -> list[dict]:
    """Six calls of one layer, five rounds, in a new process: what the log says of making, and the time for it."""
    return rows_of("course.lessons.l09_mkldnn.experiments_cache", "visits")


def read_cache(rows: list[dict]) -> Reading:
    """What each call finds, by the size that had come before or not; the times are medians over the rounds."""
    calls = [
        {**found[0], "create_ms": statistics.median(row["create_ms"] for row in found)}
        for found in groups(rows, "call").values()
    ]
    seen: dict[bool, set[str]] = {True: set(), False: set()}  # had the size come before? -> what the log said
    for at, row in enumerate(calls):
        seen[row["size"] in [one["size"] for one in calls[:at]]].add(row["event"])
    missed, hit = ([row["create_ms"] for row in calls if row["event"] == f"cache_{what}"] for what in ("miss", "hit"))
    if "" in seen[True] | seen[False]:
        return Reading("not seen", drawn=calls)
    if not hit or not missed:
        return Reading("always ready" if hit else "never ready", drawn=calls)
    if seen != {True: {"cache_hit"}, False: {"cache_miss"}}:
        return Reading("mixed", drawn=calls)
    ratio = statistics.median(missed) / statistics.median(hit)
    return Reading("saves time" if max(hit) < min(missed) else "saves no time", {"ratio": ratio}, calls)

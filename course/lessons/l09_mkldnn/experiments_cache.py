"""Experiment of lesson 09 about the primitive cache: what each call finds there, and what a new size costs."""

from __future__ import annotations

import statistics
from typing import Any

import torch
from torch import nn

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.words import NOTHING
from course.i18n import Text, both, t
from course.lessons.l09_mkldnn.experiments import LESSON
from course.onednn_log import log_of
from course.records import Record

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


def _calls(record: Record) -> list[dict[str, Any]]:
    """Each call once: its size, what it found, the median over the rounds of the time for making."""
    found: dict[int, list[dict[str, Any]]] = {}
    for row in record.rows:
        found.setdefault(row["call"], []).append(row)
    return [{**rows[0], "create_ms": statistics.median(row["create_ms"] for row in rows)} for rows in found.values()]


def say_cache(record: Record) -> Text:
    calls = _calls(record)
    missed = [row["create_ms"] for row in calls if row["event"] == "cache_miss"]
    hit = [row["create_ms"] for row in calls if row["event"] == "cache_hit"]
    if not missed or not hit:
        return NOTHING
    rounds = len(record.rows) // len(calls)
    return both(
        f"{len(calls)} calls (medians of {rounds} rounds): "
        f"{len(missed)} found nothing in the cache and had everything made, "
        f"in {min(missed):.2g} to {max(missed):.2g} ms; {len(hit)} found it ready, "
        f"in {min(hit):.2g} to {max(hit):.2g} ms.",
        f"{len(calls)} 次调用（{rounds} 轮的中位数）：{len(missed)} 次在缓存里没找到，现做用了 {min(missed):.2g} 到 {max(missed):.2g} ms；"
        f"{len(hit)} 次找到了现成的，用了 {min(hit):.2g} 到 {max(hit):.2g} ms。",
    )


def draw_cache(record: Record, ax: Any) -> None:
    """The cache as a pile that grows from call to call; what was made is marked, what was found too."""
    from matplotlib.patches import Patch, Rectangle

    from course.figures.style import colors, faint, guide, ink_on

    blue, orange, *_ = colors()
    held: list[int] = []
    calls = _calls(record)
    for call, row in enumerate(calls):
        new = row["event"] == "cache_miss"
        held += [row["size"]] * new
        for floor, size in enumerate(held):
            used = size == row["size"]
            colour = (orange if new else blue) if used else faint()
            ax.add_patch(
                Rectangle(
                    (call - 0.4, floor + 0.06),
                    0.8,
                    0.88,
                    facecolor=colour,
                    linewidth=0,
                    hatch="//" if used and new else None,
                    edgecolor=ink_on(colour),
                )
            )
            ax.text(
                call,
                floor + 0.5,
                f"{size}×{size}",
                ha="center",
                va="center",
                color=ink_on(colour),
                fontsize=10,
                fontweight="bold" if used else "normal",
                bbox={"facecolor": colour, "edgecolor": "none", "pad": 1.5},
            )
        ax.text(call, len(held) + 0.12, f"{row['create_ms']:.2g} ms", ha="center", va="bottom", fontsize=10)
    ax.legend(
        handles=[
            Patch(
                facecolor=orange,
                hatch="//",
                edgecolor=ink_on(orange),
                linewidth=0,
                label=t("miss: made now", "miss：现做"),
            ),
            Patch(color=blue, label=t("hit: found ready", "hit：现成的")),
            Patch(color=faint(), label=t("waiting in the cache", "留在缓存里")),
        ],
        loc="lower left",
        bbox_to_anchor=(-0.02, 1.0),
        ncols=3,
        handlelength=1.4,
        columnspacing=1.0,
    )
    ax.set_xticks(
        range(len(calls)),
        [
            t(f"call {n}\n{row['size']}×{row['size']}", f"第 {n} 次\n{row['size']}×{row['size']}")
            for n, row in enumerate(calls, start=1)
        ],
    )
    ax.set(xlim=(-0.6, max(len(calls), 1) - 0.4), ylim=(0, len(held) + 0.8), yticks=[])
    ax.set_ylabel(t("the primitive cache", "primitive 缓存"), color=guide())
    ax.grid(False)


@experiment(
    name="09-cache",
    lesson=LESSON,
    version=1,
    needs="mkldnn",
    seconds=8,
    title=both("The primitive cache, call by call", "primitive 缓存，一次调用一次调用地看"),
)
def cache(budget: Budget) -> list[dict]:
    """Six calls of one layer, five rounds, in a new process: what the log says of making, and the time for it."""
    return rows_of("course.lessons.l09_mkldnn.experiments_cache", "visits")

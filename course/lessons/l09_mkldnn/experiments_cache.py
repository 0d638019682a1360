"""Experiment of lesson 09 about the primitive cache: what each call finds there, and what a new size costs."""

from __future__ import annotations

import statistics
from typing import Any

import torch
from torch import nn

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.words import NOTHING, TOO_NOISY
from course.figures.kinds import Bar, bars, fold, time_words
from course.figures.svg import SvgPicture
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


def headline_cache(record: Record) -> Text:
    calls = _calls(record)
    seen: dict[bool, set[str]] = {True: set(), False: set()}  # had the size come before? -> what the log said
    for at, row in enumerate(calls):
        seen[row["size"] in [one["size"] for one in calls[:at]]].add(row["event"])
    if not calls:
        return TOO_NOISY
    if "" in seen[True] | seen[False]:
        return both("oneDNN's log names no such convolution here.", "oneDNN 的日志里没有这样的卷积。")
    missed, hit = ([row["create_ms"] for row in calls if row["event"] == f"cache_{what}"] for what in ("miss", "hit"))
    if not hit:
        return both(
            "oneDNN prepares every call anew, even for a size it has seen.",
            "oneDNN 每次调用都重新准备，见过的尺寸也一样。",
        )
    if not missed:
        return both("oneDNN had every size ready here.", "在这里，每个尺寸都是现成的。")
    if seen != {True: {"cache_hit"}, False: {"cache_miss"}}:
        return both("Some calls find their size ready, others must prepare it.", "有的调用有现成的，有的要重新准备。")
    if max(hit) < min(missed):
        return fold(
            statistics.median(missed) / statistics.median(hit),
            "Preparing a new size takes {} as long as for one seen before.",
            "准备一个新尺寸，耗时是见过的尺寸的{}。",
        )
    return both(
        "A size seen before is found ready, but that does not always save time.", "见过的尺寸有现成的，却不一定省时间。"
    )


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


def draw_cache(record: Record, bets: dict) -> SvgPicture:
    """Each call: how long making took, and whether the log says that it was made or found."""
    rows = []
    for row in _calls(record):
        found = {"cache_miss": t("built", "现做"), "cache_hit": t("found ready", "找到现成的")}.get(
            row["event"], t("not in the log", "日志里没有")
        )
        name = t(
            f"call {row['call']}: {row['size']}×{row['size']}", f"第 {row['call']} 次：{row['size']}×{row['size']}"
        )
        said = found + t(", ", "，") + time_words(row["create_ms"] / 1e3)
        rows.append(Bar(name, row["create_ms"], said, quiet=row["event"] == "cache_hit"))
    return bars(rows)


@experiment(
    name="09-cache",
    lesson=LESSON,
    version=1,
    needs="mkldnn",
    seconds=8,
    title=both("The primitive cache, call by call", "逐次调用，看 primitive 缓存"),
)
def cache(budget: Budget) -> list[dict]:
    """Six calls of one layer, five rounds, in a new process: what the log says of making, and the time for it."""
    return rows_of("course.lessons.l09_mkldnn.experiments_cache", "visits")

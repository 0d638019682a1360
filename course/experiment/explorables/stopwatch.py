"""A stopwatch over a queue: two fences among its three lines, and what it reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from course.experiment.explorables.page import Start

OLD_MS, KERNEL_MS, LAUNCH_MS = 30, 20, 0.1
BEFORE_START, BEFORE_LAUNCH, BEFORE_STOP = 1, 2, 3
"""Where a fence changes what is read; 0 is nowhere, 4 after the stop."""


def reading_ms(fences: Sequence[int], old_ms: float, kernel_ms: float) -> float:
    """What the stopwatch reads; when its first line runs, ``old_ms`` of work wait in the queue."""
    now = start = 0.0
    done = old_ms
    for place in (BEFORE_START, BEFORE_LAUNCH, BEFORE_STOP):
        if place in fences:
            now = max(now, done)
        if place == BEFORE_START:
            start = now
        elif place == BEFORE_LAUNCH:
            now += LAUNCH_MS
            done = max(now, done) + kernel_ms
    return now - start


def start(words: Mapping[str, str]) -> Start:
    """Without a fence, with one after the kernel, with two."""
    lines = [[words["fences"], words["reads"]]]
    for key, fences in (("none", ()), ("one", (BEFORE_STOP,)), ("two", (BEFORE_START, BEFORE_STOP))):
        lines.append([words[key], f"{reading_ms(fences, OLD_MS, KERNEL_MS):.1f} ms"])
    return Start(lines, {"old": OLD_MS, "kernel": KERNEL_MS, "launch": LAUNCH_MS})

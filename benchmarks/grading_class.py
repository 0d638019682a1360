"""A large class: does the thousandth submission cost what the first one did, and does memory stay flat?"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator

import psutil

from benchmarks.grading_course import LESSON
from benchmarks.running import markdown
from grader.autograding import How, autograde
from grader.course import Course

STEP = 100


def large_class(course: Course, jobs: int) -> Iterator[str]:
    """Mark everything, and tell for each hundred the seconds and the memory of driver and marking processes."""
    seen: list[tuple[int, float, float, float]] = []
    over = threading.Event()
    watcher = threading.Thread(target=_watch, args=(course, seen, over))
    begun = time.perf_counter()
    watcher.start()
    try:
        found = autograde(course, LESSON, how=How(jobs), say=print)
    finally:
        over.set()
        watcher.join()
    whole = time.perf_counter() - begun
    without = sum(outcome.points is None for outcome in found)
    first = next((at for count, at, *_ in seen if count), begun)
    yield from (
        "",
        f"### {len(found)} submissions in {whole:.0f} s ({whole / len(found):.3f} s each, "
        f"starting and summary included), {without} without a grade; first one after {first - begun:.1f} s",
        "",
    )
    lines, since = [], first
    for upto in range(STEP, len(found) + 1, STEP):
        then = next(at for count, at, *_ in seen if count >= upto)
        span = [(driver, others) for count, _, driver, others in seen if upto - STEP < count <= upto] or [(0.0, 0.0)]
        lines.append([str(upto), f"{then - since:.1f}", *(f"{max(column):.0f}" for column in zip(*span, strict=True))])
        since = then
    yield from markdown(["submissions", "s for the last 100", "driver, MB", "all others, MB"], lines)
    yield from (
        "",
        "MB: the highest resident memory seen meanwhile, of the driver alone and of all processes below it",
        "together (proportional shares: pages that several of them share count once).",
    )


def _watch(course: Course, seen: list[tuple[int, float, float, float]], over: threading.Event) -> None:
    me, folder = psutil.Process(), course.root / "autograded"
    last = False
    while not last:
        last = over.wait(0.5)
        count = len(os.listdir(folder)) if folder.exists() else 0
        others = sum(_share(process) for process in me.children(recursive=True))
        seen.append((count, time.perf_counter(), me.memory_info().rss / 1e6, others))


def _share(process: psutil.Process) -> float:
    """Megabytes of a process, shared pages by their share; 0 for one that has just ended."""
    try:
        return process.memory_full_info().pss / 1e6
    except (psutil.Error, OSError):
        return 0.0

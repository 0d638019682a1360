"""Experiments of lesson 02 that need a GPU."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable

import torch

from course.experiment.base import Budget, experiment
from course.experiment.words import NOTHING, groups
from course.i18n import Text, both
from course.lessons.l02_timing.experiments import (
    LESSON,
    _listed,
    _summary,
    clock_ms,
    draw_first_call,
    draw_stopwatches,
)
from course.records import Record

# --- 02-stopwatches-cuda ------------------------------------------------------------------------------------


def say_stopwatches_cuda(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    parts = [(size, *_listed(rows)) for size, rows in groups(record.rows, "size").items()]
    return both(
        " ".join(f"Matrices of {size}: {en}." for size, en, _ in parts),
        "".join(f"{size} 阶矩阵：{zh}。" for size, _, zh in parts),
    )


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


@experiment(
    name="02-stopwatches-cuda",
    lesson=LESSON,
    version=1,
    needs="cuda",
    seconds=8,
    title=both("What do the five stopwatches read on a real GPU?", "在真正的 GPU 上，这五种秒表读数如何？"),
    finding=say_stopwatches_cuda,
    draw=draw_stopwatches,
)
def stopwatches_cuda(budget: Budget) -> list[dict]:
    """Read the stopwatches in turn at two sizes; the queue is empty before each reading."""
    rows = []
    for size in (512, 4096):
        readings: dict[str, list[float]] = {}
        stopwatches = _cuda_stopwatches(torch.randn(size, size, device="cuda"))
        for repeat in budget.loop(range(14), desc=both(f"matrices of {size}", f"{size} 阶矩阵")):
            for name, stopwatch in stopwatches.items():
                torch.cuda.synchronize()
                reading = stopwatch()
                if repeat >= 3:
                    readings.setdefault(name, []).append(reading)
        rows += [{"size": size, "stopwatch": name, **_summary(samples)} for name, samples in readings.items()]
    return rows


# --- 02-first-call-cuda -------------------------------------------------------------------------------------


def say_first_call_cuda(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    en, zh = [], []
    names = {
        "first product": "第一次矩阵乘",
        "first convolution": "第一次卷积",
        "same convolution, new shape": "同一卷积换新形状",
    }
    for shape, rows in groups(record.rows, "shape").items():
        times = [r["call_ms"] for r in sorted(rows, key=lambda r: r["call"])]
        later = statistics.median(times[1:]) if len(times) > 1 else math.nan
        en.append(f"{shape}: {times[0]:.3g} ms, later {later:.3g} ms")
        zh.append(f"{names[shape]}：{times[0]:.3g} ms，之后 {later:.3g} ms")
    note = both("", "")
    if record.rows[0]["context_was_up"]:
        note = both(
            " The CUDA context was already up: restart the kernel to see its cost as well.",
            "CUDA 上下文此前已经建立：重启内核再运行，才能看到建立它的开销。",
        )
    return both(f"{'; '.join(en)}.{note['en']}", f"{'；'.join(zh)}。{note['zh']}")


@experiment(
    name="02-first-call-cuda",
    lesson=LESSON,
    version=1,
    needs="cuda",
    seconds=6,
    title=both("What does the first call on a GPU pay for?", "GPU 上的第一次调用在为什么付费？"),
    finding=say_first_call_cuda,
    draw=draw_first_call,
)
def first_call_cuda(budget: Budget) -> list[dict]:
    """Six synchronised calls each of a product, a convolution, and a second shape; best in a new process."""
    context_was_up = int(torch.cuda.is_initialized())
    x, image, larger = torch.randn(512, 512), torch.randn(8, 32, 56, 56), torch.randn(8, 32, 64, 64)
    weight = torch.randn(32, 32, 3, 3)
    conv = torch.nn.functional.conv2d
    steps = {
        "first product": lambda: x.cuda() @ x.cuda(),
        "first convolution": lambda: conv(image.cuda(), weight.cuda()),
        "same convolution, new shape": lambda: conv(larger.cuda(), weight.cuda()),
    }
    rows = []
    with torch.inference_mode():
        for name, run in budget.loop(steps.items(), desc=both("first calls", "第一次调用")):
            for call in range(1, 7):
                call_ms = clock_ms(lambda run=run: (run(), torch.cuda.synchronize()))
                rows.append(
                    {"shape": name, "call": call, "call_ms": call_ms, "context_was_up": context_was_up}
                )
    return rows

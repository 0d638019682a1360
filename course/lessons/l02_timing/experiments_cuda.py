"""Experiments of lesson 02 that need a GPU."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import torch

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.words import NOTHING, groups, middle, word
from course.i18n import Text, both, t
from course.lessons.l02_timing.experiments import LESSON, _listed, _summary, clock_ms, draw_stopwatches
from course.records import Record

PROBES = "course.lessons.l02_timing.probes"
NEW_PROCESSES = both("new processes", "新进程")

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
    draw=draw_stopwatches,
)
def stopwatches_cuda(budget: Budget, sizes: tuple[int, ...] = (512, 4096)) -> list[dict]:
    """Read the stopwatches in turn at two sizes; the queue is empty before each reading."""
    rows = []
    for size in sizes:
        readings: dict[str, list[float]] = {}
        stopwatches = _cuda_stopwatches(torch.randn(size, size, device="cuda"))
        for repeat in budget.loop(range(14), desc=both(f"matrices of {size}", f"{size} 阶矩阵"), least=4):
            for name, stopwatch in stopwatches.items():
                torch.cuda.synchronize()
                reading = stopwatch()
                if repeat >= 3:
                    readings.setdefault(name, []).append(reading)
        rows += [{"size": size, "stopwatch": name, **_summary(samples)} for name, samples in readings.items()]
    return rows


# --- 02-first-call-cuda -------------------------------------------------------------------------------------


STEPS = {
    "CUDA context": both("CUDA context", "CUDA 上下文"),
    "first product": both("first product", "第一次矩阵乘"),
    "first convolution": both("first convolution", "第一次卷积"),
    "same convolution, new shape": both("same convolution, new shape", "同一卷积换新形状"),
}


def say_first_call_cuda(record: Record) -> Text:
    """First call and later ones of each step: one value a process, then their middle and range."""
    if not record.rows:
        return NOTHING
    parts: dict[str, list[str]] = {"en": [], "zh": []}
    for step, rows in groups(record.rows, "shape").items():
        processes = groups(rows, "process").values()
        first = middle([one[0]["call_ms"] for one in processes])
        later = [statistics.median(r["call_ms"] for r in one[1:]) for one in processes if len(one) > 1]
        parts["en"].append(f"{STEPS[step]['en']} {first} ms" + (f", later {middle(later)} ms" if later else ""))
        parts["zh"].append(f"{STEPS[step]['zh']} {first} ms" + (f"，之后 {middle(later)} ms" if later else ""))
    count = len(groups(record.rows, "process"))
    return both(
        f"First calls of {count} new process{'es' * (count > 1)}: {'; '.join(parts['en'])}.",
        f"{count} 个新进程里的第一次：{'；'.join(parts['zh'])}。",
    )


def draw_first_call_cuda(record: Record, ax: Any) -> None:
    for number, (step, rows) in enumerate(groups(record.rows, "shape").items()):
        for place, process in enumerate(groups(rows, "process").values()):
            ax.plot(
                [r["call"] for r in process],
                [r["call_ms"] for r in process],
                "o-" if len(process) > 1 else "*",
                color=f"C{number}",
                alpha=0.7,
                label=word(STEPS[step]) if place == 0 else None,
            )
    ax.legend()
    ax.set_yscale("log")
    ax.set_xlabel(t("call number (a line for each process)", "第几次调用（每个进程一条线）"))
    ax.set_ylabel(t("time of the call (ms)", "该次调用耗时 (ms)"))


@experiment(
    name="02-first-call-cuda",
    lesson=LESSON,
    version=2,
    needs="cuda",
    seconds=45,
    title=both("What does the first call on a GPU pay for?", "GPU 上的第一次调用在为什么付费？"),
)
def first_call_cuda(budget: Budget, processes: int = 3, calls: int = 6) -> list[dict]:
    """Fenced first calls in new processes: the context, then a product, a convolution and a second shape."""
    rows = []
    for process in budget.loop(range(processes), desc=NEW_PROCESSES):
        found = rows_of(PROBES, "first_calls", calls, timeout_s=180)
        rows += [{"process": process, **row} for row in found]
    return rows

"""Experiments of lesson 02 that need a GPU."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator

import torch

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.words import NOTHING, TOO_NOISY, groups, middle, word
from course.figures.kinds import Bar, Ratio, bars, ratio_rows, time_words
from course.figures.svg import SvgPicture
from course.i18n import Text, both, t
from course.lessons.l02_timing.experiments import LESSON, _listed, _summary, clock_ms, word_of
from course.records import Record

PROBES = "course.lessons.l02_timing.probes"
NEW_PROCESSES = both("new processes", "新进程")

# --- 02-stopwatches-cuda ------------------------------------------------------------------------------------


EVENTS = "two events"


def _over_events(record: Record) -> dict[tuple[int, str], tuple[float, float, float]]:
    """(size, stopwatch) -> its reading over that of the events, and the ends of its interval over the same."""
    found = {}
    for size, rows in groups(record.rows, "size").items():
        truth = next((row["median_ms"] for row in rows if row["stopwatch"] == EVENTS), None)
        for row in rows if truth else []:
            found[size, row["stopwatch"]] = tuple(row[key] / truth for key in ("median_ms", "low_ms", "high_ms"))
    return found


def headline_stopwatches_cuda(record: Record) -> Text:
    """A clock without a fence stops too early where its whole interval is under four fifths of what the events read."""
    found = [span for (_, name), span in _over_events(record).items() if name == "no fence"]
    early, late = sum(high < 0.8 for _, _, high in found), sum(low >= 0.8 for _, low, _ in found)
    if not found or early + late < len(found):
        return TOO_NOISY
    if not late:
        return both(
            "On a real GPU too, a clock without a fence stops too early.", "真 GPU 也一样：不加栅栏，停表就太早。"
        )
    if not early:
        return both("Here even the clock without a fence did not stop too early.", "这次就算不加栅栏，表也没停早。")
    return both("Without a fence, the clock stops too early at one size only.", "不加栅栏时，只有一种尺寸的表停早了。")


def say_stopwatches_cuda(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    parts = [(size, *_listed(rows)) for size, rows in groups(record.rows, "size").items()]
    return both(
        " ".join(f"Matrices of {size}: {en}." for size, en, _ in parts),
        "".join(f"{size} 阶矩阵：{zh}。" for size, _, zh in parts),
    )


def draw_stopwatches_cuda(record: Record, bets: dict) -> SvgPicture:
    """Each stopwatch over the events, which the GPU itself writes down."""
    rows = [
        Ratio(word_of(name), ratio, low, high, t(f"matrices of {size}", f"{size} 阶矩阵"))
        for (size, name), (ratio, low, high) in _over_events(record).items()
        if name != EVENTS
    ]
    sides = (t("reads too little", "读数偏少"), t("reads too much", "读数偏多"))
    return ratio_rows(rows, sides, middle=t("as the events", "和 event 一样"))


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
    whole=True,
    title=both("What do the five stopwatches read on a real GPU?", "在真正的 GPU 上，这五种秒表读数如何？"),
)
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


# --- 02-first-call-cuda -------------------------------------------------------------------------------------


STEPS = {
    "CUDA context": both("CUDA context", "CUDA 上下文"),
    "first product": both("first product", "第一次矩阵乘"),
    "first convolution": both("first convolution", "第一次卷积"),
    "same convolution, new shape": both("same convolution, new shape", "同一卷积换新形状"),
}


LONGEST = {
    "CUDA context": both("starting CUDA", "启动 CUDA"),
    "first product": both("the first product", "第一次矩阵乘"),
    "first convolution": both("the first convolution", "第一次卷积"),
    "same convolution, new shape": both("the new shape", "换新形状"),
}


def _firsts(record: Record) -> dict[str, list[float]]:
    """step -> the milliseconds of its first call, one a process."""
    return {
        step: [process[0]["call_ms"] for process in groups(rows, "process").values()]
        for step, rows in groups(record.rows, "shape").items()
    }


def headline_first_call_cuda(record: Record) -> Text:
    """The step that took longest in every process."""
    firsts = _firsts(record)
    longest = max(firsts, key=lambda step: min(firsts[step]), default=None)
    others = [ms for step, found in firsts.items() if step != longest for ms in found]
    if longest is None or not others or min(firsts[longest]) <= max(others):
        return TOO_NOISY
    name = LONGEST[longest]
    return both(
        f"Of all first calls in a new process, {name['en']} takes longest.",
        f"新进程里的头几次调用，最慢的是{name['zh']}。",
    )


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


def draw_first_call_cuda(record: Record, bets: dict) -> SvgPicture:
    """The first call of each step, the middle of the processes; its later calls stand in words."""
    rows = []
    for step, first in _firsts(record).items():
        later = [row["call_ms"] for row in record.rows if row["shape"] == step and row["call"] > 1]
        first_ms = statistics.median(first)
        remark = ""
        if later:
            usual = time_words(statistics.median(later) / 1e3)
            remark = t(f"later {usual}", f"之后 {usual}")
        rows.append(Bar(word(STEPS[step]), first_ms, time_words(first_ms / 1e3), remark=remark))
    return bars(rows)


@experiment(
    name="02-first-call-cuda",
    lesson=LESSON,
    version=2,
    needs="cuda",
    seconds=45,
    title=both("What does the first call on a GPU pay for?", "GPU 上的第一次调用，时间花在了哪里？"),
)
def first_call_cuda(budget: Budget, processes: int = 3, calls: int = 6) -> Iterator[dict]:
    """Fenced first calls in new processes: the context, then a product, a convolution and a second shape."""
    for process in budget.loop(range(processes), desc=NEW_PROCESSES):
        found = rows_of(PROBES, "first_calls", calls, timeout_s=180)
        yield from [{"process": process, **row} for row in found]

"""The experiment of lesson 12 that needs a GPU: the search, a copy and a wait in a trace."""

from __future__ import annotations

from collections.abc import Iterator

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.words import NOTHING, TOO_NOISY
from course.figures.kinds import Bar, bars
from course.figures.svg import SvgPicture
from course.i18n import Text, both, t
from course.lessons.l12_profiler.experiments import LESSON
from course.records import Record

PROBES = "course.lessons.l12_profiler.probes"


def _kernels(record: Record, story: str, call: int) -> list[dict]:
    return [row for row in record.rows if row["story"] == story and row["call"] == call]


def _counts(record: Record) -> dict[str, tuple[int, int]]:
    """story -> different kernels in the first and in the second call."""
    return {
        story: tuple(len({row["kernel"] for row in _kernels(record, story, call)}) for call in (1, 2))  # type: ignore[misc]
        for story in ("search off", "search on")
    }


def _waits(record: Record) -> list[float]:
    """Microseconds of .item() on the CPU: with nothing queued, with work queued."""
    return [sum(row["mean_us"] * row["calls"] for row in _kernels(record, "wait", call)) for call in (1, 2)]


def headline_gpu_trace(record: Record) -> Text:
    counts = _counts(record)
    if not all(min(pair) for pair in counts.values()):
        return TOO_NOISY
    extra = {story: first - second for story, (first, second) in counts.items()}
    if extra["search on"] > max(extra["search off"], 0):
        return both(
            "The trace shows the search: extra kernels in the first call only.",
            "trace 里看得到搜索：第一次调用多跑了 kernel。",
        )
    return both("This trace shows no sign of the search.", "这份 trace 里看不出搜索。")


def say_gpu_trace(record: Record) -> Text:
    counts, (idle, queued), copies = _counts(record), _waits(record), _kernels(record, "copy", 1)
    if not all(min(pair) for pair in counts.values()) or not idle or not queued or not copies:
        return NOTHING
    off, on = counts["search off"], counts["search on"]
    name = copies[0]["kernel"][:60]
    return both(
        f"Different kernels in call 1 and call 2: {off[0]} and {off[1]} with the search off, {on[0]} and {on[1]} with it on. "
        f"A copy shows as {name}. `.item()` took {idle:.3g} µs with nothing queued, {queued:.3g} µs behind ten products.",
        f"第 1 次和第 2 次调用里不同 kernel 的个数：关搜索时 {off[0]} 和 {off[1]}，开搜索时 {on[0]} 和 {on[1]}。"
        f"拷贝显示为 {name}。没有排队时 `.item()` 用 {idle:.3g} µs，排在十次矩阵乘后面时用 {queued:.3g} µs。",
    )


def draw_gpu_trace(record: Record, bets: dict) -> SvgPicture:
    names = {"search off": t("search off", "关搜索"), "search on": t("search on", "开搜索")}
    calls = (t("first call", "第 1 次"), t("second call", "第 2 次"))
    return bars(
        [
            Bar(
                f"{names[story]}{t(', ', '，')}{call}",
                count,
                t(f"{count} kernel{'s' * (count != 1)}", f"{count} 种 kernel"),
                quiet=story == "search off",
            )
            for story, pair in _counts(record).items()
            for call, count in zip(calls, pair, strict=True)
        ]
    )


@experiment(
    name="12-gpu-trace-cuda",
    lesson=LESSON,
    version=1,
    needs="cuda",
    seconds=60,
    whole=True,
    title=both("A GPU's trace: the search, a copy, a wait", "GPU 的 trace：搜索、拷贝、等待"),
)
def gpu_trace(budget: Budget, batch: int = 8, size: int = 128) -> Iterator[dict]:
    """Kernels of two calls with the search off and on, a copy, and .item() idle and behind work, in new processes."""
    for search in budget.loop((False, True), desc=both("new processes", "新进程"), least=2):
        yield from rows_of(PROBES, "first_and_second", search, batch, size)
    yield from rows_of(PROBES, "copy_and_wait", size * 8)

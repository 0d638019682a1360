"""The experiment of lesson 16 that needs a GPU: four switches that choose a library or an arithmetic."""

from __future__ import annotations

from collections.abc import Iterator

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.rows import kind_of
from course.experiment.words import NOTHING, TOO_NOISY, joined, word
from course.figures.kinds import ratio_rows
from course.figures.svg import SvgPicture
from course.i18n import Text, both, t
from course.lessons.l16_rest.experiments import LESSON, MEASURING, as_ratio, interval
from course.records import Record
from course.tables import Table

# --- 16-drawer-cuda -----------------------------------------------------------------------------------------

SWITCHES = {
    "linalg": both("Cholesky: MAGMA / cuSOLVER", "Cholesky：MAGMA / cuSOLVER"),
    "blas": both("fp16 product: cuBLASLt / cuBLAS", "fp16 矩阵乘：cuBLASLt / cuBLAS"),
    "fft": both("FFT: no plans kept / kept", "FFT：不留计划 / 留"),
    "sums": both("fp16 product: fp16 sums / float32 sums", "fp16 矩阵乘：fp16 累加 / float32 累加"),
}


def _raced(record: Record) -> list[dict]:
    return [row for row in record.rows if not row["refused"]]


def headline_drawer_cuda(record: Record) -> Text:
    kinds = [kind_of(row) for row in _raced(record)]
    if not record.rows or "undecided" in kinds:
        return TOO_NOISY
    if not kinds:
        return both("This torch refused every one of these switches.", "这个 torch 不接受其中任何一个开关。")
    moved = sum(kind != "same" for kind in kinds)
    if not moved:
        return both("Of these switches not one changed the time here.", "这几个开关，在这里都不影响耗时。")
    return (
        both("On this GPU some of these switches change the time.", "在这块 GPU 上，有的开关真会改变耗时。")
        if moved < len(kinds)
        else both("On this GPU every one of these switches changes the time.", "在这块 GPU 上，每个开关都会改变耗时。")
    )


def say_drawer_cuda(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    refused = [row["switch"] for row in record.rows if row["refused"]]
    told = {
        code: "; ".join(f"{SWITCHES[row['switch']][code]} {interval(row)}" for row in _raced(record))
        for code in ("en", "zh")
    }
    return both(
        f"Time with the second setting over time with the first: {told['en'] or 'nothing could be raced'}. "
        f"Refused by this torch: {joined(refused, 'en') or 'none'}.",
        f"后一种设置与前一种的耗时比：{told['zh'].replace('; ', '；') or '没有能比的'}。"
        f"这个 torch 不接受的：{joined(refused, 'zh') or '无'}。",
    )


def draw_drawer_cuda(record: Record, bets: dict) -> SvgPicture | Table:
    raced = _raced(record)
    if not raced:
        refused = t("refused", "不接受")
        return Table([["", ""], *([word(SWITCHES[row["switch"]]), refused] for row in record.rows)])
    sides = (t("the second of the two is faster", "后一种更快"), t("the first is faster", "前一种更快"))
    return ratio_rows([as_ratio(row, word(SWITCHES[row["switch"]])) for row in raced], sides)


@experiment(
    name="16-drawer-cuda",
    lesson=LESSON,
    version=1,
    needs="cuda",
    seconds=40,
    whole=True,
    title=both(
        "On a GPU: four switches that choose a library or an arithmetic", "在 GPU 上：四个开关，选哪个库、怎么算"
    ),
)
def drawer_cuda(budget: Budget, size: int = 2048) -> Iterator[dict]:
    """preferred_linalg_library, preferred_blas_library, cufft_plan_cache and allow_fp16_accumulation, each raced."""
    for part in budget.loop(["drawer"], desc=MEASURING):
        yield from rows_of("course.lessons.l16_rest.probes_cuda", part, size, budget.seconds, timeout_s=300)

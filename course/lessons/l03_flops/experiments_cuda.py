"""Experiments of lesson 03 that need a GPU."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from course import flags
from course.experiment.base import Budget, experiment
from course.experiment.words import NOTHING, TOO_NOISY, word
from course.figures.kinds import Bar, bars, fold
from course.figures.svg import SvgPicture
from course.i18n import Text, both, t
from course.lessons.l03_flops.experiments import LESSON
from course.records import Record

FORMATS = {
    "float32": both("float32", "float32"),
    "TF32": both("float32 with TF32 allowed", "float32，允许 TF32"),
    "float16": both("float16", "float16"),
    "bfloat16": both("bfloat16", "bfloat16"),
}


def headline_peaks_cuda(record: Record) -> Text:
    """The highest roof against that of float32; less than a fifth more is the same."""
    peaks = {row["format"]: row["flops_per_s"] for row in record.rows}
    if "float32" not in peaks or len(peaks) < 2:
        return TOO_NOISY
    if max(peaks.values()) < 1.2 * min(peaks.values()):
        return both("On this GPU, all number formats are equally fast.", "这块 GPU 上，各种数值格式一样快。")
    grown = max(peaks.values()) / peaks["float32"]
    if grown < 1.2:
        return both(
            "On this GPU, no number format computes faster than float32.", "这块 GPU 上，没有哪种格式比 float32 更快。"
        )
    return fold(grown, "Another number format lets this GPU compute {} as fast.", "换一种数值格式，GPU 能快到{}。")


def say_peaks_cuda(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    rows = record.rows
    memory = max(row["bytes_per_s"] for row in rows) / 1e9
    en = "; ".join(
        f"{FORMATS[row['format']]['en']} {row['flops_per_s'] / 1e12:.3g} TFLOP/s, bend at {row['ridge']:.3g} FLOPs a byte"
        for row in rows
    )
    zh = "；".join(
        f"{FORMATS[row['format']]['zh']} {row['flops_per_s'] / 1e12:.3g} TFLOP/s，拐点在每字节 {row['ridge']:.3g} FLOPs"
        for row in rows
    )
    return both(
        f"One memory, {memory:.3g} GB/s, and by number format another roof: {en}.",
        f"同一份显存带宽 {memory:.3g} GB/s，换一种数值格式就换一个屋顶：{zh}。",
    )


def draw_peaks_cuda(record: Record, bets: dict) -> SvgPicture:
    """The roof of each format, and at how many FLOPs a byte it bends."""
    return bars(
        [
            Bar(
                word(FORMATS[row["format"]]),
                row["flops_per_s"],
                f"{row['flops_per_s'] / 1e12:.3g} TFLOP/s",
                row["format"] == "float32",
                t(f"bend at {row['ridge']:.3g} FLOPs a byte", f"拐点：每字节 {row['ridge']:.3g} FLOPs"),
            )
            for row in record.rows
        ]
    )


@experiment(
    name="03-peaks-cuda",
    lesson=LESSON,
    version=1,
    needs="cuda",
    seconds=30,
    whole=True,
    title=both(
        "On a GPU: how high is the roof of each number format, and where is the bend?",
        "在 GPU 上：每种数值格式的屋顶有多高，拐点在哪儿？",
    ),
)
def peaks_cuda(budget: Budget) -> Iterator[dict]:
    """Measured peaks of products in four formats and of the memory, and the ridge they make."""
    from course.roofline import peaks

    for place, name in enumerate(budget.loop(FORMATS, desc=both("number formats", "数值格式"))):
        dtype = getattr(torch, "float32" if name == "TF32" else name)
        with flags.using({"cuda.matmul.allow_tf32": name == "TF32"}):
            found = peaks(
                "cuda", dtype=dtype, max_time=max(0.2, min(6.0, budget.share(len(FORMATS) - place))), refresh=True
            )
        yield {"format": name, "flops_per_s": found.flops_per_s, "bytes_per_s": found.bytes_per_s, "ridge": found.ridge}

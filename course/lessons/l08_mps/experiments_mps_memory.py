"""Experiments of lesson 08 that need a Mac: memory, and the half-precision formats."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from course.experiment.base import Budget, experiment
from course.experiment.rows import race_row
from course.experiment.words import NOTHING, TOO_NOISY, VERDICTS, with_interval, word
from course.figures.kinds import Bar, Ratio, bars, ratio_rows
from course.figures.svg import SvgPicture
from course.i18n import Text, both, t
from course.lessons.l08_mps import probes
from course.lessons.l08_mps.experiments import LESSON
from course.records import Record
from course.rounding import relative_error

MIB = 1024**2

# --- 08-memory-mps ------------------------------------------------------------------------------------------

MOMENTS = {
    "before": both("before", "之前"),
    "made": both("a tensor made", "建了一个张量"),
    "deleted": both("the tensor deleted", "删掉张量"),
    "emptied": both("after empty_cache()", "empty_cache() 之后"),
}


def headline_memory_mps(record: Record) -> Text:
    held = {row["moment"]: row["driver_mib"] for row in record.rows}
    if set(held) != set(MOMENTS):
        return TOO_NOISY
    if held["deleted"] < held["made"] - 1:
        return both("Deleting the tensor gave its memory back at once.", "一删掉张量，内存就归还了。")
    if held["emptied"] < held["deleted"] - 1:
        return both(
            "A deleted tensor's memory returns only when the cache is emptied.",
            "张量删了，内存仍占着，清空缓存才归还。",
        )
    return both("Neither deleting nor emptying the cache gave memory back.", "删张量、清缓存，内存都没归还。")


def say_memory_mps(record: Record) -> Text:
    found = {row["moment"]: row for row in record.rows}
    if set(found) != set(MOMENTS):
        return NOTHING

    def line(code: str) -> str:
        sign = "; " if code == "en" else "；"
        return sign.join(
            f"{MOMENTS[name][code]} {row['allocated_mib']:.0f} / {row['driver_mib']:.0f} MiB"
            for name, row in found.items()
        )

    limit = found["before"]["recommended_mib"] / 1024
    return both(
        f"This Mac recommends at most {limit:.1f} GiB for the GPU. Held by tensors / by the driver: {line('en')}.",
        f"这台 Mac 建议 GPU 最多用 {limit:.1f} GiB。张量占用 / 驱动占用：{line('zh')}。",
    )


def draw_memory_mps(record: Record, bets: dict) -> SvgPicture:
    """What the driver holds at each moment, and how much of it tensors hold; no bet is made on it."""
    return bars(
        [
            Bar(
                word(MOMENTS[row["moment"]]),
                row["driver_mib"],
                f"{row['driver_mib']:.0f} MiB",
                row["moment"] in ("before", "made"),
                t(f"tensors: {row['allocated_mib']:.0f} MiB", f"张量：{row['allocated_mib']:.0f} MiB"),
            )
            for row in record.rows
        ]
    )


@experiment(
    name="08-memory-mps",
    lesson=LESSON,
    version=1,
    needs="mps",
    seconds=4,
    title=both(
        "Apple GPU: what holds memory, what gives it back, and how much is recommended?",
        "苹果 GPU：内存被谁占着，什么时候还，建议最多用多少？",
    ),
)
def memory_mps(budget: Budget, size_mib: int = 256) -> list[dict]:
    """Memory held by tensors and by the driver before and after a tensor, and the recommended maximum."""
    mps = torch.mps

    def row(moment: str) -> dict:
        probes.wait()
        return {
            "moment": moment,
            "allocated_mib": mps.current_allocated_memory() / MIB,
            "driver_mib": mps.driver_allocated_memory() / MIB,
            "recommended_mib": mps.recommended_max_memory() / MIB,
        }

    mps.empty_cache()
    rows = [row("before")]
    tensor = torch.ones(size_mib * MIB // 4, device=probes.DEVICE)
    rows.append(row("made"))
    del tensor
    rows.append(row("deleted"))
    mps.empty_cache()
    return [*rows, row("emptied")]


# --- 08-half-mps --------------------------------------------------------------------------------------------


def headline_half_mps(record: Record) -> Text:
    verdicts = [row["verdict"] for row in record.rows]
    undecided = not record.complete or "undecided" in verdicts
    if "faster" not in verdicts:
        if undecided:
            return TOO_NOISY
        return both("Half precision saves no time on this Mac.", "在这台 Mac 上，半精度不省时间。")
    if undecided:
        return both("Half precision is faster at least in some cases.", "至少有些情况，半精度更快。")
    if set(verdicts) == {"faster"}:
        return both("Half precision is faster here, in every case.", "在这里，半精度每次都更快。")
    return both("Half precision is faster in some cases, not in all.", "半精度只在有些情况下更快。")


def say_half_mps(record: Record) -> Text:
    if not record.rows:
        return NOTHING

    def line(row: dict, code: str) -> str:
        ratio, verdict = with_interval(row, code), VERDICTS[row["verdict"]][code]
        if code == "en":
            return f"{row['format']} {row['size']}² {ratio} {verdict}, error {row['relative']:.1e}"
        return f"{row['format']} {row['size']}²：{ratio}，{verdict}，误差 {row['relative']:.1e}"

    return both(
        "A product's time over that of float32, and its relative error: "
        + "; ".join(line(row, "en") for row in record.rows)
        + ".",
        "矩阵乘的耗时与 float32 之比，以及相对误差。" + "；".join(line(row, "zh") for row in record.rows) + "。",
    )


def draw_half_mps(record: Record, bets: dict) -> SvgPicture:
    """No bet is made on it."""
    return ratio_rows(
        [
            Ratio(f"{row['format']} {row['size']}²", row["ratio"], row["low"], row["high"], rounds=row.get("rounds", 0))
            for row in record.rows
        ],
        (t("faster than float32", "比 float32 快"), t("slower than float32", "比 float32 慢")),
    )


@experiment(
    name="08-half-mps",
    lesson=LESSON,
    version=1,
    needs="mps",
    seconds=20,
    title=both(
        "Apple GPU: what do float16 and bfloat16 gain, and what do they cost?",
        "苹果 GPU：float16 和 bfloat16 快多少，又损失多少精度？",
    ),
)
def half_mps(budget: Budget, sizes: tuple[int, ...] = (512, 2048)) -> Iterator[dict]:
    """Products in float16 and bfloat16 against float32, taking turns, fenced; and their error against float64."""
    from course.timing import compare

    cases = [(size, name) for size in sizes for name in ("float16", "bfloat16")]
    for number, (size, name) in enumerate(budget.loop(cases, desc=both("number formats", "数值格式"))):
        a, b = torch.randn(size, size), torch.randn(size, size)
        exact = a.double() @ b.double()
        whole = [one.to(probes.DEVICE) for one in (a, b)]
        half = [one.to(getattr(torch, name)) for one in whole]
        race = compare(
            {"float32": lambda x=whole: x[0] @ x[1], name: lambda x=half: x[0] @ x[1]},
            baseline="float32", device=probes.DEVICE, clock="wall", max_time=max(0.1, budget.share(len(cases) - number)),
        )  # fmt: skip
        yield {
            "format": name,
            "size": size,
            **race_row(race),
            "rounds": race.rounds,
            "relative": relative_error((half[0] @ half[1]).cpu(), exact),
        }

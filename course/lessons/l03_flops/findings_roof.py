"""Sentence, picture and settled bet of the record of 03-roof: pure functions on a record."""

from __future__ import annotations

from typing import Any

from course.i18n import Text, both, t
from course.lessons.l02_timing.findings import NOTHING, doubtful

NAMES = {"matrix product": "矩阵乘", "dense conv": "普通卷积", "depthwise conv": "深度卷积",
         "linear, batch 64": "线性层（batch 64）", "linear, batch 1": "线性层（batch 1）", "ReLU": "ReLU"}


def _parts(record: Any) -> tuple[dict | None, list[dict], dict | None]:
    """The row of the peaks, those of the operations, and that of the two batches."""
    def of(part: str) -> list[dict]:
        return [row for row in record.rows if row["part"] == part]

    return (of("peak") or [None])[0], of("operation"), (of("batch") or [None])[0]


def _billions(value: float) -> str:
    return f"{value / 1e9:.3g}"


def roof(record: Any) -> Text:
    peak, operations, batch = _parts(record)
    if peak is None:
        return NOTHING
    doubt = doubtful(settle_roof(record))
    busy = both("The machine was busy, so the peaks are too low. ", "测量时机器正忙，峰值偏低。") if peak["busy"] else both("", "")
    last = both("", "")
    if batch is not None:
        time = f"{batch['ratio']:.2f} [{batch['low']:.2f}, {batch['high']:.2f}]"
        last = both(f" A linear layer with 64 rows does {batch['work_ratio']:.0f} times the work of one row in {time} times "
                    f"the time.",
                    f"同一个线性层，64 行的工作量是 1 行的 {batch['work_ratio']:.0f} 倍，耗时是 {time} 倍。")
    reach = {row["operation"]: f"{row['share_of_roof']:.0%}" for row in operations}
    best, worst = (edge(operations, key=lambda row: row["share_of_roof"]) if operations else None for edge in (max, min))
    if best is not None:
        best, worst = best["operation"], worst["operation"]
        last = both(f"{last['en']} Nearest to its roof: {best}, {reach[best]}; farthest: {worst}, {reach[worst]}.",
                    f"{last['zh']}离屋顶最近的是{NAMES.get(best, best)}（{reach[best]}），"
                    f"最远的是{NAMES.get(worst, worst)}（{reach[worst]}）。")
    return both(
        f"{doubt['en']}{busy['en']}Measured here on one thread: {_billions(peak['flops_per_s'])} GFLOP/s, "
        f"{_billions(peak['bytes_per_s'])} GB/s, so the bend is at {peak['ridge']:.3g} FLOPs a byte.{last['en']}",
        f"{doubt['zh']}{busy['zh']}本机单线程实测：{_billions(peak['flops_per_s'])} GFLOP/s，"
        f"{_billions(peak['bytes_per_s'])} GB/s，拐点在每字节 {peak['ridge']:.3g} FLOPs。{last['zh']}")


def draw_roof(record: Any, ax: Any) -> None:
    """The two measured roofs, and every operation that has FLOPs as a point."""
    from course.roofline import Layer, Peaks
    from course.roofline.picture import draw

    peak, operations, _ = _parts(record)
    if peak is None:
        return
    given = {name: peak[name] for name in ("flops_per_s", "bytes_per_s", "ridge", "dtype", "device", "threads",
                                           "precision", "created")}
    found = Peaks(**given, machine={})
    draw([Layer(t(row["operation"], NAMES.get(row["operation"], row["operation"])), "", row["flops"], row["bytes"],
                row["time_ms"], 1, found) for row in operations], found, "", ax)


def settle_roof(record: Any) -> dict[str, str | None]:
    _, _, batch = _parts(record)
    if batch is None:
        return {"03-bet-roof": None}
    low, high = batch["low"], batch["high"]
    option = "a" if low >= batch["work_ratio"] / 2 else "c" if high <= 2 else None
    if low > 2 and high < batch["work_ratio"] / 2:
        option = "b"
    return {"03-bet-roof": option}

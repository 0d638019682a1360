"""Lesson 03: invented rows that settle each bet on each of its options, and show the rest. Nothing was measured."""

from __future__ import annotations

from tests.lessons.live import as_rows


def memories(faults: float | None) -> list[dict]:
    """Fresh memory adds 1.5 ms to either layer."""
    kept = faults and 0.0
    return as_rows(
        "layer memory call_ms low_ms high_ms threads page_faults",
        ("dense", "fresh", 3.5, 2.0, 4.0, 1, faults),
        ("depthwise", "fresh", 2.0, 0.5, 2.5, 1, faults),
        ("dense", "kept", 2.0, 2.0, 4.0, 1, kept),
        ("depthwise", "kept", 0.5, 0.5, 2.5, 1, kept),
    )


def timed(fresh_ms: float, kept_ms: float) -> list[dict]:
    """A depthwise layer with fresh memory and with kept memory, each within 1 %."""
    times = {"fresh": fresh_ms, "kept": kept_ms}
    return [
        {**row, "call_ms": ms, "low_ms": 0.99 * ms, "high_ms": 1.01 * ms}
        for row in memories(1100.0)
        for ms in (times[row["memory"]],)
    ]


def tools(*reported: int) -> list[dict]:
    units = ["MACs"] + ["FLOPs"] * (len(reported) - 1)
    return [
        *as_rows(
            "part tool unit reported macs difference",
            *(("tool", f"tool {i}", units[i], number, number, 1) for i, number in enumerate(reported)),
        ),
        {"part": "reason", "tool": "tool 0", "macs": 5, "reason_en": "bias", "reason_zh": "偏置"},
        {"part": "missing", "tool": "thop", "reason_en": "not installed", "reason_zh": "没有安装"},
    ]


def lstm(on: int, off: int) -> list[dict]:
    return as_rows("layer mkldnn torch_flops exact_flops", ("LSTM", 1, on, 100), ("LSTM", 0, off, 100))


def lengths(at_1024: int) -> list[dict]:
    return as_rows("tokens macs linear_macs attention_macs", (256, 100, 99, 1), (1024, at_1024, at_1024 - 1, 1))


def shares(low: float, high: float) -> list[dict]:
    return as_rows(
        "channels size groups macs macs_ratio low ratio high verdict threads",
        (128, 28, 128, 10, 1 / 128, low, (low + high) / 2, high, "faster", 1),
    )


def roofs(low: float, high: float, busy: int = 0) -> list[dict]:
    operations = as_rows(
        "operation flops flops_per_byte bound",
        ("linear, batch 1", 10**6, 1.0, "memory"),
        ("linear, batch 64", 64 * 10**6, 64.0, "compute"),
        ("matrix product", 10**8, 100.0, "compute"),
        ("ReLU", 0, 0.0, "memory"),
    )
    alike = {"part": "operation", "bytes": 10**6, "time_ms": 1.0, "calls": 1, "overhead_ms": 0.0}
    share = {"share_of_roof": 0.1, "share_low": 0.09, "share_high": 0.11}
    return [
        *as_rows(
            "part flops_per_s bytes_per_s ridge dtype busy device threads precision created",
            ("peak", 1e11, 1e10, 10.0, "float32", busy, "cpu", 1, "none", "2026-05-01T09:30:00Z"),
        ),
        *(row | alike | share for row in operations),
        *as_rows(
            "part work_ratio ratio low high verdict threads", ("batch", 64.0, (low + high) / 2, low, high, "slower", 1)
        ),
    ]


ROWS = {
    "03-bet-roof": {"a": roofs(60, 66), "b": roofs(3.9, 4.1), "c": roofs(1.1, 1.4)},
    "03-bet-vgg": {"a": tools(100, 101), "b": tools(100, 130), "c": tools(100, 200)},
    "03-bet-lstm": {"a": lstm(0, 100), "b": lstm(100, 100), "c": lstm(100, 0)},
    "03-bet-length": {"a": lengths(400), "b": lengths(1600), "c": lengths(463)},
    "03-bet-depthwise": {"a": shares(0.007, 0.01), "b": shares(0.05, 0.06), "c": shares(0.6, 0.9)},
}
FURTHER = {
    "03-bet-roof": [(roofs(1.5, 2.5), None), (roofs(30, 40), None), (roofs(2.1, 2.7), "b")],
    "03-bet-vgg": [(tools(100), None), (tools(), None), (tools(100, 260), "c")],
    "03-bet-lstm": [(lstm(0, 0), None), (lstm(50, 100), None)],
    "03-bet-length": [(lengths(1000), None)],
    "03-bet-depthwise": [(shares(0.01, 0.02), None), (shares(0.4, 0.6), None), (shares(1.2, 1.4), "c")],
}
BRANCHES = {"03-page-faults": [memories(1100.0), timed(2.0, 0.5), timed(2.0, 1.5), timed(1.5, 2.0), timed(1.0, 1.01)]}

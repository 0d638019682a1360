"""Lesson 03: invented rows that settle each bet on each of its options, and show the rest. Nothing was measured."""

from __future__ import annotations


def memories(faults: float | None) -> list[dict]:
    """Invented rows: fresh memory adds 1.5 ms to either layer."""
    return [
        {
            "layer": layer,
            "memory": memory,
            "call_ms": work + 1.5 * (memory == "fresh"),
            "low_ms": work,
            "high_ms": work + 2,
            "threads": 1,
            "page_faults": faults if memory == "fresh" else faults and 0.0,
        }
        for memory in ("fresh", "kept")
        for layer, work in (("dense", 2.0), ("depthwise", 0.5))
    ]


def macs(n, c_in, c_out, kernel, height, width, groups=1):
    return n * height * width * c_out * (c_in // groups) * kernel * kernel


def tools(*reported: int) -> list[dict]:
    rows = [
        {
            "part": "tool",
            "tool": f"tool {i}",
            "unit": "FLOPs" if i else "MACs",
            "reported": number,
            "macs": number,
            "difference": 1,
        }
        for i, number in enumerate(reported)
    ]
    return [
        *rows,
        {"part": "reason", "tool": "tool 0", "macs": 5, "reason_en": "bias", "reason_zh": "偏置"},
        {"part": "missing", "tool": "thop", "reason_en": "not installed", "reason_zh": "没有安装"},
    ]


def lstm(on: int, off: int) -> list[dict]:
    return [
        {"layer": "LSTM", "mkldnn": enabled, "torch_flops": seen, "exact_flops": 100}
        for enabled, seen in ((1, on), (0, off))
    ]


def lengths(at_1024: int) -> list[dict]:
    return [
        {"tokens": tokens, "macs": macs, "linear_macs": macs - 1, "attention_macs": 1}
        for tokens, macs in ((256, 100), (1024, at_1024))
    ]


def shares(low: float, high: float) -> list[dict]:
    return [
        {
            "channels": 128,
            "size": 28,
            "groups": 128,
            "macs": 10,
            "macs_ratio": 1 / 128,
            "low": low,
            "ratio": (low + high) / 2,
            "high": high,
            "verdict": "faster",
            "threads": 1,
        }
    ]


def timed(fresh_ms: float, kept_ms: float) -> list[dict]:
    """A depthwise layer with fresh memory and with kept memory, each within 1 %."""
    return [
        {**row, "call_ms": ms, "low_ms": 0.99 * ms, "high_ms": 1.01 * ms}
        for row in memories(1100.0)
        for ms in (fresh_ms if row["memory"] == "fresh" else kept_ms,)
    ]


def roofs(low: float, high: float, busy: int = 0) -> list[dict]:
    peak = {
        "part": "peak",
        "flops_per_s": 1e11,
        "bytes_per_s": 1e10,
        "ridge": 10.0,
        "dtype": "float32",
        "busy": busy,
        "device": "cpu",
        "threads": 1,
        "precision": "none",
        "created": "2026-05-01T09:30:00Z",
    }
    operations = [
        {
            "part": "operation",
            "operation": name,
            "flops": flops,
            "bytes": 10**6,
            "time_ms": 1.0,
            "flops_per_byte": flops / 1e6,
            "bound": "compute" if flops > 10**7 else "memory",
            "share_of_roof": 0.1,
            "share_low": 0.09,
            "share_high": 0.11,
            "calls": 1,
            "overhead_ms": 0.0,
        }
        for name, flops in (
            ("linear, batch 1", 10**6),
            ("linear, batch 64", 64 * 10**6),
            ("matrix product", 10**8),
            ("ReLU", 0),
        )
    ]
    return [
        peak,
        *operations,
        {
            "part": "batch",
            "work_ratio": 64.0,
            "ratio": (low + high) / 2,
            "low": low,
            "high": high,
            "verdict": "slower",
            "threads": 1,
        },
    ]


FURTHER = {
    "03-bet-roof": [
        (roofs(3.9, 4.1), "b"),
        (roofs(60, 66), "a"),
        (roofs(1.1, 1.4), "c"),
        (roofs(1.5, 2.5), None),
        (roofs(30, 40), None),
        (roofs(3, 4)[:1], None),
    ],
    "03-bet-vgg": [(tools(100, 200), "c"), (tools(100, 130), "b"), (tools(100, 101), "a"), (tools(100), None)],
    "03-bet-lstm": [(lstm(0, 100), "a"), (lstm(100, 0), "c"), (lstm(100, 100), "b"), (lstm(0, 0), None)],
    "03-bet-length": [(lengths(463), "c"), (lengths(400), "a"), (lengths(1600), "b"), (lengths(1000), None)],
    "03-bet-depthwise": [
        (shares(0.05, 0.06), "b"),
        (shares(0.007, 0.01), "a"),
        (shares(0.6, 0.9), "c"),
        (shares(0.01, 0.02), None),
        (shares(0.4, 0.6), None),
    ],
}


ROWS = {bet: {option: rows for rows, option in outcomes if option} for bet, outcomes in FURTHER.items()}
SHOWN = {"03-page-faults": memories(1100.0)}
BRANCHES = {
    "03-vgg16-counters": [tools(100, 260), tools()],
    "03-lstm-zero": [lstm(50, 100)],
    "03-depthwise": [shares(1.2, 1.4)],
    "03-page-faults": [timed(2.0, 0.5), timed(2.0, 1.5), timed(1.5, 2.0), timed(1.0, 1.01), timed(1.0, 0.5)[:3]],
    "03-roof": [roofs(2.1, 2.7)],
}

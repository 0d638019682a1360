"""Lesson 09: invented rows that settle each bet on each of its options, and show the rest. Nothing was measured."""

from __future__ import annotations


def report_line(primitive: str, time_ms: float, event: str = "exec") -> str:
    """A line of the report, made up for a check."""
    return (
        f"onednn_verbose,v1,primitive,{event},cpu,{primitive},jit:made_up,undef,src:f32::blocked:abcd::f0 "
        f"dst:f32::blocked:aBcd16b::f0,attr-scratchpad:user,,8x16x64x64,{time_ms}"
    )


SPAN = {"faster": (0.4, 0.6), "same": (0.99, 1.01), "slower": (1.4, 1.6), "undecided": (0.8, 1.3)}


def ratio(kind):
    low, high = SPAN[kind]
    return {"ratio": (low + high) / 2, "low": low, "high": high, "verdict": kind}


def race_rows(*kinds):
    return [
        {"layer": layer, **ratio(kind), "on_ms": 1.0, "off_ms": 2.0, "rounds": 40, "threads": 1}
        for layer, kind in zip(("Conv2d", "LSTM", "GRU", "Linear"), kinds, strict=True)
    ]


def steps(*kinds):
    return [
        {"steps": 4**i, **ratio(kind), "on_ms": 1.0, "off_ms": 1.0, "rounds": 40, "reorder_share": 0.5}
        for i, kind in enumerate(kinds)
    ]


def layouts(count):
    return [
        {
            "layout": name,
            "reorders": 3 * count,
            "reorder_ms": 0.1,
            "compute_ms": 1.0,
            **ratio("faster"),
            "reorders_of_one_conv": count,
        }
        for name in ("NCHW", "channels_last", "to_mkldnn")
    ]


def routes(backend, lines=0):
    return [{"case": "one small image", "on": backend, "off": "Slow2d", "convolution_lines": lines}]


def half(kind):
    return [
        {
            "rung": rung,
            "process": 0,
            **ratio(kind if rung == "AVX512_CORE" else "faster"),
            "median_ms": 1.0,
            "baseline_ms": 1.0,
            "implementation": "made up",
        }
        for rung in ("DEFAULT", "AVX512_CORE", "AVX2")
    ]


ROWS = {
    "09-bet-who": {
        option: race_rows(*kinds.split())
        for option, kinds in (
            ("a", "faster faster faster faster"),
            ("b", "faster faster same faster"),
            ("c", "faster faster same same"),
            ("d", "faster slower same same"),
        )
    },
    "09-bet-reorders": {"a": layouts(0), "b": layouts(1), "c": layouts(3)},
    "09-bet-small": {"a": routes("Mkldnn", 1), "b": routes("Slow2d"), "c": routes("NnpackSpatial")},
    "09-bet-bf16": {"a": half("faster"), "b": half("same"), "c": half("slower")},
}
SHOWN = {
    "09-logs": [
        {"call": "conv", "line": report_line("reorder", 0.1)},
        {"call": "conv", "line": report_line("convolution", 1.5)},
    ],
    "09-one-step": steps("slower", "undecided", "faster"),
    "09-threads": [
        {"size": size, "threads": 2, **ratio("slower"), "one_ms": 1.0, "all_ms": 1.5} for size in ("small", "large")
    ],
}
FURTHER = {
    "09-bet-who": [
        (race_rows("same", "same", "same", "same"), None),
        (race_rows("faster", "faster", "undecided", "same"), None),
    ],
    "09-bet-reorders": [(layouts(2), "c")],
    "09-bet-small": [
        ([{**row, "off": ""} for row in routes("", lines)], option) for lines, option in ((1, "a"), (0, "b"))
    ],
    "09-bet-bf16": [(half("undecided"), None), (half("faster")[:1], None)],
}


def chain(one, last, kind):
    """Rows of 09-layouts: reorders of one convolution, of the channels_last chain, and how long that takes."""
    rows = layouts(one)
    rows[1] |= {"reorders": last, **ratio(kind)}
    return rows


def threads(small, large, count=2, times=1.0):
    pairs = zip(("small", "large"), (small, large), strict=True)
    return [
        {
            "size": size,
            "threads": count,
            **ratio(kind),
            "ratio": ratio(kind)["ratio"] * times,
            "one_ms": 1.0,
            "all_ms": 1.5,
        }
        for size, kind in pairs
    ]


def few(rows):
    """The same with too few rounds for an interval."""
    return [{**row, "low": None, "high": None, "rounds": 4} for row in rows]


BRANCHES = {
    "09-one-step": [
        *(steps(kind, kind, kind) for kind in SPAN),
        steps("same", "faster", "faster"),
        steps("slower", "same", "same"),
        steps("faster", "undecided"),
        few(steps("slower", "faster")),
    ],
    "09-on-off": [
        race_rows("undecided", "undecided", "undecided", "undecided"),
        race_rows("undecided", "same", "same", "same"),
        race_rows("faster", "faster", "faster", "undecided"),
        few(race_rows("faster", "faster", "same", "same")),
    ],
    "09-routes": [[*routes("Slow2d"), {**routes("Mkldnn", 1)[0], "case": "batch"}]],
    "09-logs": [
        [{"call": "conv", "line": report_line(name, 1.0)} for name in names]
        for names in (("convolution",), ("reorder", "reorder", "convolution"))
    ],
    "09-layouts": [chain(3, 3, "faster"), chain(3, 3, "same"), chain(1, 9, "slower"), few(layouts(3))],
    "09-bf16": [
        *([{**half("same")[0], **ratio(kind)}] for kind in SPAN),
        [{**row, **ratio("slower")} for row in half("slower")],
        few(half("slower")),
    ],
    "09-threads": [
        threads("slower", "faster"),
        threads("undecided", "faster"),
        threads("same", "same", count=1),
        threads("slower", "slower", times=40.0),
    ],
}
"""Further outcomes that have words of their own: experiment -> rows of each."""

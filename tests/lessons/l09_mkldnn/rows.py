"""Lesson 09: invented rows that settle each bet on each of its options, and show the rest. Nothing was measured."""

from __future__ import annotations

SPAN = {"faster": (0.4, 0.6), "same": (0.99, 1.01), "slower": (1.4, 1.6), "undecided": (0.8, 1.3)}


def report(*primitives: str) -> list[dict]:
    """Lines of oneDNN's report, made up."""
    line = (
        "onednn_verbose,v1,primitive,exec,cpu,{},jit:made_up,undef,src:f32::blocked:abcd::f0 "
        "dst:f32::blocked:aBcd16b::f0,attr-scratchpad:user,,8x16x64x64,1.0"
    )
    return [{"call": "conv", "line": line.format(name)} for name in primitives]


def ratio(kind):
    low, high = SPAN[kind]
    return {"ratio": (low + high) / 2, "low": low, "high": high, "verdict": kind}


def race_rows(kinds):
    layers = ("Conv2d", "LSTM", "GRU", "Linear")
    times = {"on_ms": 1.0, "off_ms": 2.0, "rounds": 40, "threads": 1}
    return [{"layer": layer, **ratio(kind), **times} for layer, kind in zip(layers, kinds.split(), strict=True)]


def steps(kinds):
    times = {"on_ms": 1.0, "off_ms": 1.0, "rounds": 40, "reorder_share": 0.5}
    return [{"steps": 4**at, **ratio(kind), **times} for at, kind in enumerate(kinds.split())]


def layouts(of_one, last=None, kind="faster"):
    """Reorders of one convolution, and of the channels_last chain, which takes so long."""
    chains = {
        "NCHW": (3 * of_one, "faster"),
        "channels_last": (last or 3 * of_one, kind),
        "to_mkldnn": (3 * of_one, "faster"),
    }
    times = {"reorder_ms": 0.1, "compute_ms": 1.0, "reorders_of_one_conv": of_one}
    return [{"layout": name, "reorders": count, **ratio(one), **times} for name, (count, one) in chains.items()]


def routes(backend, lines=0, off="Slow2d", case="one small image"):
    return [{"case": case, "on": backend, "off": off, "convolution_lines": lines}]


def half(kind):
    other = {"process": 0, "median_ms": 1.0, "baseline_ms": 1.0, "implementation": "made up"}
    kinds = {"DEFAULT": "faster", "AVX512_CORE": kind, "AVX2": "faster"}
    return [{"rung": rung, **ratio(one), **other} for rung, one in kinds.items()]


def threads(small, large, count=2, times=1.0):
    rows = [{"size": size, "threads": count, **ratio(kind)} for size, kind in (("small", small), ("large", large))]
    return [{**row, "ratio": row["ratio"] * times, "one_ms": 1.0, "all_ms": 1.5} for row in rows]


def few(rows):
    """The same with too few rounds for an interval."""
    return [{**row, "low": None, "high": None, "rounds": 4} for row in rows]


ROWS = {
    "09-bet-who": {
        "a": race_rows("faster faster faster faster"),
        "b": race_rows("faster faster same faster"),
        "c": race_rows("faster faster same same"),
        "d": race_rows("faster slower same same"),
    },
    "09-bet-reorders": {"a": layouts(0), "b": layouts(1), "c": layouts(3)},
    "09-bet-small": {"a": routes("Mkldnn", 1), "b": routes("Slow2d"), "c": routes("NnpackSpatial")},
    "09-bet-bf16": {"a": half("faster"), "b": half("same"), "c": half("slower")},
}
FURTHER = {
    "09-bet-who": [
        (race_rows("same same same same"), None),
        (race_rows("faster faster undecided same"), None),
        (race_rows("undecided same same same"), None),
        (few(race_rows("faster faster same same")), None),
    ],
    "09-bet-reorders": [
        (layouts(2), "c"),
        (layouts(3, 3, "faster"), "c"),
        (layouts(3, 3, "same"), "c"),
        (layouts(1, 9, "slower"), "b"),
        (few(layouts(3)), "c"),
    ],
    "09-bet-small": [
        (routes("", 1, off=""), "a"),  # a torch that does not name its choice
        (routes("", off=""), "b"),
        ([*routes("Slow2d"), *routes("Mkldnn", 1, case="batch")], "b"),
    ],
    "09-bet-bf16": [
        (half("undecided"), None),
        *(([{**half("same")[0], **ratio(kind)}], None) for kind in SPAN),
        ([{**row, **ratio("slower")} for row in half("slower")], "c"),
        (few(half("slower")), None),
    ],
}
BRANCHES = {
    "09-one-step": [
        steps("slower undecided faster"),
        *(steps(f"{kind} {kind} {kind}") for kind in SPAN),
        steps("same faster faster"),
        steps("slower same same"),
        steps("faster undecided"),
        few(steps("slower faster")),
    ],
    "09-logs": [report("convolution"), report("reorder", "convolution"), report("reorder", "reorder", "convolution")],
    "09-threads": [
        threads("slower", "slower"),
        threads("slower", "faster"),
        threads("undecided", "faster"),
        threads("same", "same", count=1),
        threads("slower", "slower", times=40.0),
    ],
}

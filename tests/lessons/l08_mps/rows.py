"""Lesson 08: invented rows that settle each bet on each of its options, and show the rest. Nothing was measured."""

from __future__ import annotations


def variables(counted):
    return [{"variable": f"V{n}", "moment": "after import", "counted": one} for n, one in enumerate(counted.split())]


def counter(grown):
    return [{"case": "count", "float64": "10.0", "float32": str(float(grown)), "cured": "10.0"}]


ROWS = {
    "08-bet-env": {"a": variables("no no no no"), "b": variables("no yes no no"), "c": variables("yes yes yes yes")},
    "08-bet-counter": {"a": counter(10), "b": counter(0), "c": counter(4)},
}
SHOWN = {
    "08-half-mps": [
        {"format": name, "size": 512, "ratio": 0.6, "low": 0.5, "high": 0.7, "verdict": verdict, "relative": 1e-3}
        for name, verdict in (("float16", "faster"), ("bfloat16", "undecided"))
    ],
    "08-speed-mps": [
        {
            "op": "matmul",
            "size": size,
            "ratio": ratio,
            "low": ratio * 0.9,
            "high": ratio * 1.1,
            "verdict": verdict,
            "cpu_ms": 1.0,
            "mps_ms": ratio,
        }
        for size, ratio, verdict in ((64, 3.0, "slower"), (2048, 0.1, "faster"))
    ],
    "08-fence-mps": [
        {"read": "at once", "samples_ms": [0.1] * 20},
        {"read": "after synchronize", "samples_ms": [9.0] * 20},
    ],
    "08-fallback-mps": [
        {"moment": moment, "op": op, "outcome": outcome}
        for op, outcome in (("a", "native"), ("b", "on CPU"))
        for moment in ("never", "before import", "after import")
    ],
}
FURTHER = {"08-bet-env": [(variables("unclear unclear unclear no"), None)]}


def lost(*cases):
    """(float32, rewritten) of results that are 10 in float64."""
    return [
        {"case": case, "float64": "10.0", "float32": low, "cured": cured}
        for case, (low, cured) in zip(("count", "elapsed", "spread"), cases, strict=False)
    ]


def races(*verdicts):
    return [
        {**row, "size": 64 * 8**at, "verdict": verdict, "ratio": 0.6, "low": 0.5, "high": 0.7}
        for at, (row, verdict) in enumerate(zip(SHOWN["08-speed-mps"] * 2, verdicts, strict=False))
    ]


def halves(*verdicts):
    return [{**SHOWN["08-half-mps"][0], "size": 512 * 2**at, "verdict": one} for at, one in enumerate(verdicts)]


def fallen(never, before, after):
    """How many of three operations are computed on the CPU when the variable is set then."""
    counts = {"never": never, "before import": before, "after import": after}
    return [
        {"moment": moment, "op": op, "outcome": "on CPU" if at < count else "native"}
        for moment, count in counts.items()
        for at, op in enumerate("abc")
    ]


BRANCHES = {
    "08-float32-loses": [lost(("0.0", "10.0"), ("10.0", "10.0")), lost(("0.0", "0.0"), ("0.0", "10.0"))],
    "08-speed-mps": [races("slower", "same"), races("undecided", "slower"), races("faster", "faster")],
    "08-fence-mps": [
        [{**row, "samples_ms": [ms] * 20} for row, ms in zip(SHOWN["08-fence-mps"], pair, strict=True)]
        for pair in ((6.0, 9.0), (9.0, 9.0))
    ],
    "08-fallback-mps": [fallen(0, 2, 0), fallen(0, 2, 2)],
    "08-half-mps": [halves("same", "slower"), halves("undecided", "same")],
}
"""Further outcomes that have words of their own: experiment -> rows of each."""

"""Lesson 08: invented rows that settle each bet on each of its options, and show the rest. Nothing was measured."""

from __future__ import annotations


def asked(kind, said):
    return [{"group": "query", "code": "backends.mps.is_macos_or_newer(14, 0)", "kind": kind, "said": said}]


def liar(accepted, query, tensor):
    return [
        {
            "code": "mps.is_available = lambda: True",
            "accepted": accepted,
            "query_before": "False",
            "query": query,
            "tensor_before": "RuntimeError",
            "tensor": tensor,
            "known_before": "yes",
        }
    ]


def variables(counted):
    return [{"variable": f"V{n}", "moment": "after import", "counted": one} for n, one in enumerate(counted.split())]


def counter(grown):
    return [{"case": "count", "float64": "10.0", "float32": str(float(grown)), "cured": "10.0"}]


def crashing(*selectors):
    names = ("cuda or cpu", "is_built()", "current_accelerator()", "check_available=True")
    return [
        {
            "machine": "no driver",
            "selector": name,
            "outcome": "crash" if name in selectors else "best",
            "picked": "cuda" if name in selectors else "cpu",
        }
        for name in names
    ]


def copies(relu, svd):
    return [
        {"op": op, "ratio": middle, "low": middle - 0.01, "high": middle + 0.01}
        for op, middle in (("relu", relu), ("svd", svd))
    ]


ROWS = {
    "08-bet-ask": {"a": asked("value", "False"), "b": asked("RuntimeError", "Cannot"), "c": asked("value", "True")},
    "08-bet-liar": {
        "a": liar("yes", "True", "value"),
        "b": liar("yes", "True", "RuntimeError"),
        "c": liar("AttributeError", "False", "RuntimeError"),
        "d": liar("yes", "False", "RuntimeError"),
    },
    "08-bet-env": {"a": variables("no no no no"), "b": variables("no yes no no"), "c": variables("yes yes yes yes")},
    "08-bet-counter": {"a": counter(10), "b": counter(0), "c": counter(4)},
    "08-bet-selector": {
        "a": crashing(),
        "b": crashing("is_built()"),
        "c": crashing("is_built()", "current_accelerator()"),
        "d": crashing("is_built()", "current_accelerator()", "check_available=True"),
    },
    "08-bet-fallback": {"a": copies(2.0, 1.1), "b": copies(1.1, 2.0), "c": copies(1.01, 1.02)},
}
SHOWN = {
    "08-memory-mps": [
        {
            "moment": moment,
            "allocated_mib": 0.0 + 256 * (moment == "made"),
            "driver_mib": 300.0,
            "recommended_mib": 8192.0,
        }
        for moment in ("before", "made", "deleted", "emptied")
    ],
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
    "08-transfer-mps": [
        {"way": way, "kib": kib, "samples_ms": [0.1 + kib / 1e4] * 20}
        for kib in (4, 65536)
        for way in ("to mps", "to cpu")
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
    "08-float64-mps": [
        {"code": "x.double()", "kind": "TypeError", "said": "Cannot convert"},
        {"code": "x.float()", "kind": "value", "said": "a tensor on mps:0"},
    ],
    "08-repeat-mps": [
        {"pair": pair, "outcome": "no", "largest_difference": 1e-3}
        for pair in ("product", "index_add", "dropout", "randn", "devices")
    ]
    + [{"pair": "autocast", "outcome": "torch.float16", "largest_difference": 0.0}],
}
FURTHER = {
    "08-bet-ask": [(asked("OSError", "odd"), None)],
    "08-bet-env": [(variables("unclear unclear unclear no"), None)],
    "08-bet-fallback": [
        ([{**row, "low": 0.9, "high": 2.0} for row in copies(1.4, 1.4)], None),
        ([{**row, "low": row["ratio"] - 0.03, "high": row["ratio"] + 0.03} for row in copies(1.02, 1.01)], "c"),
    ],
}

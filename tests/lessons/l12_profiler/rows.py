"""Lesson 12: invented rows that settle each bet on each of its options, and show the rest. Nothing was measured."""

from __future__ import annotations

WORKS = ("few large", "many small")
SETTINGS = ("control", "profile", "shapes", "stack", "whole")


def columns(total):
    return [{"trace": n, "operations": 15, "total": total + 0.01 * n, "self": 0.9} for n in range(12)]


def repairs(photos, layers, scores):
    cases = {"photos": photos, "layers": layers, "scores": scores}
    return [
        {
            "case": name,
            "code": "pixels = (pixels - mean) / spread",
            "named": name != "layers",
            "overhead": 0.2,
            "reorder_share": 0.3 if name == "layers" else 0.0,
            "ratio": ratio,
            "low": ratio - 0.02,
            "high": ratio + 0.02,
            "verdict": "faster",
        }
        for name, ratio in cases.items()
    ]


def waits(operations, loader):
    return [
        {"trace": n, "operations": operations, "loader": loader, "outside": 1 - operations - loader} for n in range(8)
    ]


def costs(few, many, control=1.0):
    """Twelve rounds in which profile() makes the works slower by these factors."""
    ratio = {"few large": few, "many small": many}
    return [
        {"round": n, "work": work, "setting": one, "ratio": (control if one == "control" else ratio[work]) + 0.001 * n}
        for n in range(12)
        for work in WORKS
        for one in SETTINGS
    ]


def kernels(story, call, *names):
    return [{"story": story, "call": call, "kernel": name, "calls": 1, "mean_us": 12.0} for name in names]


ROWS = {
    "12-bet-total": {"a": columns(0.5), "b": columns(0.95), "c": columns(3.6)},
    "12-bet-repair": {"a": repairs(0.2, 0.7, 0.5), "b": repairs(0.6, 0.2, 0.5), "c": repairs(0.6, 0.7, 0.1)},
    "12-bet-wait": {"a": waits(0.8, 0.1), "b": waits(0.1, 0.8), "c": waits(0.1, 0.1)},
    "12-bet-cost": {"a": costs(2.0, 1.1), "b": costs(1.01, 1.8), "c": costs(1.3, 1.3)},
}
SHOWN = {
    "12-gpu-trace-cuda": [
        *kernels("search off", 1, "one_kernel"),
        *kernels("search off", 2, "one_kernel"),
        *kernels("search on", 1, "one_kernel", "other_kernel", "third_kernel"),
        *kernels("search on", 2, "third_kernel"),
        *kernels("copy", 1, "Memcpy HtoD (Pageable -> Device)"),
        *kernels("wait", 1, "aten::item"),
        *kernels("wait", 2, "aten::item"),
    ]
}
FURTHER = {
    "12-bet-total": [(columns(1.22), None)],
    "12-bet-repair": [
        (repairs(0.5, 0.51, 0.52), None),
        (repairs(0.99, 1.0, 1.01), None),
        (repairs(0.5, 0.51, 1.5), None),
        (repairs(1.1, 1.2, 1.3), "a"),
    ],
    "12-bet-wait": [(waits(0.4, 0.4), None)],
    "12-bet-cost": [(costs(1.3, 1.3, control=1.5), None)],
}
BRANCHES = {
    "12-repairs": [repairs(1.1, 1.2, 1.3)],
    "12-gpu-trace-cuda": [
        [*SHOWN["12-gpu-trace-cuda"], *kernels("search on", 2, "one_kernel", "other_kernel")],
        kernels("search on", 1, "one_kernel"),
    ],
}
"""Further outcomes that have words of their own: experiment -> rows of each."""

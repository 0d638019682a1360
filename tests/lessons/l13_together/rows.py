"""Lesson 13: invented rows that settle each bet on each of its options, and show the rest. Nothing was measured."""

from __future__ import annotations

from course.lessons.l13_together.experiments import _cases


def attends(plain="flash", refused="dropout"):
    """Every case runs flash, except one, and the plain one if told so."""
    kernel = {"plain": plain, refused: "math"}
    return [
        {"case": case, "kernel": kernel.get(case, "flash"), "refusal": "A made-up reason." if case == refused else ""}
        for case in _cases()
    ]


def memory(share):
    """Flash holds ``share`` of what math holds."""
    return [
        {
            "tokens": tokens,
            "flash": "flash",
            "math": "math",
            "flash_mib": share * tokens / 100,
            "math_mib": tokens / 100,
            "flash_ms": 1.0,
            "math_ms": 2.0,
            "ratio": 0.5,
            "low": 0.48,
            "high": 0.52,
            "verdict": "faster",
            "difference": 1e-7,
        }
        for tokens in (64, 1024)
    ]


def compiled(mkldnn, threads):
    again = {"nothing": 0, "mkldnn.enabled": mkldnn, "set_num_threads": threads, "no_grad": 1}
    return [{"setting": name, "first": 1, "again": count, "back": 0} for name, count in again.items()]


def baked(after, again):
    rows = {
        "none": ("flash", "math", "math", 0),
        "aot_eager": ("flash", after, "math", again),
        "inside": ("written out",) * 3 + (0,),
    }
    return [
        {"backend": name, "before": before, "after": then, "reset": reset, "again": count}
        for name, (before, then, reset, count) in rows.items()
    ]


def libraries(inside):
    return [
        {"operation": "Linear", "outside": "float32", "inside": "bfloat16", "lines_outside": 0, "lines_inside": inside},
        {"operation": "Conv2d", "outside": "float32", "inside": "bfloat16", "lines_outside": 3, "lines_inside": 3},
        {"operation": "relu", "outside": "float32", "inside": "float32", "lines_outside": 0, "lines_inside": 0},
    ]


ROWS = {
    "13-bet-cpu": {"a": attends("math"), "b": attends(), "c": attends("efficient")},
    "13-bet-inputs": {
        option: attends(refused=case)
        for option, case in (("a", "mask"), ("b", "dropout"), ("c", "bfloat16"), ("d", "gradients"))
    },
    "13-bet-memory": {"a": memory(0.9), "b": memory(0.5), "c": memory(0.05)},
    "13-bet-recompile": {"a": compiled(1, 0), "b": compiled(0, 1), "c": compiled(1, 1), "d": compiled(0, 0)},
    "13-bet-baked": {"a": baked("math", 1), "b": baked("math", 0), "c": baked("flash", 0)},
    "13-bet-library": {"a": libraries(0), "b": libraries(2)},
}
FURTHER = {
    "13-bet-inputs": [([{**row, "kernel": "math"} for row in attends()], None), (attends(refused="float64"), None)],
    "13-bet-memory": [([{**row, "math": "flash"} for row in memory(0.05)], None)],
    "13-bet-recompile": [([{**row, "again": 1} for row in compiled(0, 1)], None)],
    "13-bet-baked": [([{**row, "before": "math"} for row in baked("math", 0)], None)],
    "13-bet-library": [([{**row, "lines_outside": lines} for row in libraries(lines)], None) for lines in (2, 0)],
}
BRANCHES = {
    "13-who-attends": [[{**row, "kernel": "flash"} for row in attends()]],
    "13-flash-math": [memory(1.5)],
    "13-autocast": [
        [{**row, "inside": "float32"} for row in libraries(2)],
        [{**row, "lines_outside": 0, "lines_inside": 0} for row in libraries(0)],
        [{**row, "lines_outside": 2} for row in libraries(0)],
        [{**row, "inside": "RuntimeError", "lines_inside": 0} for row in libraries(2)],
    ],
}
"""Further outcomes that have words of their own: experiment -> rows of each."""

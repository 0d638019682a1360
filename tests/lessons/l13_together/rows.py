"""Lesson 13: invented rows that settle each bet on each of its options, and show the rest. Nothing was measured."""

from __future__ import annotations

from course.lessons.l13_together.experiments import _cases
from tests.lessons.live import as_rows


def attends(plain="flash", refused="dropout"):
    """Every case runs flash, except one, and the plain one if told so."""
    kernel = {"plain": plain, refused: "math"}
    reason = {refused: "A made-up reason."}
    return as_rows(
        "case kernel refusal", *((case, kernel.get(case, "flash"), reason.get(case, "")) for case in _cases())
    )


def memory(share):
    """Flash holds ``share`` of what math holds."""
    columns = "tokens flash math flash_mib math_mib flash_ms math_ms ratio low high verdict difference"
    race = (1.0, 2.0, 0.5, 0.48, 0.52, "faster", 1e-7)
    return as_rows(columns, *((n, "flash", "math", share * n / 100, n / 100, *race) for n in (64, 1024)))


def compiled(mkldnn, threads):
    again = {"nothing": 0, "mkldnn.enabled": mkldnn, "set_num_threads": threads, "no_grad": 1}
    return [{"setting": name, "first": 1, "again": count, "back": 0} for name, count in again.items()]


def baked(after, again):
    return as_rows(
        "backend before after reset again",
        ("none", "flash", "math", "math", 0),
        ("aot_eager", "flash", after, "math", again),
        ("inside", "written out", "written out", "written out", 0),
    )


def libraries(inside):
    return as_rows(
        "operation outside inside lines_outside lines_inside",
        ("Linear", "float32", "bfloat16", 0, inside),
        ("Conv2d", "float32", "bfloat16", 3, 3),
        ("relu", "float32", "float32", 0, 0),
    )


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
    "13-bet-inputs": [
        ([{**row, "kernel": "math"} for row in attends()], None),
        ([{**row, "kernel": "flash"} for row in attends()], None),
        (attends(refused="float64"), None),
    ],
    "13-bet-memory": [([{**row, "math": "flash"} for row in memory(0.05)], None), (memory(1.5), "a")],
    "13-bet-recompile": [([{**row, "again": 1} for row in compiled(0, 1)], None)],
    "13-bet-baked": [([{**row, "before": "math"} for row in baked("math", 0)], None)],
    "13-bet-library": [
        ([{**row, "lines_outside": 2} for row in libraries(2)], None),
        ([{**row, "lines_outside": 0} for row in libraries(0)], None),
        ([{**row, "lines_outside": 2} for row in libraries(0)], None),
        ([{**row, "lines_outside": 0, "lines_inside": 0} for row in libraries(0)], None),
        ([{**row, "inside": "float32"} for row in libraries(2)], None),
        ([{**row, "inside": "RuntimeError", "lines_inside": 0} for row in libraries(2)], None),
    ],
}

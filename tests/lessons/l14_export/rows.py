"""Lesson 14: invented rows that settle each bet on each of its options, and show the rest. Nothing was measured."""

from __future__ import annotations

from course.lessons.l14_export.experiments import AROUND, MODEL, SENT, _layers
from tests.lessons.live import as_rows


def kept(*noticed, onnx=0):
    return [
        {"setting": one, "trace": int(one.startswith("cudnn")), "export": int(one in noticed), "onnx": onnx}
        for one in (*AROUND, *MODEL)
    ]


def gates(result, error=""):
    ways = (("python", -1.5, ""), ("trace", result, error), ("export", 0.0, "MadeUpError"), ("where", -1.5, ""))
    return as_rows(
        "way input result error",
        *(
            (way, given, found, refused)
            for way, answer, refused in ways
            for given, found in (("like the example", 2.0), ("the other side", answer))
        ),
    )


def layers(chance, whole):
    shares = {"Linear": chance, "Linear, whole numbers": whole}
    columns = "layer differ_share largest torch_error other_error"
    return as_rows(columns, *((one, shares.get(one, 0.5), 1e-7, 1e-7, 2e-7) for one in _layers()))


def sent(least):
    return [{"sent": one, "largest": 1e-6 if one == "as it should be" else least} for one in SENT]


ROWS = {
    "14-bet-switches": {
        "a": kept("train"),
        "b": kept("autocast", "train"),
        "c": kept(*(one for one in AROUND if one.startswith("cudnn"))),
        "d": kept(*AROUND, onnx=-1),
    },
    "14-bet-branch": {"a": gates(-1.0), "b": gates(-1.5), "c": gates(0.0, "MadeUpError")},
    "14-bet-bits": {"a": layers(0.0, 0.0), "b": layers(0.4, 0.0), "c": layers(0.4, 0.3)},
    "14-bet-faults": {"a": sent(2e-6), "b": sent(5e-5), "c": sent(0.02)},
}
FURTHER = {
    "14-bet-switches": [
        ([{**row, "trace": 0} for row in kept("train")], "a"),
        (kept("cudnn.enabled"), None),
        (kept("train")[:4], None),
    ],
    "14-bet-bits": [(layers(0.0, 0.3), None), (layers(0.4, 0.0)[:1], None)],
}

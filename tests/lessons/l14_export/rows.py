"""Lesson 14: invented rows that settle each bet on each of its options, and show the rest. Nothing was measured."""

from __future__ import annotations

from course.lessons.l14_export.experiments import AROUND, MODEL, SENT, _layers


def kept(*noticed, onnx=0):
    return [
        {"setting": one, "trace": int(one.startswith("cudnn")), "export": int(one in noticed), "onnx": onnx}
        for one in (*AROUND, *MODEL)
    ]


def gates(result, error=""):
    answers = {"python": -1.5, "trace": result, "export": 0.0, "where": -1.5}
    errors = {"trace": error, "export": "MadeUpError"}
    return [
        {
            "way": way,
            "input": given,
            "result": 2.0 if given == "like the example" else answer,
            "error": errors.get(way, ""),
        }
        for way, answer in answers.items()
        for given in ("like the example", "the other side")
    ]


def layers(chance, whole):
    shares = {"Linear": chance, "Linear, whole numbers": whole}
    return [
        {"layer": one, "differ_share": shares.get(one, 0.5), "largest": 1e-7, "torch_error": 1e-7, "other_error": 2e-7}
        for one in _layers()
    ]


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
SHOWN = {}


BRANCHES = {
    "14-what-it-keeps": [[{**row, "trace": 0} for row in kept("train")], kept("cudnn.enabled"), kept("train")[:4]],
    "14-same-bits": [layers(0.0, 0.3), layers(0.4, 0.0)[:1]],
}
"""Further outcomes that have words of their own: experiment -> rows of each."""

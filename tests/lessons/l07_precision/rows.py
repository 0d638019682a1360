"""Lesson 07: invented rows that settle each bet on each of its options, and show the rest. Nothing was measured."""

from __future__ import annotations

from course.lessons.l07_precision.experiments import LARGEST, SIDE, largest_of
from tests.lessons.l07_precision.test_records import CUDA_ROWS, growth, permissions, races, solved

NODES = ("fp32_precision", "cudnn", "mkldnn", "mkldnn.matmul", "mkldnn.conv", "mkldnn.rnn")


def untouched(conv, rnn, matmul):
    return [
        {"set": "nothing", "node": node, "before": value, "after": value}
        for node, value in {
            **dict.fromkeys(NODES, "none"),
            "cudnn.conv": conv,
            "cudnn.rnn": rnn,
            "cuda.matmul": matmul,
        }.items()
    ]


def counted(shown):
    return [{"format": "bfloat16", "added": 5000, "shown": float(shown)}]


def convolutions(untouched, assigned):
    return [
        {"story": story, "node": "cudnn.conv", "reads": value}
        for story, value in (("untouched", untouched), ("assigned", assigned))
    ]


def documented(rounded, cut):
    """Typical errors whose largest, foretold, is so many times the documented one."""
    return [
        {"seed": 0, "way": way, "typical": times * LARGEST / largest_of(SIDE * SIDE)}
        for way, times in (("rounded", rounded), ("cut", cut))
    ]


def read(outcome):
    return [{"wrote": "fp32_precision = tf32", "api": "new", "read": "cuda.matmul.allow_tf32", "outcome": outcome}]


def gradients(batch):
    return [{"draw": n, "batch": batch * (1 + 0.01 * n), "tf32": 4e-4, "bfloat16": 3e-3} for n in range(12)]


ROWS = {
    "07-bet-default": {
        "a": untouched("none", "none", "none"),
        "b": untouched("tf32", "tf32", "none"),
        "c": untouched("none", "none", "tf32"),
        "d": untouched("tf32", "tf32", "tf32"),
    },
    "07-bet-k": {"a": growth(1000.0), "b": growth(1.1), "c": growth(30.0)},
    "07-bet-counter": {"a": counted(5000), "b": counted(4900), "c": counted(256)},
    "07-bet-no-op": {
        "a": convolutions("ieee", "ieee"),
        "b": convolutions("ieee", "tf32"),
        "c": convolutions("tf32", "tf32"),
    },
    "07-bet-mixing": {"a": read("True"), "b": read("False"), "c": read("raises")},
    "07-bet-page": {"a": documented(1.0, 2.6), "b": documented(0.4, 1.0), "c": documented(0.98, 1.02)},
    "07-bet-onednn": {"a": permissions(2.4e-3, "yes"), "b": permissions(4e-7, "unknown")},
    "07-bet-solve": {"a": solved(1e-7, 3e-4, 2.9e-4), "b": solved(1e-7, 3e-4, 1.2e-7), "c": solved(1e-7, 3e-4, 0.1)},
    "07-bet-noise": {"a": gradients(1e-5), "b": gradients(1e-3), "c": gradients(1.0)},
    "07-bet-speed": {"a": races("faster", "faster"), "b": races("same", "faster"), "c": races("same", "slower")},
}
SHOWN = {
    **CUDA_ROWS,
    "07-neighbours": [
        {"seed": seed, "offset": offset, "story": story, "share": 1.0 - 0.5 * ("tf32" in story) * (offset > 0)}
        for seed in range(3)
        for offset in (0, 100, 300)
        for story in ("float32", "tf32", "tf32, mean removed")
    ],
}

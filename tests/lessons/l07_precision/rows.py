"""Lesson 07: invented rows that settle each bet on each of its options, and show the rest. Nothing was measured."""

from __future__ import annotations

from tests.lessons.live import as_rows


def solved(plain, low, mixed):
    errors = {"all float32": plain, "all TF32": low, "step TF32, residual float32": mixed}
    return as_rows(
        "seed story turn relative", *((0, story, turn, error) for story, error in errors.items() for turn in (1, 2))
    )


def permissions(bf16, units="no"):
    rows = as_rows(
        "operation permission relative same_bits bf16_units",
        *(
            (name, allowed, bf16 if (name, allowed) == ("matmul", "bf16") else 2e-7, 1, units)
            for name in ("matmul", "conv", "rnn")
            for allowed in ("none", "ieee", "tf32", "bf16")
        ),
    )
    simulated = [("simulated", "tf32", 3e-4), ("simulated", "bf16", 2.4e-3)]
    return [*rows, *as_rows("operation permission relative", *simulated)]


def races(*verdicts):
    return as_rows(
        "operation size ratio low high verdict ieee_ms tf32_ms",
        *(("matmul", 256 * 4**i, 0.5, 0.4, 0.6, verdict, 1.0, 0.5) for i, verdict in enumerate(verdicts)),
    )


NODES = ("fp32_precision", "cudnn", "mkldnn", "mkldnn.matmul", "mkldnn.conv", "mkldnn.rnn")


def untouched(conv, rnn, matmul):
    found = dict.fromkeys(NODES, "none") | {"cudnn.conv": conv, "cudnn.rnn": rnn, "cuda.matmul": matmul}
    return as_rows("set node before after", *(("nothing", node, value, value) for node, value in found.items()))


def read(outcome):
    return [{"wrote": "fp32_precision = tf32", "api": "new", "read": "cuda.matmul.allow_tf32", "outcome": outcome}]


def gradients(batch):
    return [{"draw": n, "batch": batch * (1 + 0.01 * n), "tf32": 4e-4, "bfloat16": 3e-3} for n in range(12)]


def crowd(plain, low, cured):
    shares = {"float32": plain, "tf32": low, "tf32, mean removed": cured}
    return [
        {"seed": seed, "offset": offset, "story": story, "share": share if offset else 1.0}
        for seed in range(6)
        for offset in (0, 100, 300)
        for story, share in shares.items()
    ]


ROWS = {
    "07-bet-default": {
        "a": untouched("none", "none", "none"),
        "b": untouched("tf32", "tf32", "none"),
        "c": untouched("none", "none", "tf32"),
        "d": untouched("tf32", "tf32", "tf32"),
    },
    "07-bet-mixing": {"a": read("True"), "b": read("False"), "c": read("raises")},
    "07-bet-onednn": {"a": permissions(2.4e-3, "yes"), "b": permissions(4e-7, "unknown")},
    "07-bet-solve": {"a": solved(1e-7, 3e-4, 2.9e-4), "b": solved(1e-7, 3e-4, 1.2e-7), "c": solved(1e-7, 3e-4, 0.1)},
    "07-bet-noise": {"a": gradients(1e-5), "b": gradients(1e-3), "c": gradients(1.0)},
    "07-bet-speed": {"a": races("faster", "faster"), "b": races("same", "faster"), "c": races("same", "slower")},
}
FURTHER = {
    "07-bet-solve": [(solved(1e-7, 3e-4, 1e-5), None), (solved(1e-7, 5e-7, 1e-7), None)],
    "07-bet-noise": [([{**row, "batch": 4e-3 * (0.2 + 0.3 * row["draw"])} for row in gradients(4e-3)], None)],
    "07-bet-onednn": [(permissions(5e-5, "no"), None)],
    "07-bet-default": [(untouched("tf32", "none", "none"), None)],
    "07-bet-mixing": [(read("Maybe"), None)],
    "07-bet-speed": [
        (races("slower", "faster"), "b"),
        (races("undecided", "faster"), None),
        (races("undecided", "faster", "same"), "b"),  # only this option is left
    ],
}
BRANCHES = {"07-neighbours": [crowd(*shares) for shares in ((1, 0.5, 0.5), (0.99, 0.95, 1), (0.99, 0.5, 0.99))]}
RECORDED = {"07-speed-cuda": ("TF32 is up to 7.1 times as fast, but not faster everywhere.", {"07-bet-speed": "b"})}
"""What the recordings made on a GPU say, derived by hand from their rows: experiment -> headline, bets."""

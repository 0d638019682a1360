"""Lesson 07: invented rows that settle each bet on each of its options, and show the rest. Nothing was measured."""

from __future__ import annotations


def solved(plain, low, mixed):
    errors = {"all float32": plain, "all TF32": low, "step TF32, residual float32": mixed}
    return [
        {"seed": 0, "story": story, "turn": turn, "relative": error}
        for story, error in errors.items()
        for turn in (1, 2)
    ]


def permissions(bf16, units="no"):
    rows = [
        {
            "operation": name,
            "permission": p,
            "relative": bf16 if (name, p) == ("matmul", "bf16") else 2e-7,
            "same_bits": 1,
            "bf16_units": units,
        }
        for name in ("matmul", "conv", "rnn")
        for p in ("none", "ieee", "tf32", "bf16")
    ]
    return [
        *rows,
        {"operation": "simulated", "permission": "tf32", "relative": 3e-4},
        {"operation": "simulated", "permission": "bf16", "relative": 2.4e-3},
    ]


def races(*verdicts):
    return [
        {
            "operation": "matmul",
            "size": 256 * 4**i,
            "ratio": 0.5,
            "low": 0.4,
            "high": 0.6,
            "verdict": verdict,
            "ieee_ms": 1.0,
            "tf32_ms": 0.5,
        }
        for i, verdict in enumerate(verdicts)
    ]


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
    "07-bet-mixing": {"a": read("True"), "b": read("False"), "c": read("raises")},
    "07-bet-onednn": {"a": permissions(2.4e-3, "yes"), "b": permissions(4e-7, "unknown")},
    "07-bet-solve": {"a": solved(1e-7, 3e-4, 2.9e-4), "b": solved(1e-7, 3e-4, 1.2e-7), "c": solved(1e-7, 3e-4, 0.1)},
    "07-bet-noise": {"a": gradients(1e-5), "b": gradients(1e-3), "c": gradients(1.0)},
    "07-bet-speed": {"a": races("faster", "faster"), "b": races("same", "faster"), "c": races("same", "slower")},
}
SHOWN = {
    "07-neighbours": [
        {"seed": seed, "offset": offset, "story": story, "share": 1.0 - 0.5 * ("tf32" in story) * (offset > 0)}
        for seed in range(3)
        for offset in (0, 100, 300)
        for story in ("float32", "tf32", "tf32, mean removed")
    ]
}
FURTHER = {
    "07-bet-solve": [(solved(1e-7, 3e-4, 1e-5), None), (solved(1e-7, 5e-7, 1e-7), None)],
    "07-bet-noise": [([{**row, "batch": 4e-3 * (0.2 + 0.3 * row["draw"])} for row in gradients(4e-3)], None)],
    "07-bet-onednn": [(permissions(5e-5, "no"), None)],
    "07-bet-default": [(untouched("tf32", "none", "none"), None)],
    "07-bet-mixing": [(read("Maybe"), None)],
    "07-bet-speed": [
        (races("same", "same"), "c"),
        (races("undecided", "faster"), None),
        (races("undecided", "faster", "same"), "b"),  # only this option is left
    ],
}


def crowd(plain, low, cured):
    shares = {"float32": plain, "tf32": low, "tf32, mean removed": cured}
    return [
        {"seed": seed, "offset": offset, "story": story, "share": share if offset else 1.0}
        for seed in range(6)
        for offset in (0, 100, 300)
        for story, share in shares.items()
    ]


BRANCHES = {
    "07-neighbours": [crowd(0.99, 0.95, 1.0), crowd(0.99, 0.04, 1.0), crowd(0.99, 0.5, 0.99)],
    "07-speed-cuda": [races("slower", "faster")],
}
"""Further outcomes that have words of their own: experiment -> rows of each."""

RECORDED = {
    "07-speed-cuda": ("TF32 is up to 7.1 times as fast, and somewhere it is even slower.", {"07-bet-speed": "b"})
}
"""What the recordings made on a GPU say, derived by hand from their rows: experiment -> headline, bets."""

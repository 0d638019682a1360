"""Lesson 16: invented rows that settle each bet on each of its options, and show the rest. Nothing was measured."""

from __future__ import annotations

from course.lessons.l16_rest.probes import FLUSH_ORDERS

CASES = ("vector last", "vector first", "adapter", "two operands", "tiny")


def ratio(value, width=0.01):
    """A ratio with its interval."""
    return {"ratio": value, "low": value * (1 - width), "high": value * (1 + width)}


def einsums(tiny, best=0.01, width=0.01):
    """The tiny case and the large one with these ratios, 1.0 for the others."""
    found = {"tiny": tiny, "vector last": best}
    return [
        {
            "case": case,
            "equation": "ij,jk->ik",
            **ratio(found.get(case, 1.0), width),
            "same_bits": int(case != "adapter"),
        }
        for case in CASES
    ]


def engines(x86, qnnpack, width=0.01):
    return [{"engine": name, **ratio(value, width)} for name, value in (("x86", x86), ("qnnpack", qnnpack))]


def packed(like):
    return [
        {"packed": maker, "engine": runner, "like": like if maker != runner else "both"}
        for maker in ("x86", "qnnpack")
        for runner in ("x86", "qnnpack")
    ]


def flushed(late, supported=1):
    """The share kept in either half when the switch comes after the threads; all in the other orders."""
    halves = {order: (1.0, 1.0) for order in FLUSH_ORDERS} | {"threads, then set": late}
    return [
        {"order": order, "supported": supported, "threads": 2, "kept": (a + b) / 2, "first": a, "second": b}
        for order, (a, b) in halves.items()
    ]


def frozen(load):
    return [
        {"frozen": kind, "change": change, "answers": answers}
        for kind, changes in (
            (0, {"conv.weight.mul_(2)": "new", "load_state_dict(other)": "new"}),
            (1, {"conv.weight.mul_(2)": "old", "load_state_dict(other)": load}),
        )
        for change, answers in changes.items()
    ]


def orders(first, off="math", error=0, plain="flash"):
    """The kernel that ran with math asked for first, with flash switched off, and with nothing set."""
    rows = {"as it comes": plain, "math first": first, "flash off": off}
    return [
        {
            "setting": setting,
            "first": "math" if setting == "math first" else "flash",
            "kernel": kernel,
            "same_bits": int(kernel == "flash"),
            "error": error if setting == "math first" else 0,
            **(ratio(2.5) if setting == "flash off" else ratio(0.0)),
        }
        for setting, kernel in rows.items()
    ]


def neighbours(median, slow, rounds=8, spread=0.01):
    """Two threads over one: the median and the slowest of a hundred, in that many rounds, alone and beside a neighbour."""
    return [
        {
            "neighbours": beside,
            "round": number,
            "threads": threads,
            "calls": 100,
            "median_ms": 1.0 if threads == 1 else median + spread * (number % 3 - 1),
            "p99_ms": 2.0 if threads == 1 else 2 * slow + 2 * spread * (number % 3 - 1),
        }
        for beside in (0, 1)
        for number in range(rounds)
        for threads in (1, 2)
    ]


def bits(changed, uses=("AVX512", "AVX2", "DEFAULT")):
    """Two calls; those in ``changed`` have other bits on the last instruction set."""
    return [
        {"held": held, "what": what, "uses": used, "bits": "b" if held == "default" and what in changed else "a"}
        for held, used in zip(("", "avx2", "default"), uses, strict=False)
        for what in ("torch.rand(1000)", "torch.randn(1000)")
    ]


ROWS = {
    "16-bet-tiny": {"a": einsums(0.5), "b": einsums(1.0), "c": einsums(5.0)},
    "16-bet-packed": {"a": packed("runner"), "b": packed("maker"), "c": packed("error")},
    "16-bet-flush": {
        "a": flushed((1.0, 1.0)),
        "b": flushed((0.0, 0.0)),
        "c": flushed((0.0, 1.0)),
        "d": flushed((0.3, 0.7 - 0.1)),
    },
    "16-bet-frozen": {"a": frozen("new"), "b": frozen("old"), "c": frozen("neither")},
    "16-bet-neighbour": {
        "a": neighbours(0.6, 0.6),
        "b": neighbours(1.5, 4.0),
        "c": neighbours(0.6, 8.0),
        "d": neighbours(1.0, 1.0, spread=0.005),
    },
}
FURTHER = {
    "16-bet-tiny": [(einsums(1.0, width=0.3), None), (einsums(5.0)[:-1], None)],
    "16-bet-packed": [(packed("both"), None), (packed("neither"), None), (packed("maker")[:1], None)],
    "16-bet-flush": [(flushed((0.0, 1.0), supported=0), None)],
    "16-bet-frozen": [(frozen("neither")[:2], None)],
    "16-bet-neighbour": [(neighbours(0.6, 8.0, rounds=4), None), (neighbours(1.0, 8.0, spread=0.2), None)],
}
SHOWN = {}

HEADLINES = {
    "16-einsum": [
        (einsums(5.0), "100 times as fast, and a tiny one slower"),
        (einsums(1.0), "100 times as fast."),
        (einsums(1.0, best=1.0), "made nothing faster"),
        (einsums(1.0, width=0.3), "Too noisy"),
        ([], "Too noisy"),
    ],
    "16-packed": [
        (packed("maker"), "that packed the weight computes"),
        (packed("runner"), "that the switch names computes"),
        (packed("error"), "refused"),
        (packed("both"), "no telling"),
        (packed("neither"), "follow no one rule"),
        (packed("maker")[:2] + packed("runner")[2:], "follow no one rule"),
        (packed("maker")[:1], "Only one engine"),
    ],
    "16-flushed": [
        (flushed((0.0, 1.0)), "only part of the tensor"),
        (flushed((0.0, 0.0)), "every tiny number"),
        (flushed((1.0, 1.0)), "Set too late"),
        (flushed((0.0, 1.0), supported=0), "cannot flush"),
        ([], "Too noisy"),
    ],
    "16-frozen": [
        (frozen("neither"), "mixed old and new"),
        (frozen("old"), "kept its old weights"),
        (frozen("new"), "took over"),
        (frozen("new")[:2], "Too noisy"),
    ],
    "16-two-threads": [
        (neighbours(0.6, 8.0), "the slowest ones slower"),
        (neighbours(0.6, 0.6), "even beside"),
        (neighbours(1.5, 4.0), "are only slower"),
        (neighbours(1.0, 8.0, spread=0.1), "nothing certain"),
        (neighbours(1.0, 1.0, spread=0.005), "neither faster nor slower"),
        (neighbours(1.0, 1.0, spread=0.3), "Too noisy"),
        (neighbours(0.6, 8.0, rounds=4), "Too noisy"),
    ],
}
"""Experiment -> invented rows, each with a piece of the headline that they lead to."""
BRANCHES = {name: [rows for rows, _ in cases if rows] for name, cases in HEADLINES.items()}
"""The same rows for the tests of all lessons."""

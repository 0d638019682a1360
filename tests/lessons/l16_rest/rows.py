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
BRANCHES = {"16-einsum": [einsums(1.0, best=1.0)], "16-packed": [], "16-two-threads": []}
"""Further outcomes that have words of their own: experiment -> rows of each."""

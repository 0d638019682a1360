"""Lesson 16: invented rows that settle each bet on each of its options, and show the rest. Nothing was measured."""

from __future__ import annotations

from course.lessons.l16_rest.probes import FLUSH_ORDERS
from tests.lessons.live import as_rows


def einsums(tiny, best=0.01, width=0.01):
    """The tiny case and the large one with these ratios, 1.0 for the others."""
    ratios = {"vector last": best, "vector first": 1.0, "adapter": 1.0, "two operands": 1.0, "tiny": tiny}
    return as_rows(
        "case equation ratio low high same_bits",
        *(
            (case, "ij,jk->ik", ratio, ratio * (1 - width), ratio * (1 + width), int(case != "adapter"))
            for case, ratio in ratios.items()
        ),
    )


def packed(like):
    return [
        {"packed": maker, "engine": runner, "like": like if maker != runner else "both"}
        for maker in ("x86", "qnnpack")
        for runner in ("x86", "qnnpack")
    ]


def flushed(first, second, supported=1):
    """The share kept in either half when the switch comes after the threads; all in the other orders."""
    halves = {order: (1.0, 1.0) for order in FLUSH_ORDERS} | {"threads, then set": (first, second)}
    return [
        {"order": order, "supported": supported, "threads": 2, "kept": (a + b) / 2, "first": a, "second": b}
        for order, (a, b) in halves.items()
    ]


def frozen(load):
    changes = ("conv.weight.mul_(2)", "load_state_dict(other)")
    answers = (0, changes[0], "new"), (0, changes[1], "new"), (1, changes[0], "old"), (1, changes[1], load)
    return as_rows("frozen change answers", *answers)


def neighbours(median, slow, rounds=8, spread=0.01):
    """Two threads over one: the median and the slowest of a hundred, in that many rounds, alone and beside a neighbour."""
    return as_rows(
        "neighbours round calls threads median_ms p99_ms",
        *(
            (beside, number, 100, *told)
            for beside in (0, 1)
            for number in range(rounds)
            for away in (spread * (number % 3 - 1),)
            for told in ((1, 1.0, 2.0), (2, median + away, 2 * slow + 2 * away))
        ),
    )


ROWS = {
    "16-bet-tiny": {"a": einsums(0.5), "b": einsums(1.0), "c": einsums(5.0)},
    "16-bet-packed": {"a": packed("runner"), "b": packed("maker"), "c": packed("error")},
    "16-bet-flush": {"a": flushed(1.0, 1.0), "b": flushed(0.0, 0.0), "c": flushed(0.0, 1.0), "d": flushed(0.3, 0.6)},
    "16-bet-frozen": {"a": frozen("new"), "b": frozen("old"), "c": frozen("neither")},
    "16-bet-neighbour": {
        "a": neighbours(0.6, 0.6),
        "b": neighbours(1.5, 4.0),
        "c": neighbours(0.6, 8.0),
        "d": neighbours(1.0, 1.0, spread=0.005),
    },
}
FURTHER = {
    "16-bet-tiny": [(einsums(1.0, width=0.3), None), (einsums(5.0)[:-1], None), (einsums(1.0, best=1.0), "b")],
    "16-bet-packed": [(packed("both"), None), (packed("neither"), None), (packed("maker")[:1], None)],
    "16-bet-flush": [(flushed(0.0, 1.0, supported=0), None)],
    "16-bet-frozen": [(frozen("neither")[:2], None)],
    "16-bet-neighbour": [(neighbours(0.6, 8.0, rounds=4), None), (neighbours(1.0, 8.0, spread=0.2), None)],
}

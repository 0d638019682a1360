"""Lesson 05: invented rows that settle each bet on each of its options, and show the rest. Nothing was measured."""

from __future__ import annotations

from tests.lessons.l05_cudnn_benchmark.test_records import CUDA_ROWS, flip_rows


def visits(events):
    return [{"setting": "as it comes", "call": n, "size": 64, "event": event} for n, event in enumerate(events.split())]


def race(one, new):
    times = {
        "ratio": 0.9,
        "low": 0.8,
        "high": 1.1,
        "off_ms": 2.0,
        "on_ms": 1.8,
        "rounds": 18,
        "steps": 36,
        "searches": 1,
    }
    return [{"schedule": "one size", "verdict": one, **times}, {"schedule": "always new", "verdict": new, **times}]


def costs(first_ms):
    """Twelve first steps next to later ones of 0.1 ms."""
    return [
        {"repeat": n, "search": search, "first_ms": first_ms, "later_ms": 0.1}
        for n in range(12)
        for search in ("off", "on")
    ]


ROWS = {
    "05-bet-revisit": {
        "a": visits("miss miss miss miss"),
        "b": visits("miss hit hit hit"),
        "c": visits("miss miss hit hit"),
        "d": visits("miss miss miss hit"),
    },
    "05-bet-race": {
        "a": race("faster", "faster"),
        "b": race("faster", "slower"),
        "c": race("same", "slower"),
        "d": race("slower", "faster"),
    },
    "05-bet-winners": {
        option: [{"search": n, "winner": f"candidate {n % kinds}"} for n in range(12)]
        for option, kinds in (("a", 1), ("b", 2), ("c", 3))
    },
    "05-bet-flip": {"a": flip_rows(400.0, 0.7), "b": flip_rows(1.0, 1.0), "c": flip_rows(0.7, 0.7)},
    "05-bet-price": {stop: costs(0.1 * stop) for stop in (1, 2, 3, 5, 10, 20, 50, 100)},
}
SHOWN = {
    **CUDA_ROWS,
    "05-first-call": [
        {"pair": pair, "shape": shape, "visit": visit, "call": call, "call_ms": 9.0 / call}
        for pair in range(12)
        for shape in "AB"
        for visit in (1, 2)
        for call in range(1, 6)
    ],
    "05-model-keys": [{"model": "vgg16", "calls": 13, "keys": 9}],
    "05-what-is-new": [
        {"change": change, "event": event, "problem": "made up"}
        for change, event in (("first call", "miss"), ("nothing", "hit"))
    ],
}

"""Lesson 02: invented rows that settle each bet on each of its options, and show the rest. Nothing was measured."""

from __future__ import annotations


def waits(call_ms: float, read_ms: float) -> list[dict]:
    return [
        {"where": place, "repeat": i, "call_ms": call_ms * (1 + i / 1e3), "read_ms": read_ms}
        for place in ("cpu", "toy")
        for i in range(9)
    ]


def readings(median_ms: float) -> list[dict]:
    return [
        {
            "stopwatch": "fence after only",
            "kernel_ms": 20.0,
            "earlier_ms": 30.0,
            "median_ms": median_ms,
            "low_ms": median_ms - 0.1,
            "high_ms": median_ms + 0.1,
            "samples_ms": [median_ms] * 9,
        }
    ]


def calls(*ratios: float) -> list[dict]:
    return [
        {"shape": shape, "call": call, "call_ms": ratio if call == 1 else 1.0}
        for shape, ratio in enumerate(ratios)
        for call in range(1, 13)
    ]


def races(winners: int, trials: int = 20) -> list[dict]:
    return [
        {
            "trial": i,
            "method": method,
            "ratio": 1.0 + i / 1e3,
            "planted": 1.0,
            "said": "slower" if method == "means, each alone" and i < winners else "same",
        }
        for i in range(trials)
        for method in ("means, each alone", "best of, each alone", "paired")
    ]


def pairs(*ratios: float) -> list[dict]:
    return [
        {"pair": i, "default_ms": ratio, "all_ms": 1.0, "ratio": ratio, "all_threads": 2}
        for i, ratio in enumerate(ratios)
    ]


BETS = [
    ("02-where-you-wait", "02-bet-cpu", [(waits(9, 0.1), "b"), (waits(0.1, 9), "a"), (waits(5, 5), "c"), ([], None)]),
    (
        "02-five-stopwatches",
        "02-bet-one-fence",
        [(readings(50.4), "c"), (readings(20.3), "b"), (readings(0.01), "a"), (readings(300.0), None), ([], None)],
    ),
    (
        "02-first-call",
        "02-bet-first-call",
        [
            (calls(*[8.0] * 8), "c"),
            (calls(*[2.0] * 8), "b"),
            (calls(*[1.05] * 8), "a"),
            (calls(1, 1, 2, 2, 5, 5, 9, 9), None),
            ([], None),
        ],
    ),
    (
        "02-same-code-twice",
        "02-bet-same-code",
        [(races(0), "a"), (races(1), "a"), (races(2), "b"), (races(6), "c"), (races(6, trials=9), None), ([], None)],
    ),
    (
        "02-threads",
        "02-bet-threads",
        [
            (pairs(*[1.9] * 13), "a"),
            (pairs(*[1.0] * 13), "b"),
            (pairs(*[0.7] * 13), "c"),
            (pairs(*[0.8, 1.3] * 6), None),
            ([], None),
        ],
    ),
]

MORE = {
    "02-interruptions": [
        {"call": i, "interrupted": int(i % 20 == 7), "quiet_ms": 1.0, "disturbed_ms": 11.0 if i % 20 == 7 else 1.0}
        for i in range(100)
    ],
    "02-planted-difference": [{**row, "planted": 1.05} for row in races(3, trials=12)],
    "02-stopwatches-cuda": [
        {"size": 512, "stopwatch": name, "median_ms": 1.0, "low_ms": 0.9, "high_ms": 1.1, "samples_ms": [1.0]}
        for name in ("no fence", "two events", "fence before, then print")
    ],
    "02-first-call-cuda": [
        {"process": process, "shape": shape, "call": i, "call_ms": 1.0 / i}
        for process in range(2)
        for shape in ("CUDA context", "first product")
        for i in range(1, 2 + 5 * (shape != "CUDA context"))
    ],
}


def told(story: str, reading_ms: float) -> list[dict]:
    """Invented rows of one story: a kernel that is over after 50 ms."""
    lanes = (
        ("cpu", "launch", 0.0, 0.1),
        ("cpu", "fence", 0.1, reading_ms),
        ("clock", "reading", 0.0, reading_ms),
        ("device", "earlier", 0.0, 30.0),
        ("device", "kernel", 30.0, 50.0),
    )
    return [
        {"story": story, "lane": lane, "what": what, "start_ms": start, "end_ms": end}
        for lane, what, start, end in lanes
    ]


ROWS = {bet: {option: rows for rows, option in outcomes if option} for _, bet, outcomes in BETS}
FURTHER = {bet: outcomes for _, bet, outcomes in BETS}
SHOWN = {**MORE, "02-queue": told("no fence", 0.1), "02-queue-busy": told("old work, one fence", 50.0)}

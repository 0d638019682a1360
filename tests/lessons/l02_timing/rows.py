"""Lesson 02: invented rows that settle each bet on each of its options, and show the rest. Nothing was measured."""

from __future__ import annotations


def waits(call_ms: float, read_ms: float) -> list[dict]:
    return [
        {"where": place, "repeat": i, "call_ms": call_ms * (1 + i / 1e3), "read_ms": read_ms}
        for place in ("cpu", "toy")
        for i in range(9)
    ]


def readings(median_ms: float, **others: float) -> list[dict]:
    """The five stopwatches: the one with a fence after the launch reads this; others: what those named here read."""
    read = {
        "no fence": 0.01,
        "fence after only": median_ms,
        "fence before and after": 20.2,
        "fence before, then .cpu()": 26.3,
        "two events": 20.1,
    }
    return [
        {
            "stopwatch": name,
            "kernel_ms": 20.0,
            "earlier_ms": 30.0,
            "median_ms": ms,
            "low_ms": ms - 0.005,
            "high_ms": ms + 0.1,
            "samples_ms": [ms] * 9,
        }
        for name, ms in (read | {name.replace("_", " "): ms for name, ms in others.items()}).items()
    ]


def calls(*ratios: float) -> list[dict]:
    return [
        {"shape": shape, "call": call, "call_ms": ratio if call == 1 else 1.0}
        for shape, ratio in enumerate(ratios)
        for call in range(1, 13)
    ]


def races(winners: int, trials: int = 20, best: int = 0, paired: int = 0) -> list[dict]:
    """Twins: how often each method announced a winner."""
    found = {"means, each alone": winners, "best of, each alone": best, "paired": paired}
    return [
        {
            "trial": i,
            "method": method,
            "ratio": 1.0 + i / 1e3,
            "planted": 1.0,
            "said": "slower" if i < count else "same",
        }
        for i in range(trials)
        for method, count in found.items()
    ]


def planted(means: int, best: int, paired: int, trials: int = 12) -> list[dict]:
    """How often each method came near to a true ratio of 1.05."""
    found = {"means, each alone": means, "best of, each alone": best, "paired": paired}
    return [
        {"trial": i, "method": method, "ratio": 1.05 if i < count else 1.2, "planted": 1.05, "said": "slower"}
        for i in range(trials)
        for method, count in found.items()
    ]


def stopwatches(**no_fence_ms: float) -> list[dict]:
    """On a GPU: at each size what the clock without a fence reads where the events read 10 ms."""
    return [
        {
            "size": int(size[1:]),
            "stopwatch": name,
            "median_ms": ms,
            "low_ms": ms - 0.1,
            "high_ms": ms + 0.1,
            "samples_ms": [ms - 0.1, ms, ms + 0.1],
        }
        for size, unfenced in no_fence_ms.items()
        for name, ms in (("no fence", unfenced), ("two events", 10.0), ("fence before, then print", 12.0))
    ]


FURTHER = {
    "02-bet-cpu": [(waits(9, 0.1), "b"), (waits(0.1, 9), "a"), (waits(5, 5), "c")],
    "02-bet-one-fence": [(readings(50.4), "c"), (readings(20.3), "b"), (readings(0.01), "a"), (readings(300.0), None)],
    "02-bet-first-call": [
        (calls(*[8.0] * 8), "c"),
        (calls(*[2.0] * 8), "b"),
        (calls(*[1.05] * 8), "a"),
        (calls(1, 1, 2, 2, 5, 5, 9, 9), None),
    ],
    "02-bet-same-code": [
        (races(0), "a"),
        (races(1), "a"),
        (races(2), "b"),
        (races(6), "c"),
        (races(6, trials=9), None),
    ],
}


def told(story: str, reading_ms: float) -> list[dict]:
    """Invented rows of one story: a kernel that is over after 50 ms."""
    lanes = (
        ("cpu", "launch", 0.0, 0.1),
        ("cpu", "fence", 0.1, reading_ms),
        ("clock", "reading", 0.0, reading_ms),
        ("device", "kernel", 0.1, 50.0),
    )
    return [
        {"story": story, "lane": lane, "what": what, "start_ms": start, "end_ms": end}
        for lane, what, start, end in lanes
    ]


ROWS = {bet: {option: rows for rows, option in outcomes if option} for bet, outcomes in FURTHER.items()}
SHOWN = {
    "02-queue": told("no fence", 0.1),
    "02-planted-difference": [{**row, "planted": 1.05} for row in races(3, trials=12)],
    "02-stopwatches-cuda": [
        {"size": 512, "stopwatch": name, "median_ms": 1.0, "low_ms": 0.9, "high_ms": 1.1, "samples_ms": [1.0]}
        for name in ("no fence", "two events", "fence before, then print")
    ],
}
BRANCHES = {
    "02-where-you-wait": [
        [*waits(9, 0.1)[:9], *waits(0.1, 20)[9:]]  # a call that waits on the CPU, a read that waits on the toy device
    ],
    "02-queue": [told("no fence", 50.2)],
    "02-five-stopwatches": [
        readings(50.4, two_events=30.0),
        readings(20.1, no_fence=20.0),
        [{**row, "median_ms": 20.0, "low_ms": 19.9, "high_ms": 20.1} for row in readings(20.0)],
        [{**row, "high_ms": row["median_ms"] + 10} for row in readings(50.4)],  # a busy machine
        readings(50.4)[:3],
    ],
    "02-same-code-twice": [races(0), races(0, best=3), races(0, best=1), races(2, paired=1)],
    "02-planted-difference": [
        planted(0, 0, 0),
        planted(12, 12, 12),
        planted(5, 11, 12),
        planted(2, 3, 9),
        planted(9, 3, 2),
        planted(5, 11, 12, trials=3),
    ],
    "02-stopwatches-cuda": [
        stopwatches(s512=0.4, s4096=0.4),
        stopwatches(s512=9.8, s4096=0.4),
        stopwatches(s512=8.0, s4096=0.4),
    ],
}
RECORDED = {"02-stopwatches-cuda": ("Without a fence, the clock missed 99 % of the time at one size.", {})}
"""What the recordings made on a GPU say, derived by hand from their rows: experiment -> headline, bets."""

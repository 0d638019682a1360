"""Lesson 02: invented rows that settle each bet on each of its options, and show the rest. Nothing was measured."""

from __future__ import annotations

from tests.lessons.live import as_rows


def waits(call_ms: float, read_ms: float) -> list[dict]:
    return [
        {"where": place, "repeat": i, "call_ms": call_ms * (1 + i / 1e3), "read_ms": read_ms}
        for place in ("cpu", "toy")
        for i in range(9)
    ]


def readings(median_ms: float, high_ms: float = 0.1, **others: float) -> list[dict]:
    """The five stopwatches: the one with a fence after the launch reads this; others: what those named here read."""
    read = {
        "no fence": 0.01,
        "fence after only": median_ms,
        "fence before and after": 20.2,
        "fence before, then .cpu()": 26.3,
        "two events": 20.1,
    } | {name.replace("_", " "): ms for name, ms in others.items()}
    return as_rows(
        "stopwatch kernel_ms earlier_ms median_ms low_ms high_ms samples_ms",
        *((name, 20.0, 30.0, ms, ms - 0.005, ms + high_ms, [ms] * 9) for name, ms in read.items()),
    )


def calls(*ratios: float) -> list[dict]:
    return [
        {"shape": shape, "call": call, "call_ms": ratio if call == 1 else 1.0}
        for shape, ratio in enumerate(ratios)
        for call in range(1, 13)
    ]


METHODS = ("means, each alone", "best of, each alone", "paired")


def races(*winners: int, trials: int = 20) -> list[dict]:
    """Twins: how often each method announced a winner."""
    return [
        {"trial": i, "method": method, "ratio": 1 + i / 1e3, "planted": 1.0, "said": "slower" if i < count else "same"}
        for i in range(trials)
        for method, count in zip(METHODS, winners, strict=True)
    ]


def planted(*near: int, trials: int = 12) -> list[dict]:
    """How often each method came near to a true ratio of 1.05."""
    return [
        {"trial": i, "method": method, "ratio": 1.05 if i < count else 1.2, "planted": 1.05, "said": "slower"}
        for i in range(trials)
        for method, count in zip(METHODS, near, strict=True)
    ]


def stopwatches(**no_fence_ms: float) -> list[dict]:
    """On a GPU: at each size what the clock without a fence reads where the events read 10 ms."""
    return as_rows(
        "size stopwatch median_ms low_ms high_ms samples_ms",
        *(
            (int(size[1:]), name, ms, ms - 0.1, ms + 0.1, [ms - 0.1, ms, ms + 0.1])
            for size, unfenced in no_fence_ms.items()
            for name, ms in (("no fence", unfenced), ("two events", 10.0), ("fence before, then print", 12.0))
        ),
    )


def told(story: str, reading_ms: float) -> list[dict]:
    """Rows of one story: a kernel that is over after 50 ms."""
    return as_rows(
        "story lane what start_ms end_ms",
        (story, "cpu", "launch", 0.0, 0.1),
        (story, "cpu", "fence", 0.1, reading_ms),
        (story, "clock", "reading", 0.0, reading_ms),
        (story, "device", "kernel", 0.1, 50.0),
    )


ROWS = {
    "02-bet-cpu": {"a": waits(0.1, 9), "b": waits(9, 0.1), "c": waits(5, 5)},
    "02-bet-one-fence": {"a": readings(0.01), "b": readings(20.3), "c": readings(50.4)},
    "02-bet-first-call": {"a": calls(*[1.05] * 8), "b": calls(*[2.0] * 8), "c": calls(*[8.0] * 8)},
    "02-bet-same-code": {"a": races(1, 0, 0), "b": races(2, 0, 0), "c": races(6, 0, 0)},
}
FURTHER = {
    "02-bet-cpu": [([*waits(9, 0.1)[:9], *waits(0.1, 20)[9:]], "b")],  # a read that waits on the toy device
    "02-bet-one-fence": [
        (readings(300.0), None),
        (readings(50.4, two_events=30.0), "c"),
        (readings(20.1, no_fence=20.0), "b"),
        ([{**row, "median_ms": 20.0, "low_ms": 19.9, "high_ms": 20.1} for row in readings(20.0)], "b"),
        (readings(20.2, high_ms=10.0), None),  # a busy machine
        ([{**row, "samples_ms": row["samples_ms"][:5]} for row in readings(20.2)], None),
    ],
    "02-bet-first-call": [(calls(1, 1, 2, 2, 5, 5, 9, 9), None)],
    "02-bet-same-code": [
        (races(0, 0, 0), "a"),
        (races(0, 3, 0), "a"),
        (races(2, 0, 1), "b"),
        (races(6, 0, 0, trials=9), None),
    ],
}
BRANCHES = {
    "02-queue": [told("no fence", 0.1), told("no fence", 50.2)],
    "02-planted-difference": [planted(2, 3, 9), planted(5, 11, 12, trials=3)],
    "02-stopwatches-cuda": [
        stopwatches(s512=10.0),
        stopwatches(s512=0.4, s4096=0.4),
        stopwatches(s512=9.8, s4096=0.4),
        stopwatches(s512=8.0, s4096=0.4),
    ],
}
RECORDED = {"02-stopwatches-cuda": ("Without a fence, the clock missed 99 % of the time at one size.", {})}
"""What the recordings made on a GPU say, derived by hand from their rows: experiment -> headline, bets."""

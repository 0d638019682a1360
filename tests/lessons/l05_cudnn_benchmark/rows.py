"""Lesson 05: invented rows that settle each bet on each of its options, and show the rest. Nothing was measured."""

from __future__ import annotations


def visits(story, times, size=128, process=0):
    return [
        {
            "story": story,
            "process": process,
            "call": call,
            "benchmark": int(story != "off"),
            "batch": 8,
            "size": size,
            "call_ms": ms,
            "peak_reserved_mib": 100.0 + ms,
            "peak_allocated_mib": 80.0,
            "reserved_mib": 90.0,
        }
        for call, ms in enumerate(times, start=1)
    ]


def flip_rows(at_flip, after, control=1.0):
    """control: how long the calls after number 10 are that never saw a flip, against those before."""
    new = [500.0, 2.0, 2.0, 2.0]
    return [
        row
        for process in range(3)
        for row in visits("off", [9.0] + [1.0] * 9 + [control] * 10 + [6.0, 2.0, 2.0, 2.0], process=process)
        + visits("flipped", [9.0] + [1.0] * 9 + [at_flip] + [after] * 9 + new, process=process)
        + visits("on", [400.0] + [0.7] * 19 + new, process=process)
    ]


def steps(first_on, later_on):
    """A first step and 149 later ones, which take 20 ms and 3 ms without the search."""
    return [
        {"story": story, "process": 0, "samples_ms": [first] + [later] * 149}
        for story, first, later in (("off", 20.0, 3.0), ("on", first_on, later_on))
    ]


CUDA_ROWS = {
    "05-sizes-cuda": [
        {**row, "size": (128, 256, 512)[(row["call"] - 1) % 3]}
        for story, first in (("off", 10.0), ("on", 50.0))
        for row in visits(story, [first] * 3 + [1.0] * 6)
    ],
    "05-pays-cuda": steps(220.0, 2.0),
}


def events(named):
    return [{"setting": "as it comes", "call": n, "size": 64, "event": event} for n, event in enumerate(named.split())]


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


def three(verdict):
    return {**race("same", "same")[0], "schedule": "three sizes", "verdict": verdict}


def costs(first_ms):
    """Twelve first steps next to later ones of 0.1 ms."""
    return [
        {"repeat": n, "search": search, "first_ms": first_ms, "later_ms": 0.1}
        for n in range(12)
        for search in ("off", "on")
    ]


ROWS = {
    "05-bet-revisit": {
        "a": events("miss miss miss miss"),
        "b": events("miss hit hit hit"),
        "c": events("miss miss hit hit"),
        "d": events("miss miss miss hit"),
    },
    "05-bet-race": {
        "a": race("faster", "faster"),
        "b": race("faster", "slower"),
        "c": race("same", "slower"),
        "d": race("slower", "faster"),
    },
    "05-bet-flip": {"a": flip_rows(400.0, 0.7), "b": flip_rows(1.0, 1.0), "c": flip_rows(0.7, 0.7)},
    "05-bet-pays": {"a": steps(220.0, 3.5), "b": steps(220.0, 2.9), "c": steps(220.0, 2.0)},
    "05-bet-price": {"a": costs(0.3), "b": costs(0.9), "c": costs(2.0)},
}
SHOWN = {**CUDA_ROWS}
FEW = [{**row, "ratio": 1.0, "low": None, "high": None, "rounds": 4} for row in race("undecided", "undecided")]
BRANCHES = {
    "05-primitive-cache": [
        events("miss miss hit miss"),
        [{**row, "event": "not seen"} for row in events("- - - -")],
        [],
    ],
    "05-toy-race": [FEW, *([*race("faster", "slower"), three(verdict)] for verdict in ("faster", "slower", "same"))],
    "05-toy-cost": [[{**row, "later_ms": 0.1 if row["search"] == "on" else 0.3} for row in costs(2.0)]],
    "05-sizes-cuda": [
        [
            {**row, "call_ms": 50.0 if row["story"] == "on" and row["call"] in dear else 1.0}
            for row in CUDA_ROWS["05-sizes-cuda"]
        ]
        for dear in ((), (1,))
    ],
    "05-pays-cuda": [steps(20.0, 2.0), steps(220.0, 3.0)],
}
"""Further outcomes that have words of their own: experiment -> rows of each."""
FURTHER = {
    "05-bet-flip": [
        (flip_rows(150.0, 1.0), None),
        (flip_rows(1.0, 0.95), "b"),
        # 8 % less time in every story, with a flip and without: the control takes it out
        (flip_rows(0.92, 0.92, control=0.92), "b"),
        # a process cut short does not spoil the whole ones
        ([*flip_rows(1.0, 1.0), *visits("off", [9.0, 1.0, 1.0], process=3)], "b"),
        # an unsteady control makes nothing of it: the flip cost no search, and the calls after it are no quicker
        (
            [
                {**row, "call_ms": row["call_ms"] * (1 + 0.1 * row["process"] * (10 < row["call"] < 21))}
                if row["story"] == "off"
                else row
                for row in flip_rows(1.0, 1.0)
            ],
            "b",
        ),
        # nor does a flip whose new sizes take no longer
        ([{**row, "call_ms": min(row["call_ms"], 2.0)} for row in flip_rows(1.0, 1.0)], None),
    ],
    "05-bet-price": [
        (costs(0.1), "a"),
        (costs(2.0)[:18], None),
        # other programs disturbed half of the searches: the quick ones count
        (costs(0.9)[:12] + costs(9.0)[12:], "b"),
        # no two of the quick ones agree
        ([{**row, "first_ms": 2.0 * 1.3 ** row["repeat"]} for row in costs(2.0)], None),
    ],
    "05-bet-race": [
        (
            race(one, new),
            {(True, True): "a", (True, False): "b", (False, False): "c", (False, True): "d"}[
                one == "faster", new == "faster"
            ],
        )
        for one in ("faster", "slower", "same")
        for new in ("faster", "slower", "same")
    ]
    + [(race("undecided", "slower"), None), (race("same", "undecided"), None)],
}

RECORDED = {
    "05-flip-cuda": ("Turned on after a shape was seen, the switch does nothing for it.", {"05-bet-flip": "b"}),
    "05-pays-cuda": (
        "ResNet18 forward: the search never pays, a later step takes 3 % more time.",
        {"05-bet-pays": "a"},
    ),
    "05-sizes-cuda": ("The search makes a new size's first call up to 17 times as long, once.", {}),
}
"""What the recordings made on a GPU say, derived by hand from their rows: experiment -> headline, bets."""


def networks(*ratios):
    """A network for each ratio of its steps, and one that does not change."""
    return [
        {"network": f"made up {n}", "precision": "float32", "search": way, "process": process, "steps": 9}
        | {"first_ms": 40.0 if way == "off" else 900.0, "step_ms": 5.0 * (ratio if way == "on" else 1)}
        for n, ratio in enumerate((*ratios, 1.0))
        for process in range(2)
        for way in ("off", "on")
    ]


SHOWN["05-networks-cuda"] = networks(0.9)
BRANCHES["05-networks-cuda"] = [networks(1.2), networks(0.9, 1.2), networks(1.01), networks(1.0)[:2]]

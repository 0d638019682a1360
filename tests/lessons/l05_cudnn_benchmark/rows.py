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


CUDA_ROWS = {
    "05-first-call-cuda": visits("off", [9.0] + [1.0] * 11) + visits("on", [400.0] + [0.7] * 11),
    "05-sizes-cuda": [
        {**row, "size": (128, 256, 512)[(row["call"] - 1) % 3]}
        for story in ("off", "on")
        for row in visits(story, [50.0] * 3 + [1.0] * 6)
    ],
    "05-memory-cuda": visits("off", [9.0] + [1.0] * 4) + visits("on", [400.0] + [0.7] * 4),
    "05-limit-cuda": [
        {
            "limit": limit,
            "process": 0,
            "first_ms": first,
            "later_ms": 1.0,
            "calls": 10,
            "free_mib": 9000.0,
            "first_mib": 80.0,
            "later_mib": 20.0,
            "kernels": f"made_up_{limit}",
        }
        for limit, first in ((1, 9.0), (0, 400.0))
    ],
    "05-new-keys-cuda": [
        {
            "process": process,
            "change": change,
            "first_ms": 90.0,
            "later_ms": 1.0,
            "kernels": f"made_up_{change}",
            "error": "",
        }
        for process in range(2)
        for change in ("float32", "bfloat16")
    ]
    + [{"process": 0, "change": "torch.compile", "first_ms": 0.0, "later_ms": 0.0, "kernels": "", "error": "E: no"}],
    "05-pays-cuda": [
        {"story": "off", "process": 0, "samples_ms": [20.0] + [3.0] * 149},
        {"story": "on", "process": 0, "samples_ms": [220.0] + [2.0] * 149},
    ],
    "05-kernels-cuda": [
        {"story": story, "process": 0, "size": 32, "place": 1, "kernel": f"made_up_{story}", "calls": 5, "mean_us": 9.0}
        for story in ("off", "on")
    ],
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
FEW = [{**row, "ratio": 1.0, "low": None, "high": None, "rounds": 4} for row in race("undecided", "undecided")]
BRANCHES = {
    "05-first-call": [
        [
            {
                "pair": pair,
                "shape": shape,
                "visit": visit,
                "call": call,
                "call_ms": dear if call == 1 and visit in costly else 1.0,
            }
            for pair in range(12)
            for shape in "AB"
            for visit in (1, 2)
            for call in range(1, 6)
        ]
        for dear, costly in ((9.0, (1,)), (9.0, (2,)), (1.0, ()))
    ],
    "05-what-is-new": [
        [{"change": change, "event": event, "problem": "made up"} for change, event in (("first call", "miss"), *seen)]
        for seen in (
            (("nothing", "hit"), ("stride 2", "miss")),
            (("stride 2", "miss"), ("two pixels more", "miss")),
            (("nothing", "not seen"),),
        )
    ],
    "05-primitive-cache": [
        events("miss miss hit miss"),
        [{**row, "event": "not seen"} for row in events("- - - -")],
        [],
    ],
    "05-model-keys": [[{"model": "made up", "calls": 3, "keys": 3}]],
    "05-toy-race": [FEW],
    "05-toy-cost": [
        [{**row, "later_ms": 0.2 if row["search"] == "on" else 0.1} for row in costs(2.0)],
        [{**row, "later_ms": 0.1 if row["search"] == "on" else 0.3} for row in costs(2.0)],
    ],
    "05-first-call-cuda": [visits("off", [9.0] + [1.0] * 11) + visits("on", [9.0] + [0.7] * 11)],
    "05-sizes-cuda": [
        [{**row, "call_ms": 50.0 if row["call"] in dear else 1.0} for row in CUDA_ROWS["05-sizes-cuda"]]
        for dear in ((), (1,))
    ],
    "05-memory-cuda": [visits("off", [100.0] + [1.0] * 4) + visits("on", [peak] + [0.7] * 4) for peak in (100.0, 1.0)],
    "05-limit-cuda": [
        [{**row, "first_ms": first} for row, first in zip(CUDA_ROWS["05-limit-cuda"], pair, strict=True)]
        for pair in ((9.0, 9.0), (400.0, 9.0))
    ],
    "05-pays-cuda": [
        [
            {"story": "off", "process": 0, "samples_ms": [20.0] + [3.0] * 149},
            {"story": "on", "process": 0, "samples_ms": [first] + [later] * 149},
        ]
        for first, later in ((220.0, 3.5), (20.0, 2.0), (20.5, 2.0))
    ],
    "05-kernels-cuda": [
        [{**row, "kernel": "made_up"} for row in CUDA_ROWS["05-kernels-cuda"]],
        [
            *CUDA_ROWS["05-kernels-cuda"],
            *({**row, "size": 128, "kernel": "made_up"} for row in CUDA_ROWS["05-kernels-cuda"]),
        ],
    ],
    "05-new-keys-cuda": [
        [{**row, "first_ms": 1.0} for row in CUDA_ROWS["05-new-keys-cuda"]],
        [*CUDA_ROWS["05-new-keys-cuda"], {**CUDA_ROWS["05-new-keys-cuda"][0], "change": "twin layer", "first_ms": 1.0}],
    ],
}
"""Further outcomes that have words of their own: experiment -> rows of each."""
FURTHER = {
    "05-bet-winners": [([{"search": 0, "winner": "direct"}], None)],
    "05-bet-flip": [
        (flip_rows(150.0, 1.0), None),
        (flip_rows(1.0, 0.95), None),
        # 8 % less time in every story, with a flip and without: the control takes it out
        (flip_rows(0.92, 0.92, control=0.92), "b"),
        # a process cut short does not spoil the whole ones
        ([*flip_rows(1.0, 1.0), *visits("off", [9.0, 1.0, 1.0], process=3)], "b"),
        # an unsteady control decides nothing
        (
            [
                {**row, "call_ms": row["call_ms"] * (1 + 0.1 * row["process"] * (10 < row["call"] < 21))}
                if row["story"] == "off"
                else row
                for row in flip_rows(1.0, 1.0)
            ],
            None,
        ),
        # nor does a flip whose new sizes take no longer
        ([{**row, "call_ms": min(row["call_ms"], 2.0)} for row in flip_rows(1.0, 1.0)], None),
    ],
    "05-bet-price": [(costs(2.0), 20.0), (costs(2.0)[:18], None), (costs(2.0)[:12] + costs(9.0)[12:], None)],
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

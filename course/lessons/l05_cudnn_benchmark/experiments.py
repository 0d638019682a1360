"""Experiments of lesson 05 on a CPU: what oneDNN's log says of new shapes, and what a toy search of our own costs and gains.

oneDNN's cache of primitives is an analogy to cuDNN's plans: oneDNN times nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import inf
from time import perf_counter
from typing import Any

import torch

from course.core import arguments
from course.core.i18n import both, pick, t
from course.core.records import Record
from course.core.units import time_words
from course.experiment.base import Budget, experiment
from course.experiment.new_process import call_in_new_process
from course.experiment.reading import Reading, race_row
from course.figures.kinds import Bar, Bet, bars
from course.figures.svg import SvgPicture
from course.lessons.l05_cudnn_benchmark.probes import created
from course.models import toy_search
from course.timing.stats import quantile

LESSON = "05_cudnn_benchmark"
PROBES = "course.lessons.l05_cudnn_benchmark.probes"
REPEATS = 3
FRESH = both("new processes", "新进程")


# --- 05-primitive-cache -------------------------------------------------------------------------------------

SIZES = [64, 96, 64, 96]


@experiment(name="05-primitive-cache", lesson=LESSON, needs="mkldnn", seconds=12)
def primitive_cache(budget: Budget) -> Iterator[dict]:
    """Read hit or miss from the creation log of a new process, with the cache as it comes and without it."""
    settings = {"as it comes": {}, "cache off": {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "0"}}
    for setting, variables in budget.loop(settings.items(), desc=FRESH):
        _, log = call_in_new_process(PROBES, "conv_sizes", SIZES, variables=variables)
        events = [seen["event"] for seen in created(log)]
        if len(events) != len(SIZES):
            events = ["not seen"] * len(SIZES)
        yield from [
            {"setting": setting, "call": call, "size": size, "event": event}
            for call, (size, event) in enumerate(zip(SIZES, events, strict=True), start=1)
        ]


def read_primitive_cache(rows: list[dict]) -> Reading:
    """What the log says of the four calls with the cache; only the first four lines of an option settle the bet."""
    options = {"miss miss miss miss": "a", "miss hit hit hit": "b", "miss miss hit hit": "c", "miss miss miss hit": "d"}
    settings: dict[str, list[str]] = {}
    for row in rows:
        settings.setdefault(row["setting"], []).append(row["event"])
    drawn = [
        {"setting": setting, **{f"call {at}": event for at, event in enumerate(events, 1)}}
        | {"told": [f"call {at}" for at, event in enumerate(events, 1) if event == "hit"]}
        for setting, events in settings.items()
    ]
    events = settings.get("as it comes", [])
    if "not seen" in events:
        return Reading("not seen", drawn=drawn, bets={"05-bet-revisit": None})
    option = options.get(" ".join(events))
    outcome = None if len(events) < len(SIZES) else option if option in ("a", "c") else "mixed"
    return Reading(outcome, drawn=drawn, bets={"05-bet-revisit": option})


def forward_keys(model: torch.nn.Module, *inputs: torch.Tensor) -> list[tuple]:
    """One key for each convolution of a forward pass: what the cache looks at besides dtype and device."""
    keys: list[tuple] = []

    def note(layer: torch.nn.Module, given: tuple, result: torch.Tensor) -> None:
        shapes = (tuple(given[0].shape), tuple(layer.weight.shape))
        keys.append((*shapes, layer.stride, layer.padding, layer.dilation, layer.groups))

    kinds = (torch.nn.Conv1d, torch.nn.Conv2d, torch.nn.Conv3d)
    handles = [layer.register_forward_hook(note) for layer in model.modules() if isinstance(layer, kinds)]
    try:
        model(*inputs)
    finally:
        for handle in handles:
            handle.remove()
    return keys


# --- 05-toy-race --------------------------------------------------------------------------------------------

SCHEDULES = {"one size": [24] * 36, "three sizes": [24, 28, 32] * 12, "always new": list(range(12, 48))}


@experiment(name="05-toy-race", lesson=LESSON, needs="cpu", seconds=12)
def toy_race(budget: Budget) -> Iterator[dict]:
    """Total time of a schedule with the search on, over that with it off; the cache is empty at first.

    The last schedule searches most and gets most of the time.
    """
    from course.timing import compare

    for schedule, sizes in budget.loop(SCHEDULES.items(), desc=both("schedules", "尺寸安排")):
        found = compare(
            {
                "off": lambda sizes=sizes: toy_search.run_schedule(sizes, False),
                "on": lambda sizes=sizes: toy_search.run_schedule(sizes, True),
            },
            baseline="off",
            max_time=max(1.0, budget.left() if schedule == "always new" else budget.seconds / 5),
        )
        yield {
            "schedule": schedule,
            "steps": len(sizes),
            "searches": len(set(sizes)),
            **race_row(found),
            "off_ms": found.medians_ms["off"],
            "on_ms": found.medians_ms["on"],
            "rounds": found.rounds,
        }


def read_toy_race(rows: list[dict]) -> Reading | None:
    """Pays means faster: "same" and "slower" are both no. The bet asks about two schedules, and so does the sentence."""
    seen = {row["schedule"]: row["verdict"] for row in rows}
    asked = [seen.get("one size", "undecided"), seen.get("always new", "undecided")]
    if "undecided" in asked:
        return None
    one, new = (verdict == "faster" for verdict in asked)
    return Reading({(True, True): "a", (True, False): "b", (False, False): "c", (False, True): "d"}[one, new])


# --- 05-toy-cost --------------------------------------------------------------------------------------------

SAMPLES = 31


def costs(record: Record) -> dict[str, float] | None:
    """search_ms (extra of the first step), slow_ms and fast_ms of a later step; None where the record cannot tell."""
    arguments.of_type("record", record, Record)
    return _costs(record.rows)


def _costs(rows: list[dict]) -> dict[str, float] | None:
    """By the fastest quarter of the repeats, which other programs did not disturb; None where these do not agree."""
    quick = {}
    for name, kind in product(("off", "on"), ("first_ms", "later_ms")):
        times = [row[kind] for row in rows if row["search"] == name]
        if len(times) < 10 or quantile(times, 0.25) > 1.5 * min(times):
            return None
        quick[name, kind] = quantile(times, 0.25)
    slow, fast = quick["off", "later_ms"], quick["on", "later_ms"]
    return {"search_ms": quick["on", "first_ms"] - fast, "slow_ms": slow, "fast_ms": fast}


@experiment(name="05-toy-cost", lesson=LESSON, needs="cpu", seconds=3)
def toy_cost(budget: Budget) -> list[dict]:
    """First and second step of one size, with the search and without, the cache empty each time."""
    names, size = {False: "off", True: "on"}, 24
    rows = []
    with toy_search.one_thread(), torch.inference_mode():
        toy_search.run_schedule([size] * 3, True)
        for repeat in budget.loop(range(SAMPLES), desc=both("repeats", "重复")):
            for benchmark, name in names.items():
                conv = toy_search.ToyConv(benchmark)
                first_ms, later_ms = _step_ms(conv, size), _step_ms(conv, size)
                rows.append({"repeat": repeat, "search": name, "first_ms": first_ms, "later_ms": later_ms})
    return rows


def _step_ms(conv: toy_search.ToyConv, size: int) -> float:
    start = perf_counter()
    conv(toy_search.image(size), toy_search.kernel())
    return (perf_counter() - start) * 1e3


PRICES = {
    "a": (0, 4, both("at most 4 ×", "最多 4 倍")),
    "b": (4, 12, both("4 to 12 ×", "4 到 12 倍")),
    "c": (12, inf, both("more than 12 ×", "12 倍以上")),
}
"""The options of the bet on the price of the first step: from and to, in later steps, and the words in the picture."""
WIDEST = 24
"""Where the picture ends an option without an upper end, in later steps."""


def read_toy_cost(rows: list[dict]) -> Reading | None:
    """The price of the first step in later steps; nothing is told where it is unsure."""
    found = _costs(rows)
    if found is None:
        return None
    price = found["search_ms"] / found["fast_ms"] + 1
    outcome = "hardly longer" if price < 1.5 else "long"
    option = next(one for one, (_, most, _) in PRICES.items() if price <= most)
    return Reading(outcome, {"price": price}, bets={"05-bet-price": option})


def draw_toy_cost(record: Record, bets: dict[str, Any]) -> SvgPicture | None:
    """A step without the search, the first and a later one with it; the bet says how long the first one is, in later ones."""
    found = _costs(record.rows)
    if found is None:
        return None
    first = found["search_ms"] + found["fast_ms"]
    bet = None
    if mine := bets.get("05-bet-price"):
        least, most, words = PRICES[mine]
        bet = Bet(pick(words), rows=[1], span=(least * found["fast_ms"], min(most, WIDEST) * found["fast_ms"]))
    steps = (
        (t("rule of thumb, a step", "经验规则，一步"), found["slow_ms"], True),
        (t("search, the first step", "搜索，第一步"), first, False),
        (t("search, a later step", "搜索，之后一步"), found["fast_ms"], True),
    )
    rows = [Bar(name, ms, time_words(ms / 1e3), quiet) for name, ms, quiet in steps]
    return bars(rows, bet)

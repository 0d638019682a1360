"""Experiments of lesson 12: two columns of one table, three repairs, what the profiler itself costs, and a GPU's trace.

Times stand in ratios, taken side by side in this process, with the interval of their median.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import torch
from torch import nn

from course.core.i18n import both
from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.reading import FEW, Reading, groups, race_row
from course.lessons.l12_profiler.cases import cases
from course.lessons.l12_profiler.kernel_names import differing_parts
from course.models import toy_search
from course.timing.stats import median, median_interval
from course.trace import span_of, trace_of
from course.trace.onednn_log import log_of, time_in

LESSON = "12_profiler"
PROBES = "course.lessons.l12_profiler.probes"
ROUNDS = 12
NEAR = 1.1
"""Ratios within this factor of 1 count as about the same."""


# --- 12-two-columns -------------------------------------------------------------------------------------------


@experiment(name="12-two-columns", lesson=LESSON, needs="cpu", seconds=6)
def two_columns(budget: Budget) -> Iterator[dict]:
    """Twelve traces of three convolutions: the sums of total and of self time over the time of the call."""
    model = nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Conv2d(16, 16, 3), nn.ReLU(), nn.Conv2d(16, 8, 3)).eval()
    image = torch.randn(4, 3, 96, 96)
    with toy_search.one_thread(), torch.inference_mode():
        for number in budget.loop(range(ROUNDS), desc=both("traces", "剖析"), least=FEW):
            found = trace_of(lambda: model(image), calls=1, warm_ups=2 if number == 0 else 0).rows()
            listed = [row for row in found if row["kind"] not in ("call", "kernel")]
            span = span_of(found)
            yield {
                "trace": number,
                "operations": len(listed),
                "total": sum(row["us"] for row in listed) / span,
                "self": sum(row["self_us"] for row in listed) / span,
            }


def read_two_columns(rows: list[dict]) -> Reading:
    """The bet is on the column "total"; within a quarter of the call counts as about the same."""
    ratios = {key: [row[key] for row in rows] for key in ("self", "total")}
    drawn = [{"column": "call", "ratio": 1.0}, *({"column": key, "ratio": median(of)} for key, of in ratios.items())]
    numbers = {"total": median(ratios["total"]), "top": max(median(ratios["total"]), 2.5)}
    if len(rows) < FEW:
        return Reading(None, numbers, drawn)
    found = median_interval(ratios["total"])
    if found.low > 1.25:
        return Reading("c", numbers, drawn)
    return Reading(
        "a" if found.high < 0.8 else "b" if found.low >= 0.8 and found.high <= 1.25 else None, numbers, drawn
    )


# --- 12-repairs -----------------------------------------------------------------------------------------------

REPAIRS = {"photos": "a", "layers": "b", "scores": "c"}  # case -> the option that bets on it


@experiment(name="12-repairs", lesson=LESSON, needs="cpu", seconds=9)
def repairs(budget: Budget) -> Iterator[dict]:
    """Each planted case: the line its trace names, reorders in oneDNN's log, and a race of the repair against it."""
    from course.timing import compare

    with toy_search.one_thread(), torch.inference_mode():
        left = cases()
        for done, case in enumerate(budget.loop(left, desc=both("cases", "例子"))):
            found = trace_of(case.slow, calls=3)
            line = next(iter(found.by_line()), {"code": ""})
            log = list(log_of(case.slow))
            race = compare(
                {"slow": case.slow, "mended": case.mended},
                baseline="slow",
                max_time=max(1.0, min(2.5, budget.share(len(left) - done))),
            )
            yield {
                "case": case.name,
                "code": line["code"],
                "named": case.planted in line["code"],
                "overhead": found.overhead,
                "reorder_share": time_in(log, "reorder") / (time_in(log) or 1.0),
                **race_row(race),
            }


def read_repairs(rows: list[dict]) -> Reading:
    """The bet is on the largest gain, where its interval lies clear of the others'."""
    if len(rows) < len(REPAIRS) or any(row["low"] is None for row in rows):
        return Reading()
    best, *others = sorted(rows, key=lambda row: row["ratio"])
    clear = all(best["high"] < other["low"] for other in others)
    numbers = {"best": best["case"], "ratio": best["ratio"]}
    bets = {"12-bet-repair": REPAIRS[best["case"]] if clear else None}
    if all(row["low"] > 0.98 for row in rows):
        return Reading("none", numbers, bets=bets)
    if best["high"] >= 1:
        return Reading(None, numbers, bets=bets)
    if clear:
        return Reading("told", numbers, bets=bets)
    return Reading("all three" if all(row["high"] < 1 for row in rows) else None, numbers, bets=bets)


# --- 12-cost --------------------------------------------------------------------------------------------------

WORKS = ("few large", "many small")
SETTINGS: dict[str, dict[str, bool] | None] = {
    "control": None,
    "profile": {},
    "shapes": {"record_shapes": True},
    "stack": {"with_stack": True},
    "whole": {},
}


def _few_large(size: int = 224) -> Callable[[], Any]:
    one = torch.randn(size, size)

    def work() -> None:
        for _ in range(4):
            one @ one

    return work


def _many_small(count: int = 200) -> Callable[[], Any]:
    one = torch.randn(8)

    def work() -> None:
        for _ in range(count):
            one + one

    return work


def _shortest_s(work: Callable[[], Any], setting: str, calls: int = 4) -> float:
    """Seconds of the shortest of some calls, the profiler running already; for "whole" of one call with its start and end."""
    from torch.profiler import ProfilerActivity, profile

    def calls_s() -> float:
        times = []
        for _ in range(1 if setting == "whole" else calls):
            start = perf_counter()
            work()
            times.append(perf_counter() - start)
        return min(times)

    options = SETTINGS.get(setting)
    if options is None:
        return calls_s()
    start = perf_counter()
    with profile(activities=[ProfilerActivity.CPU], acc_events=True, **options):
        inside = calls_s()
    return perf_counter() - start if setting == "whole" else inside


@experiment(name="12-cost", lesson=LESSON, needs="cpu", seconds=8)
def cost(budget: Budget) -> Iterator[dict]:
    """Two works in random order of settings, each over the same work without a profiler in the same round; with a control."""
    works, shuffled = dict(zip(WORKS, (_few_large(), _many_small()), strict=True)), random.Random()
    with toy_search.one_thread(), torch.inference_mode():
        for name in works:
            _shortest_s(works[name], "profile")  # the first profiler of a process takes longer
        for number in budget.loop(range(10), desc=both("rounds", "轮"), least=FEW):
            for name, work in works.items():
                order = [*SETTINGS, "plain"]
                shuffled.shuffle(order)
                seconds = {one: _shortest_s(work, one) for one in order}
                yield from [
                    {"round": number, "work": name, "setting": one, "ratio": seconds[one] / seconds["plain"]}
                    for one in SETTINGS
                ]


DRAWN = (("few large", "profile"), ("many small", "profile"), ("many small", "shapes"), ("many small", "stack"))


def read_cost(rows: list[dict]) -> Reading:
    """profile(): many small over few large, round by round. Nothing where the control says that the machine wanders."""
    rounds = [{(row["work"], row["setting"]): row["ratio"] for row in mine} for mine in groups(rows, "round").values()]
    rounds = [one for one in rounds if len(one) == len(SETTINGS) * len(WORKS)]
    if not rounds:
        return Reading()
    drawn = []
    for work, setting in DRAWN:
        ratios = [one[work, setting] for one in rounds]
        span = median_interval(ratios)
        case = {"case": f"{work}, {setting}", "work": work, "setting": setting}
        drawn.append({**case, "ratio": median(ratios), "low": span.low, "high": span.high})
    steady = all(1 / NEAR < median([one[work, "control"] for one in rounds]) < NEAR for work in WORKS)
    found = median_interval([one["many small", "profile"] / one["few large", "profile"] for one in rounds])
    option = "b" if found.low > NEAR else "a" if found.high < 1 / NEAR else None
    if found.low > 1 / NEAR and found.high < NEAR:
        option = "c"
    small = next(row["ratio"] for row in drawn if row["case"] == "many small, profile")
    return Reading(option if steady and len(rounds) >= FEW else None, {"ratio": small}, drawn)


AROUND = re.compile(r"(void )?at::native|Mem(cpy|set)|nchwToNhwc|nhwcToNchw")
"""What runs around a convolution: PyTorch's own kernels, copies, changes of the layout."""


@experiment(name="12-gpu-trace-cuda", lesson=LESSON, version=2, needs="cuda", seconds=20, whole=True)
def gpu_trace(budget: Budget, batch: int = 8, size: int = 128) -> Iterator[dict]:
    """Kernels of four calls with the search off and on, a copy, and .item() idle and behind work, in two new processes."""
    for search in budget.loop((False, True), desc=both("new processes", "新进程"), least=2):
        yield from rows_of(PROBES, "first_and_later", search, batch, size)


def _calls(rows: list[dict], story: str) -> list[list[dict]]:
    """The launches of each call, in the order of time."""
    return list(groups([row for row in rows if row["story"] == story], "call").values())


def _computing(launches: list[dict]) -> list[dict]:
    """Those that are not around a convolution, unless there are no others."""
    return [row for row in launches if not AROUND.match(row["kernel"])] or launches


def read_gpu_trace(rows: list[dict]) -> Reading | None:
    """The search shows as kernels that run in the first call only. Its choice: all kernels of
    a later call over those without the search. Drawn: a later call without the search and with it, then what was tried in the first."""
    stories = {name: _calls(rows, f"search {name}") for name in ("off", "on")}
    if any(len(calls) < 2 for calls in stories.values()):
        return None
    kinds = {name: [len({row["kernel"] for row in call}) for call in calls] for name, calls in stories.items()}
    later = {name: [sum(row["us"] for row in call) for call in calls[1:]] for name, calls in stories.items()}
    longest = {name: max(_computing(calls[1]), key=lambda row: row["us"])["kernel"] for name, calls in stories.items()}
    tried = groups(_computing(stories["on"][0]), "kernel")
    short = differing_parts([*tried, *longest.values()], 34)
    drawn = [
        {"place": name, "name": f"search {name}", "us": median(us), "what": short[longest[name]]}
        for name, us in later.items()
    ]
    for place, (kernel, runs) in enumerate(tried.items()):
        quickest = min(row["us"] for row in runs)
        drawn.append({"place": place, "name": "tried", "us": quickest, "what": f"{len(runs)} × {short[kernel]}"})
    waits = {row["call"]: row["us"] for row in rows if row["story"] == "wait"}
    numbers = {"tried": len(tried), "idle": waits.get(1, 0.0), "queued": waits.get(2, 0.0)}
    if kinds["on"][0] - kinds["on"][1] <= max(kinds["off"][0] - kinds["off"][1], 0):
        return Reading("no race", numbers, drawn)
    return Reading("race", numbers | {"ratio": median(later["on"]) / median(later["off"])}, drawn)

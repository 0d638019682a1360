"""Experiments of lesson 05 that need a GPU: what calls, memory and whole runs cost with the search off and on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from course.experiment.base import Budget, experiment
from course.experiment.kernels import differing_parts
from course.experiment.new_process import call_in_new_process
from course.experiment.reading import Reading
from course.experiment.rows import groups
from course.figures.curves import cost_curve
from course.figures.kinds import Bet
from course.figures.svg import SvgPicture
from course.figures.words import SAME
from course.i18n import t
from course.lessons.l05_cudnn_benchmark.experiments import FRESH, LESSON, PROBES, REPEATS
from course.records import Record
from course.timing.stats import median

Process = list[dict[str, Any]]
"""The rows of one new process, in order of call."""


def _stories(
    budget: Budget, stories: dict[str, list[list[int]]], repeats: int = REPEATS, threads: tuple[str, ...] = ()
) -> Iterator[dict]:
    """Every story in a new process, round by round; rows carry story, process and call.

    Each process gets its share of the seconds left; one that had to stop early marks the record incomplete.
    threads: the stories whose every call runs in a new thread.
    """
    left = repeats * len(stories)
    for process in budget.loop(range(repeats), desc=FRESH):
        for story, visits in stories.items():
            answer, _ = call_in_new_process(
                PROBES, "conv_visits", visits, 10, budget.share(left), story in threads, timeout_s=180
            )
            left -= 1
            budget.complete = budget.complete and len(answer) == len(visits)
            for call, (visit, seen) in enumerate(zip(visits, answer, strict=False), start=1):
                names = dict(zip(("benchmark", "batch", "size"), visit, strict=True))
                yield {"story": story, "process": process, "call": call, **names, **seen}


def _by_story(rows: list[dict]) -> dict[str, list[Process]]:
    """story -> its processes."""
    stories = groups(rows, "story")
    return {story: list(groups(mine, "process").values()) for story, mine in stories.items()}


def _each(processes: list[Process], first: int, last: int = 999, key: str = "call_ms") -> list[float]:
    """One value a process, so that a process counts once: the median of its calls first..last, counted from 1."""
    values = ([row[key] for row in one if first <= row["call"] <= last] for one in processes)
    return [median(some) for some in values if some]


# --- 05-first-call-cuda -------------------------------------------------------------------------------------

NEW = 4
"""The call in which the second size appears: the first size has loaded the kernels of the layer by then."""


@experiment(name="05-first-call-cuda", lesson=LESSON, version=3, needs="cuda", seconds=60, whole=True)
def first_call_cuda(budget: Budget, batch: int = 8, sizes: tuple[int, int] = (96, 128)) -> Iterator[dict]:
    """Three calls of one size, then nine of another, in new processes: search off and on, in one thread or each in a new one."""
    known, new = ([batch, size] for size in sizes)
    stories = {
        f"{name}{threads}": [[on, *known]] * 3 + [[on, *new]] * 9
        for threads in ("", ", new threads")
        for on, name in enumerate(("off", "on"))
    }
    return _stories(budget, stories, repeats=2, threads=("off, new threads", "on, new threads"))


def read_first_call_cuda(rows: list[dict]) -> Reading | None:
    """What the second size costs in its first call; whether later calls in new threads pay again, against the same without search."""
    stories = _by_story(rows)
    if not {"off", "on"} <= set(stories) or any(len(one) < NEW for story in ("off", "on") for one in stories[story]):
        return None
    first = {name: _each(stories[name], NEW, NEW) for name in ("off", "on")}
    drawn = [{"what": f"{name}, first", "ms": median(ms)} for name, ms in first.items()]
    drawn.append({"what": "on, later", "ms": median(_each(stories["on"], NEW + 2) or first["on"])})
    off, on = ([one for one in _each(stories.get(f"{name}, new threads", []), NEW + 2)] for name in ("off", "on"))
    again = bool(off and on) and min(on) > 3 * max(off)
    if on:
        drawn.append({"what": "on, new threads, later", "ms": median(on)})
    numbers = {"ratio": median(first["on"]) / median(first["off"])}
    if max(first["off"]) >= min(first["on"]):
        return Reading("no search seen", numbers, drawn)
    return Reading("searches in each thread" if again else "searches once", numbers, drawn)


# --- 05-sizes-cuda ------------------------------------------------------------------------------------------


@experiment(name="05-sizes-cuda", lesson=LESSON, version=1, needs="cuda", seconds=75, whole=True)
def sizes_cuda(budget: Budget, batch: int = 4, sizes: tuple[int, ...] = (128, 256, 512)) -> Iterator[dict]:
    """The sizes three times over, search off and on, three new processes each."""
    return _stories(budget, {story: [[on, batch, s] for s in [*sizes] * 3] for on, story in enumerate(("off", "on"))})


def read_sizes_cuda(rows: list[dict]) -> Reading | None:
    """Of each size the first call with the search over that without it; and the calls after it. Medians over the processes."""
    calls: dict[tuple[str, int], list[list[float]]] = {}
    for story, processes in _by_story(rows).items():
        for process in processes:
            for size, mine in groups(process, "size").items():
                calls.setdefault((story, size), []).append([row["call_ms"] for row in mine])
    sizes = sorted(size for story, size in calls if story == "on" and ("off", size) in calls)
    if not sizes:
        return None
    first = {key: median([process[0] for process in found]) for key, found in calls.items()}
    again = {size: median([ms for process in calls["on", size] for ms in process[1:]]) for size in sizes}
    drawn = [
        {"size": size, "when": when, "ms": ms, "quiet": when != "first"}
        for size in sizes
        for when, ms in (("without", first["off", size]), ("first", first["on", size]), ("again", again[size]))
    ]
    ratios = [first["on", size] / first["off", size] for size in sizes]
    dear = [ratio > 1.2 for ratio in ratios]
    return Reading("all" if all(dear) else "some" if any(dear) else "none", {"most": max(ratios)}, drawn)


# --- 05-flip-cuda -------------------------------------------------------------------------------------------


@experiment(name="05-flip-cuda", lesson=LESSON, version=1, needs="cuda", seconds=110)
def flip_cuda(budget: Budget, batch: int = 8, sizes: tuple[int, int] = (128, 160)) -> Iterator[dict]:
    """Ten calls off, then ten on; off or on all the way; at the end of each a shape never seen."""
    old, new = ([batch, size] for size in sizes)
    return _stories(
        budget,
        {
            "off": [[0, *old]] * 20 + [[0, *new]] * 4,
            "flipped": [[0, *old]] * 10 + [[1, *old]] * 10 + [[1, *new]] * 4,
            "on": [[1, *old]] * 20 + [[1, *new]] * 4,
        },
    )


def read_flip_cuda(rows: list[dict]) -> Reading | None:
    """a: the flip starts a search. b: nothing happens. c: quicker at once, without a search.

    What the call after the flip costs beyond later calls, as a share of what a search from the start costs: more than half
    is a search, less than a fifth is none. Quicker: 5 % less than before, beyond what the same calls do with the search off.
    """
    stories = _by_story(rows)
    off, on, flipped = ([one for one in stories.get(name, []) if len(one) >= 22] for name in ("off", "on", "flipped"))
    if min(len(off), len(on), len(flipped)) < 2:  # a process that was cut short says nothing about call eleven
        return None

    def extra(processes: list[Process], call: int, later: tuple[int, int]) -> list[float]:
        pairs = zip(_each(processes, call, call), _each(processes, *later), strict=True)
        return [first - again for first, again in pairs]

    def after_over_before(processes: list[Process]) -> list[float]:
        pairs = zip(_each(processes, 13, 20), _each(processes, 3, 10), strict=True)
        return [after / before for after, before in pairs]

    costs = {"start": extra(on, 1, (3, 20)), "flip": extra(flipped, 11, (13, 20)), "new": extra(flipped, 21, (22, 24))}
    drawn = [{"when": when, "ms": median(ms)} for when, ms in costs.items()]
    numbers = {"search": median(costs["start"])}
    if min(costs["start"]) <= 3 * max(_each(on, 3, 20)):  # no search can be seen, not even from the start
        return Reading(None, numbers, drawn)
    share = [ms / median(costs["start"]) for ms in costs["flip"]]
    control = after_over_before(off)
    quicker = max(after_over_before(flipped)) < 0.95 * min(control)
    outcome = "a" if min(share) > 0.5 else ("c" if quicker else "b") if max(share) < 0.2 else None
    return Reading(outcome, numbers, drawn)


# --- 05-memory-cuda -----------------------------------------------------------------------------------------


@experiment(name="05-memory-cuda", lesson=LESSON, version=1, needs="cuda", seconds=75)
def memory_cuda(budget: Budget, batch: int = 16, size: int = 256) -> Iterator[dict]:
    """Peak of reserved memory at each of five calls, search off and on, three new processes each."""
    return _stories(budget, {story: [[on, batch, size]] * 5 for on, story in enumerate(("off", "on"))})


def read_memory_cuda(rows: list[dict]) -> Reading | None:
    stories = _by_story(rows)
    if not {"off", "on"} <= set(stories):
        return None
    mib = {
        (name, when): median(_each(stories[name], *calls, key="peak_reserved_mib") or [0.0])
        for name in ("off", "on")
        for when, calls in (("first", (1, 1)), ("later", (3,)))
    }
    drawn = [{"story": name, "when": when, "mib": value} for (name, when), value in mib.items()]
    off, on = mib["off", "first"], mib["on", "first"]
    return Reading("more" if on > 1.1 * off else "less" if on < 0.9 * off else "same", drawn=drawn)


# --- 05-limit-cuda ------------------------------------------------------------------------------------------


@experiment(name="05-limit-cuda", lesson=LESSON, version=3, needs="cuda", seconds=90, whole=True)
def limit_cuda(budget: Budget, batch: int = 8, size: int = 128, repeats: int = 4) -> Iterator[dict]:
    """First and later calls of one shape for four limits, with memory and winner, in new processes; 0 is no limit."""
    limits = (1, 3, 10, 0)
    left = repeats * len(limits)
    for process in budget.loop(range(repeats), desc=FRESH, least=2):
        for limit in limits:
            found, _ = call_in_new_process(PROBES, "limited", limit, batch, size, 10, budget.share(left), timeout_s=180)
            left -= 1
            budget.complete = budget.complete and found["calls"] == 10
            yield {"limit": limit, "process": process, **found}


def read_limit_cuda(rows: list[dict]) -> Reading | None:
    """An order is told where the ranges over the processes are apart: one plan against every plan."""
    found = groups(rows, "limit")
    if not {1, 0} <= set(found):
        return None
    first, later = ({n: [row[key] for row in mine] for n, mine in found.items()} for key in ("first_ms", "later_ms"))
    drawn = [{"limit": limit, "ms": median(ms)} for limit, ms in first.items()]
    quickest = min(later, key=lambda limit: median(later[limit]))
    names = differing_parts(row["kernels"] for row in rows)
    numbers = {"ratio": median(first[0]) / median(first[1]), "winners": len(names), "quickest": quickest}
    if min(first[0]) <= max(first[1]):
        return Reading("no order", numbers, drawn)
    return Reading("one plan is quickest all the way" if quickest == 1 else "every plan costs", numbers, drawn)


# --- 05-pays-cuda -------------------------------------------------------------------------------------------


@experiment(name="05-pays-cuda", lesson=LESSON, version=1, needs="cuda", seconds=110, whole=True)
def pays_cuda(budget: Budget, steps: int = 150, batch: int = 32, size: int = 224) -> Iterator[dict]:
    """Forward passes of a ResNet18, 32 images of 224x224, search off and on, three new processes each."""
    left = 2 * REPEATS
    for process in budget.loop(range(REPEATS), desc=FRESH):
        for benchmark, story in enumerate(("off", "on")):
            found, _ = call_in_new_process(
                PROBES, "model_steps", benchmark, steps, batch, size, budget.share(left), timeout_s=180
            )
            left -= 1
            budget.complete = budget.complete and len(found) == steps
            yield {"story": story, "process": process, "samples_ms": found}


PAID_BACK = "05-bet-pays"


def read_pays_cuda(rows: list[dict]) -> Reading | None:
    """Faster or slower is told where the ratio of any two processes says so; break-even by the medians."""
    found = _pay_numbers(rows)
    if found is None:
        return None
    numbers = {**found, "ratio": found["fast_ms"] / found["slow_ms"]}
    if found["low"] > 1:
        return Reading("slower" if numbers["ratio"] > 1 + SAME else "no gain", numbers, bets={PAID_BACK: "a"})
    if found["high"] >= 1:
        return Reading("no gain", numbers, bets={PAID_BACK: None})
    steps = _paid_after(found)
    outcome = "paid back" if steps else "paid back at once"
    return Reading(outcome, {**numbers, "steps": steps}, bets={PAID_BACK: "c" if steps < 1000 else "b"})


def _pay_numbers(rows: list[dict]) -> dict[str, float] | None:
    """slow_ms: a later step with the search off; fast_ms: with it on. low, high: the ratio on/off of any two processes."""
    runs = {
        name: [row["samples_ms"] for row in rows if row["story"] == name and len(row["samples_ms"]) >= 20]
        for name in ("off", "on")
    }
    if not runs["off"] or not runs["on"]:
        return None
    later = {name: [median(run[10:]) for run in processes] for name, processes in runs.items()}
    return {
        "slow_ms": median(later["off"]),
        "fast_ms": median(later["on"]),
        "search_ms": max(0.0, median([run[0] for run in runs["on"]]) - median([run[0] for run in runs["off"]])),
        "low": min(later["on"]) / max(later["off"]),
        "high": max(later["on"]) / min(later["off"]),
    }


def _paid_after(numbers: dict[str, float]) -> int:
    """Steps after the first until the search is paid back, by the medians."""
    return math.ceil(numbers["search_ms"] / (numbers["slow_ms"] - numbers["fast_ms"]))


def draw_pays_cuda(record: Record, bets: dict[str, Any]) -> SvgPicture:
    found = _pay_numbers(record.rows)
    steps = _paid_after(found) if found["high"] < 1 else None
    never = t("never paid back", "永远不回本") if found["low"] > 1 else t("no gain is certain", "没有确定的收益")
    mine = bets.get(PAID_BACK)
    bet = {
        "a": Bet(t("never paid back", "永远不回本"), above=1),
        "b": Bet(t("after thousands of steps", "上千步才回本"), at=3000),
        "c": Bet(t("after some hundreds of steps", "几百步之后回本"), at=300),
    }.get(mine)
    return cost_curve(
        found["search_ms"] / 1e3,
        found["slow_ms"] / 1e3,
        found["fast_ms" if steps is not None or found["low"] > 1 else "slow_ms"] / 1e3,
        (t("search off", "不搜索"), t("search on", "开搜索")),
        (
            t("not yet paid back", "还没回本"),
            t("paid back", "回本了"),
            never if steps is None else t(f"paid back after {steps} steps", f"{steps} 步后回本"),
        ),
        bet,
        max(len(row["samples_ms"]) for row in record.rows),
        t("total time, by medians", "总时间（按中位数算）"),
    )

"""Experiments of lesson 05 that need a GPU: what calls, whole runs and networks cost with the search off and on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from course.core.i18n import both, t
from course.core.records import Record
from course.core.units import SAME
from course.experiment.base import Budget, experiment
from course.experiment.new_process import call_in_new_process
from course.experiment.reading import Reading, groups
from course.figures.curves import cost_curve
from course.figures.kinds import Bet
from course.figures.svg import SvgPicture
from course.lessons.l05_cudnn_benchmark.experiments import FRESH, LESSON, PROBES, REPEATS
from course.timing.stats import median

Process = list[dict[str, Any]]
"""The rows of one new process, in order of call."""


def _stories(budget: Budget, stories: dict[str, list[list[int]]], repeats: int = REPEATS) -> Iterator[dict]:
    """Every story in a new process, round by round; rows carry story, process and call.

    Each process gets its share of the seconds left; one that had to stop early marks the record incomplete.
    """
    left = repeats * len(stories)
    for process in budget.loop(range(repeats), desc=FRESH):
        for story, visits in stories.items():
            answer, _ = call_in_new_process(PROBES, "conv_visits", visits, budget.share(left), timeout_s=180)
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
    most = max(first["on", size] / first["off", size] for size in sizes)
    return Reading("once" if most > 1.2 else "none", {"most": most}, drawn)


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
        "a": Bet(t("never paid back", "永远不回本"), at=0),
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


WAYS = ("off", "on")


# --- 05-networks-cuda ---------------------------------------------------------------------------------------

NETWORKS = ("resnet50", "mobilenet_v2", "vgg16")
PRECISIONS = ("float32", "AMP, channels_last")


@experiment(name="05-networks-cuda", lesson=LESSON, needs="cuda", seconds=60, whole=True)
def networks_cuda(
    budget: Budget, networks: tuple[str, ...] = NETWORKS, steps: int = 25, batch: int = 16, size: int = 224
) -> Iterator[dict]:
    """Training steps of three networks in two precisions, search off and on, two new processes each."""
    cases = [
        (process, network, half, benchmark)
        for process in range(2)
        for network in networks
        for half in range(2)
        for benchmark in range(2)
    ]
    for place, (process, network, half, benchmark) in enumerate(budget.loop(cases, desc=both("trainings", "训练"))):
        seen, _ = call_in_new_process(
            PROBES, "training_steps", benchmark, network, half, steps, batch, size, budget.share(len(cases) - place),
            timeout_s=180,
        )  # fmt: skip
        yield {"network": network, "precision": PRECISIONS[half], "search": WAYS[benchmark], "process": process, **seen}


def read_networks_cuda(rows: list[dict]) -> Reading | None:
    """A later step with the search over one without, by network and precision; a gain or a loss is 3 % in every pair of processes."""
    drawn = []
    for (network, precision), mine in _by_case(rows).items():
        ways = groups(mine, "search")
        if all(len(ways.get(way, ())) >= 2 for way in WAYS):
            off, on = ([row["step_ms"] for row in ways[way]] for way in WAYS)
            extra = median([row["first_ms"] for row in ways["on"]]) - median([row["first_ms"] for row in ways["off"]])
            drawn.append(
                {
                    "case": f"{network}, {precision}",
                    "ratio": median(on) / median(off),
                    "low": min(on) / max(off),
                    "high": max(on) / min(off),
                    "extra_ms": max(0.0, extra),
                }
            )
    if not drawn:
        return None
    gains, losses = (sum(row["high"] < 0.97 for row in drawn), sum(row["low"] > 1.03 for row in drawn))
    numbers = {"all": len(drawn), "gains": gains, "losses": losses}
    numbers["extra_ms"] = max(row["extra_ms"] for row in drawn)
    return Reading("told", numbers, drawn)


def _by_case(rows: list[dict]) -> dict[tuple[str, str], list[dict]]:
    found: dict[tuple[str, str], list[dict]] = {}
    for row in rows:
        found.setdefault((row["network"], row["precision"]), []).append(row)
    return found

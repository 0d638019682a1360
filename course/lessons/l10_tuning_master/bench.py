"""Measures the live cases: every configuration against today's, paired, with its switches set for each call and put back at the end.

Each live case is an experiment of the same name (``10-voice``): measured here where the machine can, replayed where it cannot and
there is a recording. One run of a player is the same experiment on one configuration.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch

from course.core.i18n import pick, t
from course.experiment.base import Budget
from course.experiment.rows import race_row

Config = Mapping[str, str]
Call = Callable[[], Any]
GRAD = {"grad": contextlib.nullcontext, "no_grad": torch.no_grad, "inference_mode": torch.inference_mode}


def cores() -> int:
    """Threads that "all cores" means."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def without_grad(call: Call) -> Call:
    """The call as inference runs it."""

    def run() -> Any:
        with torch.no_grad():
            return call()

    return run


def under(config: Config, call: Call, machine: int | None = None) -> Call:
    """`call` with the switches of a configuration set at every call; a control that is absent costs nothing.

    machine: the threads that "all" means (default: all cores). Whoever runs it restores the switches (``experiment.restored``).
    """
    steps: list[Callable[[], Any]] = []
    if "onednn" in config:
        steps.append(lambda on=config["onednn"] == "on": setattr(torch.backends.mkldnn, "enabled", on))
    if "threads" in config:
        count = 1 if config["threads"] == "1" else machine or cores()
        steps.append(lambda: torch.set_num_threads(count))
    grad = GRAD[config["grad"]] if "grad" in config else None

    def run() -> Any:
        for step in steps:
            step()
        if grad is None:
            return call()
        with grad():
            return call()

    return run


def peak_mib(call: Call) -> float:
    """Peak of what torch's allocator holds during one call, above the level before it, MiB.

    Exact: from the profiler's memory events. What libraries keep for themselves is not in it.
    """
    call()
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, profile_memory=True) as recorded:
        call()
    level = peak = 0
    for event in recorded.profiler.kineto_results.events():
        if event.name() == "[memory]":
            level += event.nbytes()
            peak = max(peak, level)
    return round(peak / 2**20, 2)


def rows(
    work: Any,
    plan: Any,
    configs: Sequence[Config] | None,
    budget: Budget,
    tell: Callable[[str], None] = lambda words: None,
) -> Iterable[dict[str, Any]]:
    """Rows of these configurations (None: all) and of today's for one Workload.

    What must not break is looked at first: it needs no clock. The rest of the budget is for the rounds.

    Keys: config, words, ratio, low, high, verdict, median_ms, and a fact_... for each limit.
    """
    from course.lessons.l10_tuning_master.panel import in_words, key
    from course.timing import compare

    today = dict(plan.today)
    every = {key(one): dict(one) for one in (configs if configs is not None else plan.configs())}
    asked = {key(today): today, **every}
    tell(t("building what runs", "搭建要跑的东西"))
    with torch.random.fork_rng(devices=[]):
        calls = {name: under(config, work.build(config)) for name, config in asked.items()}
        if len(asked) == 1:
            calls[AGAIN] = under(today, work.build(today))
    if plan.limits:
        tell(t("what must not break: ", "检查不能破的要求：") + ", ".join(pick(one.name) for one in plan.limits))
    facts = {name: work.facts(config) if plan.limits else {} for name, config in asked.items()}
    tell(t("first calls, then rounds in random order", "先各跑一次，再按随机顺序一轮轮跑"))
    found = compare(calls, baseline=key(today), ci=0.02, max_time=budget.share(1), gate=0.03, same=False)
    pairs = {pair.name: pair for pair in found.pairs.values()}
    result = []
    for name, config in asked.items():
        pair = pairs.get(AGAIN if len(asked) == 1 else name)
        row = {"config": name, "words": in_words(plan, config), **_ratio(pair), "median_ms": found.medians_ms[name]}
        result.append(row | {f"fact_{limit}": value for limit, value in facts[name].items()})
    tell(t(f"rounds: {found.rounds}", f"轮数：{found.rounds}"))
    # the notes of the comparison are for whoever can change it; a player can only make room for it
    if configs is not None and any(row["verdict"] == "undecided" for row in result):
        tell(
            t(
                "undecided: where other programs are at work, close them before the next run",
                "没分出高下：如果别的程序正忙，下次测量前先关掉它们",
            )
        )
    return result


AGAIN = "today again"
"""The other side where a player asks for today's configuration: the same once more."""


def _ratio(pair: Any) -> dict[str, Any]:
    """Time over today's with its interval and verdict; of the baseline itself (None) 1. A few rounds carry no interval."""
    from course.lessons.l10_tuning_master.panel import FEW
    from course.timing.results import ENOUGH

    if pair is None:
        return {"ratio": 1.0, "low": 1.0, "high": 1.0, "verdict": "same"}
    if pair.low is None or pair.confidence < ENOUGH:
        return {"ratio": pair.ratio, "low": pair.ratio, "high": pair.ratio, "verdict": FEW}
    return race_row(pair)

"""Experiments of lesson 06: what repeats itself to the last bit, what does not, and which cure helps.

``training`` holds the small computations. cuDNN is asked in new processes, because a process keeps its plans.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import torch

from course.core.i18n import both
from course.experiment.base import Budget, experiment
from course.experiment.reading import Reading
from course.experiment.rows import race_row
from course.flags import using
from course.lessons.l06_cudnn_deterministic import training as toy_repro
from course.lessons.l06_cudnn_deterministic.training import fingerprint

LESSON = "06_cudnn_deterministic"
PROBES = "course.lessons.l06_cudnn_deterministic.probes"
CURES = {
    "seeds alone": {},
    "two lines": {"cudnn.benchmark": False, "cudnn.deterministic": True},
    "one thread": {"torch.num_threads": 1},
    "algorithms": {"torch.deterministic_algorithms": True},
}
PAIRS = [(benchmark, deterministic) for benchmark in (0, 1) for deterministic in (0, 1)]
FRESH = both("new processes", "新进程")


def by_setting(rows: list[dict]) -> dict[tuple[int, int], list[dict]]:
    """(benchmark, deterministic) -> rows, in the order of the table."""
    found: dict[tuple[int, int], list[dict]] = {}
    for row in rows:
        found.setdefault((row["benchmark"], row["deterministic"]), []).append(row)
    return dict(sorted(found.items()))


def label(setting: tuple[int, int]) -> str:
    """Such as benchmark=T, deterministic=F."""
    return "benchmark={}, deterministic={}".format(*("FT"[flag] for flag in setting))


def _threads() -> int:
    """At least four, so that additions can meet in any order also on a small machine."""
    return max(4, torch.get_num_threads())


def _in_mode(mode: str, call: Callable[[], Any]) -> None:
    """One call with the debug mode "default" or "error", which is put back to "default"."""
    torch.set_deterministic_debug_mode(mode)
    try:
        call()
    finally:
        torch.set_deterministic_debug_mode("default")


# --- 06-two-lines -------------------------------------------------------------------------------------------


@experiment(name="06-two-lines", lesson=LESSON, version=1, needs="cpu", seconds=4, whole=True)
def two_lines(budget: Budget) -> list[dict]:
    """Ten trainings of a table of ten numbers, from the same seed, under the famous two lines."""
    rows = []
    for run in budget.loop(range(10), desc=both("trainings", "训练")):
        with using({"torch.num_threads": _threads(), **CURES["two lines"]}):
            table = toy_repro.table_training()
        rows.append({"run": run + 1, "threads": _threads(), "bits": fingerprint(table), "first_entry": table[0].item()})
    return rows


def read_two_lines(rows: list[dict]) -> Reading | None:
    each = _each([row["bits"] for row in rows])
    if len(rows) < 2:
        return None
    outcome = "a" if len(each) == 1 else "c" if len(each) == len(rows) else "b"
    return Reading(outcome, {"different": len(each)}, [{"what": "trainings", **_shares(each)}])


def _each(results: list[str]) -> list[int]:
    """How often each of the different results came, most first."""
    return [count for _, count in Counter(results).most_common()]


def _shares(each: list[int]) -> dict[str, Any]:
    """What the picture shows of the counts."""
    return {"each": each, "different": len(each), "said": "one result" if len(each) == 1 else "several"}


# --- 06-cures -----------------------------------------------------------------------------------------------


def _trained(settings: dict[str, Any], runs: int) -> list[str]:
    with using({"torch.num_threads": _threads(), **settings}):
        return [fingerprint(toy_repro.table_training()) for _ in range(runs)]


@experiment(name="06-cures", lesson=LESSON, version=2, needs="cpu", seconds=10)
def cures(budget: Budget) -> Iterator[dict]:
    """Twenty trainings from one seed under each of four settings; how many different results."""
    for name, settings in budget.loop(CURES.items(), desc=both("cures", "药方")):
        each = _each(_trained(settings, 20))
        yield {
            "cure": name,
            "runs": sum(each),
            "different": len(each),
            "each": each,
            "threads": settings.get("torch.num_threads", _threads()),
        }


def read_cures(rows: list[dict]) -> Reading:
    """Which of the two remedies made all runs agree; nothing is settled when even the untreated runs do."""
    drawn = [{**row, **_shares(row["each"])} for row in rows]
    different = {row["cure"]: row["different"] for row in rows}
    if len(different) < len(CURES):
        return Reading(drawn=drawn)
    if different["seeds alone"] == 1:
        return Reading("even seeds alone", drawn=drawn, bets={"06-bet-cure": None})
    flags, mode = different["two lines"] == 1, different["algorithms"] == 1
    return Reading({(1, 1): "c", (1, 0): "a", (0, 1): "b", (0, 0): "d"}[flags, mode], drawn=drawn)


# --- 06-cost ------------------------------------------------------------------------------------------------


def _adder(places: int, values: torch.Tensor, rng: torch.Generator) -> Callable[[], torch.Tensor]:
    index, table = torch.randint(0, places, (len(values),), generator=rng), torch.zeros(places)
    return lambda: table.zero_().index_put_((index,), values, accumulate=True)


@experiment(name="06-cost", lesson=LESSON, version=1, needs="cpu", seconds=8)
def cost(budget: Budget) -> Iterator[dict]:
    """Time with the mode on over time with it off: adding into 10 and into 100,000 places, and torch.empty."""
    from course.timing import compare

    rng = torch.Generator().manual_seed(0)
    values = torch.randn(200_000, generator=rng)
    calls = {f"{places} places": _adder(places, values, rng) for places in (10, 100_000)}
    calls["torch.empty"] = lambda: torch.empty(30_000)
    for place, (name, call) in enumerate(budget.loop(calls.items(), desc=both("operations", "算子"))):
        race = compare(
            {
                "default": lambda call=call: _in_mode("default", call),
                "deterministic": lambda call=call: _in_mode("error", call),
            },
            baseline="default",
            max_time=max(1.0, budget.share(len(calls) - place)),
        )
        yield {
            "operation": name,
            **race_row(race),
            "threads": torch.get_num_threads(),
            "rounds": race.rounds,
            **{f"{side}_ms": ms for side, ms in race.medians_ms.items()},
        }


def read_cost(rows: list[dict]) -> Reading:
    """Whether it cost everywhere, somewhere or nowhere. Slower here and not there is "somewhere", whatever the others are."""
    verdicts = [row["verdict"] for row in rows]
    slower, others, all_three = verdicts.count("slower"), {"faster", "same"} & set(verdicts), len(rows) == 3
    if slower and others:
        option = "b"
    elif all_three and "undecided" not in verdicts:
        option = "a" if slower else "c"
    else:
        option = None
    faster = " somewhere faster" if "faster" in verdicts else ""
    most = max((row["ratio"] for row in rows if row["verdict"] == "slower"), default=1)
    outcome = option + faster if option and all_three else None
    return Reading(outcome, {"most": most}, bets={"06-bet-cost": option})

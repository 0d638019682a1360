"""Experiments of lesson 06: what repeats itself to the last bit, what does not, and which cure helps.

``training`` holds the small computations. cuDNN is asked in new processes, because a process keeps its plans.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F

from course.core.i18n import both
from course.experiment.base import Budget, experiment
from course.experiment.new_process import call_in_new_process
from course.experiment.reading import Reading, groups, race_row
from course.flags import using
from course.lessons.l06_cudnn_deterministic import training as toy_repro
from course.lessons.l06_cudnn_deterministic.probes import SETTINGS
from course.lessons.l06_cudnn_deterministic.training import fingerprint
from course.timing.stats import median

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
    option = "a" if len(each) == 1 else "c" if len(each) == len(rows) else "b"
    drawn = [{"what": "trainings", **_shares(each)}]
    numbers = {"different": len(each), "all": len(rows)}
    return Reading("a" if option == "a" else "differ", numbers, drawn, {"06-bet-agree": option})


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
    most = max((row["ratio"] for row in rows if row["verdict"] == "slower"), default=1)
    return Reading(option if all_three else None, {"most": most}, bets={"06-bet-cost": option})


BATCHES, ROWS = (1, 2, 3, 4, 8, 16, 32, 64), 64


# --- 06-company ---------------------------------------------------------------------------------------------


@experiment(name="06-company", lesson=LESSON, version=1, needs="cpu", seconds=4, whole=True)
def company(budget: Budget) -> list[dict]:
    """The first row of a batch through a linear layer, in batches of 1 to 64; compared with the batch of 64."""
    rng = torch.Generator().manual_seed(0)
    weight, inputs = torch.randn(512, 512, generator=rng), torch.randn(ROWS, 512, generator=rng)
    rows = []
    with torch.inference_mode():
        full = F.linear(inputs, weight)[0]
        for batch in budget.loop(BATCHES, desc=both("batches", "batch")):
            mine = F.linear(inputs[:batch], weight)[0]
            again = F.linear(inputs[:batch], weight)[0]
            rows.append(
                {
                    "batch": batch,
                    "same_bits": int(torch.equal(mine, full)),
                    "repeats": int(torch.equal(mine, again)),
                    "numbers": len(mine),
                    "numbers_changed": int((mine != full).sum()),
                    "largest_change": float((mine - full).abs().max() / full.abs().max()),
                }
            )
    return rows


def read_company(rows: list[dict]) -> Reading:
    """How many outputs of the row have other bits than in the batch of 64, and whether they are a rounding apart."""
    worst = max(row["largest_change"] for row in rows)
    drawn = [
        {
            **row,
            "percent": 100 * row["numbers_changed"] / row["numbers"],
            "said": "same" if row["same_bits"] else "near" if row["largest_change"] < 1e-4 else "far",
        }
        for row in rows
        if row["batch"] != ROWS
    ]
    if len(rows) < 3 or rows[0]["batch"] != 1:
        return Reading(drawn=drawn)
    same = all(row["same_bits"] for row in rows)
    return Reading("a" if same else "b" if worst < 1e-4 else "c", drawn=drawn)


# --- 06-who-seeds -------------------------------------------------------------------------------------------


@experiment(name="06-who-seeds", lesson=LESSON, version=1, needs="cpu", seconds=20)
def who_seeds(budget: Budget) -> list[dict]:
    """Numbers from Python, numpy and torch, in the main process and in two loader workers, in two processes."""
    both_runs = [call_in_new_process(PROBES, "draws", list(SETTINGS))[0] for _ in budget.loop(range(2), desc=FRESH)]
    if len(both_runs) < 2:
        return []
    return [
        {
            "setting": one["setting"],
            "source": one["source"],
            "here": int(one["here"] == two["here"]),
            "workers": int(one["workers"] == two["workers"]),
        }
        for one, two in zip(*both_runs, strict=True)
    ]


def read_who_seeds(rows: list[dict]) -> Reading:
    """Which numbers the two processes share; what was bet is numpy's row under torch.manual_seed alone."""
    drawn = []
    for setting, mine in groups(rows, "setting").items():
        same = {f"{row['source']} {place}": row[place] for row in mine for place in ("here", "workers")}
        words = {column: "same" if equal else "differ" for column, equal in same.items()}
        drawn.append({"setting": setting, **words, "told": [column for column, equal in same.items() if equal]})
    numpy = [row for row in rows if row["setting"] == "torch seed" and row["source"] == "numpy"]
    answers = {(0, 0): "a", (0, 1): "b", (1, 0): "c", (1, 1): "d"}
    return Reading(answers[numpy[0]["here"], numpy[0]["workers"]] if numpy else None, drawn=drawn)


# --- 06-one-ulp ---------------------------------------------------------------------------------------------


@experiment(name="06-one-ulp", lesson=LESSON, version=1, needs="cpu", seconds=6)
def one_ulp(budget: Budget) -> Iterator[dict]:
    """Losses of a tiny GAN and of a line fit, with and without a nudge of one ulp; the GAN's control too."""
    steps = 120
    stories = {
        "gan": (toy_repro.duel_losses, True),
        "line": (toy_repro.fit_losses, True),
        "control": (toy_repro.duel_losses, False),
    }
    with using({"torch.num_threads": 1}):
        for story, (losses, nudged) in budget.loop(stories.items(), desc=both("trainings", "训练")):
            plain, moved = losses(False, steps), losses(nudged, steps)
            yield from [
                {"story": story, "step": step, "loss": one, "difference": abs(one - other)}
                for step, (one, other) in enumerate(zip(plain, moved, strict=True), start=1)
            ]


TEN = 10
"""Steps of which the median is drawn and told."""


def read_one_ulp(rows: list[dict]) -> Reading | None:
    """How many leading digits the losses of the two GANs share in the last ten steps; nothing when the control moved."""
    stories = groups(rows, "story")
    if not {"gan", "control"} <= set(stories):
        return None
    far, moved = (max(row["difference"] for row in stories[story]) for story in ("gan", "control"))
    digits = {
        story: [shared_digits(row["loss"], row["difference"]) for row in found] for story, found in stories.items()
    }
    steps = len(digits["gan"])
    drawn = [
        {
            "step": end,
            **{story: median(each[max(0, end - TEN) : end]) for story, each in digits.items() if len(each) >= end},
        }
        for end in (range(TEN, steps + 1, TEN) or [steps])
    ]
    last = drawn[-1]["gan"]
    if moved or not far:
        return Reading("it does not repeat" if moved else "nothing changed", drawn=drawn, bets={"06-bet-ulp": None})
    option = "c" if last < 1 else "b" if last < 4 else "a"
    numbers = {"steps": steps, "digits": int(last)}
    return Reading("c" if option == "c" else "digits", numbers, drawn, {"06-bet-ulp": option})


def shared_digits(loss: float, difference: float) -> float:
    """How many leading digits two losses share: 0 where even the first one differs, 7 where all of float32 agree."""
    return min(7.0, max(0.0, -math.log10(difference / abs(loss)))) if difference else 7.0


# --- 06-truth-table-cuda ------------------------------------------------------------------------------------


@experiment(name="06-truth-table-cuda", lesson=LESSON, version=2, needs="cuda", seconds=150)
def truth_table_cuda(budget: Budget, channels: int = 64, size: int = 56) -> Iterator[dict]:
    """Forward and backward of one convolution, twenty times; three new processes for each setting."""
    left = 3 * len(PAIRS)
    for process in budget.loop(range(3), desc=FRESH, least=2):
        for benchmark, deterministic in PAIRS:
            seen, _ = call_in_new_process(
                PROBES, "conv_setting", benchmark, deterministic, 20, channels, size, budget.share(left), timeout_s=180
            )
            left -= 1
            budget.complete = budget.complete and len(seen["bits"]) == 20
            yield {
                "benchmark": benchmark,
                "deterministic": deterministic,
                "process": process,
                "first_ms": seen["first_ms"],
                "later_ms": seen["later_ms"],
                "different_bits": len(set(seen["bits"])),
                "bits": seen["bits"][-1],
                "kernels": seen["kernels"],
            }


def read_truth_table_cuda(rows: list[dict]) -> Reading | None:
    """Whether both switches search, and whether results then vary: within a process, or only from one process to the next."""
    found = by_setting(rows)
    drawn = [
        {
            "setting": label(setting),
            "first_ms": median([row["first_ms"] for row in mine]),
            "within": (within := max(row["different_bits"] for row in mine)),
            "across": (across := len({row["bits"] for row in mine})),
            "kernels": len({row["kernels"] for row in mine}),
            "told": [column for column, count in (("within", within), ("across", across)) if count > 1],
        }
        for setting, mine in found.items()
    ]
    if len(found) < len(PAIRS) or min(map(len, found.values())) < 2:
        return Reading(drawn=drawn)
    searches, both_on = _searches(found), found[1, 1]
    if not searches:
        return Reading(None if searches is None else "a", drawn=drawn)
    if max(row["different_bits"] for row in both_on) > 1:
        return Reading("b", drawn=drawn)
    alike = len({row["bits"] for row in both_on}) == 1
    return Reading("c" if alike else "c processes differ", {"processes": len(both_on)}, drawn)


def _searches(found: dict[tuple[int, int], list[dict]]) -> bool | None:
    """Whether both switches search: by a kernel that ``deterministic`` alone never runs, which needs no clock; else by what
    they add to the first call, of what ``benchmark`` adds without the filter. None where neither tells.
    """
    kernels = {setting: {row["kernels"] for row in found[setting]} - {""} for setting in ((0, 1), (1, 1))}
    if kernels[0, 1] and kernels[1, 1] - kernels[0, 1]:
        return True
    first = {setting: [row["first_ms"] for row in rows] for setting, rows in found.items()}
    if min(first[1, 0]) <= 2 * max(first[0, 0]):
        return None  # not even benchmark alone shows a search
    off, filtered, alone, both_on = (median(first[setting]) for setting in PAIRS)
    share = (both_on - filtered) / (alone - off)
    return True if share > 0.4 else False if max(first[1, 1]) < 1.5 * max(first[0, 1]) else None

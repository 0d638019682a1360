"""Experiments of lesson 06 that need a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from course.experiment.base import Budget, experiment
from course.experiment.new_process import call_in_new_process
from course.experiment.reading import Reading
from course.experiment.rows import groups, race_row
from course.flags import using
from course.i18n import both
from course.lessons.l06_cudnn_deterministic.experiments import (
    CURES,
    FRESH,
    LESSON,
    PAIRS,
    PROBES,
    _in_mode,
    by_setting,
    label,
)
from course.lessons.l06_cudnn_deterministic.probes import cuda_operations
from course.lessons.l06_cudnn_deterministic.training import fingerprint
from course.timing.stats import median

GPU = "cuda"  # the device of the experiments with needs="cuda"
GPU_SETTINGS = {"nothing": {}, "two lines": CURES["two lines"], "algorithms": CURES["algorithms"]}


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


# --- 06-bits-cuda -------------------------------------------------------------------------------------------


def _repeated(call: Callable[[], Any]) -> dict[str, Any]:
    try:
        found = {fingerprint(call()) for _ in range(30)}
    except RuntimeError as error:
        return {"different": 0, "outcome": "raises", "said": str(error).split(". ")[0][:160]}
    return {"different": len(found), "outcome": "runs", "said": ""}


@experiment(name="06-bits-cuda", lesson=LESSON, version=1, needs="cuda", seconds=40, whole=True)
def bits_cuda(budget: Budget, count: int = 200_000, size: int = 56) -> Iterator[dict]:
    """Different bits over thirty calls for each operation and setting; 0 where the call raises."""
    operations = cuda_operations(GPU, count, size)
    cases = [(operation, name) for operation in operations for name in GPU_SETTINGS]
    for operation, setting in budget.loop(cases, desc=both("operations", "算子")):
        with using(GPU_SETTINGS[setting]):
            yield {"operation": operation, "setting": setting, **_repeated(operations[operation])}


def read_bits_cuda(rows: list[dict]) -> Reading | None:
    """Which of the settings leave results that vary."""
    operations = {name: {row["setting"]: row for row in mine} for name, mine in groups(rows, "operation").items()}
    drawn = [
        {
            "operation": name,
            **{s: "raises" if row["outcome"] == "raises" else row["different"] for s, row in mine.items()},
            "told": [s for s, row in mine.items() if row["different"] > 1],
        }
        for name, mine in operations.items()
    ]
    whole = [mine for mine in operations.values() if len(mine) == len(GPU_SETTINGS)]
    if not whole:
        return None
    varying = {s: sum(mine[s]["different"] > 1 for mine in whole) for s in GPU_SETTINGS}
    outcome = next((s for s in ("algorithms", "two lines", "nothing") if varying[s]), "every result repeats")
    return Reading(outcome, {"varying": varying.get(outcome, 0), "operations": len(whole)}, drawn)


# --- 06-cost-cuda -------------------------------------------------------------------------------------------


@experiment(name="06-cost-cuda", lesson=LESSON, version=2, needs="cuda", seconds=20, whole=True)
def cost_cuda(budget: Budget, count: int = 20_000_000, size: int = 112) -> Iterator[dict]:
    """Time with use_deterministic_algorithms over time without, for each operation that has both.

    The inputs are so large that the GPU and not the calls takes the time. New memory is not filled: that is a price of its own.
    """
    from course.timing import compare

    operations = cuda_operations(GPU, count, size)
    for place, (name, call) in enumerate(budget.loop(operations.items(), desc=both("operations", "算子"))):
        with using({"torch.fill_uninitialized_memory": False}):
            try:
                _in_mode("error", call)
                race = compare(
                    {
                        "default": lambda call=call: _in_mode("default", call),
                        "deterministic": lambda call=call: _in_mode("error", call),
                    },
                    baseline="default",
                    max_time=max(0.1, min(6.0, budget.share(len(operations) - place))),
                    device=GPU,
                )
            except RuntimeError as error:
                refused = "deterministic" in str(error)
                verdict = "raises" if refused else "error"
                yield {"operation": name, "verdict": verdict, "said": str(error).split(". ")[0][:160]}
                continue
        times = {f"{side}_ms": ms for side, ms in race.medians_ms.items()}
        yield {"operation": name, **race_row(race), "rounds": race.rounds, **times}


def read_cost_cuda(rows: list[dict]) -> Reading | None:
    """The operation that pays most carries the headline; a mere gain or nothing has to be sure of every operation."""
    raced = [row for row in rows if "ratio" in row]
    verdicts = {row["verdict"] for row in raced}
    if not raced:
        return None
    if "slower" in verdicts:
        most = max((row for row in raced if row["verdict"] == "slower"), key=lambda row: row["ratio"])
        return Reading("slower", most, raced)
    if "undecided" in verdicts:
        return Reading(drawn=raced)
    return Reading("faster" if "faster" in verdicts else "no cost", drawn=raced)

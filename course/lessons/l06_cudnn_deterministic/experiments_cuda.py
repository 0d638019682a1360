"""Experiments of lesson 06 that need a GPU."""

from __future__ import annotations

from collections.abc import Iterator

from course.experiment.base import Budget, experiment
from course.experiment.new_process import call_in_new_process
from course.experiment.reading import Reading
from course.lessons.l06_cudnn_deterministic.experiments import FRESH, LESSON, PAIRS, PROBES, by_setting, label
from course.timing.stats import median

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

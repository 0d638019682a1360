"""The experiment of lesson 16 that needs a GPU: four switches that choose a library or an arithmetic."""

from __future__ import annotations

from collections.abc import Iterator

from course.experiment.base import Budget, experiment
from course.experiment.kernels import differing_parts
from course.experiment.new_process import rows_of
from course.experiment.reading import Reading
from course.experiment.rows import kind_of
from course.lessons.l16_rest.experiments import LESSON, MEASURING

PROBES = "course.lessons.l16_rest.probes_cuda"


@experiment(name="16-drawer-cuda", lesson=LESSON, version=2, needs="cuda", seconds=20, whole=True)
def drawer_cuda(budget: Budget, size: int = 2048) -> Iterator[dict]:
    """preferred_linalg_library, preferred_blas_library, cufft_plan_cache and allow_fp16_accumulation: each raced, and what ran."""
    for part in budget.loop(["drawer"], desc=MEASURING):
        yield from rows_of(PROBES, part, size, budget.seconds, timeout_s=300)


def read_drawer_cuda(rows: list[dict]) -> Reading:
    """Which switches change the time, and whether other kernels ran. An FFT that takes at least twice as long without its plans
    is told first."""
    drawn = []
    for row in rows:
        if row["refused"]:
            drawn.append({"switch": row["switch"], "time": "refused", "first": "–", "second": "–"})
            continue
        first, second = row["first_ran"], row["second_ran"]
        ran = differing_parts([first, second], 30)
        kernels = {"first": ran[first], "second": ran[second] if first != second else "the same"}
        told = ["time"] * (kind_of(row) in ("faster", "slower")) + ["second"] * (first != second)
        drawn.append({"switch": row["switch"], "time": row["ratio"], **kernels, "told": told})
    raced = {row["switch"]: row for row in rows if not row["refused"]}
    if not raced:
        return Reading("all refused", drawn=drawn)
    if "fft" in raced and raced["fft"]["low"] >= 2:
        return Reading("plans", {"ratio": raced["fft"]["ratio"]}, drawn)
    kinds = [kind_of(row) for row in raced.values()]
    if "undecided" in kinds:
        return Reading(drawn=drawn)
    moved = sum(kind != "same" for kind in kinds)
    strongest = max((row["ratio"] for row in raced.values()), key=lambda ratio: max(ratio, 1 / ratio))
    outcome = "none" if not moved else "some" if moved < len(kinds) else "all"
    return Reading(outcome, {"ratio": strongest}, drawn)

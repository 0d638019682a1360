"""Experiments of lesson 07 that need a GPU."""

from __future__ import annotations

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.reading import Reading
from course.lessons.l07_precision.experiments import LESSON

CUDA_PROBES = "course.lessons.l07_precision.probes_cuda"


def _in_time(budget: Budget, rows: list[dict], whole: int) -> list[dict]:
    """The rows; the record is marked incomplete where the new process had to stop early."""
    budget.complete = budget.complete and len(rows) == whole
    return rows


# --- 07-speed-cuda ------------------------------------------------------------------------------------------


@experiment(name="07-speed-cuda", lesson=LESSON, version=1, needs="cuda", seconds=90, whole=True)
def speed_cuda(budget: Budget, sizes: tuple[int, ...] = (256, 1024, 4096)) -> list[dict]:
    """time(TF32 allowed) / time(forbidden) of matmul and convolution at three sizes, taking turns."""
    return _in_time(budget, rows_of(CUDA_PROBES, "speed", list(sizes), budget.left(), timeout_s=180), 2 * len(sizes))


def read_speed_cuda(rows: list[dict]) -> Reading:
    """Faster everywhere, somewhere or nowhere. Faster here and not there is "somewhere", whatever is undecided."""
    verdicts = [row["verdict"] for row in rows]
    faster, others = "faster" in verdicts, {"same", "slower"} & set(verdicts)
    drawn = [{**row, "case": f"{row['operation']} {row['size']}"} for row in rows]
    if "undecided" in verdicts and not (faster and others):
        return Reading(drawn=drawn)
    outcome = ("b" if others else "a") if faster else "c"
    if outcome == "b" and "slower" in others:
        outcome = "b somewhere slower"
    most = max((1 / row["ratio"] for row in rows if row["verdict"] == "faster"), default=1)
    return Reading(outcome, {"most": most}, drawn)

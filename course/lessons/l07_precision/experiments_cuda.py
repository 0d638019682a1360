"""Experiments of lesson 07 that need a GPU."""

from __future__ import annotations

from course.experiment.base import Budget, experiment
from course.experiment.kernels import differing_parts
from course.experiment.new_process import rows_of
from course.experiment.reading import Reading
from course.experiment.rows import groups
from course.lessons.l07_precision.experiments import LESSON, pick_rows
from course.timing.stats import median

CUDA_PROBES = "course.lessons.l07_precision.probes_cuda"


def _in_time(budget: Budget, rows: list[dict], whole: int) -> list[dict]:
    """The rows; the record is marked incomplete where the new process had to stop early."""
    budget.complete = budget.complete and len(rows) == whole
    return rows


# --- 07-who-cuda --------------------------------------------------------------------------------------------

LOW = 1e-5
"""A relative error above this, from inputs of spread 1, is more than float32 arithmetic makes here."""


@experiment(name="07-who-cuda", lesson=LESSON, version=1, needs="cuda", seconds=60, whole=True)
def who_cuda(budget: Budget) -> list[dict]:
    """Relative error against float64 of matmul, convolution and LSTM under seven settings."""
    return _in_time(budget, rows_of(CUDA_PROBES, "who", budget.left(), timeout_s=180), 21)


def read_who_cuda(rows: list[dict]) -> Reading | None:
    """Which operations are coarser than float32 by default, and whether "ieee" at the root reaches them."""
    settings = {
        name: {row["operation"]: row["relative"] for row in mine} for name, mine in groups(rows, "setting").items()
    }
    coarse = {name: [operation for operation, error in one.items() if error > LOW] for name, one in settings.items()}
    drawn = [{"setting": name, **one, "told": coarse[name]} for name, one in settings.items()]
    if "as it comes" not in settings:
        return None
    start = coarse["as it comes"]
    if "conv" in start and "conv" in coarse.get("fp32_precision = ieee", ()):
        return Reading("the root does not reach convolutions", drawn=drawn)
    if not start or len(start) == len(settings["as it comes"]):
        return Reading("all" if start else "none", drawn=drawn)
    outcome = "convolutions" if "conv" in start and "matmul" not in start else "some"
    return Reading(outcome, {"coarse": start}, drawn)


# --- 07-depth-cuda ------------------------------------------------------------------------------------------


@experiment(name="07-depth-cuda", lesson=LESSON, version=1, needs="cuda", seconds=60, whole=True)
def depth_cuda(budget: Budget) -> list[dict]:
    """Error of a product by inner length: TF32 forbidden, allowed, simulated."""
    return _in_time(budget, rows_of(CUDA_PROBES, "depth", budget.left(), timeout_s=180), 45)


def read_depth_cuda(rows: list[dict]) -> Reading | None:
    """The relative error in the longest sums: TF32 allowed, simulated, forbidden."""
    last = max(row["k"] for row in rows)
    seen = {setting: pick_rows(rows, "relative", k=last, setting=setting) for setting in ("tf32", "simulated", "ieee")}
    if not all(seen.values()):
        return None
    errors = {setting: median(values) for setting, values in seen.items()}
    real, simulated = errors["tf32"], errors["simulated"]
    alike = "as much" if 0.8 < real / simulated < 1.25 else "more" if real > simulated else "less"
    drawn = [{"setting": setting, "error": error} for setting, error in errors.items()]
    return Reading("float32" if real < 3 * errors["ieee"] else alike, drawn=drawn)


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


# --- 07-kernels-cuda ----------------------------------------------------------------------------------------


@experiment(name="07-kernels-cuda", lesson=LESSON, version=1, needs="cuda", seconds=60)
def kernels_cuda(budget: Budget, size: int = 2048) -> list[dict]:
    """The longest kernels of one matmul and one convolution under both settings, by the profiler."""
    return rows_of(CUDA_PROBES, "kernels", size, timeout_s=180)


def read_kernels_cuda(rows: list[dict]) -> Reading | None:
    """The longest kernel of each operation under both settings, by the part of the names that differs."""
    longest = {(row["operation"], row["setting"]): row["kernel"] for row in rows if row["place"] == 1}
    if len(longest) < 4:
        return None
    drawn = []
    for operation in dict.fromkeys(operation for operation, _ in longest):
        pair = {setting: longest[operation, setting] for setting in ("ieee", "tf32")}
        parts, other = differing_parts(pair.values()), pair["ieee"] != pair["tf32"]
        drawn.append(
            {"operation": operation, "told": ["tf32"] * other, **{key: parts[name] for key, name in pair.items()}}
        )
    changed = sum(bool(line["told"]) for line in drawn)
    return Reading(("none", "one", "both")[changed], drawn=drawn)


# --- 07-reduction-cuda --------------------------------------------------------------------------------------


@experiment(name="07-reduction-cuda", lesson=LESSON, version=1, needs="cuda", seconds=60)
def reduction_cuda(budget: Budget) -> list[dict]:
    """Error of half-precision products, short and long, with the switch on (the default) and off."""
    return rows_of(CUDA_PROBES, "reduction", timeout_s=180)


def read_reduction_cuda(rows: list[dict]) -> Reading | None:
    """The relative error of each product with the switch off and on."""
    pairs: dict[tuple[str, int], dict[str, float]] = {}
    for row in rows:
        pairs.setdefault((row["dtype"], row["k"]), {})["allowed" if row["allowed"] else "forbidden"] = row["relative"]
    whole = {case: one for case, one in pairs.items() if len(one) == 2}
    if not whole:
        return None
    worse = {case: one["allowed"] > 1.1 * one["forbidden"] for case, one in whole.items()}
    drawn = [
        {"case": f"{dtype}, k = {k}", **one, "told": ["allowed"] * worse[dtype, k]} for (dtype, k), one in whole.items()
    ]
    if not any(worse.values()):
        same = all(one["allowed"] == one["forbidden"] for one in whole.values())
        return Reading("no bit changes" if same else "no worse", drawn=drawn)
    numbers = {"worse": sum(worse.values()), "all": len(worse)}
    return Reading("each worse" if all(worse.values()) else "some worse", numbers, drawn)

"""Experiments of lesson 05 that need a GPU and the profiler: which kernels run, and what counts as a new problem."""

from __future__ import annotations

from collections.abc import Iterator

from course.experiment.base import Budget, experiment
from course.experiment.kernels import differing_parts, joined_set
from course.experiment.new_process import call_in_new_process
from course.experiment.reading import Reading
from course.experiment.rows import groups
from course.lessons.l05_cudnn_benchmark.experiments import FRESH, LESSON, PROBES, REPEATS
from course.lessons.l05_cudnn_benchmark.probes import CHANGES_CUDA
from course.timing.stats import median

# --- 05-kernels-cuda ----------------------------------------------------------------------------------------


@experiment(name="05-kernels-cuda", lesson=LESSON, version=2, needs="cuda", seconds=110, whole=True)
def kernels_cuda(budget: Budget, batch: int = 8, sizes: tuple[int, ...] = (32, 128)) -> Iterator[dict]:
    """All kernels of one convolution by whole names, for two sizes, search off and on, two processes each."""
    cases = [
        (story, benchmark, size, process)
        for process in range(2)
        for size in sizes
        for benchmark, story in enumerate(("off", "on"))
    ]
    for story, benchmark, size, process in budget.loop(cases, desc=FRESH, least=2):
        found, _ = call_in_new_process(PROBES, "kernel_names", benchmark, batch, size, timeout_s=180)
        yield from [
            {"story": story, "process": process, "size": size, "place": place, **one}
            for place, one in enumerate(found, start=1)
        ]


def read_kernels_cuda(rows: list[dict]) -> Reading | None:
    """Every search of every process against the process beside it that did not search: another set of kernels, and how long.

    Slower and faster by the time of all kernels of a call, more than 2 % apart.
    """
    searches, drawn = [], []
    for (size, process), mine in _cases(rows).items():
        stories = groups(mine, "story")
        if {"off", "on"} <= set(stories):
            off, on = (stories[name] for name in ("off", "on"))
            ratio = _us(on) / _us(off)
            searches.append((joined_set(off) != joined_set(on), ratio))
            names = differing_parts(mine[0]["kernel"] for mine in (off, on))
            longest = {name: names[stories[name][0]["kernel"]] for name in ("off", "on")}
            told = ["on"] * (joined_set(off) != joined_set(on))
            drawn.append(
                {"case": (size, process), "size": size, "process": process, "ratio": ratio, **longest, "told": told}
            )
    if not searches:
        return None
    other = [ratio for differs, ratio in searches if differs]
    numbers = {"other": len(other), "all": len(searches)}
    if not other:
        return Reading("the same", numbers, drawn)
    pace = "slower" if min(other) > 1.02 else "faster" if max(other) < 0.98 else "mixed"
    return Reading(f"other, {pace}", numbers, drawn)


def _cases(rows: list[dict]) -> dict[tuple[int, int], list[dict]]:
    """(size, process) -> its rows."""
    found: dict[tuple[int, int], list[dict]] = {}
    for row in sorted(rows, key=lambda row: (row["size"], row["process"], row["place"])):
        found.setdefault((row["size"], row["process"]), []).append(row)
    return found


def _us(rows: list[dict]) -> float:
    """Time of all kernels of one process."""
    return sum(row["calls"] * row["mean_us"] for row in rows)


# --- 05-new-keys-cuda ---------------------------------------------------------------------------------------


@experiment(name="05-new-keys-cuda", lesson=LESSON, version=1, needs="cuda", seconds=110, whole=True)
def new_keys_cuda(budget: Budget, batch: int = 8, size: int = 128, backend: str = "inductor") -> Iterator[dict]:
    """One convolution changed in one way after the other, search on, in three new processes: first and later calls."""
    for process in budget.loop(range(REPEATS), desc=FRESH):
        seconds = budget.share(REPEATS - process)
        found, _ = call_in_new_process(
            PROBES, "new_keys", list(CHANGES_CUDA), batch, size, seconds, backend, timeout_s=240
        )
        budget.complete = budget.complete and len(found) == len(CHANGES_CUDA)
        yield from [{"process": process, **row} for row in found]


def read_new_keys_cuda(rows: list[dict]) -> Reading | None:
    """A change searches where its first calls are long. torch.compile's first call compiles: there the kernels decide, since
    a plan that was found runs the kernels of float32."""
    ran = groups([row for row in rows if not row["error"]], "change")
    if "float32" not in ran or len(ran) < 2:
        return None
    base = {row["process"]: row["kernels"] for row in ran["float32"]}

    def searched(change: str) -> bool:
        mine = ran[change]
        if change == "torch.compile" and all(row["kernels"] == base.get(row["process"]) for row in mine):
            return False
        return median([row["first_ms"] for row in mine]) > 3 * median([row["later_ms"] for row in mine])

    drawn = [
        {
            "change": change,
            "ms": median([row["first_ms"] for row in mine]),
            "quiet": not searched(change),
            "why": "compiles" if change == "torch.compile" and not searched(change) else "first call",
        }
        for change, mine in ran.items()
    ]
    new = [searched(change) for change in ran if change != "float32"]
    outcome = "all" if all(new) else "some" if any(new) else "none"
    return Reading(outcome, {"new": sum(new), "changes": len(new)}, drawn)

"""The experiment of lesson 12 that needs a GPU: the search, a copy and a wait in a trace."""

from __future__ import annotations

import re
from collections.abc import Iterator

from course.core.i18n import both
from course.experiment.base import Budget, experiment
from course.experiment.kernels import differing_parts
from course.experiment.new_process import rows_of
from course.experiment.reading import Reading
from course.experiment.rows import groups
from course.lessons.l12_profiler.experiments import LESSON
from course.timing.stats import median

PROBES = "course.lessons.l12_profiler.probes"
AROUND = re.compile(r"(void )?at::native|Mem(cpy|set)|nchwToNhwc|nhwcToNchw")
"""What runs around a convolution: PyTorch's own kernels, copies, changes of the layout."""


@experiment(name="12-gpu-trace-cuda", lesson=LESSON, version=2, needs="cuda", seconds=20, whole=True)
def gpu_trace(budget: Budget, batch: int = 8, size: int = 128) -> Iterator[dict]:
    """Kernels of four calls with the search off and on, a copy, and .item() idle and behind work, in two new processes."""
    for search in budget.loop((False, True), desc=both("new processes", "新进程"), least=2):
        yield from rows_of(PROBES, "first_and_later", search, batch, size)


def _calls(rows: list[dict], story: str) -> list[list[dict]]:
    """The launches of each call, in the order of time."""
    return list(groups([row for row in rows if row["story"] == story], "call").values())


def _computing(launches: list[dict]) -> list[dict]:
    """Those that are not around a convolution, unless there are no others."""
    return [row for row in launches if not AROUND.match(row["kernel"])] or launches


def read_gpu_trace(rows: list[dict]) -> Reading | None:
    """The search shows as kernels that run in the first call only. Whether its choice is quicker: all kernels of each later call,
    more than 2 % apart. Drawn: a later call without the search and with it, then what was tried in the first."""
    stories = {name: _calls(rows, f"search {name}") for name in ("off", "on")}
    if any(len(calls) < 2 for calls in stories.values()):
        return None
    kinds = {name: [len({row["kernel"] for row in call}) for call in calls] for name, calls in stories.items()}
    later = {name: [sum(row["us"] for row in call) for call in calls[1:]] for name, calls in stories.items()}
    longest = {name: max(_computing(calls[1]), key=lambda row: row["us"])["kernel"] for name, calls in stories.items()}
    tried = groups(_computing(stories["on"][0]), "kernel")
    short = differing_parts([*tried, *longest.values()], 34)
    drawn = [
        {"place": name, "name": f"search {name}", "us": median(us), "what": short[longest[name]]}
        for name, us in later.items()
    ]
    for place, (kernel, runs) in enumerate(tried.items()):
        quickest = min(row["us"] for row in runs)
        drawn.append({"place": place, "name": "tried", "us": quickest, "what": f"{len(runs)} × {short[kernel]}"})
    waits = {row["call"]: row["us"] for row in rows if row["story"] == "wait"}
    numbers = {"tried": len(tried), "idle": waits.get(1, 0.0), "queued": waits.get(2, 0.0)}
    if kinds["on"][0] - kinds["on"][1] <= max(kinds["off"][0] - kinds["off"][1], 0):
        return Reading("no race", numbers, drawn)
    slower = min(later["on"]) > 1.02 * max(later["off"])
    faster = max(later["on"]) < 0.98 * min(later["off"])
    return Reading(f"race, {'slower' if slower else 'faster' if faster else 'the same'}", numbers, drawn)

"""Experiments of lesson 08 that need a Mac: speed, the fence, the fallback, half precision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import torch

from course.core.i18n import both
from course.experiment.base import Budget, experiment
from course.experiment.reading import FEW, Reading, groups, race_row
from course.lessons.l08_mps import probes
from course.lessons.l08_mps.experiments import LESSON
from course.models.rounding import relative_error
from course.timing.stats import median

# --- 08-speed-mps -------------------------------------------------------------------------------------------


@experiment(name="08-speed-mps", lesson=LESSON, needs="mps", seconds=25)
def speed_mps(budget: Budget, sizes: tuple[int, ...] = (64, 512, 2048)) -> list[dict]:
    """Time on the device over time on the CPU, data already there, fenced; matmul and relu."""
    from course.timing import compare

    cases = [(op, size) for size in sizes for op in ("matmul", "relu")]
    functions: dict[str, Callable[[torch.Tensor], Any]] = {"matmul": lambda x: x @ x, "relu": torch.relu}
    for number, (op, size) in enumerate(budget.loop(cases, desc=both("operations", "算子"))):
        here, there = torch.randn(size, size), torch.randn(size, size, device=probes.DEVICE)
        f = functions[op]
        race = compare(
            {"cpu": lambda f=f, x=here: f(x), "mps": lambda f=f, x=there: f(x)},
            baseline="cpu",
            device=probes.DEVICE,
            clock="wall",
            max_time=budget.share(len(cases) - number),
        )
        yield {
            "op": op,
            "size": size,
            **race_row(race),
            "rounds": race.rounds,
            "cpu_ms": race.medians_ms["cpu"],
            "mps_ms": race.medians_ms["mps"],
        }


def read_speed_mps(rows: list[dict]) -> Reading | None:
    """In how many of the cases that are there the GPU is faster; nothing where the CPU may be faster in all."""
    won = [row["size"] for row in rows if row["verdict"] == "faster"]
    others = [row["size"] for row in rows if row["verdict"] != "faster"]
    sure = all(row["verdict"] != "undecided" for row in rows)
    if not won and not sure:
        return None
    larger = won and others and sure and min(won) > max(others)
    return Reading("larger" if larger else "some", {"won": len(won), "all": len(rows)})


# --- 08-fence-mps -------------------------------------------------------------------------------------------


@experiment(name="08-fence-mps", lesson=LESSON, needs="mps", seconds=5)
def fence_mps(budget: Budget, size: int = 2048) -> list[dict]:
    """Ten products of 2048 x 2048, read at once and read after waiting, twenty times."""
    x = torch.randn(size, size, device=probes.DEVICE)
    x @ x
    rows: dict[str, list[float]] = {"at once": [], "after synchronize": []}
    for _ in budget.loop(range(20), desc=both("repeats", "重复"), least=6):
        probes.wait()
        start = perf_counter()
        for _ in range(10):
            x @ x
        rows["at once"].append((perf_counter() - start) * 1e3)
        probes.wait()
        rows["after synchronize"].append((perf_counter() - start) * 1e3)
    return [{"read": read, "samples_ms": times} for read, times in rows.items()]


def read_fence_mps(rows: list[dict]) -> Reading | None:
    """Which part of the time the clock shows that is read at once."""
    found = {row["read"]: row["samples_ms"] for row in rows}
    if len(found) < 2 or min(map(len, found.values())) < FEW:
        return None
    drawn = [{"read": read, "ms": median(times)} for read, times in found.items()]
    share = median(found["at once"]) / median(found["after synchronize"])
    return Reading("missed" if share < 0.9 else "nothing", {"missed": 1 - share}, drawn)


# --- 08-fallback-mps ----------------------------------------------------------------------------------------


@experiment(name="08-fallback-mps", lesson=LESSON, needs="mps", seconds=25, whole=True)
def fallback_mps(budget: Budget) -> Iterator[dict]:
    """Seven operations of torch.linalg: native, on the CPU, or an error; three new processes."""
    moments = ("never", "before import", "after import")
    for moment in budget.loop(moments, desc=both("new processes", "新进程"), least=3):
        yield from ({"moment": moment, **row} for row in probes.fallback_at(moment))


def read_fallback_mps(rows: list[dict]) -> Reading | None:
    """Whether more operations are computed on the CPU when the variable is set."""
    if len({row["moment"] for row in rows}) < 3:
        return None
    ops = groups(rows, "op")
    drawn = [
        {"op": op, **(outcomes := {row["moment"]: row["outcome"] for row in found})}
        | {"told": [moment for moment, one in outcomes.items() if one != "native"]}
        for op, found in ops.items()
    ]
    moved = Counter(row["moment"] for row in rows if row["outcome"] == "on CPU")
    works = [moment for moment in ("before import", "after import") if moved[moment] > moved["never"]]
    outcome = "no use" if "before import" not in works else "late" if "after import" in works else "early only"
    return Reading(outcome, drawn=drawn)


# --- 08-half-mps --------------------------------------------------------------------------------------------


@experiment(name="08-half-mps", lesson=LESSON, needs="mps", seconds=20)
def half_mps(budget: Budget, sizes: tuple[int, ...] = (512, 2048)) -> Iterator[dict]:
    """Products in float16 and bfloat16 against float32, taking turns, fenced; and their error against float64."""
    from course.timing import compare

    cases = [(size, name) for size in sizes for name in ("float16", "bfloat16")]
    for number, (size, name) in enumerate(budget.loop(cases, desc=both("number formats", "数值格式"))):
        a, b = torch.randn(size, size), torch.randn(size, size)
        exact = a.double() @ b.double()
        whole = [one.to(probes.DEVICE) for one in (a, b)]
        half = [one.to(getattr(torch, name)) for one in whole]
        race = compare(
            {"float32": lambda x=whole: x[0] @ x[1], name: lambda x=half: x[0] @ x[1]},
            baseline="float32", device=probes.DEVICE, clock="wall", max_time=max(0.1, budget.share(len(cases) - number)),
        )  # fmt: skip
        yield {
            "format": name,
            "size": size,
            **race_row(race),
            "rounds": race.rounds,
            "relative": relative_error((half[0] @ half[1]).cpu(), exact),
        }


def read_half_mps(rows: list[dict]) -> Reading | None:
    """In how many of the cases that are there half precision is faster; nothing where it may be in none."""
    verdicts = [row["verdict"] for row in rows]
    won = verdicts.count("faster")
    if not won and "undecided" in verdicts:
        return None
    return Reading("some", {"won": won, "all": len(rows)})

"""Experiments of lesson 08: when a variable is read, what is lost without float64; and those that need a Mac."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import torch

from course.core.i18n import both
from course.experiment.base import Budget, experiment
from course.experiment.reading import FEW, Reading, groups, race_row
from course.lessons.l08_mps import probes
from course.models.rounding import relative_error
from course.timing.stats import median

LESSON = "08_mps"


# --- 08-float32-loses: four everyday computations that notice when float64 is missing -------------------------

STEPS = 16_777_216  # 2**24: from here on float32 has no odd numbers
NOW_S = 1_700_000_000.0  # Unix seconds of a day in 2023; float32 has one number in 128 there


def _count(kind: torch.dtype) -> float:
    counter = torch.tensor(STEPS, dtype=kind)
    for _ in range(10):
        counter += 1
    return float(counter.double() - STEPS)


def _elapsed(kind: torch.dtype) -> float:
    start, end = torch.tensor([NOW_S, NOW_S + 30], dtype=torch.float64).to(kind)
    return float(end - start)


def _elapsed_cured() -> float:
    moments = torch.tensor([NOW_S, NOW_S + 30], dtype=torch.float64)
    start, end = (moments - moments[0]).to(torch.float32)  # subtract first, cast then
    return float(end - start)


def _spread(kind: torch.dtype) -> float:
    x = (torch.arange(1000, dtype=torch.float64) % 2 + 10_000).to(kind)
    return float((x * x).mean() - x.mean() ** 2)


def _spread_cured() -> float:
    x = (torch.arange(1000, dtype=torch.float64) % 2 + 10_000).to(torch.float32)
    return float(((x - x.mean()) ** 2).mean())


def _log_det(kind: torch.dtype) -> float:
    return float(torch.linalg.det(0.5 * torch.eye(200, dtype=kind)).double().log2())


def _log_det_cured() -> float:
    log = torch.linalg.slogdet(0.5 * torch.eye(200, dtype=torch.float32)).logabsdet
    return float(log.double() / torch.log(torch.tensor(2.0, dtype=torch.float64)))


CASES: dict[str, tuple[Callable[[torch.dtype], float], Callable[[], float]]] = {
    "count": (_count, lambda: _count(torch.int64)),
    "elapsed": (_elapsed, _elapsed_cured),
    "spread": (_spread, _spread_cured),
    "log_det": (_log_det, _log_det_cured),
}
"""Name -> (the computation in a given dtype, the cure in float32 or int64)."""


# --- 08-env-when --------------------------------------------------------------------------------------------


@experiment(name="08-env-when", lesson=LESSON, needs="cpu", seconds=45)
def env_when(budget: Budget) -> Iterator[dict]:
    """Each variable set before import, after import and after the first use, in new processes."""
    values = {
        "OMP_NUM_THREADS": "1",
        "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": "1",
        "ATEN_CPU_CAPABILITY": "default",
        "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
    }
    seen = {
        moment: probes.seen_at(moment, values)
        for moment in budget.loop(probes.MOMENTS, desc=both("new processes", "新进程"))
    }
    named = probes.named_in_libraries((*probes.VARIABLES, probes.FALLBACK))
    for variable in probes.VARIABLES:
        never, early = (seen.get(moment, {}).get(variable) for moment in ("never", "before import"))
        for moment in probes.MOMENTS[1:]:
            if moment in seen:
                value = seen[moment][variable]
                counted = "unclear" if never == early else "yes" if value == early else "no"
                yield {
                    "variable": variable,
                    "moment": moment,
                    "counted": counted,
                    "seen": str(value),
                    "without": str(never),
                }
    yield {
        "variable": probes.FALLBACK,
        "moment": "any",
        "counted": "unclear" if named[probes.FALLBACK] else "nobody reads it",
        "seen": "named in the libraries" if named[probes.FALLBACK] else "not in the libraries",
        "without": "",
    }


def read_env_when(rows: list[dict]) -> Reading:
    """How many of the variables still count after the import; those of which it cannot be seen decide nothing."""
    variables = {
        name: {row["moment"]: row["counted"] for row in rows if row["variable"] == name}
        for name in dict.fromkeys(row["variable"] for row in rows)
    }
    drawn = []
    for name, found in variables.items():
        counted = {moment: found.get(moment, found.get("any", "not run")) for moment in probes.MOMENTS[1:]}
        drawn.append({"variable": name, **counted, "told": [moment for moment, one in counted.items() if one == "no"]})
    after = [found["after import"] for found in variables.values() if "after import" in found]
    in_time, late = after.count("yes"), after.count("no")
    if in_time + late < 2 or len(after) < len(probes.VARIABLES):
        return Reading(drawn=drawn)
    option = "a" if not in_time else "c" if not late else "b"
    return Reading("told", {"counted": in_time, "all": in_time + late}, drawn, {"08-bet-env": option})


# --- 08-float32-loses ---------------------------------------------------------------------------------------


@experiment(name="08-float32-loses", lesson=LESSON, needs="cpu", seconds=2)
def float32_loses(budget: Budget) -> list[dict]:
    """Four everyday computations in float64, in float32, and in a form that does without float64."""
    return [
        {
            "case": name,
            "float64": str(compute(torch.float64)),
            "float32": str(compute(torch.float32)),
            "cured": str(cured()),
        }
        for name, (compute, cured) in CASES.items()
    ]


def read_float32_loses(rows: list[dict]) -> Reading:
    """A result is lost where it is off by more than 1 %; the bet is about the counter alone."""
    lost = [row for row in rows if _lost(row, "float32")]
    still = [row for row in lost if _lost(row, "cured")]
    drawn = [
        {"case": row["case"], **{column: _number(row[column]) for column in COLUMNS}}
        | {"told": [column for column in COLUMNS if _lost(row, column)]}
        for row in rows
    ]
    steps = next((float(row["float32"]) for row in rows if row["case"] == "count"), None)
    settled = None if steps is None else "a" if steps == 10 else "b" if steps == 0 else "c"
    outcome = "same" if not lost else "not all cured" if still else "cured"
    return Reading(outcome, {"lost": len(lost), "all": len(rows)}, drawn, {"08-bet-counter": settled})


COLUMNS = ("float64", "float32", "cured")


def _number(text: str) -> str:
    value = float(text)
    return f"{value:.4g}" if math.isfinite(value) else "−∞" if value < 0 else "∞" if value > 0 else "nan"


def _lost(row: dict, column: str) -> bool:
    exact, found = float(row["float64"]), float(row[column])
    return not abs(found - exact) <= 0.01 * abs(exact)


# --- these need a Mac: speed, the fence, the fallback, half precision ---

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

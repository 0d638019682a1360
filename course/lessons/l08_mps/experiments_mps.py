"""Experiments of lesson 08 that need a Mac."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import torch

from course.experiment.base import Budget, experiment
from course.experiment.reading import Reading
from course.experiment.rows import FEW, groups, race_row
from course.i18n import both
from course.lessons.l08_mps import probes
from course.lessons.l08_mps.experiments import LESSON, answers
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
    return Reading("larger" if larger else "some" if won else "none", {"won": len(won), "all": len(rows)})


# --- 08-transfer-mps ----------------------------------------------------------------------------------------


def _fenced(f: Callable[[], Any], calls: int = 20) -> list[float]:
    """Milliseconds of each call, with the device idle before and after; two calls first, not counted."""
    f(), f()
    times = []
    for _ in range(calls):
        probes.wait()
        start = perf_counter()
        f()
        probes.wait()
        times.append((perf_counter() - start) * 1e3)
    return times


@experiment(name="08-transfer-mps", lesson=LESSON, needs="mps", seconds=10, whole=True)
def transfer_mps(budget: Budget, sizes_kib: tuple[int, ...] = (4, 64, 1024, 16384, 65536)) -> Iterator[dict]:
    """Fenced copies of 4 KiB to 64 MiB in both directions."""
    for size_kib in budget.loop(sizes_kib, desc=both("sizes", "规模")):
        here = torch.zeros(size_kib * 256)
        there = here.to(probes.DEVICE)
        for way, x, target in (("to mps", here, probes.DEVICE), ("to cpu", there, "cpu")):
            yield {"way": way, "kib": size_kib, "samples_ms": _fenced(lambda x=x, d=target: x.to(d))}


def read_transfer_mps(rows: list[dict]) -> Reading | None:
    """The time for a byte in the smallest copies, over that in the largest."""
    sizes = dict(sorted(groups(rows, "kib").items()))
    if len(sizes) < 2:
        return None
    drawn = [{"kib": kib, **{row["way"]: median(row["samples_ms"]) for row in found}} for kib, found in sizes.items()]
    each = [median([ms for row in found for ms in row["samples_ms"]]) / kib for kib, found in sizes.items()]
    small, large = each[0], each[-1]
    return Reading("dear" if small > 2 * large else "alike", {"ratio": small / large}, drawn)


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
    return Reading("most" if share < 0.5 else "part" if share < 0.9 else "nothing", drawn=drawn)


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


# --- 08-float64-mps -----------------------------------------------------------------------------------------


@experiment(name="08-float64-mps", lesson=LESSON, needs="mps", seconds=2)
def float64_mps(budget: Budget) -> list[dict]:
    """Each attempt with its result or the exact error."""
    return [{"code": code, **probes.tried(action)} for code, action in probes.float64_attempts()]


def read_float64_mps(rows: list[dict]) -> Reading:
    raised = sum(row["kind"] != "value" for row in rows)
    return Reading("some raise" if raised else "all taken", {"raised": raised, "all": len(rows)}, answers(rows))


# --- 08-repeat-mps ------------------------------------------------------------------------------------------


@experiment(name="08-repeat-mps", lesson=LESSON, needs="mps", seconds=4)
def repeat_mps(budget: Budget) -> list[dict]:
    """Equal bits or not: product, index_add_, dropout after reseeding; randn of both devices; autocast."""
    torch.manual_seed(8)
    x, where = torch.randn(512, 512, device=probes.DEVICE), torch.randint(0, 16, (512,))
    index = where.to(probes.DEVICE)

    def dropped() -> torch.Tensor:
        torch.manual_seed(8)
        return torch.dropout(x, 0.5, True)

    def drawn(device: str) -> torch.Tensor:
        torch.manual_seed(8)
        return torch.randn(64, device=device).cpu()

    pairs = {
        "product": lambda: (x @ x, x @ x),
        "index_add": lambda: tuple(
            torch.zeros(16, 512, device=probes.DEVICE).index_add_(0, index, x) for _ in range(2)
        ),
        "dropout": lambda: (dropped(), dropped()),
        "randn": lambda: (drawn("cpu"), drawn(probes.DEVICE)),
        "devices": lambda: ((x @ x).cpu(), x.cpu() @ x.cpu()),
    }
    rows = []
    for name, make in pairs.items():
        one, other = make()
        rows.append(
            {
                "pair": name,
                "outcome": "yes" if torch.equal(one, other) else "no",
                "largest_difference": float((one - other).abs().max()),
            }
        )
    with torch.autocast(probes.DEVICE, dtype=torch.float16):
        kind = str((x @ x).dtype)
    return [*rows, {"pair": "autocast", "outcome": kind, "largest_difference": 0.0}]


def read_repeat_mps(rows: list[dict]) -> Reading:
    """Whether a second call gives the same bits, and whether these are the CPU's."""
    found = {row["pair"]: row["outcome"] for row in rows}
    again, as_cpu = (
        all(found[pair] == "yes" for pair in pairs)
        for pairs in (("product", "index_add", "dropout"), ("randn", "devices"))
    )
    outcome = "not again" if not again else "everywhere" if as_cpu else "not the CPU's"
    return Reading(outcome, drawn=[{**row, "told": ["outcome"] * (row["outcome"] == "no")} for row in rows])

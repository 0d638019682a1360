"""Experiments of lesson 07 on sums and products: how exact they are in fewer bits, and whether oneDNN takes what it may.

TF32 is met by rounding the inputs of a product as it would (``course.rounding``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import NormalDist
from typing import Any

import torch

from course import flags
from course.experiment.base import Budget, experiment
from course.experiment.reading import Reading
from course.i18n import both
from course.rounding import cut_bits, product, relative_error, round_bits, rounded
from course.timing.stats import median

LESSON = "07_precision"
NAMES = ("float32", "tf32", "bfloat16")


def pick_rows(rows: list[dict], value: str, **wanted: Any) -> list[float]:
    """The column ``value`` of the rows that carry all wanted values."""
    return [row[value] for row in rows if all(row.get(key) == one for key, one in wanted.items())]


# --- 07-error-vs-k ------------------------------------------------------------------------------------------


@experiment(name="07-error-vs-k", lesson=LESSON, version=1, needs="cpu", seconds=15, whole=True)
def error_vs_k(budget: Budget) -> Iterator[dict]:
    """Typical error of an entry of a @ b, and error relative to the result, by inner length k."""
    for k in budget.loop((16, 64, 256, 1024, 4096, 16384), desc=both("inner length", "求和长度")):
        for seed in range(7):
            random = torch.Generator().manual_seed(seed)
            a, b = torch.randn(32, k, generator=random), torch.randn(k, 32, generator=random)
            exact = a.double() @ b.double()
            for name in NAMES:
                wrong = (product(a, b, name).double() - exact).square().mean().sqrt().item()
                yield {
                    "k": k,
                    "seed": seed,
                    "format": name,
                    "typical": wrong,
                    "relative": wrong / exact.square().mean().sqrt().item(),
                }


def read_error_vs_k(rows: list[dict]) -> Reading | None:
    """How many times larger error, result and their quotient are in the longest sums than in the shortest."""
    if len({row["k"] for row in rows}) < 2:
        return None
    typical, relative = _growth(rows, "typical"), _growth(rows, "relative")
    if not typical or not relative:
        return None
    option = "b" if 0.5 < relative < 2 else "c" if 10 < relative < 100 else "a" if relative > 300 else None
    outcome = option or ("larger" if relative >= 2 else "smaller")
    grown = {"error": typical, "result": typical / relative, "quotient": relative}
    drawn = [{"what": name, "times": times} for name, times in grown.items()]
    return Reading(outcome, {"growth": relative}, drawn, {"07-bet-k": option})


def _growth(rows: list[dict], value: str) -> float | None:
    """Median with TF32 inputs at the longest sum over that at the shortest."""
    ks = [row["k"] for row in rows]
    first, last = (median(pick_rows(rows, value, k=k, format="tf32")) for k in (min(ks), max(ks)))
    return last / first if first else None


# --- 07-counter ---------------------------------------------------------------------------------------------


@experiment(name="07-counter", lesson=LESSON, version=1, needs="cpu", seconds=15)
def counter(budget: Budget) -> Iterator[dict]:
    """A sum kept in each format: after every addition of 1 it is rounded back to the format."""
    one = torch.ones(())
    for name in budget.loop(("float32", "tf32", "float16", "bfloat16"), desc=both("formats", "格式")):
        total = torch.zeros(())
        for added in range(1, 5001):
            total = rounded(total + one, name)
            if added % 100 == 0:
                yield {"format": name, "added": added, "shown": total.item()}


def read_counter(rows: list[dict]) -> Reading:
    """Where the counter of each format ends."""
    last = {row["format"]: row for row in rows}
    drawn = list(last.values())
    added, shown = (last["bfloat16"][key] for key in ("added", "shown")) if "bfloat16" in last else (0, 0)
    option = "a" if shown == added else "c" if shown < 0.5 * added else "b"
    return Reading(option if added >= 1000 else None, {"added": added, "shown": shown}, drawn)


# --- 07-onednn ----------------------------------------------------------------------------------------------


def _bf16_units() -> str:
    """Whether torch reports instructions for bf16 here: yes, no or unknown."""
    tests = [getattr(torch.cpu, name, None) for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported")]
    known = [test() for test in tests if callable(test)]
    return "unknown" if not known else "yes" if any(known) else "no"


@experiment(name="07-onednn", lesson=LESSON, version=1, needs="mkldnn", seconds=15)
def onednn(budget: Budget) -> Iterator[dict]:
    """Error of matmul, convolution and LSTM under each permission, and what rounded inputs would give."""
    torch.manual_seed(0)
    a, b = torch.randn(64, 2048), torch.randn(2048, 64)
    x, w = torch.randn(4, 32, 32, 32), torch.randn(32, 32, 3, 3)
    lstm, steps = torch.nn.LSTM(64, 64), torch.randn(8, 4, 64)
    calls = {
        "matmul": lambda a=a, b=b: a @ b,
        "conv": lambda: torch.nn.functional.conv2d(x, w),
        "rnn": lambda: lstm(steps)[0],
    }
    with torch.no_grad():
        exact = {
            "matmul": a.double() @ b.double(),
            "rnn": lstm.double()(steps.double())[0],
            "conv": torch.nn.functional.conv2d(x.double(), w.double()),
        }
        lstm.float()
        for name, call in budget.loop(calls.items(), desc=both("operations", "运算")):
            plain = call()
            for permission in ("none", "ieee", "tf32", "bf16"):
                with flags.using({f"mkldnn.{name}.fp32_precision": permission}):
                    result = call()
                yield {
                    "operation": name,
                    "permission": permission,
                    "relative": relative_error(result, exact[name]),
                    "same_bits": int(torch.equal(result, plain)),
                    "bf16_units": _bf16_units(),
                }
    for permission, bits in (("tf32", 10), ("bf16", 7)):
        error = relative_error(round_bits(a, bits) @ round_bits(b, bits), exact["matmul"])
        yield {"operation": "simulated", "permission": permission, "relative": error}


def read_onednn(rows: list[dict]) -> Reading | None:
    """Whether a product with bf16 allowed errs like float32, or like inputs that are really rounded."""
    errors = {(row["operation"], row["permission"]): row["relative"] for row in rows}
    cases = {"plain": ("matmul", "ieee"), "allowed": ("matmul", "bf16"), "rounded": ("simulated", "bf16")}
    if not set(cases.values()) <= set(errors):
        return None
    found = {name: errors[case] for name, case in cases.items()}
    drawn = [{"what": name, "error": error} for name, error in found.items()]
    if found["allowed"] > 0.3 * found["rounded"]:
        return Reading("a", found, drawn)
    if found["allowed"] < 10 * found["plain"]:
        return Reading("b", found, drawn)
    return Reading("in between", found, drawn, {"07-bet-onednn": None})


# --- 07-documented ------------------------------------------------------------------------------------------

SIDE, LARGEST = 10240, 0.1747
"""notes/cuda of PyTorch's documentation, "benchmark data (on A100)": randn(SIDE, SIDE) @ randn(SIDE, SIDE) with TF32
allowed; the largest error of an entry against float64."""
WAYS = ("rounded", "cut")
NEAR, FAR = 0.1, 0.4
"""Within a tenth of the printed number a way explains it; off by more than four tenths it does not."""


def largest_of(entries: int) -> float:
    """The size, in standard deviations, that the largest of so many normal errors exceeds in one case of two."""
    return NormalDist().inv_cdf(1 - math.log(2) / (2 * entries))


@experiment(name="07-documented", lesson=LESSON, version=1, needs="cpu", seconds=10)
def documented(budget: Budget) -> Iterator[dict]:
    """Typical error of an entry of randn(., 10240) @ randn(10240, .), inputs rounded or cut to 10 bits of mantissa."""
    for seed in budget.loop(range(9), desc=both("draws", "抽样")):
        random = torch.Generator().manual_seed(seed)
        a, b = torch.randn(96, SIDE, generator=random), torch.randn(SIDE, 96, generator=random)
        exact = a.double() @ b.double()
        for way, shorten in (("rounded", round_bits), ("cut", cut_bits)):
            wrong = (shorten(a, 10) @ shorten(b, 10)).double() - exact
            yield {"seed": seed, "way": way, "typical": wrong.square().mean().sqrt().item()}


def read_documented(rows: list[dict]) -> Reading | None:
    """The error that the documentation prints beside the largest that is foretold, by each way to shorten the inputs."""
    typical = {way: median(pick_rows(rows, "typical", way=way)) for way in WAYS if pick_rows(rows, "typical", way=way)}
    if len(typical) < len(WAYS):
        return None
    foretold = {way: largest_of(SIDE * SIDE) * error for way, error in typical.items()}
    drawn = [{"what": name, "error": error} for name, error in ({"documented": LARGEST} | foretold).items()]
    off = {way: abs(error / LARGEST - 1) for way, error in foretold.items()}
    if any(NEAR <= error <= FAR for error in off.values()):
        return Reading(drawn=drawn)
    fits = tuple(error < NEAR for error in off.values())
    if not any(fits):
        return Reading("neither", drawn=drawn, bets={"07-bet-page": None})
    return Reading({(True, False): "a", (False, True): "b", (True, True): "c"}[fits], drawn=drawn)

"""Experiments of lesson 07 on sums and products: how exact they are in fewer bits, and whether oneDNN takes what it may.

TF32 is met by rounding the inputs of a product as it would (``course.models.rounding``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from course import flags
from course.core.i18n import both
from course.experiment.base import Budget, experiment
from course.experiment.reading import Reading
from course.models.rounding import relative_error, round_bits

LESSON = "07_precision"
NAMES = ("float32", "tf32", "bfloat16")


def pick_rows(rows: list[dict], value: str, **wanted: Any) -> list[float]:
    """The column ``value`` of the rows that carry all wanted values."""
    return [row[value] for row in rows if all(row.get(key) == one for key, one in wanted.items())]


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

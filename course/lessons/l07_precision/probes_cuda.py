"""Probes of lesson 07 for a GPU: who computes in TF32, how wrong, how fast. Each runs in a process of its own.

torch alone is needed. Without a GPU they run on the CPU, which tests their form and nothing else.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from time import perf_counter

import torch

from course.experiment.device import device, within
from course.experiment.kernels import seen
from course.experiment.rows import race_row
from course.lessons.l07_precision.probes import B, clear, write
from course.rounding import relative_error, round_bits


def operations(size: int = 512) -> dict[str, tuple[Callable[[], torch.Tensor], torch.Tensor]]:
    """name -> (call, exact result in float64 from the CPU), float32 inputs fixed by a seed."""
    where = device()
    torch.manual_seed(0)
    a, b = torch.randn(size, size), torch.randn(size, size)
    x, w = torch.randn(4, 64, 32, 32), torch.randn(64, 64, 3, 3)
    lstm, steps = torch.nn.LSTM(128, 128), torch.randn(12, 8, 128)
    with torch.no_grad():
        exact = {
            "matmul": a.double() @ b.double(),
            "conv": torch.nn.functional.conv2d(x.double(), w.double(), padding=1),
            "lstm": lstm.double()(steps.double())[0],
        }
    lstm = lstm.float().to(where)
    a, b, x, w, steps = (one.to(where) for one in (a, b, x, w, steps))
    calls = {
        "matmul": lambda: a @ b,
        "conv": lambda: torch.nn.functional.conv2d(x, w, padding=1),
        "lstm": lambda: lstm(steps)[0],
    }
    return {name: (calls[name], exact[name]) for name in calls}


def _old(conv: bool, matmul: bool) -> None:
    B.cudnn.allow_tf32, B.cuda.matmul.allow_tf32 = conv, matmul


SETTINGS: dict[str, Callable[[], None]] = {
    "as it comes": lambda: None,
    "fp32_precision = ieee": lambda: write("fp32_precision", "ieee"),
    "fp32_precision = tf32": lambda: write("fp32_precision", "tf32"),
    "cuda.matmul.fp32_precision = tf32": lambda: write("cuda.matmul", "tf32"),
    "set_float32_matmul_precision(high)": lambda: torch.set_float32_matmul_precision("high"),
    "allow_tf32 = True, both": lambda: _old(True, True),
    "allow_tf32 = False, both": lambda: _old(False, False),
}
"""The old cuDNN switch comes last: once written, its leaves no longer follow the root."""


def who(seconds: float = math.inf) -> list[dict]:
    """Relative error of matmul, convolution and LSTM under every way to set the switch."""
    rows, ready = [], operations()
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for setting, change in within(seconds, SETTINGS.items()):
            change()
            rows += [
                {"setting": setting, "operation": name, "relative": relative_error(call().cpu(), exact)}
                for name, (call, exact) in ready.items()
            ]
            if not setting.startswith("allow_tf32"):
                clear()
    return rows


def allow(on: bool) -> None:
    """TF32 for cuDNN and cuBLAS through the old switches: the same words for every version of torch."""
    _old(on, on)


def kernels(size: int = 2048) -> list[dict]:
    """The longest kernels of one matmul and one convolution, TF32 forbidden and allowed (CPU: operations)."""
    rows, ready = [], operations(size)
    with torch.no_grad():
        for setting, on in (("ieee", False), ("tf32", True)):
            allow(on)
            for name in ("matmul", "conv"):
                rows += [
                    {"setting": setting, "operation": name, "place": place, **one}
                    for place, one in enumerate(seen(ready[name][0])[:2], start=1)
                ]
    return rows


def depth(seconds: float = math.inf) -> list[dict]:
    """Relative error of a product over its inner length: TF32 of the device, forbidden, and our simulation."""
    rows, where = [], device()
    for seed, inner in within(seconds, [(seed, inner) for seed in range(3) for inner in (64, 256, 1024, 4096, 16384)]):
        torch.manual_seed(seed)
        a, b = torch.randn(128, inner), torch.randn(inner, 128)
        exact = a.double() @ b.double()
        ours = round_bits(a, 10) @ round_bits(b, 10)
        found = {"simulated": relative_error(ours, exact)}
        for setting, on in (("ieee", False), ("tf32", True)):
            allow(on)
            found[setting] = relative_error((a.to(where) @ b.to(where)).cpu(), exact)
        rows += [{"k": inner, "seed": seed, "setting": name, "relative": error} for name, error in found.items()]
    return rows


def reduction() -> list[dict]:
    """bf16 and fp16 products, reduced-precision reductions allowed and not: error against float64."""
    rows, where, matmul = [], device(), B.cuda.matmul
    for dtype in (torch.bfloat16, torch.float16):
        flag = (
            "allow_bf16_reduced_precision_reduction"
            if dtype == torch.bfloat16
            else "allow_fp16_reduced_precision_reduction"
        )
        for inner in (1024, 16384):
            torch.manual_seed(0)
            a, b = torch.randn(64, inner).to(dtype), torch.randn(inner, 64).to(dtype)
            exact = a.double() @ b.double()
            for allowed in (True, False):
                setattr(matmul, flag, allowed)
                error = relative_error((a.to(where) @ b.to(where)).cpu(), exact)
                rows.append(
                    {"dtype": str(dtype).removeprefix("torch."), "k": inner, "allowed": int(allowed), "relative": error}
                )
            setattr(matmul, flag, True)
    return rows


def speed(sizes: list[int], seconds: float) -> list[dict]:
    """time(TF32 allowed) / time(forbidden), by size; the switch is turned inside each call. seconds: for all together."""
    from course.timing import compare

    rows, where = [], device()
    end, left = perf_counter() + seconds, 2 * len(sizes)
    with torch.no_grad():
        for size in within(seconds, sizes):
            torch.manual_seed(0)
            a, b = torch.randn(size, size, device=where), torch.randn(size, size, device=where)
            x, w = torch.randn(16, 64, size // 16, size // 16, device=where), torch.randn(64, 64, 3, 3, device=where)
            calls = {
                "matmul": lambda a=a, b=b: a @ b,
                "conv": lambda x=x, w=w: torch.nn.functional.conv2d(x, w, padding=1),
            }
            for name, call in calls.items():
                race = compare(
                    {"ieee": _under(call, False), "tf32": _under(call, True)},
                    baseline="ieee",
                    device=where,
                    max_time=max(0.1, min(6.0, (end - perf_counter()) / left)),
                )
                left -= 1
                rows.append(
                    {
                        "operation": name,
                        "size": size,
                        **race_row(race),
                        "ieee_ms": race.medians_ms["ieee"],
                        "tf32_ms": race.medians_ms["tf32"],
                    }
                )
    return rows


def _under(call: Callable[[], torch.Tensor], on: bool) -> Callable[[], torch.Tensor]:
    def run() -> torch.Tensor:
        allow(on)
        return call()

    return run

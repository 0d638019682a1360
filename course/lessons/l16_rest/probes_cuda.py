"""What lesson 16 runs in a new process on a GPU: four switches that choose a library or an arithmetic, each raced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Call = Callable[[], Any]


def _linalg(size: int) -> tuple[Call, Call, Call]:
    a = torch.randn(size, size, device="cuda")
    positive = a @ a.mT + size * torch.eye(size, device="cuda")
    prefer = torch.backends.cuda.preferred_linalg_library
    return lambda: torch.linalg.cholesky(positive), lambda: prefer("cusolver"), lambda: prefer("magma")


def _blas(size: int) -> tuple[Call, Call, Call]:
    a = torch.randn(size, size, device="cuda", dtype=torch.float16)
    prefer = torch.backends.cuda.preferred_blas_library
    return lambda: a @ a, lambda: prefer("cublas"), lambda: prefer("cublaslt")


def _fft(size: int) -> tuple[Call, Call, Call]:
    x, plans = torch.randn(64, size, device="cuda"), torch.backends.cuda.cufft_plan_cache

    def keep(count: int) -> None:
        plans.max_size = count

    return lambda: torch.fft.rfft(x), lambda: keep(64), lambda: keep(0)


def _sums(size: int) -> tuple[Call, Call, Call]:
    a, matmul = torch.randn(size, size, device="cuda", dtype=torch.float16), torch.backends.cuda.matmul

    def allow(value: bool) -> None:
        matmul.allow_fp16_accumulation = value

    return lambda: a @ a, lambda: allow(False), lambda: allow(True)


DRAWER = {"linalg": _linalg, "blas": _blas, "fft": _fft, "sums": _sums}


def drawer(size: int, seconds: float) -> list[dict[str, Any]]:
    """Each switch of DRAWER raced: ratio = time with the second setting / time with the first; refused: torch's sentence.

    linalg: magma / cusolver. blas: cublaslt / cublas. fft: no plans kept / plans kept. sums: fp16 sums allowed / not.
    first_ran, second_ran: the kernels of the libraries that ran, by the profiler: a preference is no order.
    """
    from course.experiment.kernels import joined_set, seen
    from course.flags.switch import first_sentence
    from course.timing import compare

    rows = []
    for switch, prepared in DRAWER.items():
        row = {"switch": switch, "refused": "", "ratio": 1.0, "low": 1.0, "high": 1.0, "first_ms": 0.0, "rounds": 0}
        row |= {"first_ran": "", "second_ran": ""}
        try:
            call, first, second = prepared(size)
            for name, setting in (("second_ran", second), ("first_ran", first)):  # a refusal comes out here
                setting()
                row[name] = joined_set(seen(call, 1, 1))
            sides = {"first": _after(first, call), "second": _after(second, call)}
            race = compare(sides, baseline="first", max_time=seconds / len(DRAWER), device="cuda", same=False)
            row |= {"ratio": race.ratio, "low": race.low, "high": race.high, "rounds": race.rounds}
            row["first_ms"] = race.medians_ms["first"]
        except (RuntimeError, AssertionError, AttributeError) as error:
            row["refused"] = first_sentence(error)
        rows.append(row)
    return rows


def _after(setting: Call, call: Call) -> Call:
    def run() -> Any:
        setting()
        return call()

    return run

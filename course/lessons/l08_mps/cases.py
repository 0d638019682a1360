"""Four everyday computations that notice when float64 is missing, each with a form that does without it.

Run on the CPU: the missing float64 of the Mac's GPU is simulated by float32, the arithmetic is real.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

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

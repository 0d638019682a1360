"""Yardsticks: small fixed jobs timed beside the learner's function on the same device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from course.i18n import t
from course.timing.guard import TimingError, require_callable

CLASSES = ("compute", "memory", "python")


def yardstick(choice: str | Callable[[], Any] | None, device: str) -> tuple[str, Callable[[], Any]] | None:
    """Name and function of the calibration op; None when none is wanted.

    compute: product of two 192 x 192 float32 matrices. memory: copy of 1 Mi float32 (4 MiB).
    python: a loop of 2000 additions. Raises TimingError for another word.
    """
    if choice is None:
        return None
    if not isinstance(choice, str):
        require_callable("calibrate", choice)
        return getattr(choice, "__name__", "calibrate"), choice
    if choice not in CLASSES:
        raise TimingError(t(
            f"calibrate must be one of {', '.join(CLASSES)}, a function or None, not {choice!r}.",
            f"calibrate 只能是 {'、'.join(CLASSES)}、一个函数或 None，而不是 {choice!r}。",
        ))
    return choice, _make(choice, device.split("+")[0])


def _make(choice: str, device: str) -> Callable[[], Any]:
    import torch

    if choice == "python":
        return _python_loop
    if choice == "memory":
        source = torch.ones(1 << 20, device=device)
        target = torch.empty_like(source)
        return lambda: target.copy_(source)
    a = torch.full((192, 192), 0.5, device=device)
    out = torch.empty_like(a)

    def product() -> Any:
        with torch.no_grad():
            return torch.mm(a, a, out=out)

    return product


def _python_loop() -> int:
    total = 0
    for i in range(2000):
        total += i
    return total

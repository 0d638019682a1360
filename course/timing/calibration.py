"""Reference ops: small fixed jobs that are timed beside the learner's function on the same device."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from course.i18n import t
from course.timing.validation import TimingError, require_callable

CLASSES = ("auto", "calls", "compute", "memory", "python")


def require_choice(choice: str | Callable[[], Any] | None) -> None:
    """Raise TimingError unless `choice` is one of CLASSES, a function without arguments or None."""
    if choice is None or choice in CLASSES:
        return
    if not isinstance(choice, str):
        require_callable("calibrate", choice)
        return
    raise TimingError(
        t(
            f"calibrate must be one of {', '.join(CLASSES)}, a function or None, not {choice!r}.",
            f"calibrate 只能是 {'、'.join(CLASSES)}、一个函数或 None，而不是 {choice!r}。",
        )
    )


def reference_op(
    choice: str | Callable[[], Any] | None, device: str, parallel: bool
) -> tuple[str, Callable[[], Any]] | None:
    """(name, function) of the reference op; None if none is wanted.

    calls: product of two 16 x 16 float32 matrices, so little work that one thread does it. compute: 192 x
    192, on all threads torch may use. memory: copy of 1 Mi float32 (4 MiB), on all threads too. python:
    calls, look-ups and small objects. auto: `compute` where the measured function uses several threads (`parallel`) or
    an accelerator, else `calls`: an op with more threads than the function would wait for cores that the function
    does not need.
    """
    if choice is None:
        return None
    if not isinstance(choice, str):
        return getattr(choice, "__name__", "calibrate"), choice
    where = next((d for d in device.split("+") if d != "cpu"), "cpu")
    if choice == "auto":
        choice = "compute" if parallel or where != "cpu" else "calls"
    return choice, _make(choice, where)


def _make(choice: str, device: str) -> Callable[[], Any]:
    import torch

    if choice == "python":
        return _plain_python
    if choice == "memory":
        source = torch.ones(1 << 20, device=device)
        target = torch.empty_like(source)
        return lambda: target.copy_(source)
    edge = 16 if choice == "calls" else 192
    room = torch.full((2, edge * edge + 512), 0.5, device=device)  # one piece: their distance never varies
    a, out = (row[: edge * edge].view(edge, edge) for row in room)
    mm = torch.mm
    return lambda: mm(a, a, out=out)


def _second(first: Any, second: Any) -> Any:
    return second


def _plain_python() -> None:
    """A mixture of operations: the speed of a loop with one kind of instruction depends on its place in memory."""
    key, table, items = "a", {"a": 1}, (1, 2, 3)
    for _ in itertools.repeat(None, 300):
        _second(items, table)
        len(items)
        [items, table[key]]

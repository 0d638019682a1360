"""The sentences and number formats of the roofline, and the error that carries them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from course.i18n import t


class RooflineError(ValueError):
    """Something that cannot be placed as given. A notebook shows its sentence alone, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def scaled(value: float, unit: str) -> str:
    """A quantity with three significant figures and a decimal prefix: 1.20 GFLOP/s, 25.1 GB/s."""
    for limit, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= limit * 0.9995:
            return f"{_three(value / limit)} {prefix}{unit}"
    return f"{value:.0f} {unit}" if value == int(value) else f"{_three(value)} {unit}"


def _three(value: float) -> str:
    return f"{value:.{2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0}f}"


def percent(share: float) -> str:
    """A share as a percentage with two significant figures or whole per cents."""
    return f"{share:.0%}" if share >= 0.0995 else f"{share:.1%}"


def bound_word(bound: str) -> str:
    """`compute`, `memory` or `overhead` in the learner's language."""
    return {"compute": t("compute", "计算"), "memory": t("memory", "访存"), "overhead": t("overhead", "调用开销")}[
        bound
    ]


def between(low: float, high: float) -> str:
    """An interval of shares: 52 % where both ends read the same, else 48% to 55%."""
    ends = percent(low), percent(high)
    return ends[0] if ends[0] == ends[1] else t(f"{ends[0]} to {ends[1]}", f"{ends[0]} 至 {ends[1]}")


def too_little_memory(device: str, needed: int | None = None, free: int | None = None) -> RooflineError:
    """The error for a machine whose memory is too small for the measurement; sizes in bytes."""
    sizes = ("", "")
    if needed is not None and free is not None:
        need, has = scaled(needed, "B"), scaled(free, "B")
        sizes = f" (needs {need}, free are {has})", f"（需要 {need}，空闲 {has}）"
    return RooflineError(
        t(
            f"Too little free memory on {device}{sizes[0]}. Close what you do not need, restart other kernels, "
            "or use a smaller batch, then run this again.",
            f"{device} 上的空闲内存不足{sizes[1]}。请关掉不用的程序，重启其他内核，或减小批大小，然后再运行一次。",
        )
    )


@contextlib.contextmanager
def enough_memory(device: str) -> Iterator[None]:
    """Turn every way in which torch says "out of memory" into RooflineError."""
    try:
        yield
    except MemoryError as error:
        raise too_little_memory(device) from error
    except RuntimeError as error:
        if is_out_of_memory(error):
            raise too_little_memory(device) from error
        raise


def is_out_of_memory(error: BaseException | None) -> bool:
    """Whether this error, or one that caused it, says that memory ran out."""
    while error is not None:
        text = str(error).lower()
        if isinstance(error, MemoryError) or "out of memory" in text or "allocate memory" in text:
            return True
        error = error.__cause__
    return False


def describe(value: Any) -> str:
    """What was given, in two words: a tensor by its shape, anything else by its type."""
    shape = getattr(value, "shape", None)
    return type(value).__name__ if shape is None else f"{type(value).__name__} {tuple(shape)}"

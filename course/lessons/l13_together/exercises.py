"""Code tasks of lesson 13 that run or measure: compare two kernels, take your settings into a thread, make flash lose."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Callable
from typing import Any

from course import flags
from course.exercises.checking import lost, race_in
from course.exercises.told import Told, placeholder_in

SWITCHES = ("cuda.enable_flash_sdp", "cuda.enable_mem_efficient_sdp", "cuda.enable_math_sdp", "cuda.enable_cudnn_sdp")


# --- kernel_gap -------------------------------------------------------------------------------------------


def _differing() -> tuple[list[tuple[Any, ...]], list[float]]:
    """Two sets of (q, k, v) whose largest difference between the kernels is above and below 0; and these differences."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention as attend

    found: dict[bool, tuple[tuple[Any, ...], float]] = {}
    rng = torch.Generator().manual_seed(13)
    for _ in range(60):
        tensors = tuple(torch.randn(1, 2, 48, 16, generator=rng) for _ in range(3))
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            flash = attend(*tensors)
        with sdpa_kernel(SDPBackend.MATH):
            gap = flash - attend(*tensors)
        up, down = gap.max().item(), -gap.min().item()
        if up != down and gap.abs().mean().item() < max(up, down):
            found.setdefault(up > down, (tensors, max(up, down)))
        if len(found) == 2:
            break
    return [tensors for tensors, _ in found.values()], [gap for _, gap in found.values()]


def _switches() -> dict[str, Any]:
    return {name: flags.SWITCHES[name].read() for name in SWITCHES}


def check_kernel_gap(kernel_gap: Callable[..., float]) -> None:
    """Both kernels ran, the largest difference comes back, and every switch is as before: also after an error."""
    import torch

    from course.lessons.l13_together.attention import kernel_of

    with flags.preserved(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of every kernel that it may not take
        for name in SWITCHES:
            flags.assign(name, True)
        inputs, gaps = _differing()
        if not gaps:
            raise Told("same-bits")
        answers: list[Any] = []
        ran = kernel_of(lambda: answers.extend(kernel_gap(*tensors) for tensors in inputs))
        after = _switches()
        _are_the_gaps(answers, gaps, ran)
        if not all(after.values()):
            raise Told("left-off")
        flags.assign("cuda.enable_mem_efficient_sdp", False)
        flags.assign("cuda.enable_flash_sdp", False)
        before = _switches()
        kernel_gap(*inputs[0])
        if _switches() != before:
            raise Told("default")
        for name in SWITCHES:
            flags.assign(name, True)
        with contextlib.suppress(Exception):  # these sizes do not fit: the call has to fail, in whatever way
            kernel_gap(torch.zeros(1, 2, 4, 8), torch.zeros(1, 2, 4, 8), torch.zeros(1, 3, 4, 8))
            return
        if not all(_switches().values()):
            raise Told("exception")


def _are_the_gaps(answers: list[Any], gaps: list[float], ran: str) -> None:
    """Raises Told unless both kernels ran and the numbers given back are the largest differences."""
    placeholder_in(*answers)
    try:
        numbers = [float(got) for got in answers]
    except (TypeError, ValueError, RuntimeError):
        raise Told("no-number") from None
    if ran != "flash, math":
        raise Told("kernels" if ran else "kernels, none", ran=ran)
    if numbers != gaps:
        mean = all(abs(got) < gap / 2 for got, gap in zip(numbers, gaps, strict=True))
        told = {"first": gaps[0], "second": gaps[-1], "got_first": numbers[0], "got_second": numbers[-1]}
        raise Told("number, a mean" if mean else "number", **told)


# --- in_thread --------------------------------------------------------------------------------------------


def _here() -> dict[str, Any]:
    """What a thread keeps for itself, and which thread this is."""
    import torch

    return {
        "thread": threading.get_ident(),
        "grad": torch.is_grad_enabled(),
        "autocast": torch.is_autocast_enabled("cpu"),
        "dtype": torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else None,
    }


def check_in_thread(in_thread: Callable[[Callable[[], Any]], Any]) -> None:
    """Another thread, the caller's grad mode and autocast in it, the result back, and nothing changed here."""
    import torch

    for grad in (False, True):
        for dtype in (None, torch.bfloat16, torch.float16):
            with torch.set_grad_enabled(grad), torch.autocast("cpu", dtype=dtype, enabled=dtype is not None):
                here = _here()
                there = in_thread(_here)
                after = _here()
            if not isinstance(there, dict):
                raise Told("result")
            if there["thread"] == here["thread"]:
                raise Told("same")
            if here != after:
                raise Told("left")
            for name in ("grad", "autocast", "dtype"):
                if here[name] != there[name]:
                    raise Told(name, here=here[name], there=there[name])


# --- make it lose -----------------------------------------------------------------------------------------


WIDE = 8
"""Heads this many times as wide as there are tokens: the table of scores is small beside the inputs."""
TIE = 1.1
"""Below this ratio flash is not slower by a tenth."""


def check_losing(losing: Any) -> dict[str, float]:
    """Accept on evidence: time(flash) / time(math) wholly above 1, enough rounds, and each side ran its kernel.

    Or not slower by a tenth for a call with a table that is small beside its inputs: on such a CPU flash cannot be beaten.
    """
    from course.lessons.l13_together.attention import kernel_of, size_of

    raced = race_in(losing, "flash_math(call)", "math", "flash")
    with flags.preserved():
        ran = {name: kernel_of(raced.functions[name]) for name in ("flash", "math")}
        keys, width = size_of(raced.functions["flash"])
    if ran != {"flash": "flash", "math": "math"}:
        raise Told("kernels", flash=ran["flash"] or "-", math=ran["math"] or "-")
    try:
        return lost(raced)
    except Told as told:
        if told.codes in (("won",), ("undecided",)) and raced.high < TIE and width >= WIDE * keys:
            raise Told("right, measured", keys=keys, width=width, low=raced.low, high=raced.high) from None
        raise


CHECKS = {"13-kernel-gap": check_kernel_gap, "13-in-thread": check_in_thread, "13-make-it-lose": check_losing}

"""Code tasks of lesson 02 that measure or simulate: an honest stopwatch, and a liar caught."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

from course.exercises.checking import comparison, enough_rounds, watched
from course.exercises.told import Told
from course.lessons.l02_timing.toy_device import VirtualDevice

KERNEL_MS, EARLIER_MS = 20.0, 30.0
CLOSE_MS = 0.03  # the launch itself takes 0.01 ms


def cut(count: int, confidence: float = 0.95) -> int | None:
    """How many sorted readings may go at each end so that the rest covers the median with that chance.

    None when even all readings together cover it too rarely (fewer than 6 for 0.95).
    """
    missed, kept = 0.0, None
    for k in range(count // 2 + 1):
        missed += 2 * math.comb(count, k) / 2**count
        if 1 - missed < confidence or 2 * k >= count:
            break
        kept = k
    return kept


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# --- 02-stopwatch --------------------------------------------------------------------------------------


def check_stopwatch(stopwatch_ms: Callable[..., Any]) -> None:
    """Let it time kernels in a world where time is a number: of 20 ms with 30 ms of old work in the queue, then of drawn times."""
    draw = random.Random(2)
    drawn = [(draw.uniform(2, 90), draw.choice([0.0, draw.uniform(5, 70)])) for _ in range(4)]
    for kernel_ms, earlier_ms in ((KERNEL_MS, EARLIER_MS), *drawn):
        _one_reading(stopwatch_ms, kernel_ms, earlier_ms)


def _one_reading(stopwatch_ms: Callable[..., Any], kernel_ms: float, earlier_ms: float) -> None:
    """Raises Told where one reading is wrong."""
    device = VirtualDevice()
    if earlier_ms:
        device.launch(earlier_ms)
    earlier = len(device.log)
    try:
        reading = stopwatch_ms(lambda: device.launch(kernel_ms), device.synchronize, device.clock)
    except (AssertionError, RuntimeError) as error:
        if not {"CUDA", "NVIDIA"} & {*str(error).split()}:
            raise
        raise Told("simulated-device") from None
    if not _is_number(reading):
        raise Told("no-number")
    launches = device.log[earlier:].count("launch")
    if launches == 1 and abs(reading - kernel_ms) < CLOSE_MS:
        return
    if launches > 1 and abs(reading - kernel_ms) < 1:
        raise Told("run-again")
    if not launches:
        raise Told("never-ran")
    if abs(reading * 1e3 - kernel_ms) < 1:
        raise Told("seconds")
    if earlier_ms and abs(reading - kernel_ms - earlier_ms) < 1:
        raise Told("old-work", reading=reading, earlier_ms=earlier_ms)
    if 0 <= reading < 1:
        raise Told("no-fence")
    raise Told("wrong-time", reading=reading, kernel_ms=kernel_ms)


# --- 02-lose -------------------------------------------------------------------------------------------


def check_lose(evidence: Any) -> dict[str, float]:
    """Accept a naive ratio that names another winner than an interval which excludes 1; never judge speed."""
    if not isinstance(evidence, dict) or not {"naive_ratio", "comparison"} <= evidence.keys():
        raise Told("no-dictionary")
    naive, fair = evidence["naive_ratio"], evidence["comparison"]
    if naive is ... or fair is ...:
        raise Told("placeholder")
    raced = comparison(fair)
    if raced:
        enough_rounds(raced)
    found = {name: getattr(fair, name, None) for name in ("ratio", "low", "high")} | {"naive": naive}
    if not all(map(_is_number, found.values())):
        raise Told("no-comparison")
    if not (math.isfinite(naive) and naive > 0):
        raise Told("no-ratio")
    if raced is None or not all(
        any("conv" in step.name for step in watched(call)) for call in raced.functions.values()
    ):
        raise Told("no-convolutions")
    if found["low"] <= 1 <= found["high"]:
        raise Told("undecided", **found)
    if (naive - 1) * (found["ratio"] - 1) >= 0:
        raise Told("same-winner", **found)
    return found


CHECKS = {"02-stopwatch": check_stopwatch, "02-lose": check_lose}

"""Code tasks of lesson 02 that measure or simulate: an honest stopwatch, and a liar caught."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

from course.core.i18n import Text, both
from course.core.verdict import Verdict, correct, inconclusive, incorrect
from course.exercises.checking import comparison, too_few_rounds, watched
from course.exercises.slips import PLACEHOLDER
from course.lessons.l02_timing.virtual_device import VirtualDevice

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


def check_stopwatch(stopwatch_ms: Callable[..., Any]) -> Verdict:
    """Let it time kernels in a world where time is a number: of 20 ms with 30 ms of old work in the queue, then of drawn times."""
    draw = random.Random(2)
    drawn = [(draw.uniform(2, 90), draw.choice([0.0, draw.uniform(5, 70)])) for _ in range(4)]
    for kernel_ms, earlier_ms in ((KERNEL_MS, EARLIER_MS), *drawn):
        fault = _one_reading(stopwatch_ms, kernel_ms, earlier_ms)
        if fault is not None:
            return fault
    return correct(
        both(
            "It reads 20 ms for a kernel of 20 ms with 30 ms of old work in front, and is right about others too.",
            "前面排着 30 ms 旧任务时，20 ms 的 kernel 读数是 20 ms；换成别的也对。",
        )
    )


def _one_reading(stopwatch_ms: Callable[..., Any], kernel_ms: float, earlier_ms: float) -> Verdict | None:
    """What is wrong with one reading; None if nothing."""
    device = VirtualDevice()
    if earlier_ms:
        device.launch(earlier_ms)
    earlier = len(device.log)
    try:
        reading = stopwatch_ms(lambda: device.launch(kernel_ms), device.synchronize, device.clock)
    except (AssertionError, RuntimeError) as error:
        if not {"CUDA", "NVIDIA"} & {*str(error).split()}:
            raise
        return incorrect(
            both(
                "The device here is a simulated one: wait with the `synchronize` you are given, not with torch's own.",
                "这里的设备是模拟的：请用传进来的 `synchronize` 等待，不要用 torch 自己的。",
            ),
            reason="simulated-device",
        )
    if not _is_number(reading):
        return incorrect(
            both("It should give back one number, the milliseconds.", "它应当返回一个数：毫秒数。"), reason="no-number"
        )
    evidence = {"reading_ms": reading, "truth_ms": kernel_ms, "log": device.log}
    launches = device.log[earlier:].count("launch")
    if launches == 1 and abs(reading - kernel_ms) < CLOSE_MS:
        return None
    if launches > 1 and abs(reading - kernel_ms) < 1:
        return incorrect(
            both(
                "The time is right, but `run` was called more than once: time a single call.",
                "时间对了，但 `run` 被调用了不止一次：请只测一次调用。",
            ),
            **evidence,
            reason="run-again",
        )
    reason, said = _stopwatch_reason(reading, launches, kernel_ms, earlier_ms)
    return incorrect(said, reason=reason, **evidence)


def _stopwatch_reason(reading: float, launches: int, kernel_ms: float, earlier_ms: float) -> tuple[str, Text]:
    if not launches:
        return "never-ran", both(
            "`run` was never called, so there was nothing to time.", "`run` 没有被调用，没有东西可测。"
        )
    if abs(reading * 1e3 - kernel_ms) < 1:
        return "seconds", both(
            "This is in seconds: `clock()` counts seconds, the answer is wanted in milliseconds.",
            "这是秒：`clock()` 以秒计，答案要的是毫秒。",
        )
    if earlier_ms and abs(reading - kernel_ms - earlier_ms) < 1:
        return "old-work", both(
            f"{reading:.0f} ms: the {earlier_ms:.0f} ms of old work are in it. A fence belongs before the clock starts.",
            f"{reading:.0f} ms：里面含有 {earlier_ms:.0f} ms 的旧任务。开始计时之前要先加一道栅栏。",
        )
    if 0 <= reading < 1:
        return "no-fence", both(
            "Next to nothing: the clock was read before the kernel was done. It needs a fence before it stops.",
            "几乎为零：kernel 还没做完就读了表。停表之前要加栅栏。",
        )
    return "wrong-time", both(
        f"It reads {reading:.4g} ms where {kernel_ms:.4g} ms are true. Take the difference of two readings of `clock()`.",
        f"真实值是 {kernel_ms:.4g} ms，读数却是 {reading:.4g} ms。请用 `clock()` 两次读数之差。",
    )


# --- 02-lose -------------------------------------------------------------------------------------------


def check_lose(evidence: Any) -> Verdict:
    """Accept a naive ratio that names another winner than an interval which excludes 1; never judge speed."""
    if not isinstance(evidence, dict) or not {"naive_ratio", "comparison"} <= evidence.keys():
        return incorrect(
            both(
                'Hand in a dict with "naive_ratio" and "comparison", as in the cell above.',
                '请交一个字典，包含 "naive_ratio" 和 "comparison"，如上面的单元格。',
            ),
            reason="no-dictionary",
        )
    naive, fair = evidence["naive_ratio"], evidence["comparison"]
    if naive is ... or fair is ...:
        return PLACEHOLDER
    raced = comparison(fair)
    if raced and (few := too_few_rounds(raced)):
        return few
    values = {name: getattr(fair, name, None) for name in ("ratio", "low", "high")}
    if not _is_number(naive) or not all(map(_is_number, values.values())):
        return incorrect(
            both(
                "`naive_ratio` should be a number and `comparison` what `compare` gave back for two functions.",
                "`naive_ratio` 应为一个数，`comparison` 应为 `compare` 比较两个函数的返回值。",
            ),
            reason="no-comparison",
        )
    found = {"naive_ratio": naive, **values}
    if not (math.isfinite(naive) and naive > 0):
        return incorrect(
            both("`naive_ratio` should be a ratio of two times, above 0.", "`naive_ratio` 应是两个耗时之比，大于 0。"),
            **found,
            reason="no-ratio",
        )
    if raced is None or not all(
        any("conv" in step.name for step in watched(call)) for call in raced.functions.values()
    ):
        return incorrect(
            both(
                "`comparison` should be what `compare` gave back for two convolutions.",
                "`comparison` 应是 `compare` 比较两个卷积的返回值。",
            ),
            reason="no-convolutions",
            **found,
        )
    if values["low"] <= 1 <= values["high"]:
        return inconclusive(
            both(
                f"The fair interval, {values['low']:.3f} to {values['high']:.3f}, still holds 1, so nobody knows the true winner. "
                "Make the two functions more different, give `compare` more `max_time`, "
                "or calm a busy machine with `torch.set_num_threads(1)`.",
                f"公平比较的区间 {values['low']:.3f} 至 {values['high']:.3f} 仍包含 1，还不知道谁真的快。"
                f"请让两个函数差别更大，加大 `compare` 的 `max_time`，或用 `torch.set_num_threads(1)` 让忙碌的机器安静些。",
            ),
            **found,
            reason="undecided",
        )
    if (naive - 1) * (values["ratio"] - 1) < 0:
        return correct(
            both(
                f"Caught: the naive stopwatch says {naive:.2f}, "
                f"the fair interval {values['low']:.3f} to {values['high']:.3f} lies on the other side of 1.",
                f"抓到了：朴素秒表说 {naive:.2f}，而公平区间 {values['low']:.3f} 至 {values['high']:.3f} 在 1 的另一边。",
            ),
            **found,
        )
    return incorrect(
        both(
            f"Both name the same winner this time (naive {naive:.2f}, fair {values['ratio']:.2f}). "
            "Give the truly faster function an expensive first call, with a shape that has not run yet; on a busy machine try again.",
            f"这次双方选出了同一个赢家（朴素 {naive:.2f}，公平 {values['ratio']:.2f}）。"
            f"让真正更快的那个函数第一次调用很昂贵：用一个还没跑过的形状；机器忙时可以多试一次。",
        ),
        **found,
        reason="same-winner",
    )


CHECKS = {"02-stopwatch": check_stopwatch, "02-lose": check_lose}

"""Code tasks of lesson 02: an honest stopwatch, an honest summary, an honest ratio, and a liar caught."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from course.checking import comparison, too_few_rounds, watched
from course.i18n import Text, both
from course.lessons.l02_timing.virtual_device import VirtualDevice
from course.slips import PLACEHOLDER
from course.verdict import Verdict, correct, inconclusive, incorrect

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


def _untouched(answer: Any) -> bool:
    """Whether a stub still gives back its placeholder."""
    parts = answer if isinstance(answer, tuple) else (answer,)
    return any(part is ... or part is None for part in parts)


def _near(value: Any, expected: float, tolerance: float = 1e-6) -> bool:
    return _is_number(value) and math.isclose(value, expected, rel_tol=tolerance, abs_tol=1e-12)


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


# --- 02-median-interval --------------------------------------------------------------------------------

NOISY = (
    [1.2, 1.0, 9.0, 1.1, 1.3, 1.0, 1.2, 1.1, 1.4, 1.1, 6.5, 1.2],
    [3.0, 1.0, 2.0, 5.0, 4.0, 6.0],
    [float(v * v % 53) for v in range(1, 41)],
)


UNSORTED = both(
    "The ends are those of the readings as they came. Sort first: `ordered = sorted(samples)`.",
    "两端取自原来的顺序。请先排序：`ordered = sorted(samples)`。",
)


def check_median_interval(median_interval: Callable[..., Any]) -> Verdict:
    """Compare (median, low, high) with the order statistics of three sets of readings."""
    for samples in NOISY:
        given = list(samples)
        answer = median_interval(given)
        if _untouched(answer):
            return PLACEHOLDER
        ordered, drop = sorted(samples), cut(len(samples))
        expected = (median(samples), ordered[drop], ordered[-1 - drop])
        if given != samples:
            return incorrect(
                both(
                    "It changed the order of the readings it was given: sort a copy (`sorted`).",
                    "它改动了传入读数的顺序：请排序一个副本（`sorted`）。",
                ),
                reason="input-changed",
            )
        if not isinstance(answer, Sequence) or len(answer) != 3 or not all(map(_is_number, answer)):
            return incorrect(
                both(
                    "It should give back three numbers: `(median, low, high)`.",
                    "它应当返回三个数：`(median, low, high)`。",
                ),
                reason="three-numbers",
            )
        if not all(map(_near, answer, expected)):
            unsorted = _near(answer[1], samples[drop]) and not _near(answer[1], expected[1])
            reason, said = ("unsorted", UNSORTED) if unsorted else _interval_reason(answer, expected, ordered, drop)
            return incorrect(said, reason=reason, n=len(samples))
    return correct(
        both("Right for 6, 12 and 40 readings, outliers included.", "6、12、40 个读数都正确，包括有离群值的情形。")
    )


def _interval_reason(answer: Any, expected: tuple[float, ...], ordered: list[float], drop: int) -> tuple[str, Text]:
    count = len(ordered)
    if _near(answer[0], sum(ordered) / count) and not _near(answer[0], expected[0]):
        return "mean", both(
            "The first number is the mean. One interruption is enough to move it; take the median.",
            "第一个数是平均值，一次打断就能带偏它；请用中位数。",
        )
    if not _near(answer[0], expected[0]):
        return "median", both(
            f"The median of {count} readings is not right. "
            "With an even number, it is half-way between the two in the middle; the readings must be sorted.",
            f"{count} 个读数的中位数不对。个数为偶数时取中间两个的平均；别忘了先排序。",
        )
    if drop and _near(answer[1], ordered[0]) and _near(answer[2], ordered[-1]):
        return "whole-range", both(
            "This is the whole range. Cut `cut(n)` readings off at each end first.",
            "这是整个范围。请先从两端各去掉 `cut(n)` 个。",
        )
    return "ends", both(
        f"The ends are off for {count} readings: after cutting {drop} at each end, "
        f"low is `ordered[{drop}]` and high is `ordered[{count - 1 - drop}]`.",
        f"{count} 个读数的两端不对：两端各去掉 {drop} 个后，low 是 `ordered[{drop}]`，"
        f"high 是 `ordered[{count - 1 - drop}]`。",
    )


# --- 02-paired-ratio -----------------------------------------------------------------------------------

BASELINE_MS = [1.00, 1.02, 1.60, 2.00, 2.10, 1.05, 1.00]
CANDIDATE_MS = [0.90, 0.918, 1.44, 1.80, 1.89, 1.90, 0.90]


def check_paired_ratio(paired_ratio: Callable[..., Any]) -> Verdict:
    """Seven pairs on a machine that slows down and recovers: the pairs say 0.9, the medians do not."""
    answer = paired_ratio(list(BASELINE_MS), list(CANDIDATE_MS))
    if _untouched(answer):
        return PLACEHOLDER
    if _near(answer, 0.9):
        draw = random.Random(5)
        for count in (1, 4, 9, 12):
            base = [draw.uniform(1, 3) for _ in range(count)]
            candidate = [one * draw.choice([0.7, 0.9, 1.1, 1.6]) for one in base]
            again = paired_ratio(list(base), list(candidate))
            if not _near(again, median(c / b for b, c in zip(base, candidate, strict=True))):
                return incorrect(
                    both(
                        f"0.9 is right for the pairs above, but not what it gives for {count} others. "
                        "Take the median of candidate / baseline, pair by pair.",
                        f"上面那几对得 0.9 没错，但换成另外 {count} 对就不对了。请逐对计算 候选 / 基准，再取中位数。",
                    ),
                    reason="other-pairs",
                )
        return correct(
            both(
                "0.9: each pair saw the same machine, so its slow minutes cancel.",
                "0.9：每一对面对的是同一台机器，变慢的时刻相互抵消。",
            )
        )
    known = {
        "medians": (
            median(CANDIDATE_MS) / median(BASELINE_MS),
            both(
                "This is the ratio of the medians: the pairs were torn apart. Divide pair by pair, then take the median.",
                "这是中位数之比：配对被拆散了。请先逐对相除，再取中位数。",
            ),
        ),
        "means": (
            sum(CANDIDATE_MS) / sum(BASELINE_MS),
            both(
                "This is the ratio of the means: one disturbed reading is enough to move it.",
                "这是平均值之比：一次受干扰的读数就能带偏它。",
            ),
        ),
        "turned-round": (
            1 / 0.9,
            both(
                "The other way round: candidate / baseline, so that below 1 means faster.",
                "方向反了：应为 候选 / 基准，小于 1 表示更快。",
            ),
        ),
        "mean-of-ratios": (
            sum(map(lambda c, b: c / b, CANDIDATE_MS, BASELINE_MS)) / 7,
            both(
                "Pair by pair is right, but the mean of the ratios listens to the one disturbed pair. Take the median.",
                "逐对相除是对的，但平均值会被那一对受干扰的读数带偏。请取中位数。",
            ),
        ),
    }
    for reason, (value, said) in known.items():
        if _near(answer, value):
            return incorrect(said, reason=reason, answer=answer)
    return incorrect(
        both(
            "It should be one number: the median of candidate / baseline, pair by pair.",
            "应当返回一个数：逐对计算 候选 / 基准，再取中位数。",
        ),
        answer=repr(answer)[:60],
        reason="no-number",
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


CHECKS = {
    "02-stopwatch": check_stopwatch,
    "02-median-interval": check_median_interval,
    "02-paired-ratio": check_paired_ratio,
    "02-lose": check_lose,
}

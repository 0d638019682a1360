"""The code task of lesson 04 that measures: make the rule lose."""

from __future__ import annotations

from typing import Any

from course.core.i18n import both
from course.core.verdict import Verdict, correct, inconclusive, incorrect
from course.exercises.checking import comparison, too_few_rounds, watched


def check_lose(race: Any) -> Verdict:
    """Accept on evidence: the interval of time(off) / time(on) stays below 1.05, from enough rounds."""
    raced = comparison(race)
    if raced is None or raced.baseline != "on" or list(raced.pairs) != ["off"]:
        return incorrect(
            both(
                '`race` should be what `switch_race` gave back: "off" compared with the baseline "on".',
                '`race` 应是 `switch_race` 的返回值：以 "on" 为基准，与 "off" 比较。',
            ),
            reason="no-race",
        )
    seen = {
        name: {step.switches["mkldnn.enabled"] for step in watched(call, "mkldnn.enabled")}
        for name, call in raced.functions.items()
    }
    if seen != {"on": {True}, "off": {False}}:
        return incorrect(
            both(
                "The race does not compare one layer with the switch on and off: either nothing is computed, "
                "or the switch does not differ.",
                "这场比赛比的不是同一个层开与关：要么什么都没算，要么开关没有变。",
            ),
            reason="switch",
        )
    if few := too_few_rounds(raced):
        return few
    low, high = raced.low, raced.high
    if high <= 1.05:
        if _misses_onednn(raced):
            return incorrect(
                both(
                    "Your interval stays below 1.05, but measured again it does not: this layer needs oneDNN. "
                    "Take one that never asks for it.",
                    "你的区间在 1.05 以下，但再测一次就不是了：这个层离不开 oneDNN。换一个从来不问它的层。",
                ),
                reason="again",
            )
        return correct(
            both(
                f"Accepted: [{low:.2f}, {high:.2f}]. Off is not slower, or by less than 5 %.",
                f"通过：[{low:.2f}, {high:.2f}]。关掉并没有变慢（或不到 5%）。",
            ),
            low=low,
            high=high,
        )
    if low > 1.05:
        return incorrect(
            both(
                f"Without oneDNN this one is slower: [{low:.2f}, {high:.2f}]. Take a layer that never asks for it.",
                f"这个算子离不开 oneDNN：[{low:.2f}, {high:.2f}]。换一个从来不问它的层。",
            ),
            reason="slower",
        )
    return inconclusive(
        both(
            f"[{low:.2f}, {high:.2f}] does not decide. More time, or a larger input, settles it.",
            f"[{low:.2f}, {high:.2f}] 还下不了结论。多给些时间，或把输入变大。",
        ),
        reason="undecided",
    )


def _misses_onednn(race: Any) -> bool:
    """Whether a second race, ours, says that off is slower; a layer in which oneDNN never runs cannot miss it."""
    from torch.backends import mkldnn

    from course import flags
    from course.lessons.l04_cudnn_enabled.probes import switch_race
    from course.trace.onednn_log import log_of

    call = race.functions["on"]
    with flags.preserved():
        if not mkldnn.is_available() or not log_of(call).lines:
            return False
        again = switch_race(lambda: race.functions["on" if mkldnn.enabled else "off"](), max_time=1.0)
        return next(iter(again.pairs.values())).shown_above(1.05)


CHECKS = {"04-lose": check_lose}

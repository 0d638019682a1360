"""Code tasks of lesson 04 that run or measure: off for one block, make the rule lose."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from course.checking import Planned, comparison, crash, cudnn_state, not_run_once, switched, too_few_rounds, watched
from course.i18n import both
from course.verdict import Verdict, correct, inconclusive, incorrect, partly

# --- without_cudnn ------------------------------------------------------------------------------------------


def check_without_cudnn(without_cudnn: Callable[[Callable[[], Any]], Any]) -> Verdict:
    """Look at the switches inside, at the value handed back, at how often `run` ran, and at what is left behind."""
    start = {"enabled": True, "benchmark": True, "deterministic": True, "allow_tf32": False}
    other = {"enabled": True, "benchmark": False, "deterministic": False, "allow_tf32": True}
    runs = []

    def look() -> dict[str, Any]:
        runs.append(1)
        return cudnn_state()

    with switched(**other):
        elsewhere, after_elsewhere = without_cudnn(cudnn_state), cudnn_state()
    with switched(**start):
        inside, after = without_cudnn(look), cudnn_state()
    swallowed = True
    with switched(**start):
        try:
            without_cudnn(crash)
        except Planned:
            swallowed = False
        after_crash = cudnn_state()
    with switched(**{**start, "enabled": False}):
        without_cudnn(cudnn_state)
        after_off = cudnn_state()
    if not isinstance(inside, Mapping) or not isinstance(elsewhere, Mapping):
        return incorrect(
            both("Hand back what `run()` returned.", "请把 `run()` 的返回值返回出来。"), reason="no-result"
        )
    if inside["enabled"]:
        return incorrect(both("Inside, cuDNN is still on.", "在里面，cuDNN 还开着。"), reason="still-on")
    moved = sorted(
        {
            name
            for before, seen in ((start, inside), (other, elsewhere))
            for name in before
            if name != "enabled" and seen[name] != before[name]
        }
    )
    if moved:
        return partly(
            0.5,
            1.0,
            both(
                "cuDNN is off inside. "
                f"But {', '.join(f'`{name}`' for name in moved)} moved as well: `flags` sets what you do not name.",
                f"在里面 cuDNN 关了，可 {'、'.join(f'`{name}`' for name in moved)} 也跟着动了：没点名的，`flags` 也会设。",
            ),
            reason="moved",
        )
    for left, before, reason, when in (
        (after, start, "left-behind", both("Afterwards", "结束后")),
        (after_elsewhere, other, "left-behind", both("Afterwards", "结束后")),
        (after_crash, start, "exception", both("After an exception", "抛出异常后")),
    ):
        if left != before:
            return partly(
                0.5,
                1.0,
                both(
                    "Off inside, and nothing else. "
                    f"{when['en']} the switches are not what they were: `try` and `finally`.",
                    f"在里面关了，别的没动。但{when['zh']}开关没有恢复：用 `try` 和 `finally`。",
                ),
                reason=reason,
            )
    if after_off["enabled"]:
        return partly(
            0.5,
            1.0,
            both(
                "One case is left: whoever had cuDNN off before finds it on afterwards. "
                "Put back what was there, not True.",
                "还剩一种情况：原来就关着 cuDNN 的人，结束后发现它开了。要恢复原值，不是设成 True。",
            ),
            reason="forced-on",
        )
    return not_run_once(swallowed, len(runs)) or correct(
        both(
            "Off inside, nothing else moved, everything back in each case.",
            "在里面关掉，别的没动，无论如何都恢复原样。",
        )
    )


# --- make it lose -------------------------------------------------------------------------------------------


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
    from course.onednn_log import log_of

    call = race.functions["on"]
    with flags.preserved():
        if not mkldnn.is_available() or not log_of(call).lines:
            return False
        again = switch_race(lambda: race.functions["on" if mkldnn.enabled else "off"](), max_time=1.0)
        return next(iter(again.pairs.values())).shown_above(1.05)


CHECKS = {"04-without": check_without_cudnn, "04-lose": check_lose}

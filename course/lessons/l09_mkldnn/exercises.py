"""Code tasks of lesson 09: foresee the route, switch off cleanly, make oneDNN lose.

The last two entries are the visible smoke tests of the checkpoint: they look at form, not at the answer.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from course.checking import Planned, comparison, crash, data, form_is_fine, form_of_report, not_lost, not_run_once
from course.i18n import Text, both
from course.lessons.l09_mkldnn.exercises_log import report_line
from course.verdict import Verdict, correct, inconclusive, incorrect, not_attempted, partly

# --- goes_to_onednn ---------------------------------------------------------------------------------------

SMALL = 20480  # pixels times channels of one image, up to which a plain small convolution stays with ATen


def rule(batch: int, channels: int, height: int, width: int, kernel: int, groups: int = 1) -> bool:
    """ConvParams::use_mkldnn for a float32 convolution with stride 1, no dilation and a kernel of at least 3."""
    return groups > 1 or kernel > 3 or batch > 1 or batch * channels * height * width > SMALL


CONVOLUTIONS = {
    "one small image": (1, 3, 32, 32, 3),
    "one large image": (1, 3, 224, 224, 3),
    "two small images": (2, 3, 32, 32, 3),
    "a 5x5 kernel": (1, 3, 32, 32, 5),
    "groups": (1, 16, 32, 32, 3, 16),
    "exactly at the limit": (1, 20, 32, 32, 3),
    "one row above the limit": (1, 20, 33, 32, 3),
    "one column above the limit": (1, 20, 32, 33, 3),
    "a 4x4 kernel": (1, 3, 32, 32, 4),
    "two groups": (1, 16, 32, 32, 3, 2),
    "wide and low": (1, 3, 8, 900, 3),
    "many channels": (1, 64, 18, 18, 3),
    "one number above the limit": (1, 1, 6827, 3, 3),
}


def check_goes_to_onednn(goes_to_onednn: Callable[..., bool]) -> Verdict:
    """One case for each condition, one that meets none, and both sides of the limit."""
    wrong = []
    for name, case in CONVOLUTIONS.items():
        got = goes_to_onednn(*case)
        if got is None or got is Ellipsis:
            return not_attempted(
                both("`goes_to_onednn` returns nothing yet.", "`goes_to_onednn` 还没有返回值。"), reason="placeholder"
            )
        if not isinstance(got, bool):
            return incorrect(
                both(f"`True` or `False` is expected, not {got!r}.", f"应返回 `True` 或 `False`，而不是 {got!r}。"),
                reason="no-bool",
            )
        if got != rule(*case):
            wrong.append(name)
    if not wrong:
        draw = random.Random(9)
        for _ in range(60):  # mostly one small image: what the size alone decides
            case = (
                draw.choice([1, 1, 1, 2]),
                draw.choice([2, 4, 16, 40]),
                draw.randint(5, 60),
                draw.randint(5, 60),
                draw.choice([3, 3, 3, 4, 5]),
                draw.choice([1, 1, 1, 2]),
            )
            if goes_to_onednn(*case) is not rule(*case):
                return incorrect(
                    both(
                        f"`goes_to_onednn{case}` should be {rule(*case)}.",
                        f"`goes_to_onednn{case}` 应为 {rule(*case)}。",
                    ),
                    reason="drawn",
                )
        return correct(
            both(
                "One of the four conditions is enough; the limit itself is still small.",
                "四个条件满足一个就够；正好等于上限仍算“小”。",
            )
        )
    if wrong == ["exactly at the limit"]:
        return partly(
            0.5,
            1.0,
            both(
                "All right but the edge: at exactly 20480 numbers the image still counts as small.",
                "只差边界：正好 20480 个数时仍算小图像。",
            ),
            reason="limit",
        )
    first = wrong[0]
    arguments = ", ".join(map(str, CONVOLUTIONS[first]))
    answer = rule(*CONVOLUTIONS[first])
    reason, because = _because(first)
    return incorrect(
        both(
            f"{first}: `goes_to_onednn({arguments})` should be {answer}. {because['en']}",
            f"`goes_to_onednn({arguments})` 应为 {answer}。{because['zh']}",
        ),
        reason=reason,
    )


def _because(case: str) -> tuple[str, Text]:
    if case == "one small image":
        return "none-holds", both("Not one of the four conditions holds.", "四个条件一个也不满足。")
    if case in (
        "one row above the limit",
        "one column above the limit",
        "wide and low",
        "many channels",
        "one number above the limit",
    ):
        return "size", both("Channels count too: channels * height * width.", "通道也要算：channels * height * width。")
    return "one-is-enough", both(
        "One condition alone is enough: join them with `or`.", "满足一个条件就够：用 `or` 连接。"
    )


# --- without_onednn ---------------------------------------------------------------------------------------

NAMES = ("enabled", "deterministic")


def _state() -> dict[str, Any]:
    from torch.backends import mkldnn

    return {name: getattr(mkldnn, name) for name in NAMES}


@contextlib.contextmanager
def _set(**wanted: bool) -> Iterator[None]:
    """Two oneDNN switches for one block, put back whatever the learner's function left behind."""
    from torch.backends import mkldnn

    before = _state()
    try:
        for name, value in wanted.items():
            setattr(mkldnn, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(mkldnn, name, value)


def check_without_onednn(without_onednn: Callable[[Callable[[], Any]], Any]) -> Verdict:
    """Off inside, the result handed back, all else untouched, and everything back: also after an exception."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runs, swallowed = [], True

        def look() -> dict[str, Any]:
            runs.append(1)
            return _state()

        with _set(enabled=True, deterministic=True):
            inside = without_onednn(look)
            after = _state()
        with _set(enabled=True, deterministic=True):
            try:
                without_onednn(crash)
            except Planned:
                swallowed = False
            after_crash = _state()
        with _set(enabled=False, deterministic=False):
            without_onednn(_state)
            after_off = _state()
    if not isinstance(inside, Mapping):
        return incorrect(
            both("Hand back what `run()` returned.", "请把 `run()` 的返回值返回出来。"), reason="no-result"
        )
    if inside["enabled"]:
        return incorrect(
            both("oneDNN is still on while `run()` runs.", "`run()` 执行时 oneDNN 还开着。"), reason="still-on"
        )
    if not after["enabled"] or not after["deterministic"]:
        return incorrect(
            both(
                "Afterwards the switches are not what they were: oneDNN should be on again.",
                "结束后开关没有恢复原样：oneDNN 应该重新打开。",
            ),
            reason="left-behind",
        )
    if not after_crash["enabled"]:
        return partly(
            0.5,
            1.0,
            both(
                "Right as long as nothing goes wrong. "
                "When `run()` raises, oneDNN stays off: use `try`/`finally` or `with`.",
                "一切顺利时没问题。但 `run()` 一抛异常，oneDNN 就一直关着：请用 `try`/`finally` 或 `with`。",
            ),
            reason="exception",
        )
    if after_off["enabled"]:
        return partly(
            0.5,
            1.0,
            both(
                "It was off before, and you switched it on. Restore what was there, not the default.",
                "原本就是关着的，你却把它打开了。要恢复原值，而不是默认值。",
            ),
            reason="forced-on",
        )
    if not inside["deterministic"]:
        return partly(
            0.5,
            1.0,
            both(
                "Off inside and restored. "
                "But `flags` also moved `deterministic`, which you did not name: change one switch only.",
                "里面关了，也恢复了。但 `flags` 顺带改了你没要求改的 `deterministic`：请只动一个开关。",
            ),
            reason="moved",
        )
    return not_run_once(swallowed, len(runs)) or correct(
        both(
            "One switch, one block, and everything back, whatever happens.",
            "只动一个开关、一个代码块，无论发生什么都恢复原样。",
        )
    )


# --- make it lose -----------------------------------------------------------------------------------------


def check_losing(losing: Any) -> Verdict:
    """Accept on evidence: time(on) / time(off) above 1, enough rounds, and oneDNN really ran in the call."""
    from torch.backends import mkldnn

    if not mkldnn.is_available():
        return inconclusive(
            both(
                "This build of PyTorch has no oneDNN, so nothing can be slower with it here. In "
                '`09-one-step`, replayed above, a call is; `solution("09-make-it-lose")` shows how to prove it.',
                "这个 PyTorch 不带 oneDNN，在这里没有什么会因它变慢。上面回放的 `09-one-step` 里就有变慢的调用；"
                '`solution("09-make-it-lose")` 展示怎么证明。',
            ),
            reason="no-onednn",
        )
    try:
        call, race = losing["call"], losing["race"]
    except (KeyError, TypeError, ValueError):  # a comparison asked for a name it lacks is a ValueError
        return incorrect(
            both(
                '`losing` should be `{"call": call, "race": on_off(call)}`.',
                '`losing` 应是 `{"call": call, "race": on_off(call)}`。',
            ),
            reason="no-dictionary",
        )
    if call is Ellipsis or not callable(call):
        return not_attempted(
            both(
                "`call` is still empty: a function without arguments belongs there.",
                "`call` 还是空的：那里要放一个不带参数的函数。",
            ),
            reason="placeholder",
        )
    raced = comparison(race)
    if raced is None:
        return incorrect(
            both("`race` should be what `on_off(call)` gave back.", "`race` 应是 `on_off(call)` 的返回值。"),
            reason="no-race",
        )
    if raced.baseline != "off" or list(raced.pairs) != ["on"]:
        return incorrect(
            both(
                'The race should have "off" as its baseline: use `on_off(call)`.',
                '比赛应以 "off" 为基准：请用 `on_off(call)`。',
            ),
            reason="baseline",
        )
    won = both(
        "oneDNN won. What does it do at each call, however little there is to compute?",
        "oneDNN 赢了。想一想，无论计算多少，它每次调用都要做什么？",
    )
    if verdict := not_lost(raced, won):
        return verdict
    low, high = raced.low, raced.high
    if not _used(raced.functions["on"]):
        return incorrect(
            both(
                "The interval is above 1, but oneDNN left no line in this call: both sides ran the same code. "
                "Look with `log_of(call)`.",
                "区间在 1 之上，但这次调用里 oneDNN 一行日志也没有：两边跑的是同一份代码。用 `log_of(call)` 看看。",
            ),
            reason="no-line",
        )
    return correct(
        both(
            f"Accepted: with oneDNN it takes {low:.2f} to {high:.2f} times as long, and the log proves it ran.",
            f"通过：开 oneDNN 的耗时是不开的 {low:.2f} 到 {high:.2f} 倍，日志也证明它确实跑了。",
        )
    )


def _used(call: Callable[[], Any]) -> Sequence[Any]:
    import torch

    from course import flags
    from course.onednn_log import log_of

    with flags.using({"mkldnn.enabled": True}), torch.inference_mode():
        return log_of(call).lines


# --- the exercises ---


# --- the checkpoint's visible smoke tests: the form of an answer, nothing about its value -----------------


def _form_of_time(time_by_primitive: Callable[..., Any]) -> Verdict:
    got = data(time_by_primitive([report_line("convolution", 2.5)]))
    if isinstance(got, Mapping) and all(isinstance(v, (int, float)) for v in got.values()):
        return form_is_fine(
            both("The form is right: a dictionary from name to milliseconds.", "形式正确：名字到毫秒数的字典。")
        )
    return incorrect(
        both(
            f"A dictionary from name to milliseconds is expected, not {got!r}.",
            f"应返回“名字到毫秒数”的字典，而不是 {got!r}。",
        ),
        reason="form",
    )


REPORT_FIELDS = ("layer", "threads", "lines", "on_ms", "off_ms", "low", "high", "claim")


CHECKS = {
    "09-goes-to-onednn": check_goes_to_onednn,
    "09-without-onednn": check_without_onednn,
    "09-make-it-lose": check_losing,
    "09-t-time": _form_of_time,
    "09-t-report": form_of_report(REPORT_FIELDS),
}

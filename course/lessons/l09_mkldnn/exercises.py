"""Code tasks of lesson 09 that run or measure: switch off cleanly, make oneDNN lose."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from course.checking import Planned, comparison, crash, not_lost, not_run_once
from course.i18n import both
from course.verdict import Verdict, correct, inconclusive, incorrect, not_attempted, partly

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
                "里面关了，也恢复了。但 `flags` 顺带改了你没点名的 `deterministic`：请只动一个开关。",
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


CHECKS = {"09-without-onednn": check_without_onednn, "09-make-it-lose": check_losing}

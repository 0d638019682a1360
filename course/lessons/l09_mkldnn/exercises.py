"""The code task of lesson 09 that measures: make oneDNN lose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from course.core.i18n import both
from course.core.verdict import Verdict, correct, inconclusive, incorrect, not_attempted
from course.exercises.checking import comparison, not_lost


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
    from course.trace.onednn_log import log_of

    with flags.using({"mkldnn.enabled": True}), torch.inference_mode():
        return log_of(call).lines


CHECKS = {"09-make-it-lose": check_losing}

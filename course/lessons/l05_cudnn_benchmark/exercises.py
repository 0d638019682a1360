"""The code task of lesson 05 that measures: make the search lose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

from course.core.i18n import both
from course.core.verdict import Verdict, correct, incorrect
from course.exercises.checking import comparison, not_lost


def check_make_it_lose(race: Any) -> Verdict:
    """Accept on evidence: the interval of time(on) / time(off) lies above 1, from enough rounds."""
    raced = comparison(race)
    if raced is None:
        return incorrect(
            both(
                '`race` should be what `compare` gave back for "off" and "on".',
                '`race` 应是 `compare` 对 "off" 和 "on" 的返回结果。',
            ),
            reason="no-comparison",
        )
    if raced.baseline != "off":
        return incorrect(
            both(
                'The baseline is "off", so that a ratio above 1 means: the search costs.',
                '基准应是 "off"，这样比值大于 1 才表示搜索亏了。',
            ),
            reason="baseline",
        )
    off, on = (_schedule(raced.functions[name]) for name in ("off", *raced.pairs))
    if (
        {searches for searches, _ in off} != {False}
        or {searches for searches, _ in on} != {True}
        or ([size for _, size in off] != [size for _, size in on])
    ):
        return incorrect(
            both(
                "The two sides should run one schedule: the same sizes in the same order, off without a search, on with it.",
                "两边应跑同一个安排：尺寸和顺序相同，off 不搜索，on 搜索。",
            ),
            reason="schedule",
        )
    won = both(
        "Here the search won. Give it less to gain: fewer steps, or more new sizes.",
        "这次搜索赢了。让它少赚一点：减少步数，或增加新尺寸。",
    )
    if verdict := not_lost(raced, won):
        return verdict
    low, high = raced.low, raced.high
    return correct(
        both(
            f"Accepted: the interval [{low:.2f}, {high:.2f}] lies above 1. The search lost, on evidence.",
            f"通过：区间 [{low:.2f}, {high:.2f}] 整个在 1 之上。搜索确实输了，有据可查。",
        ),
        low=low,
        high=high,
    )


def _schedule(run: Callable[[], Any]) -> list[tuple[bool, int]]:
    """(benchmark, size) of every step of the toy in one run, as the toy itself sees them."""
    from course.models.toy_search import ToyConv

    steps, real = [], ToyConv.__call__

    def look(self: Any, x: Any, weight: Any) -> Any:
        steps.append((self.benchmark, x.shape[-1]))
        return real(self, x, weight)

    with mock.patch.object(ToyConv, "__call__", look):
        run()
    return steps


CHECKS = {"05-make-it-lose": check_make_it_lose}

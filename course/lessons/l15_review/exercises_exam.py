"""The visible checks of the exam's tasks: they look at the form, the marks come from other inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from course.checking import PLACEHOLDER, data, form_is_fine
from course.i18n import both
from course.verdict import Verdict, incorrect

WORDS = ("faster", "slower", "undecided")


def _form_of_searches(count_searches: Callable[..., Any]) -> Verdict:
    found = data(count_searches(["on", [8, 32], [8, 32]]))
    if found is None or found is Ellipsis:
        return PLACEHOLDER
    if isinstance(found, bool) or not isinstance(found, int):
        return incorrect(
            both(f"It gives back {found!r}; a number of searches is asked for.", f"返回了 {found!r}；要的是搜索次数。"),
            reason="form",
        )
    return form_is_fine(both("It gives back a whole number.", "返回的是整数，形式没问题。"))


def _form_of_claim(claim: Callable[..., Any]) -> Verdict:
    found = data(claim([10.0] * 9, [5.0] * 9))
    if found is None or found is Ellipsis:
        return PLACEHOLDER
    if found not in WORDS:
        return incorrect(
            both(
                f"It gives back {found!r}; one of {', '.join(WORDS)} is asked for.",
                f"返回了 {found!r}；要的是 {'、'.join(WORDS)} 之一。",
            ),
            reason="form",
        )
    return form_is_fine(both("It gives back one of the three words.", "返回的是三个词之一，形式没问题。"))


CHECKS = {"15-t-searches": _form_of_searches, "15-t-claim": _form_of_claim}

"""What the checks of several lessons share: a planned exception, an untouched placeholder, the form of a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from course.i18n import both
from course.verdict import Verdict, correct, incorrect, not_attempted

PLACEHOLDER = not_attempted(
    both(
        "What it gives back still holds a `...` or nothing: fill in the blanks.",
        "返回值里还有 `...`，或者什么也没有：请把空白补上。",
    )
)


class Planned(Exception):
    """Raised by a check inside the learner's block, to see what is left behind."""


def crash() -> None:
    """Raise `Planned`."""
    raise Planned


def field(race: Any, name: str) -> Any:
    """A figure of a comparison, given as an object or as a mapping."""
    return race[name] if isinstance(race, Mapping) else getattr(race, name)


def form_of_report(fields: Sequence[str]) -> Callable[[Any], Verdict]:
    """The visible check of a report task: whether it is a dictionary that has the fields. Their values count later."""

    def check(report: Any) -> Verdict:
        if not isinstance(report, Mapping):
            return incorrect(both("`report` is a dictionary.", "`report` 应是字典。"))
        missing = [name for name in fields if name not in report]
        if missing:
            return incorrect(
                both(
                    f"Still missing in the report: {', '.join(missing)}.",
                    f"报告里还缺：{'、'.join(missing)}。",
                )
            )
        return correct(both("All fields are there.", "字段齐全。"))

    return check

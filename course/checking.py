"""What the checks of several lessons share: a planned exception, an untouched placeholder, the form of a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from course.i18n import Text, both
from course.verdict import Verdict, incorrect, not_attempted, not_marked

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


def data(value: Any) -> Any:
    """What somebody gave back, as marking reads it: arrays and tensors as lists or numbers, tuples as lists, a device as its name."""
    if type(value).__name__ == "device":
        return str(value)
    if hasattr(value, "tolist"):
        return data(value.tolist())
    return [data(one) for one in value] if isinstance(value, (list, tuple)) else value


def form_is_fine(said: Text) -> Verdict:
    """What the visible check of a checkpoint says at best: it sees a form or an example, the marks come from other inputs."""
    return not_marked(said, both("Whether it is right is found out when the checkpoint is marked.",
                                 "答得对不对，要等评分时才知道。"))


def form_of_report(fields: Sequence[str]) -> Callable[[Any], Verdict]:
    """The visible check of a report task: whether it is a dictionary with the fields filled. Their values count later."""

    def check(report: Any) -> Verdict:
        if not isinstance(report, Mapping):
            return incorrect(both("`report` is a dictionary.", "`report` 应是字典。"))
        missing = [name for name in fields if report.get(name, ...) is None or report.get(name, ...) is ...]
        if missing:
            return incorrect(
                both(
                    f"Still missing in the report: {', '.join(missing)}.",
                    f"报告里还缺：{'、'.join(missing)}。",
                )
            )
        return form_is_fine(both("All fields are there.", "字段齐全。"))

    return check

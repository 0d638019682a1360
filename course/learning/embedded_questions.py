"""The questions in the metadata of a released checkpoint. They are used instead of those in the package, so that an instructor
can correct a text without a new package.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from course.core.i18n import t
from course.core.version import __version__
from course.questions.items import BankError, Item, completed, parse_item


def embedded_questions(notebooks: Iterable[Any], checkpoint: str) -> tuple[list[Item], dict[str, str], list[str]]:
    """(questions, task id -> the name it asks for, sentences for the learner) from the first of the notebooks that is this
    checkpoint and contains questions. A question that this version cannot read is left out.
    """
    for notebook in notebooks:
        said = _part(_part(notebook, "metadata"), "course")
        raw = said.get("questions")
        if said.get("lesson") == checkpoint and isinstance(raw, list):
            notices = _older(said.get("version"))
            try:
                items = [parse_item(completed(one, checkpoint, True), checkpoint, checkpoint=True) for one in raw]
            except BankError:
                items = []
                notices = notices or [
                    t(
                        "The questions of this notebook cannot be read, so those of your course package are shown.",
                        "无法读取这份 notebook 自带的题目，改用课程包里的题目。",
                    )
                ]
            tasks = {str(one): str(name) for one, name in _part(said, "tasks").items()}
            return items, tasks, notices
    return [], {}, []


def _part(value: Any, name: str) -> Mapping[str, Any]:
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _older(released: Any) -> list[str]:
    """A sentence where this package is older than the one that made the release; else nothing."""
    if not isinstance(released, str) or _numbers(released) <= _numbers(__version__):
        return []
    return [
        t(
            f"This checkpoint was handed out with version {released} of the course, and yours is {__version__}: "
            "its questions came with it; if anything else is missing, install the newer package.",
            f"这份测验用课程 {released} 版发布，你安装的是 {__version__} 版：题目随 notebook 带来；若还缺别的，请安装新版课程包。",
        )
    ]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())

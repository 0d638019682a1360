"""Between the course's quiz and nbgrader: items with their keys, answers as kept in a notebook."""

from __future__ import annotations

import functools
from typing import Any

from course.quiz.items import BankError, Item, parse_item, with_key
from course.quiz.marking import Response
from grader import project as files
from grader.project import Infrastructure, Project


def keyed_items(project: Project, lesson: str) -> dict[str, Item]:
    """The items of a checkpoint with their keys. Raises Infrastructure where a key is missing or does not
    fit.
    """
    read = (project.checkpoint_items(lesson), project.keys(lesson))
    return _keyed_items(project, lesson, tuple(path.stat().st_mtime_ns if path.exists() else 0 for path in read))


@functools.lru_cache(maxsize=32)
def _keyed_items(project: Project, lesson: str, _as_of: tuple[int, ...]) -> dict[str, Item]:
    keys = files.keys(project, lesson)
    found = {}
    for identity, raw in files.checkpoint_items(project, lesson).items():
        if identity not in keys:
            raise Infrastructure(f"item {identity!r} has no key in {project.keys(lesson)}")
        try:
            found[identity] = with_key(parse_item(raw, f"{lesson}.yaml", checkpoint=True), keys[identity])
        except BankError as error:
            raise Infrastructure(str(error)) from error
    return found


def stored(data: dict[str, Any] | None) -> Response:
    """The response kept in a notebook's metadata; an empty one for None."""
    if not data:
        return Response()
    return Response(tuple(data.get("options", ())), data.get("number"), data.get("confidence"))

"""Of several notebooks in a student's folder, which one is the assignment: by what it says of itself, then by its cells."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from course.i18n import Text, both
from course.learning.harvesting import crowded, harvest

HARMLESS = {"harm": "none"}  # beside a sentence about a file: it was read all the same
RENAMED = both(
    "The notebook had another name, {name}; it was read all the same.", "notebook 改了名，叫 {name}；仍然照常读取。"
)
COPIES = both("There is another copy of it, {others}; {name} was marked.", "另有一份副本 {others}；评分用的是 {name}。")
LONGEST = 80  # characters of a file's name in a sentence


def choose(found: Mapping[Path, bytes], lesson: str) -> tuple[Path | None, list[Path]]:
    """(the assignment among sound notebooks, other copies of it). A notebook that is alone is taken for it, whatever it is;
    of several that are none, none.
    """
    ranked = sorted(
        found, key=lambda path: (*_like(found[path], lesson), path.name == f"{lesson}.ipynb", path.name), reverse=True
    )
    copies = [path for path in ranked if is_copy(found[path], lesson)]
    if not copies:
        return (ranked[0], []) if len(ranked) == 1 else (None, [])
    return copies[0], copies[1:]


def is_copy(data: bytes, lesson: str) -> bool:
    """Whether a notebook is the assignment: it says so, or has cells with the ids of its questions and tasks."""
    says, cells, _ = _like(data, lesson)
    return bool(says or cells)


def sentence(name: str, lesson: str, others: Iterable[Path]) -> Text:
    """What is said about a notebook under another name, and about copies; harmless."""
    said = (
        both(RENAMED["en"].format(name=shown(name)), RENAMED["zh"].format(name=shown(name)))
        if name != f"{lesson}.ipynb"
        else None
    )
    if others := [shown(path.name) for path in others]:
        more = {
            code: COPIES[code].format(others=(", " if code == "en" else "、").join(others), name=shown(name))
            for code in COPIES
        }
        said = more if said is None else both(f"{said['en']} {more['en']}", f"{said['zh']}{more['zh']}")
    return {**(said or both("", "")), **HARMLESS}


def shown(name: str) -> str:
    """A file's name, which may be any bytes, as a sentence can hold it."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")[:LONGEST]


def _like(data: bytes, lesson: str) -> tuple[int, int, int]:
    """(says that it is this assignment, graded cells with ids of the lesson, answers it carries)."""
    try:
        content = None if crowded(data) else json.loads(data)
    except (ValueError, RecursionError):
        return 0, 0, 0
    said = _part(_part(content, "metadata"), "course")
    says = said.get("lesson") == lesson and said.get("kind") == "checkpoint"
    cells = content.get("cells") if isinstance(content, dict) else None
    own = re.compile(rf"{re.escape(lesson[:2])}-[cte]-")
    ids = {
        _part(_part(cell, "metadata"), "nbgrader").get("grade_id") or _part(cell).get("id")
        for cell in (cells if isinstance(cells, list) else ())
    }
    return (
        int(says),
        sum(isinstance(one, str) and own.match(one) is not None for one in ids),
        len(harvest(content, None, lesson)[0]),
    )


def _part(value: Any, name: str | None = None) -> dict:
    """A dictionary inside a dictionary; an empty one where there is none, whatever stands there."""
    found = value.get(name) if name and isinstance(value, dict) else value
    return found if isinstance(found, dict) else {}

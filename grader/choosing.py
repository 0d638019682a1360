"""Choose the assignment among several notebooks in a student's folder, by their metadata, then by their cells."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from course.i18n import Text, both
from course.learning.harvesting import crowded, harvest

HARMLESS = {"harm": "none"}  # added to a sentence about a file that could be read nevertheless
RENAMED = both(
    "The notebook had another name, {name}; it was read all the same.", "notebook 改了名，叫 {name}；仍然照常读取。"
)
COPIES = both("There is another copy of it, {others}; {name} was marked.", "另有一份副本 {others}；评分用的是 {name}。")
LONGEST = 80  # characters of a file's name in a sentence


def choose(found: Mapping[Path, bytes], lesson: str) -> tuple[Path | None, list[Path]]:
    """(the assignment, other copies of it). found: the valid notebooks. A single notebook is always taken; None where there
    are several and none of them is the assignment.
    """
    ranked = sorted(
        found, key=lambda path: (*_like(found[path], lesson), path.name == f"{lesson}.ipynb", path.name), reverse=True
    )
    copies = [path for path in ranked if is_copy(found[path], lesson)]
    if not copies:
        return (ranked[0], []) if len(ranked) == 1 else (None, [])
    return copies[0], copies[1:]


def is_copy(data: bytes, lesson: str) -> bool:
    """Whether a notebook is the assignment: its metadata says so, or cells have the ids of its questions and tasks."""
    says, cells, _ = _like(data, lesson)
    return bool(says or cells)


def sentence(name: str, lesson: str, others: Iterable[Path]) -> Text:
    """The sentence about a notebook that was found under another name, and about copies of it. It costs no points."""
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
    """A file name in printable form; the name may contain any bytes."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")[:LONGEST]


def _like(data: bytes, lesson: str) -> tuple[int, int, int]:
    """How much a notebook is like the assignment: (its metadata says so, number of graded cells of the lesson, of answers)."""
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
    """The dictionary ``value[name]``; an empty one where there is none."""
    found = value.get(name) if name and isinstance(value, dict) else value
    return found if isinstance(found, dict) else {}

"""The sentence on the points of a checkpoint, which replaces ``{{worth}}`` in the text of its source."""

from __future__ import annotations

import re
from collections.abc import Mapping

from grader.project import Project, checkpoint_items
from grader.project.source import Cell, read
from grader.project.task import tasks

MARK = "{{worth}}"
TYPED = {"en": re.compile(r"\d+ points?\b"), "zh": re.compile(r"共 ?\d+ ?分(?!钟)|每题 ?\d+ ?分|各 ?\d+ ?分")}
ENGLISH = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
CHINESE = ("零", "一", "两", "三", "四", "五", "六", "七", "八", "九", "十")
KINDS = {
    "question": ("question", "道题", "每题"),
    "task": ("code task", "个编程任务", "各"),
    "essay": ("text", "段短文", "各"),
}


def points_by_id(project: Project, lesson: str) -> dict[str, float]:
    """Graded cell -> points, from the questions and tasks of the checkpoint."""
    found = {
        name: float(item["points"]) for name, item in checkpoint_items(project, lesson).items() if "points" in item
    }
    found |= {name: float(task.points) for name, task in tasks(project, lesson).items()}
    source = project.checkpoint_source(lesson)
    return found | {cell.id: cell.points for cell in (read(source) if source.exists() else ()) if cell.kind == "essay"}


def worth(cells: list[Cell], points: Mapping[str, float], language: str) -> str:
    """``**18 points**: six questions (1 point each), three code tasks (4, 5 and 3 points).`` Cells worth 0 are left out."""
    parts, total = [], 0.0
    for kind in KINDS:
        each = [
            points[cell.id]
            for cell in cells
            if cell.kind == kind and cell.language in (None, language) and points.get(cell.id)
        ]
        total += sum(each)
        if each:
            parts.append(_english(kind, each) if language == "en" else _chinese(kind, each))
    if language == "zh":
        return f"**共 {total:g} 分**：{'，'.join(parts)}。"
    return f"**{_points(total)}**: {', '.join(parts)}."


def _english(kind: str, each: list[float]) -> str:
    noun = KINDS[kind][0] + ("s" if len(each) > 1 else "")
    if len({*each}) == 1:
        return f"{_count(len(each), ENGLISH)} {noun} ({_points(each[0])}{' each' if len(each) > 1 else ''})"
    return f"{_count(len(each), ENGLISH)} {noun} ({', '.join(f'{one:g}' for one in each[:-1])} and {_points(each[-1])})"


def _chinese(kind: str, each: list[float]) -> str:
    _, noun, every = KINDS[kind]
    worth = (
        "、".join(f"{one:g}" for one in each)
        if len({*each}) > 1
        else f"{every if len(each) > 1 else ''} {each[0]:g}".strip()
    )
    return f"{_count(len(each), CHINESE)}{noun}（{worth} 分）"


def _points(value: float) -> str:
    return f"{value:g} point{'' if value == 1 else 's'}"


def _count(number: int, words: tuple[str, ...]) -> str:
    return words[number] if number < len(words) else str(number)

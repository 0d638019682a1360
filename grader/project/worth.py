"""The sentence on the points of a checkpoint, which replaces ``{{worth}}`` in the text of its source."""

from __future__ import annotations

from collections.abc import Mapping

from grader.project import Project, checkpoint_items
from grader.project.source import Cell, read
from grader.project.task import tasks

MARK = "{{worth}}"
KINDS = {"question": ("question", "道题"), "task": ("code task", "个编程任务"), "essay": ("text", "段短文")}


def points_by_id(project: Project, lesson: str) -> dict[str, float]:
    """Graded cell -> points, from the questions and tasks of the checkpoint."""
    found = {
        name: float(item["points"]) for name, item in checkpoint_items(project, lesson).items() if "points" in item
    }
    found |= {name: float(task.points) for name, task in tasks(project, lesson).items()}
    source = project.checkpoint_source(lesson)
    return found | {cell.id: cell.points for cell in (read(source) if source.exists() else ()) if cell.kind == "essay"}


def worth(cells: list[Cell], points: Mapping[str, float], language: str) -> str:
    """``**18 points**: 6 questions (6 points), 3 code tasks (12 points).`` Cells worth 0 are left out."""
    parts, total = [], 0.0
    for kind, (english, chinese) in KINDS.items():
        own = [cell for cell in cells if cell.kind == kind and cell.language in (None, language)]
        each = [points[cell.id] for cell in own if points.get(cell.id)]
        total += sum(each)
        if each and language == "en":
            parts.append(f"{len(each)} {english}{'s' * (len(each) > 1)} ({_points(sum(each))})")
        elif each:
            parts.append(f"{len(each)} {chinese}（{sum(each):g} 分）")
    if language == "zh":
        return f"**共 {total:g} 分**：{'，'.join(parts)}。"
    return f"**{_points(total)}**: {', '.join(parts)}."


def _points(value: float) -> str:
    return f"{value:g} point{'' if value == 1 else 's'}"

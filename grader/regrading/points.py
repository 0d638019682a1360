"""Change the points of graded cells where nbgrader stores them: in the released notebook, the source and the gradebook."""

from __future__ import annotations

import os

import nbformat
from nbgrader.api import GradeCell, SourceCell
from nbgrader.utils import compute_checksum

from grader.authoring.publish import text_of
from grader.authoring.worth import points_by_id
from grader.course import Course
from grader.marking.step import grade_id
from grader.notebook_name import in_gradebook, notebook_in
from grader.releasing import decisions


def wanted(course: Course, lesson: str) -> dict[str, float]:
    """Graded cell -> its present points; 0 for cells that count for nobody."""
    return points_by_id(course.project, lesson) | dict.fromkeys(decisions.read(course.root, lesson)["nobody"], 0.0)


def patched(text: str, points: dict[str, float]) -> str:
    """A notebook's text with these points in its graded cells and everything else unchanged."""
    notebook, changed = nbformat.reads(text, as_version=4), False
    for cell in notebook.cells:
        data = cell.metadata.get("nbgrader", {})
        if data.get("grade") and data.get("points") != points.get(grade_id(cell), data.get("points")):
            new = points[grade_id(cell)]
            data["points"], changed = int(new) if new.is_integer() else new, True
            if "checksum" in data:  # nbgrader's own, which covers the points
                data["checksum"] = compute_checksum(cell)
    return text_of(notebook) if changed else text


def put(course: Course, lesson: str) -> None:
    """Write the present points into a released checkpoint, so that stock commands use them, too."""
    points = wanted(course, lesson)
    for folder in ("source", "release"):
        path = notebook_in(course.root, folder, lesson)
        if path.exists():
            text = path.read_text(encoding="utf-8")
            new = patched(text, points)
            if new != text:
                fresh = path.with_name(path.name + ".new")
                fresh.write_text(new, encoding="utf-8")
                os.replace(fresh, path)
    released = nbformat.read(notebook_in(course.root, "release", lesson), as_version=4)
    sums = {grade_id(cell): cell.metadata.nbgrader.get("checksum") for cell in released.cells if grade_id(cell)}
    with course.gradebook as gradebook:
        notebook = in_gradebook(gradebook, lesson)
        for cell in gradebook.db.query(GradeCell).filter(GradeCell.notebook_id == notebook.id):
            cell.max_score = points.get(cell.name, cell.max_score)
        for cell in gradebook.db.query(SourceCell).filter(SourceCell.notebook_id == notebook.id):
            cell.checksum = sums.get(cell.name, cell.checksum)
        gradebook.db.commit()

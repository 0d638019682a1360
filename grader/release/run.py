"""Release a checkpoint, also again. Once somebody has handed in, its questions are fixed; words, keys and points may change."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader import utils

from grader.authoring.lint import lint
from grader.course import Course, command, done
from grader.course.gradebook import in_gradebook
from grader.handin.papers import has_papers, released_salt, salt
from grader.marking.probe import secret
from grader.project import ProjectError, notebook_in
from grader.project.build import assignment_notebook, text_of


def release(course: Course, lesson: str, due: datetime | None = None) -> list[str]:
    """Build the source assignment, make nbgrader's release version and hand it out through the exchange. Returns sentences about
    the effect on existing marks. Raises ProjectError before anything is written where it cannot be released, and where a step of
    nbgrader fails; then it can be released again.

    due: the due date in UTC without a zone; None leaves the date in the gradebook.
    """
    _check_name(course, lesson)
    notebook = assignment_notebook(course.project, lesson, course.language, salt=_salt(course, lesson))
    said = _effect(course, lesson, notebook)
    path = notebook_in(course.root, "source", lesson)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text_of(notebook), encoding="utf-8")
    done(course.api.generate_assignment(lesson), f"generate_assignment {lesson}")
    if due is not None:
        with course.gradebook as gradebook:
            gradebook.update_or_create_assignment(lesson, duedate=due)
    done(_hand_out(course, lesson), f"release_assignment {lesson}")
    return said


def student_config(course: Course) -> str:
    """The lines for a student's ``nbgrader_config.py`` to fetch and submit: the course's id and the exchange's folder."""
    return (
        f"c = get_config()\nc.CourseDirectory.course_id = {course.config.CourseDirectory.course_id!r}\n"
        f"c.Exchange.root = {str(Path(course.config.Exchange.root))!r}\n"
    )


def _check_name(course: Course, lesson: str) -> None:
    known = course.project.checkpoints()
    if lesson not in known:
        raise ProjectError(f"there is no checkpoint {lesson!r}; there are {', '.join(known)}")
    if course.project.own_folder(lesson) and (problems := lint(course.project, lesson)):
        raise ProjectError("\n".join([f"{lesson}: mend this first, nothing was written:", *problems]))
    for stray in (course.root / "source" / lesson).glob("*.answers.json"):
        raise ProjectError(f"{stray} would overwrite the students' answers at autograde; remove it")


def _effect(course: Course, lesson: str, notebook: NotebookNode) -> list[str]:
    """Sentences about marks that exist. Raises ProjectError where somebody has handed in and a cell would come or go."""
    with course.gradebook as gradebook:
        known = in_gradebook(gradebook, lesson)
        if known is None:
            return []
        before = {cell.name: cell.max_score for cell in known.grade_cells}
        cells = {cell.name for cell in known.source_cells}
        students = {one.student.id for one in known.submissions} | {*course.submitted(lesson)}
    if not students:
        return []
    now = {cell.metadata.nbgrader.grade_id: cell for cell in notebook.cells if cell.metadata.get("nbgrader")}
    changed = {f"new: {name}" for name in {*now} - cells} | {f"gone: {name}" for name in cells - {*now}}
    again = command(f"autograde {lesson} --again", course.root)
    if changed:
        raise ProjectError(
            f"{lesson}: {len(students)} have handed in, so its questions are fixed; nothing was written. "
            f"{', '.join(sorted(changed))}. Words, keys and points may change. For a question that is bad let every option be "
            f"right in keys.yaml, then run {again}"
        )
    points = {name: float(cell.metadata.nbgrader.points) for name, cell in now.items() if utils.is_grade(cell)}
    moved = [f"{name} ({before[name]:g} -> {points[name]:g})" for name in points if points[name] != before.get(name)]
    return [f"worth another number of points now: {', '.join(moved)}; marks follow with {again}"] if moved else []


def _hand_out(course: Course, lesson: str) -> dict:
    """Run nbgrader's release step; replaces an older release."""
    api = course.api
    with utils.temp_attrs(api.coursedir, assignment_id=lesson):
        step = api.exchange.ReleaseAssignment(coursedir=api.coursedir, authenticator=api.authenticator, parent=api)
        step.force = True
        return utils.capture_log(step)


def _salt(course: Course, lesson: str) -> str:
    """The salt that papers are drawn with. It is the same at every release, so that students who have fetched the checkpoint keep
    their paper; "" also at later releases where the first one was made before there were variants.
    """
    path = notebook_in(course.root, "release", lesson)
    if path.exists():
        return released_salt(nbformat.read(path, as_version=4))
    return salt(secret(course.root), lesson) if has_papers(course.project, lesson) else ""

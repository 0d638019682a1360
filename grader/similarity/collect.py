"""From a marked course directory to what is compared: code, wrong answers, time stamps."""

from __future__ import annotations

from collections.abc import Callable

import nbformat

from grader.authoring.build import answer_id, assignment_notebook
from grader.course import Course, command
from grader.guard import guarded
from grader.marking.step import STATE, grade_id
from grader.marks import require
from grader.notebook_name import notebook_in
from grader.pipeline import graded_notebook
from grader.project import ProjectError
from grader.reporting.collect import history
from grader.similarity.evidence import Work, words
from grader.task import tasks

WRONG = ("incorrect", "partly")


def gather(
    course: Course, lesson: str, say: Callable[[str], object] = print
) -> tuple[dict[str, Work], dict[str, list[str]]]:
    """(student -> work, task -> starter code and our solution). Raises ProjectError where nothing is marked."""
    require(course, lesson)
    hidden = {name: answer_id(name) for name in tasks(course.project, lesson)}
    released = nbformat.read(notebook_in(course.root, "release", lesson), as_version=4)
    solved = assignment_notebook(course.project, lesson, course.language)
    known = {name: [_source(released, cell), _source(solved, cell)] for name, cell in hidden.items()}
    works = {}
    for student in course.submitted(lesson):
        with guarded(student, lambda name, reason: say(f"{name} is left out: {reason}")):
            notebook = graded_notebook(course, student, lesson)
            if notebook is not None:
                works[student] = _work(course, lesson, student, notebook, hidden)
    if not works:
        raise ProjectError(
            f"no submission of {lesson} is marked yet; run {command('autograde ' + lesson, course.root)} first"
        )
    return works, known


def _work(course: Course, lesson: str, student: str, notebook: nbformat.NotebookNode, hidden: dict[str, str]) -> Work:
    state = notebook.metadata.get(STATE, {})
    verdicts, answers = state.get("verdicts", {}), state.get("answers", {})
    wrong = {item: words(answer) for item, answer in answers.items() if verdicts.get(item, {}).get("state") in WRONG}
    given = [*answers.items(), *history(course.root, student, lesson)]
    times = frozenset((item, answer["time"]) for item, answer in given if answer.get("time"))
    return Work({name: _source(notebook, cell) for name, cell in hidden.items()}, wrong, times, state.get("others", {}))


def _source(notebook: nbformat.NotebookNode, identity: str) -> str:
    return next((cell.source for cell in notebook.cells if grade_id(cell) == identity), "")

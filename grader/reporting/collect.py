"""Read a course directory into plain data: the questions with their keys, and each student's answers and marks.

All variants of a question count as one question, under the id of its key. An answer to a variant is translated into the
corresponding answer to the standard variant: the right number, or the number of the same trap.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from course.learning.marking import trap_of
from course.questions.items import Item, within
from course.questions.variants import alternatives
from grader.course import Course
from grader.gradebook.marks import cell_marks, require
from grader.handin.answers import every_item, keyed_items
from grader.handin.guard import guarded
from grader.handin.papers import paper_in
from grader.marking.step import STATE, grade_id
from grader.project import Project, practice_items
from grader.project.beliefs import known_beliefs
from grader.project.task import Task, tasks
from grader.steps.pipeline import graded_notebook

Data = dict[str, Any]
MOST = 2  # experiments and questions named for one belief


def gather(course: Course, lesson: str, say: Callable[[str], object] = print) -> Data:
    """Read everything that ``grader.reporting.report.analyse`` needs: a dictionary with "lesson", "top" (the most points,
    texts that a person marks included), "cells", "beliefs", "remedies", "students" and "idle". Raises ProjectError.
    """
    require(course, lesson)
    places, items = keyed_items(course.project, lesson), every_item(course.project, lesson)
    hidden, marks = tasks(course.project, lesson), cell_marks(course, lesson)
    names = sorted({*marks, *course.submitted(lesson)})
    tops = next((mark for mark in marks.values()), {})
    asked = [(place, items[key]) for place, item in places.items() for key in _keys(item)]
    with course.gradebook as gradebook:
        idle = sorted({student.id for student in gradebook.students} - {*names})
    return {
        "lesson": lesson,
        "top": sum(mark.top for mark in tops.values()),
        "cells": [_cell(subject, tops[place].top) for place, subject in (*asked, *hidden.items()) if place in tops],
        "beliefs": known_beliefs(course.project),
        "remedies": remedies(course.project, lesson),
        "students": [_guarded(course, lesson, name, items, marks.get(name, {}), say) for name in names],
        "idle": idle,
    }


def _guarded(
    course: Course, lesson: str, name: str, items: dict[str, Item], marks: Data, say: Callable[[str], object]
) -> Data:
    """Call ``_student``. A student whose files cannot be read counts as without a grade, and ``say`` gets a sentence."""
    found: Data = {
        "name": name,
        "graded": False,
        "points": {},
        "texts": [],
        "states": {},
        "parts": {},
        "answers": {},
        "asked": [],
    }
    with guarded(name, lambda student, reason: say(f"{student} is left out: {reason}")):
        found = _student(course, lesson, name, items, marks)
    return found


def remedies(project: Project, lesson: str) -> dict[str, dict[str, list[str]]]:
    """What helps against each false belief: belief -> {"experiments", "practice"}.

    At most ``MOST`` experiments that show whether it is true, and as many practice questions with it as a wrong option; those
    of the lesson itself come first.
    """
    found: dict[str, dict[str, list[str]]] = {}
    for item in sorted(practice_items(project).values(), key=lambda item: item.get("lesson") != lesson):
        for option in item.get("options") or ():
            if belief := option.get("misconception"):
                known = found.setdefault(belief, {"experiments": [], "practice": []})
                shown, asked = option.get("experiment") or item.get("experiment"), item["id"]
                for kind, name in (
                    ("experiments", shown),
                    ("practice", None if item.get("kind") == "predict" else asked),
                ):
                    here = not known[kind] or item.get("lesson") == lesson
                    if name and here and name not in known[kind] and len(known[kind]) < MOST:
                        known[kind].append(name)
    return found


def _cell(subject: Item | Task, top: float) -> Data:
    if isinstance(subject, Task):
        parts = [{"id": name, "reason": part.reason} for name, part in subject.parts.items()]
        return {"id": subject.id, "kind": "task", "top": top, "stem": f"`{subject.name}`", "parts": parts}
    right = subject.order if subject.kind == "order" else subject.correct
    cell: Data = {
        "id": subject.id,
        "kind": subject.kind,
        "top": top,
        "stem": subject.stem,
        "right": list(right),
        "options": [
            {"id": one.id, "text": one.text, "right": one.id in right, "belief": one.misconception}
            for one in subject.options
        ],
    }
    if subject.number is not None:
        number = subject.number
        cell["number"] = {
            "low": number.low,
            "high": number.high,
            "unit": number.unit,
            "traps": [{"low": one.low, "high": one.high, "belief": one.misconception} for one in number.traps],
        }
    return cell


def _student(course: Course, lesson: str, name: str, items: dict[str, Item], marks: Data) -> Data:
    notebook = graded_notebook(course, name, lesson)
    state = notebook.metadata.get(STATE, {}) if notebook is not None else {}
    points = {cell: mark.points for cell, mark in marks.items()}
    graded = bool(state.get("marked")) and bool(points) and None not in points.values()
    own = keyed_items(course.project, lesson, paper_in(course.root, lesson, name, state.get("salt", "")))
    named = {cell: own[cell].key if cell in own else cell for cell in (*own, *marks, *state.get("verdicts", {}))}
    answers = {item: dict(answer) for item, answer in state.get("answers", {}).items() if item in own}
    verdicts = {named[cell]: verdict for cell, verdict in state.get("verdicts", {}).items()}
    there = named if notebook is None else {grade_id(cell) for cell in notebook.cells} & {*named}
    lost = {item.key for item in own.values()} if not (state.get("sheet", True) or answers) else set()
    return {
        "name": name,
        "graded": graded,
        "points": {named[cell]: got for cell, got in points.items()} if graded else {},
        "texts": [named[cell] for cell, mark in marks.items() if mark.auto is None],
        "states": {cell: verdict["state"] for cell, verdict in verdicts.items()},
        "parts": {cell: dict(verdict["parts"]) for cell, verdict in verdicts.items() if verdict.get("parts")},
        "answers": {named[item]: _as_standard(own[item], items, answer) for item, answer in answers.items()},
        "asked": sorted({named[cell] for cell in there} - lost),
    }


def _keys(item: Item) -> list[str]:
    """The key ids of all questions that a student may draw for this place."""
    return [one["id"] for one in alternatives(item.template)] if item.template is not None else [item.id]


def _as_standard(item: Item, items: dict[str, Item], answer: Data) -> Data:
    """Translate the answer to a variant into one to the standard variant.

    A number becomes the corresponding number, None where it is neither right nor a trap. Where the variants have different
    right options, a right choice becomes the right options of the standard variant and a wrong one becomes none.
    """
    if not item.varies or "shown" in item.values:
        return answer
    standard = items[item.key]
    if item.options and item.correct != standard.correct:
        right = set(answer.get("options") or ()) == set(item.correct)
        return answer | {"options": list(standard.correct) if right else []}
    number, given = item.number, answer.get("number")
    if number is None or given is None:
        return answer
    trap = trap_of(number, given)
    if within(given, number.low, number.high):
        return answer | {"number": standard.number.value}
    return answer | {"number": standard.number.traps[number.traps.index(trap)].low if trap else None}

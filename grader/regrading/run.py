"""``regrade --diff`` marks all submissions again and stores the result; ``regrade --write`` writes exactly that result.

The result is in ``regrade/<lesson>/`` of the course directory until it is written. Writing is refused where a
submission, a key or a test has changed since.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from tqdm import tqdm

from grader.autograding import UNSAFE, How, alone, check_late_rules, limits, store, workers
from grader.course import Course, command
from grader.gradebook import GradebookWriter
from grader.guard import guarded
from grader.marking import whole
from grader.marking.fingerprints import rests_on
from grader.marking.step import STATE
from grader.marks import cell_marks, require
from grader.pipeline import graded_notebook
from grader.project import ProjectError
from grader.regrading import points
from grader.regrading.differences import KEY, PAPER, Change, changes, lines, of_ours

Say = Callable[[str], None]
PLAN = ".plan.json"  # no student's name begins so


@dataclass
class Found:
    """What marking again would change. manual: (student, cell, mark given by hand); failed: student -> why the mark cannot be
    computed again.
    """

    marked: int = 0
    changes: list[Change] = field(default_factory=list)
    manual: list[tuple[str, str, float]] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    unmarked: list[str] = field(default_factory=list)
    ours: list[str] = field(default_factory=list)


def diff(course: Course, lesson: str, how: How | None = None, say: Say = print) -> Found:
    """Mark every marked submission again and store the result without changing a mark. Raises ProjectError, Infrastructure."""
    require(course, lesson)
    how, found = how or How(), Found()
    if not how.sandbox:
        say(UNSAFE)
    place = course.root / "regrade" / lesson
    with alone(course), workers(how) as run:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        old = cell_marks(course, lesson)
        exam = _exam(course, lesson, how)
        todo = [student for student in course.submitted(lesson) if _marks_count(course, lesson, student)]
        found.unmarked = sorted(set(course.submitted(lesson)) - set(todo))
        ours: dict[str, None] = {}
        with tqdm(total=len(todo), desc=lesson, unit="submission", disable=not sys.stderr.isatty()) as bar:
            for student, answer in run(_submissions(course, lesson, todo, found.failed), exam):
                bar.update()
                if isinstance(answer, str):
                    found.failed[student] = answer
                    continue
                with guarded(student, found.failed.__setitem__):
                    before, now = graded_notebook(course, student, lesson).metadata[STATE], _state(answer.notebook)
                    prints = before.get("fingerprints", {})
                    key = PAPER if student in exam.answered_papers else KEY
                    same = before.get("submission") in (None, now["submission"])  # stock nbgrader keeps no digest
                    (place / f"{student}.json").write_text(json.dumps(dataclasses.asdict(answer)), encoding="utf-8")
                    found.changes += changes(
                        student, old.get(student, {}), answer.scores, prints, now["fingerprints"], same, key
                    )
                    found.manual += [
                        (student, cell, mark.manual)
                        for cell, mark in old.get(student, {}).items()
                        if mark.manual is not None
                    ]
                    found.marked += 1
                    ours |= dict.fromkeys(of_ours(prints, now["fingerprints"], key))
        found.ours = list(ours)
        found.changes.sort(key=lambda change: (change.student, change.cell))
        _replace(place / PLAN, json.dumps({"rests on": rests_on(course.project, lesson), "sandbox": how.sandbox}))
    return found


def _marks_count(course: Course, lesson: str, student: str) -> bool:
    """Whether a submission is marked and not held back. One that cannot be read counts as marked and is reported later."""
    path = course.autograded(student, lesson)
    if not path.exists():
        return False
    with guarded(student, lambda *_: None):
        return not graded_notebook(course, student, lesson).metadata.get(STATE, {}).get("held")
    return True


def write(course: Course, lesson: str, say: Say = print) -> list[str]:
    """Write the marks of the last ``diff``; returns the students whose marks were written. ``say`` gets a sentence for each failure.

    If it is stopped, the next call continues. Raises ProjectError where there is no result, or a key or test changed since.
    """
    place = course.root / "regrade" / lesson
    if not (place / PLAN).exists():
        raise ProjectError(
            f"nothing is waiting to be written; run {command(f'regrade {lesson} --diff', course.root)} first"
        )
    again = f"run {command(f'regrade {lesson} --diff', course.root)} again"
    check_late_rules(course, lambda sentence: None)
    with alone(course):
        plan = json.loads((place / PLAN).read_text(encoding="utf-8"))
        if plan["rests on"] != rests_on(course.project, lesson):
            raise ProjectError(
                f"a key, the points, a test or the marking code changed since the differences were shown; {again}"
            )
        waiting = sorted(path.stem for path in place.glob("*.json") if path.name != PLAN)
        failed: dict[str, str] = {}
        stale = []
        for student in waiting:
            with guarded(student, failed.__setitem__):
                stale += [student] if _digest(course, lesson, student) != _digest_of(place, student) else []
        if stale:
            raise ProjectError(f"handed in anew since the differences were shown: {', '.join(stale)}; {again}")
        points.put(course, lesson)
        with closing(GradebookWriter(course, lesson)) as gradebook:
            for student in sorted({*waiting} - {*failed}):
                with guarded(student, failed.__setitem__):
                    path = place / f"{student}.json"
                    answer = whole.Marked(**json.loads(path.read_text(encoding="utf-8")))
                    when = whole.handed_in(course.root, lesson, student).when
                    store(course, lesson, gradebook, student, answer, when)
                    path.unlink()
        for student, reason in failed.items():
            say(f"{student}: not written, the marks stay: {reason}")
        if not failed:
            shutil.rmtree(place)
    return [student for student in waiting if student not in failed]


def report(found: Found) -> str:
    """The result of ``diff`` as text for the instructor."""
    who = {change.student for change in found.changes}
    said = [*lines(found.changes), ""] if found.changes else []
    said += [f"changed of ours: {sentence}" for sentence in found.ours]
    said.append(f"{found.marked} submissions marked again, {len(who)} change, nothing is written yet")
    if found.manual:
        names = ", ".join(f"{student} {cell} ({mark:g})" for student, cell, mark in found.manual)
        said.append(f"manual marks, which stay and count: {names}")
    said += [
        f"{student}: could not be marked again, its marks stay: {reason}" for student, reason in found.failed.items()
    ]
    if found.unmarked:
        said.append(f"not marked before, so not here (autograde marks them): {', '.join(found.unmarked)}")
    return "\n".join(said)


def _exam(course: Course, lesson: str, how: How) -> whole.Exam:
    """The ``Exam`` as for autograding, but with the present points of the course."""
    exam = whole.exam(course.root, course.project, lesson, course.language, limits(course), how.sandbox)
    return dataclasses.replace(exam, released=points.patched(exam.released, points.wanted(course, lesson)))


def _submissions(
    course: Course, lesson: str, students: list[str], failed: dict[str, str]
) -> Iterator[whole.Submission]:
    for student in students:
        submission = None
        with guarded(student, failed.__setitem__):
            submission = whole.handed_in(course.root, lesson, student)
        if submission is not None:
            yield submission


def _state(notebook: str) -> dict:
    return nbformat.reads(notebook, as_version=4).metadata[STATE]


def _digest(course: Course, lesson: str, student: str) -> str:
    return whole.handed_in(course.root, lesson, student).digest


def _digest_of(place: Path, student: str) -> str:
    return _state(json.loads((place / f"{student}.json").read_text(encoding="utf-8"))["notebook"])["submission"]


def _replace(path: Path, text: str) -> None:
    fresh = path.with_name(path.name + ".new")
    fresh.write_text(text, encoding="utf-8")
    os.replace(fresh, path)

"""Release a checkpoint, also again after its questions changed. Everything is checked before anything is written.

Where there are submissions and the questions change, the old state is first copied to ``releases/LESSON/N/`` of the course
folder: the source, the release, and every mark of a cell that is removed.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grader.authoring.build import assignment_notebook
from grader.authoring.lint import lint
from grader.authoring.publish import text_of
from grader.authoring.scaffold import left_over
from grader.course import Course, command, done
from grader.marking.hidden_inputs import secret
from grader.notebook_name import in_gradebook, notebook_in
from grader.papers import has_papers, released_salt, salt
from grader.project import ProjectError
from grader.releasing import decisions
from grader.releasing.decisions import COUNTS
from grader.releasing.structure import Change, Saved, compare, enrol, fit, put_back

COPIED = ("source", "release")
CHOICES = """  --added nobody     it is asked, and worth nothing
  --added from-now   who has handed in already gets its full points, everybody else is marked
  --added all        it counts for everybody: who handed in without it loses its points until handing in again"""


def release(
    course: Course,
    lesson: str,
    due: datetime | None = None,
    added: str | None = None,
    removed: bool = False,
    held: bool = False,
    unfinished: bool = False,
) -> list[str]:
    """Build the source assignment, make nbgrader's release version and hand it out through the exchange. Returns sentences about
    the effect on existing marks. Raises ProjectError before anything is written.

    due: the due date in UTC without a zone; None leaves the date in the gradebook. added: for whom new questions count, where
    there are submissions already (one of ``COUNTS``); removed: whether questions may be removed together with their marks.
    held: only prepare the release; it is handed out when it is released without ``held``. unfinished: also release an own
    checkpoint in which words of the template are left.
    """
    _check_name(course, lesson)
    if not unfinished and (left := left_over(course.project, lesson)):
        again = command(f"release {lesson} --unfinished", course.root)
        raise ProjectError(
            "\n".join([*left, f"Nothing was written: change these lines, or hand it out with them by {again}"])
        )
    decided = decisions.read(course.root, lesson)
    if decided["held"] != held:
        decided["held"] = held
        decisions.write(course.root, lesson, decided)
    notebook = _built(course, lesson, decided["nobody"])
    students = _handed_in(course, lesson)
    with course.gradebook as gradebook:
        change = compare(gradebook, lesson, notebook) or Change()
    if not (change and students):
        with _copies(course, lesson, None):
            _put(course, lesson, notebook, due)
        return _excuse_again(course, lesson, decided) + _worth(course, lesson, change, students)
    _check(course, lesson, change, added, removed, len(students))
    if added == "nobody":
        decided["nobody"] = sorted({*decided["nobody"], *change.added})
        notebook = _built(course, lesson, decided["nobody"])
    if added == "from-now":
        decided["excused"] |= {cell: students for cell in change.added}
    place = _next_place(course, lesson)
    with _copies(course, lesson, place) as old:
        with course.gradebook as gradebook:
            saved = fit(gradebook, lesson, notebook, added or "all", students)
        try:
            (place / "was.json").write_text(json.dumps({"marks": saved}), encoding="utf-8")
            _put(course, lesson, notebook, due)
            decisions.write(course.root, lesson, decided)
        except BaseException:
            _undo(course, lesson, old, saved)
            raise
    return _said(course, lesson, change, added, len(students)) + _worth(course, lesson, change, students)


def _check_name(course: Course, lesson: str) -> None:
    known = course.project.checkpoints()
    if lesson not in known:
        raise ProjectError(f"there is no checkpoint {lesson!r}; there are {', '.join(known)}")
    if course.project.own_folder(lesson) and (problems := lint(course.project, lesson)):
        raise ProjectError("\n".join([f"{lesson}: mend this first, nothing was written:", *problems]))
    for stray in (course.root / "source" / lesson).glob("*.answers.json"):
        raise ProjectError(f"{stray} would overwrite the students' answers at autograde; remove it")


def _check(course: Course, lesson: str, change: Change, added: str | None, removed: bool, n: int) -> None:
    """Raise ProjectError where the instructor must decide something first; the message names the choices."""
    said = []
    if change.added and added not in COUNTS:
        said.append(f"new: {_names(change.added)}. For whom do they count?\n{CHOICES}")
    if change.removed and not removed:
        said.append(f"gone: {_names(change.removed)}. Their marks would not count any more: --removed drop")
    if said:
        head = f"{lesson}: {n} have handed in, and its questions have changed; nothing was written."
        again = f"Say it with {command(f'release {lesson} ...', course.root)}."
        raise ProjectError("\n".join([head, *said, again]))


def _said(course: Course, lesson: str, change: Change, added: str | None, n: int) -> list[str]:
    again = command(f"regrade {lesson} --diff", course.root)
    said = []
    if change.added:
        said.append(
            {
                "nobody": f"{_names(change.added)}: worth nothing, for anybody",
                "from-now": f"{_names(change.added)}: the {n} who have handed in get the full points, which count as marks by hand",
                "all": f"{_names(change.added)}: the {n} who have handed in have no grade until autograde marks them again; "
                f"{again} shows first what that does",
            }[added or "all"]
        )
    if change.removed:
        said.append(f"{_names(change.removed)}: counts no more; the marks lie in releases/{lesson}/")
    return said


def _worth(course: Course, lesson: str, change: Change, students: list[str]) -> list[str]:
    if not (change.worth and students):
        return []
    names = ", ".join(f"{name} ({old:g} -> {new:g})" for name, (old, new) in change.worth.items())
    return [
        f"worth another number of points now: {names}; marks that exist follow with {command(f'regrade {lesson} --diff', course.root)}"
    ]


def _excuse_again(course: Course, lesson: str, decided: dict) -> list[str]:
    """After a gradebook was lost: write the marks of excused students (submitted before this question existed) again."""
    excused = {cell: students for cell, students in decided["excused"].items() if students}
    with course.gradebook as gradebook:
        notebook = in_gradebook(gradebook, lesson)
        tops = {cell.name: cell.max_score for cell in notebook.grade_cells}
        missing = sorted(
            {student for students in excused.values() for student in students}
            - {one.student.id for one in gradebook.assignment_submissions(lesson)}
        )
        for student in missing:
            enrol(gradebook, lesson, student)
            for cell in [cell for cell, students in excused.items() if student in students and cell in tops]:
                grade = gradebook.find_grade(cell, notebook.name, lesson, student)
                grade.manual_score, grade.needs_manual_grade = tops[cell], False
        gradebook.db.commit()
    return [f"full points as before for what came too late for them: {', '.join(missing)}"] if missing else []


def _put(course: Course, lesson: str, notebook: NotebookNode, due: datetime | None) -> None:
    path = notebook_in(course.root, "source", lesson)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text_of(notebook), encoding="utf-8")
    done(course.api.generate_assignment(lesson), f"generate_assignment {lesson}")
    if due is not None:
        with course.gradebook as gradebook:
            gradebook.update_or_create_assignment(lesson, duedate=due)
    if lesson not in decisions.held(course.root):
        done(_hand_out(course, lesson), f"release_assignment {lesson}")


def _hand_out(course: Course, lesson: str) -> dict:
    """Run nbgrader's release step; replaces an older release."""
    from nbgrader.utils import capture_log, temp_attrs

    api = course.api
    with temp_attrs(api.coursedir, assignment_id=lesson):
        step = api.exchange.ReleaseAssignment(coursedir=api.coursedir, authenticator=api.authenticator, parent=api)
        step.force = True
        return capture_log(step)


@contextmanager
def _copies(course: Course, lesson: str, place: Path | None) -> Iterator[Path]:
    """Copy the present source and release, and restore them if the block raises. place: where the copies stay if it does not."""
    copies = place or course.root / "releases" / f".{lesson}.before"
    shutil.rmtree(copies, ignore_errors=True)
    copies.mkdir(parents=True)
    for name in COPIED:
        if (folder := course.root / name / lesson).exists():
            shutil.copytree(folder, copies / name)
    try:
        yield copies
    except BaseException:
        for name in COPIED:
            shutil.rmtree(course.root / name / lesson, ignore_errors=True)
            if (copies / name).exists():
                shutil.copytree(copies / name, course.root / name / lesson)
        shutil.rmtree(copies)
        raise
    if place is None:
        shutil.rmtree(copies)


def _undo(course: Course, lesson: str, old: Path, saved: Saved) -> None:
    path = old / "source" / notebook_in(course.root, "source", lesson).name
    with course.gradebook as gradebook:
        fit(gradebook, lesson, nbformat.read(path, as_version=4), "all", ())
        put_back(gradebook, lesson, saved)


def _built(course: Course, lesson: str, for_nobody: list[str]) -> NotebookNode:
    """The assignment with its solutions. Cells that count for nobody are worth 0 points."""
    points = dict.fromkeys(for_nobody, 0.0)
    return assignment_notebook(course.project, lesson, course.language, points, _salt(course, lesson))


def _salt(course: Course, lesson: str) -> str:
    """The salt that papers are drawn with. It is the same at every release, so that students who have fetched the checkpoint keep
    their paper; "" also at later releases where the first one was made before there were variants.
    """
    path = notebook_in(course.root, "release", lesson)
    if path.exists():
        return released_salt(nbformat.read(path, as_version=4))
    return salt(secret(course.root), lesson) if has_papers(course.project, lesson) else ""


def _handed_in(course: Course, lesson: str) -> list[str]:
    with course.gradebook as gradebook:
        known = (
            {entry.student.id for entry in gradebook.assignment_submissions(lesson)}
            if _is_known(gradebook, lesson)
            else set()
        )
    return sorted({*known, *course.submitted(lesson)})


def _is_known(gradebook, lesson: str) -> bool:
    return lesson in {assignment.name for assignment in gradebook.assignments}


def _places(course: Course, lesson: str) -> list[Path]:
    return sorted(
        (path for path in (course.root / "releases" / lesson).glob("[0-9]*")), key=lambda path: int(path.name)
    )


def _next_place(course: Course, lesson: str) -> Path:
    places = _places(course, lesson)
    return course.root / "releases" / lesson / str(int(places[-1].name) + 1 if places else 1)


def _names(points: dict[str, float]) -> str:
    return ", ".join(f"{name} ({top:g} point{'' if top == 1 else 's'})" for name, top in points.items())

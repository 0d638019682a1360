"""A notebook for each student that contains the student's id, so that nobody mistypes it, and that student's questions."""

from __future__ import annotations

import json
import shutil
import zipfile

import nbformat

from grader.authoring.bootstrap import bootstrap
from grader.authoring.publish import text_of
from grader.course import Course
from grader.handin.papers import released_salt
from grader.project import ProjectError
from grader.project.names import fault
from grader.project.notebook_name import notebook_in

FOLDER = "personal"


def personal(course: Course, lesson: str) -> list[str]:
    """Write ``personal/LESSON/STUDENT/LESSON_checkpoint.ipynb`` for every student in the gradebook, and a ZIP with all of them. Returns
    sentences for the instructor. Raises ProjectError where the gradebook is empty, or all students have the same paper.
    """
    released = notebook_in(course.root, "release", lesson)
    text = released.read_text(encoding="utf-8")
    salt = released_salt(json.loads(text))
    with course.gradebook as gradebook:
        students = sorted(student.id for student in gradebook.students)
    if not salt:
        raise ProjectError(
            f"{lesson}: all have the same questions, so there is nothing personal in it; release it without --personal"
        )
    if not students:
        raise ProjectError("nobody is in the gradebook yet: `python -m grader roster FILE` puts your class there")
    place, archive = course.root / FOLDER / lesson, course.root / f"{FOLDER}-{lesson}.zip"
    shutil.rmtree(place, ignore_errors=True)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for student in (name for name in students if not fault(name)):
            path = place / student / released.name
            path.parent.mkdir(parents=True)
            path.write_text(_of(course, text, lesson, salt, student), encoding="utf-8")
            packed.write(path, f"{student}/{released.name}")
    place.parent.chmod(0o700)
    return [
        f"wrote {place}/STUDENT/{released.name} for {len(students)} students, and all of them as {archive}",
        "give each student the own file alone; it is in neither the exchange nor a bundle",
    ]


def _of(course: Course, text: str, lesson: str, salt: str, student: str) -> str:
    """The released notebook with the id of one student in its first cell."""
    made = nbformat.reads(text, as_version=4)
    language = made.metadata["course"].get("language", course.language)
    first = next(cell for cell in made.cells if cell.get("id") == "bootstrap")
    first.source = bootstrap(course.project, "checkpoint", lesson, language, salt, student)
    return text_of(made)

"""A small class that was really marked, once for all the tests of what an instructor does afterwards."""

from __future__ import annotations

import shutil
from pathlib import Path

from grader.autograde.run import How, autograde
from grader.cli.made_up import Student, work
from grader.course import Course, init
from grader.project import Project
from grader.release.run import release
from tests.support.grading_fixtures import LESSON, NOTEBOOK, make_project

PUPILS = (
    Student("ada"),
    Student("bob", quiz="half", tasks="first"),
    Student("cyd", quiz="wrong", tasks="wrong"),
    Student("dee", quiz="none", tasks="none"),
)
HANDED_IN = "2026-03-0{} 12:00:00.000000 UTC"  # ada on the 1st, bob on the 2nd, ...


def make_class(folder: Path, timezone: str = "UTC") -> tuple[Project, Course]:
    """A released checkpoint, four submissions, one each day from 1 March 2026, marked."""
    project = make_project(folder / "project")
    root = folder / "class"
    init(root, "en", "tools", project=project, timezone=timezone)
    course = Course(root)
    release(course, LESSON)
    for day, student in enumerate(PUPILS, start=1):
        place = root / "submitted" / student.name / LESSON
        place.mkdir(parents=True)
        shutil.copy(root / "release" / LESSON / f"{NOTEBOOK}.ipynb", place)
        (place / "timestamp.txt").write_text(HANDED_IN.format(day))
        work(project, LESSON, "en", student, place)
    autograde(course, LESSON, how=How(jobs=1), say=lambda line: None)
    return project, course

"""A course folder with a class handed in, and what its gradebook says afterwards."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

from grader.cli.made_up import CLASS, Student, work
from grader.course import Course, done, init
from grader.marking.autograde import How, autograde
from grader.project import Project
from grader.release.run import release
from tests.support.grading_fixtures import LESSON, NOTEBOOK, make_project

PUPILS = (
    Student("ada"),
    Student("bob", quiz="half", tasks="first"),
    Student("cyd", quiz="wrong", tasks="wrong"),
    Student("dee", quiz="none", tasks="none"),
)
ROWS = """
select s.student_id, s.timestamp, c.name, g.auto_score, g.manual_score, g.needs_manual_grade, n.late_submission_penalty,
       (select group_concat(coalesce(k.auto_comment, '-')) from comment k where k.notebook_id = n.id)
from submitted_assignment s join submitted_notebook n on n.assignment_id = s.id
join grade g on g.notebook_id = n.id join base_cell c on c.id = g.cell_id order by 1, 3
"""


def rows(root: Path) -> list[tuple]:
    """All that the gradebook says about the class, without nbgrader's random row numbers."""
    with sqlite3.connect(root / "gradebook.db") as db:
        return db.execute(ROWS).fetchall()


def hand_in(course: Course, student: Student, name: str, when: str) -> None:
    """Put the work of a student of this kind in place."""
    folder = course.root / "submitted" / name / LESSON
    folder.mkdir(parents=True)
    shutil.copy(course.root / "release" / LESSON / f"{NOTEBOOK}.ipynb", folder)
    (folder / "timestamp.txt").write_text(when)
    work(course.project, LESSON, "en", student, folder)


def hand_in_class(project_folder: Path, root: Path, times: int) -> Path:
    """A course folder with a released checkpoint, and each kind of student handed in so many times, not marked."""
    project = make_project(project_folder)
    init(root, "en", "class", project=project)
    course = Course(root)
    release(course, LESSON)
    for number in range(times):
        for student in CLASS:
            hand_in(course, student, f"{student.name}-{number}", f"2026-01-0{number + 1} 10:00:00.000000 UTC")
    return root


def make_class(folder: Path, timezone: str = "UTC") -> tuple[Project, Course]:
    """A small class that was really marked: a released checkpoint, four submissions, one each day from 1 March 2026."""
    init(folder / "class", "en", "tools", project=make_project(folder / "project"), timezone=timezone)
    course = Course(folder / "class")
    release(course, LESSON)
    for day, student in enumerate(PUPILS, start=1):
        hand_in(course, student, student.name, f"2026-03-0{day} 12:00:00.000000 UTC")
    autograde(course, LESSON, how=How(jobs=1), say=lambda line: None)
    return course.project, course


def copy_of(root: Path, place: Path) -> Path:
    """The same course folder elsewhere: settings and secret name no folder but their own."""
    shutil.copytree(root, place)
    config = place / "nbgrader_config.py"
    config.write_text(config.read_text().replace(str(root), str(place)))
    return place


def stock(course: Course, lesson: str, student: str) -> None:
    """Mark a submission again with stock nbgrader's own steps, as formgrader's button does. Its command, a process of its own,
    stands in test_grading_killed.py.
    """
    course = Course(course.root)  # settings may have changed
    done(course.api.autograde(lesson, student), "stock nbgrader's autograde")


def marked(root: Path) -> int:
    """How many submissions have their graded notebook."""
    return len(list((root / "autograded").glob(f"*/{LESSON}")))

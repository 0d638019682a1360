"""The made-up class of `make demo`: handed in, graded and given back, and each student gets what was planned."""

from __future__ import annotations

import pytest

from course.learning.marking import mark
from grader.cli.authors import LESSONS
from grader.cli.made_up import CLASS, answers, class_of, demo, deserved
from grader.handin.answers import keyed_items
from grader.project import Project, ProjectError
from tests.support.grading_fixtures import LESSON, NOTEBOOK, make_project

PROJECT = Project()


@pytest.mark.one_of_each  # a class of three, graded and given back
@pytest.mark.slow
def test_a_class_is_graded_as_deserved_and_nothing_of_others_is_cleared(tmp_path):
    project, root = make_project(tmp_path / "project"), tmp_path / "demo"
    assert demo(root, "en", project, students=CLASS[:3], say=(said := []).append) == []
    assert (root / "feedback" / "partly" / LESSON / f"{NOTEBOOK}.html").exists() and "grades.csv" in "\n".join(said)
    (root / "made-by-grader-demo").unlink()
    with pytest.raises(ProjectError, match="another folder"):
        demo(root, "en", project, students=CLASS[:1])
    assert (root / "grades.csv").exists()


@pytest.mark.parametrize("lesson", LESSONS)
def test_what_is_planned_is_what_the_marking_rules_give(lesson):
    items, students = keyed_items(PROJECT, lesson), class_of(30)
    assert students[:9] == CLASS and len({student.name for student in students}) == 30
    for student in students:
        due = deserved(student, items, {})
        for identity, response in answers(student, items).items():
            assert mark(items[identity], response).points == pytest.approx(due[identity], abs=0.006)

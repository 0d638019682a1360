"""The made-up class of the demonstration: different people, the same ones each time, and worth what is planned."""

from __future__ import annotations

from statistics import mean

import pytest

from course.learning.marking import mark
from grader.answers import keyed_items
from grader.commands.demo import LESSONS
from grader.demo.people import Attempt, Person, attempts, crowd
from grader.demo.run import demo
from grader.demo.students import CLASS, deserved, large_class
from grader.project import Project, ProjectError
from grader.task import tasks
from tests.grading_fixtures import LESSON, NOTEBOOK, make_project
from tests.lessons.losing import verdict_on

PROJECT = Project()


@pytest.mark.one_of_each  # a class of three, graded and given back
@pytest.mark.slow
def test_a_stopped_demonstration_goes_on_and_a_finished_one_begins_anew(tmp_path):
    """Stopped after any student: what is handed in stays, nobody hands in twice, and the marks are those that are deserved."""
    project, root, students = make_project(tmp_path / "project"), tmp_path / "demo", CLASS[:3]

    class Stop(Exception):
        pass

    def stop_at_marking(line):
        if "autograde" in line:
            raise Stop

    with pytest.raises(Stop):
        demo(root, "en", project, students=students, say=stop_at_marking)
    notebook = root / "students" / "partly" / LESSON / f"{NOTEBOOK}.ipynb"
    before, said = notebook.stat().st_mtime_ns, []
    assert demo(root, "en", project, students=students, say=said.append) == []
    assert "goes on where it was stopped" in said and notebook.stat().st_mtime_ns == before
    assert demo(root, "en", project, students=students[:1], say=(anew := []).append) == []
    assert "goes on where it was stopped" not in anew and not notebook.exists()
    (root / "made-by-grader-demo").unlink()
    with pytest.raises(ProjectError, match="another folder"):
        demo(root, "en", project, students=students)


def test_thirty_with_all_that_happens_in_a_class():
    students = large_class()
    assert len(students) == len({student.name for student in students}) == 30 and students[:9] == CLASS
    assert sum(student.late for student in students) == 3 and {"deleted", "half"} <= {s.damage for s in students[9:]}
    copy = next(student for student in students if student.copy_of)
    original = next(student for student in students if student.name == copy.copy_of)
    assert copy.person == original.person and crowd(20) == crowd(20)


@pytest.mark.parametrize("lesson", LESSONS)
def test_what_is_planned_is_what_the_marking_rules_give(lesson):
    items = keyed_items(PROJECT, lesson)
    for person in crowd(20):
        for identity, (response, share) in person.answers(items).items():
            assert mark(items[identity], response).points == pytest.approx(share * items[identity].points, abs=0.006)


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_able_get_more_and_nobody_is_like_the_other(lesson):
    items, hidden, wrong = keyed_items(PROJECT, lesson), tasks(PROJECT, lesson), attempts(PROJECT, lesson)

    def points(person: Person) -> float:
        return sum(deserved(next(s for s in large_class() if s.person == person), items, hidden, wrong).values())

    people = sorted(
        {student.person for student in large_class() if student.person and not student.damage},
        key=lambda person: person.ability,
    )
    earned = [points(person) for person in people]
    assert mean(earned[-6:]) > mean(earned[:6]) + 3 and len(set(earned)) > 10
    assert len({str(person.answers(items)) for person in people}) == len(people)


@pytest.mark.parametrize("lesson", LESSONS)
def test_people_hand_in_wrong_answers_and_each_is_worth_its_points(lesson):
    hidden, wrong = tasks(PROJECT, lesson), attempts(PROJECT, lesson)
    assert set(wrong) == set(hidden)
    for identity, task in hidden.items():
        for attempt in wrong[identity]:
            space = {}
            exec(attempt.code, space)
            assert verdict_on(task, space[task.name]).points == attempt.points < task.points
        assert any(isinstance(person.attempt(identity, wrong), Attempt) for person in crowd(20))

"""What lateness would cost, before it costs anything; and when a hand-in came, as the platforms say it."""

from __future__ import annotations

import math
import random
from datetime import datetime, timedelta

import pytest

from grader.autograding import How, autograde
from grader.commands import main
from grader.course import Course
from grader.importing.place import stamp
from grader.importing.times import Times
from grader.late_rules import Extension, Rules, Table
from grader.marks import totals
from grader.pipeline import outcomes
from tests.graded_class import make_class
from tests.grading_class import rows
from tests.grading_fixtures import LESSON, NOTEBOOK

DUE = datetime(2026, 11, 23, 22, 59)  # 23:59 in Berlin


def stamps(zone: str | None = "Europe/Berlin", due: datetime | None = DUE) -> Times:
    return Times(LESSON, due, Rules(Table(grace_minutes=15), extensions=(Extension("bob", days=2),), timezone=zone))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Monday, 23 November 2026, 11:59 PM", "2026-11-23 22:59:00 UTC"),
        ("Tuesday, 24 November 2026, 00:05", "2026-11-23 23:05:00 UTC"),
        ("2026年11月23日 星期一 下午11:59", "2026-11-23 22:59:00 UTC"),
        ("2026年11月23日 星期一 23:59", "2026-11-23 22:59:00 UTC"),
        ("-", None),
        ("sometime", None),
    ],
)
def test_a_worksheet_says_when_in_the_time_zone_of_the_course(said, told):
    assert stamps().of({"Last modified (submission)": said}, None, "") == told
    without = stamps(None)
    assert without.of({"Last modified (submission)": said}, None, "") is None
    assert bool(without.said) == (said != "-")


def test_canvas_says_only_who_is_late_and_an_extension_holds():
    times = stamps()
    late = times.of({}, True, "")
    assert late == "2026-11-23 23:15:00 UTC" and times.is_late("ada", late) and not times.is_late("bob", late)
    assert any("counted as 16 minutes" in one for one in times.said)
    assert times.of({}, False, late) == "" and times.of({}, False, "") is None, "late no more: the stamp goes"
    unset = stamps(due=None)
    assert unset.of({}, True, "") is None and any("no due date" in one for one in unset.said)


def test_a_time_written_by_hand_outlives_the_next_import(tmp_path):
    path = tmp_path / "submitted" / "ada" / LESSON / "timestamp.txt"
    path.parent.mkdir(parents=True)

    def put(when: str | None, before: str) -> str | None:
        return stamp(tmp_path, "ada", LESSON, when, before)

    assert put("2026-11-23 23:15:00 UTC", "") is None and path.read_text() == "2026-11-23 23:15:00 UTC"
    assert put("2026-11-24 23:15:00 UTC", path.read_text()) is None and path.read_text() == "2026-11-24 23:15:00 UTC"
    path.write_text("2026-11-28 08:00:00 UTC\n")
    for when in ("2026-11-24 23:15:00 UTC", "", None):
        assert put(when, "2026-11-24 23:15:00 UTC") == "2026-11-28 08:00:00 UTC" and path.exists()
    assert put("", path.read_text()) is None and not path.exists()


@pytest.mark.slow
def test_a_dry_run_says_what_the_real_one_takes_and_changes_nothing(tmp_path, capsys):
    root = make_class(tmp_path)[1].root
    (root / "late.yaml").write_text("per_day_percent: 10\nextensions:\n  - {student: cyd, days: 9}\n")
    with Course(root).gradebook as gradebook:
        gradebook.update_or_create_assignment(LESSON, duedate=datetime(2026, 2, 28, 23, 0))
    before = rows(root)
    assert main(["late", LESSON, "--dry-run", "--dir", str(root)]) == 0
    said = capsys.readouterr().out
    assert rows(root) == before and "ada: 0 -> 1.3 points taken; late by 0 d 13 h 0 min" in said and "cyd" not in said
    assert main(["late", LESSON, "--dir", str(root)]) == 0
    assert "ada: 0 -> 1.3 points taken" in capsys.readouterr().out and rows(root) != before
    assert {one.student: one.problems[:1] for one in outcomes(Course(root), LESSON)}["ada"] == [
        "late: 1.3 of these points are taken"
    ]


@pytest.mark.slow
def test_points_for_lateness_follow_every_mark_and_what_was_set_by_hand_stays(tmp_path):
    """Marks by hand, new rules, new marking, in any order: what was taken is what the rules take from the marks as they stand."""
    course = make_class(tmp_path)[1]
    rng, students, percent, by_hand = random.Random(11), ("ada", "bob", "cyd", "dee"), 10, {}
    due = datetime(2026, 2, 28, 23, 0)
    with course.gradebook as gradebook:
        gradebook.update_or_create_assignment(LESSON, duedate=due)
    autograde(course, LESSON, how=How(again=True), say=lambda line: None)
    for number in range(30):
        student, does = rng.choice(students), "again" if number == 20 else rng.choice(("mark", "mark", "hand", "rules"))
        with course.gradebook as gradebook:
            submission = gradebook.find_submission_notebook(NOTEBOOK, LESSON, student)
            if does == "mark":
                grade = rng.choice(submission.grades)
                grade.manual_score = rng.choice((None, 0.0, grade.max_score / 2, grade.max_score))
            elif does == "hand":
                points = rng.choice((None, 0.0, 0.25, 2.5))
                if (points or 0.0) != (submission.late_submission_penalty or 0.0):
                    by_hand[student] = points or 0.0
                submission.late_submission_penalty = points
            gradebook.db.commit()
        if does == "rules":
            percent = rng.choice((0, 10, 25))
        (course.root / "late.yaml").write_text(f"per_day_percent: {percent}\n")
        if does == "again":
            autograde(course, LESSON, how=How(again=True), say=lambda line: None)
        found = totals(course, LESSON)
        with course.gradebook as gradebook:
            for name in students:
                one = gradebook.find_submission_notebook(NOTEBOOK, LESSON, name)
                days = math.ceil((one.assignment.timestamp - due) / timedelta(days=1))
                right = by_hand.get(name, round(one.score * min(1, percent * days / 100), 4))
                assert (one.late_submission_penalty or 0.0) == pytest.approx(right), (number, does, student, name)
                assert found.points[name] == pytest.approx(max(0.0, one.score - right)), (number, does, name)
    assert by_hand and set(students) - set(by_hand), "both kinds are left"

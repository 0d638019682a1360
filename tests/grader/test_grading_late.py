"""Due dates, and points for lateness: grace, percent a day, cap, extensions; the same by our route and by stock nbgrader."""

from __future__ import annotations

import csv
import shutil
from datetime import datetime, timedelta

import pytest
from dateutil import tz
from nbgrader.apps import ExportApp

from grader.cli import main
from grader.course import Course
from grader.course.late import LatePoints, extend
from grader.course.marks import cell_marks
from grader.marking.autograde import How, autograde
from grader.marking.outcomes import outcomes
from grader.project import ProjectError, dates
from grader.reporting.export import final_points
from grader.reporting.give_out import feedback
from tests.support.grading_class import rows, stock
from tests.support.grading_fixtures import LESSON, NOTEBOOK

DUE = datetime(2026, 2, 28, 23, 0)  # ada is half a day late, each of the others one day more


@pytest.mark.parametrize(
    ("hours", "points"), [(0.2, None), (0.25, None), (0.26, 0.8), (24, 0.8), (24.1, 1.6), (49, 2.0), (24 * 9, 2.0)]
)
def test_grace_then_percent_for_each_day_begun_up_to_the_cap(hours, points):
    plugin = LatePoints(grace_minutes=15, per_day_percent=10, cap_percent=25)
    assert plugin.late_submission_penalty("ada", 8.0, hours * 3600) == points
    assert LatePoints().late_submission_penalty("ada", 8.0, hours * 3600) is None, (
        "without settings lateness costs nothing"
    )


@pytest.fixture
def course(course) -> Course:
    with course.gradebook as gradebook:
        gradebook.update_or_create_assignment(LESSON, duedate=DUE)
    return with_rules(course, 10)


def with_rules(course: Course, percent: object) -> Course:
    """The course with other settings at the end of its file."""
    config = course.root / "nbgrader_config.py"
    sound = config.read_text("utf-8").split("\nc.LatePoints")[0]
    config.write_text(f"{sound}\nc.LatePoints.per_day_percent = {percent!r}\n", "utf-8")
    return Course(course.root)


def again(course: Course) -> None:
    autograde(course, LESSON, how=How(again=True), say=lambda line: None)


@pytest.mark.slow
def test_both_routes_take_the_same_and_an_extension_holds(course, capsys):
    def taken() -> dict:
        return {row[0]: row[6] for row in rows(course.root)}

    again(course)
    before = rows(course.root)
    bob = sum(mark.points for mark in cell_marks(course, LESSON)["bob"].values())
    expected = {"ada": 1.3, "bob": pytest.approx(bob * 0.2, abs=1e-4), "cyd": pytest.approx(0.201), "dee": None}
    assert bob > 2 and taken() == expected
    for student in ("ada", "bob"):
        stock(course, LESSON, student)
    assert rows(course.root) == before
    assert outcomes(course, LESSON)[0].problems[:1] == ["late: 1.3 of these points are taken"]
    words = ["roster", "--extend", "ada", LESSON, "13", "--extend", "bob", LESSON, "24", "--dir", str(course.root)]
    assert main(words) == 0 and f"ada may hand in {LESSON} until 2026-03-01 12:00 UTC" in capsys.readouterr().out
    expected |= {"ada": None, "bob": pytest.approx(bob * 0.1, abs=1e-4)}
    assert taken() == expected
    stock(course, LESSON, "bob")
    again(course)
    assert taken() == expected
    extend(course, LESSON, "ada", 0)
    assert taken()["ada"] == 1.3


@pytest.mark.slow
def test_an_extension_can_be_given_before_anything_is_handed_in(course):
    with course.gradebook as gradebook:
        gradebook.update_or_create_student("eve")
    extend(course, LESSON, "eve", 48)
    hers = shutil.copytree(course.root / "submitted" / "ada", course.root / "submitted" / "eve") / LESSON
    for path in hers.iterdir():
        path.write_bytes(path.read_bytes().replace(b"def contrast", b"# eve\\ndef contrast"))
    again(course)
    assert final_points(course, LESSON)["eve"] == 13.0 > final_points(course, LESSON)["ada"]


@pytest.mark.slow
def test_what_is_wrong_with_a_rule_or_an_extension_is_a_sentence(course, capsys):
    for words, said in (
        (["adda", LESSON, "3"], "nobody in the gradebook has the id 'adda'"),
        (["ada", "77_none", "3"], "77_none: not released"),
        (["ada", LESSON, "soon"], "HOURS is a number"),
    ):
        assert main(["roster", "--extend", *words, "--dir", str(course.root)]) == 1
        assert said in capsys.readouterr().out
    for percent in ("ten", 110):
        with_rules(course, percent)
        assert main(["autograde", LESSON, "--dir", str(course.root)]) == 1
        assert "per_day_percent" in capsys.readouterr().out


@pytest.mark.slow
def test_stock_export_and_feedback_take_the_points_as_of_now(course):
    course = with_rules(course, 20)
    with course.gradebook as gradebook:
        gradebook.find_grade("90-c-number", NOTEBOOK, LESSON, "bob").manual_score = 0.5
        gradebook.db.commit()
    bob = sum(mark.points for mark in cell_marks(course, LESSON)["bob"].values())
    exporter = ExportApp(config=course.config)
    exporter.init_plugin()  # what `nbgrader export` calls
    exporter.plugin_inst.to, exporter.plugin_inst.student = str(course.root / "stock.csv"), ["bob"]
    with course.gradebook as gradebook:
        exporter.plugin_inst.export(gradebook)
    (row,) = csv.DictReader((course.root / "stock.csv").open(encoding="utf-8"))
    assert row["student_id"] == "bob" and float(row["late_submission_penalty"]) == pytest.approx(bob * 0.4, abs=1e-4)
    assert feedback(with_rules(course, 50), LESSON, lambda line: None) == []
    page = (course.root / "feedback" / "ada" / LESSON / f"{NOTEBOOK}.html").read_text("utf-8")
    assert "taken off for handing in late: 6.5." in page


@pytest.mark.parametrize(
    "said",
    ["", "tomorrow", "2026-12-01", "2026-12-01 23", "2026-12-01 25:00", "2026-12-01 11:59 PM", "2026-12-01 23:59 UTC"],
)
def test_what_is_no_moment_is_refused(said):
    with pytest.raises(ProjectError, match="2026-12-01 23:59"):
        dates.utc(said, "UTC")


def test_a_mistyped_time_zone_of_the_course_moves_no_due_date():
    for read in (
        lambda zone: dates.utc("2026-12-01 12:00", zone),
        lambda zone: dates.shown(datetime(2026, 12, 1), zone),
    ):
        with pytest.raises(ProjectError, match="Europe/Berln"):
            read("Europe/Berln")


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Sydney", "Asia/Shanghai", "UTC"])
@pytest.mark.parametrize("friday", ["2026-03-27", "2026-10-23", "2026-03-06", "2026-10-30", "2026-04-03", "2026-10-02"])
def test_a_due_date_is_shown_as_it_was_written_in_every_hour_of_the_weekends_on_which_clocks_change(zone, friday):
    place = tz.gettz(zone)
    for hour in range(24 * 4):
        clock = datetime.fromisoformat(friday) + timedelta(hours=hour, minutes=30)
        if tz.datetime_exists(clock, place):
            assert dates.shown(dates.utc(f"{clock:%Y-%m-%d %H:%M}", zone), zone) == f"{clock:%Y-%m-%d %H:%M} {zone}"

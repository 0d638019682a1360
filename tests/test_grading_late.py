"""Points for lateness: the rules, the dates, and the same points by our route and by stock nbgrader."""

from __future__ import annotations

import csv
import time
from datetime import datetime

import pytest
from nbgrader.apps import ExportApp
from traitlets.config import Config

from course.units import format_points
from grader import dates
from grader.autograding import How, autograde
from grader.commands import main
from grader.course import Course
from grader.late_plugin import LateRules
from grader.late_rules import Rules, Table, course_zone, penalty, read_rules
from grader.marks import cell_marks
from grader.pipeline import release
from grader.project import ProjectError
from tests.graded_class import make_class
from tests.grading_class import stock
from tests.grading_fixtures import LESSON


def test_a_moment_needs_a_zone_and_becomes_utc():
    assert dates.utc("2026-12-01 23:59 Europe/Berlin") == datetime(2026, 12, 1, 22, 59)
    assert dates.shown(datetime(2026, 12, 1, 22, 59), "Europe/Berlin") == "2026-12-01 23:59 Europe/Berlin"
    assert dates.utc("2026-07-01", "Europe/Berlin") == datetime(2026, 7, 1, 21, 59, 59)
    for said, words in (
        ("2026-12-01 23:59", "no time zone"),
        ("tomorrow", "no date"),
        ("2026-12-01 23:59 Mars/Base", "Mars/Base"),
        ("2026-12-01 25:00 UTC", "no date"),
        ("", "no date"),
    ):
        with pytest.raises(ProjectError, match=words):
            dates.utc(said)


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of the process cannot be changed here")
@pytest.mark.parametrize(
    "zone,said", [("Asia/Shanghai", "2026-12-02 06:59 UTC+08:00"), ("UTC", "2026-12-01 22:59 UTC")]
)
def test_where_no_zone_is_configured_a_date_is_shown_in_that_of_the_machine(tmp_path, monkeypatch, zone, said):
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert dates.shown(datetime(2026, 12, 1, 22, 59), course_zone(tmp_path, Config())) == said
    finally:
        monkeypatch.undo()
        time.tzset()
    config = Config({"Exchange": {"timezone": "Asia/Tokyo"}})
    assert course_zone(tmp_path, config) == "Asia/Tokyo"
    (tmp_path / "late.yaml").write_text("timezone: Europe/Berlin\n", encoding="utf-8")
    assert course_zone(tmp_path, config) == "Europe/Berlin"


@pytest.mark.parametrize(
    ("hours", "points"),
    [(0.2, 0), (0.25, 0), (0.26, 0.8), (24, 0.8), (24.1, 1.6), (49, 2.0), (24 * 7, 2.0), (24 * 7 + 1, 8)],
)
def test_the_table_of_late_rules(hours, points):
    table = Table(grace_minutes=15, per_day_percent=10, cap_percent=25, zero_after_days=7)
    assert penalty(table, hours * 3600, 8.0, 10.0) == points
    assert penalty(Table(per_day_percent=10, of="maximum"), 3600, 8.0, 10.0) == 1.0
    assert penalty(Table(per_day_percent=50, of="maximum"), 3600, 3.0, 10.0) == 3.0  # never below zero


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- 1", "table"),
        ("per_day: 10", "per_day"),
        ("per_day_percent: 110", "110"),
        ("grace_minutes: soon", "'soon'"),
        ("of: all", "`earned`"),
        ("timezone: Atlantis", "'Atlantis'"),
        ("checkpoints: {01_map: {cap: 3}}", "checkpoints, 01_map, cap"),
        ("extensions: [{student: ada}]", "number 1 (ada)"),
        ("extensions: [{student: ada, days: -1}]", "days: -1"),
        ("extensions: [{student: ada, until: 2026-12-08}]", "zone"),
        ("extensions: [{student: ada, days: 1, lesson: x}]", "'lesson'"),
        ("a: [", "YAML"),
    ],
)
def test_faults_in_the_late_rules_are_said(tmp_path, text, words):
    (tmp_path / "late.yaml").write_text(text)
    with pytest.raises(ProjectError) as error:
        read_rules(tmp_path)
    assert words in str(error.value) and "late.yaml" in str(error.value)


def test_extensions_give_the_latest_date_and_other_checkpoints_their_own_table(tmp_path):
    assert read_rules(tmp_path) == Rules()
    (tmp_path / "late.yaml").write_text(
        "timezone: Europe/Berlin\nper_day_percent: 10\ngrace_minutes: 5\ncheckpoints: {01_map: {per_day_percent: 50}}\n"
        "extensions:\n- {student: ada, days: 2}\n- {student: ada, until: 2026-01-02, checkpoint: 01_map}\n"
    )
    rules, due = read_rules(tmp_path), datetime(2026, 1, 1)
    assert rules.due("01_map", "ada", due) == datetime(2026, 1, 3) and rules.due("01_map", "bob", due) == due
    assert rules.table("01_map") == Table(5, 50) and rules.table("02_timing") == Table(5, 10)


@pytest.fixture(scope="module")
def marked(tmp_path_factory):
    return make_class(tmp_path_factory.mktemp("tools"))


@pytest.mark.slow
def test_late_rules_through_ours_and_through_stock_nbgrader(marked, capsys):
    project, course = marked
    release(course, LESSON, dates.utc("2026-03-01 12:30 UTC"))
    rules = course.root / "late.yaml"
    assert course.config.AssignLatePenalties.plugin_class == f"grader.late_plugin.{LateRules.__name__}"
    before = sum(mark.points for mark in cell_marks(course, LESSON)["bob"].values())
    assert before > 2

    def late() -> str:
        assert main(["late", LESSON, "--dir", str(course.root)]) == 0
        return capsys.readouterr().out

    assert "0 change, 0 lose" in late()
    rules.write_text("per_day_percent: 50\nextensions: [{student: cyd, days: 2}]\n")
    said = late()  # bob one day, cyd within her extension, dee has no points to lose
    assert f"bob: 0 -> {format_points(before / 2)} points taken" in said and "1 change, 1 lose points" in said
    autograde(course, LESSON, ["bob"], How(again=True), say=lambda line: None)
    assert "0 change, 1 lose" in late()
    rules.write_text("per_day_percent: 20\nextensions: [{student: cyd, days: 2}]\n")
    exporter = ExportApp(config=Course(course.root).config)
    exporter.init_plugin()  # what `nbgrader export` calls
    exporter.plugin_inst.to, exporter.plugin_inst.student = str(course.root / "stock.csv"), ["bob"]
    with course.gradebook as gradebook:
        exporter.plugin_inst.export(gradebook)
    (row,) = csv.DictReader((course.root / "stock.csv").open(encoding="utf-8"))
    assert row["student_id"] == "bob" and float(row["late_submission_penalty"]) == pytest.approx(before * 0.2)
    rules.write_text("per_day_percent: 10\ngrace_minutes: 0\nextensions: []\n")
    stock(course, LESSON, "bob")
    assert "cyd: 0 -> " in (said := late()) and "bob" not in said
    rules.write_text("per_day_percent: ten\n")
    assert main(["late", LESSON, "--dir", str(course.root)]) == 1
    assert "per_day_percent: 'ten'" in capsys.readouterr().out
    with pytest.raises(ProjectError, match="'ten'"):
        autograde(course, LESSON, how=How(again=True), say=lambda line: None)
    rules.unlink()
    assert "bob: " in late()

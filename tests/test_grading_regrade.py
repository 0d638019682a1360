"""Marking again: what changed is named, nothing is written before it was shown, manual marks stay."""

from __future__ import annotations

import csv
import time
from datetime import datetime

import nbformat
import pytest
import yaml
from nbgrader.apps import ExportApp
from traitlets.config import Config

from course.units import format_points
from grader import dates
from grader.autograding import How, autograde
from grader.commands import main
from grader.course import Course
from grader.late_plugin import LateRules
from grader.late_rules import Rules, Table, course_zone, penalty, read_rules
from grader.marking import fingerprints
from grader.marking.step import STATE
from grader.marks import CellMark, cell_marks
from grader.pipeline import release
from grader.project import ProjectError
from grader.regrading.differences import NEW, NOTHING, PAPER, UNKNOWN, changes, of_ours, why
from grader.task import tasks
from tests.graded_class import PUPILS, make_class
from tests.grading_class import stock
from tests.grading_fixtures import LESSON, NOTEBOOK

PROGRAM = {"code": "c", "versions": "Python 3"}
PRINT = {"points": 2.0, "key": "k", "words": "w"}


def test_the_cause_of_a_change_is_named():
    before = {"q": PRINT, "program": PROGRAM}
    assert why("q", before, {"q": PRINT | {"key": "x"}, "program": PROGRAM}) == "its key"
    assert (
        why(
            "t",
            {"t": PRINT | {"words": ""}, "program": PROGRAM},
            {"t": PRINT | {"key": "x", "words": ""}, "program": PROGRAM},
        )
        == "its hidden test"
    )
    assert why("q", before, {"q": PRINT | {"points": 3.0}, "program": PROGRAM}) == "its points: 2 -> 3"
    assert why("q", before, {"q": PRINT, "program": PROGRAM | {"code": "d"}}) == "the code that marks"
    assert "Python 3 -> Python 4" in why("q", before, {"q": PRINT, "program": PROGRAM | {"versions": "Python 4"}})
    assert why("q", before, before) == NOTHING
    assert why("q", {}, before) == UNKNOWN
    assert why("r", before, {**before, "r": PRINT}) == NEW
    assert why("q", before, {"q": PRINT | {"key": "x"}, "program": PROGRAM}, key=PAPER) == PAPER
    assert "handed in since" in why("q", before, before, same_submission=False)


def test_only_what_differs_is_a_change_and_words_alone_change_nobody():
    before, now = (
        {"q": PRINT, "r": PRINT, "program": PROGRAM},
        {"q": PRINT, "r": PRINT | {"words": "x"}, "program": PROGRAM},
    )
    old = {"q": CellMark(1.0, manual=2.0, top=2.0), "r": CellMark(2.0, top=2.0)}
    (found,) = changes("ada", old, {"q": 0.5, "r": 2.0}, before, now)
    assert (found.cell, found.old, found.new, found.manual, found.why) == ("q", 1.0, 0.5, 2.0, NOTHING)
    assert of_ours(before, now) == ["r: only its words or explanations"]


def test_the_fingerprint_of_a_task_follows_its_helpers_and_nothing_else(tmp_path):
    from grader.project import Project

    path = Project(tmp_path).task_module(LESSON)
    path.parent.mkdir(parents=True)
    text = (
        "from grader.task import Case, Part, Task\n\nLEAST = 2\n\n\ndef helper(n):\n    return n + LEAST\n\n\n"
        "def other(n):\n    return n\n\n\ndef cases(rng):\n    return [Case('all', (1,))]\n\n\n"
        "TASKS = [Task(id='90-t-a', name='a', cases=cases, reference=helper, parts={'all': Part(1, 'why')}),\n"
        "         Task(id='90-t-b', name='b', cases=cases, reference=other, parts={'all': Part(1, 'why')})]\n"
    )

    def prints(text, seconds):
        import os

        path.write_text(text)
        os.utime(path, (seconds, seconds))
        return {name: fingerprints.of_task(task) for name, task in tasks(Project(tmp_path), LESSON).items()}

    first = prints(text, 1)
    assert prints(text.replace("LEAST = 2", "LEAST = 2  # a comment"), 2) == first
    second = prints(text.replace("LEAST = 2", "LEAST = 3"), 3)
    assert second["90-t-a"] != first["90-t-a"] and second["90-t-b"] == first["90-t-b"]
    third = prints(text.replace("    return n\n", "    return -n\n"), 4)
    assert third["90-t-a"] == first["90-t-a"] and third["90-t-b"] != first["90-t-b"]


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


def edit(path, change):
    data = yaml.safe_load(path.read_text())
    change(data)
    path.write_text(yaml.safe_dump(data, allow_unicode=True))


@pytest.mark.slow
def test_regrade_shows_then_writes_exactly_that(marked, capsys):
    from grader.regrading.run import diff, write

    project, course = marked
    first = cell_marks(course, LESSON)
    with course.gradebook as gradebook:
        grade = gradebook.find_grade("90-c-single", NOTEBOOK, LESSON, "bob")
        grade.manual_score = 1.5
        gradebook.db.commit()
    with pytest.raises(ProjectError, match="waiting"):
        write(course, LESSON)
    quiet = diff(course, LESSON)
    assert (
        quiet.changes == [] and quiet.ours == [] and quiet.manual == [("bob", "90-c-single", 1.5)] and quiet.marked == 4
    )
    edit(project.keys(LESSON), lambda keys: keys["90-c-single"].update(correct=["a"]))
    edit(project.checkpoint_items(LESSON), lambda items: items[1].update(points=4))
    module = project.task_module(LESSON)
    module.write_text(module.read_text().replace("/ (high + low)", "/ (high + low) if low else 7"))
    found = diff(course, LESSON)
    assert cell_marks(course, LESSON)["ada"] == first["ada"]  # nothing is written yet
    rows = {(c.student, c.cell): (c.old, c.new, c.why) for c in found.changes}
    assert rows[("ada", "90-c-single")] == (2.0, 0.0, "its key")
    assert rows[("cyd", "90-c-single")] == (0.0, 2.0, "its key")
    assert rows[("ada", "90-c-multiple")] == (2.0, 4.0, "its points: 2 -> 4")
    assert rows[("ada", "90-t-contrast")] == (3.0, 2.0, "its hidden test")
    assert ("dee", "90-c-single") not in rows and ("ada", "90-t-report") not in rows
    path = course.root / "submitted" / "dee" / LESSON / "note.txt"
    path.write_text("later")
    with pytest.raises(ProjectError, match=": dee"):
        write(course, LESSON)
    path.unlink()
    assert write(course, LESSON) == [student.name for student in PUPILS]
    now = cell_marks(course, LESSON)
    assert now["ada"]["90-c-multiple"] == CellMark(4.0, None, 4.0) and now["ada"]["90-t-contrast"].auto == 2.0
    assert (now["bob"]["90-c-single"].auto, now["bob"]["90-c-single"].points) == (0.0, 1.5)
    stock(course, LESSON, "ada")  # stock nbgrader marks with the new points, too
    assert cell_marks(course, LESSON)["ada"] == now["ada"]
    again = diff(course, LESSON)
    assert again.changes == [] and again.ours == []
    edit(project.keys(LESSON), lambda keys: keys["90-c-single"].update(correct=["b"]))
    with pytest.raises(ProjectError, match="changed"):
        write(course, LESSON)
    capsys.readouterr()
    assert main(["regrade", LESSON, "--dir", str(course.root), "--jobs", "1"]) == 0
    said = capsys.readouterr().out
    assert "cyd  90-c-single  2/2 -> 0/2  its key" in said and "(the manual mark 1.5 stays and counts)" in said
    assert f"python -m grader regrade {LESSON} --write" in said


@pytest.mark.slow
def test_a_mark_that_changes_by_itself_is_shown_as_such(marked):
    from grader.regrading.run import diff

    project, course = marked
    autograde(course, LESSON, ["ada"], How(again=True), say=lambda line: None)
    with course.gradebook as gradebook:
        gradebook.find_grade("90-t-report", NOTEBOOK, LESSON, "ada").auto_score = 1.0
        gradebook.db.commit()
    (change,) = [c for c in diff(course, LESSON).changes if c.student == "ada"]
    assert (change.cell, change.old, change.new, change.why) == ("90-t-report", 1.0, 3.0, NOTHING)
    notebook = nbformat.read(course.autograded("ada", LESSON), as_version=4)
    assert notebook.metadata[STATE]["verdicts"]["90-t-contrast"]["parts"] == {"typical": 2.0, "edge": 0.0}
    autograde(course, LESSON, how=How(again=True), say=lambda line: None)


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

"""Releasing again after the questions changed: nothing is lost, nobody is marked down unasked, and there is a way back."""

from __future__ import annotations

import csv
import json
import shutil

import nbformat
import pytest
import yaml

from grader.authoring.build import checkpoint_notebook
from grader.authoring.lint import lint
from grader.autograding import How, autograde
from grader.commands import main
from grader.course import Course
from grader.marks import totals
from grader.pipeline import feedback, outcomes
from grader.project import Project
from grader.regrading.run import diff, write
from grader.reporting.collect import gather
from grader.reporting.numbers import analyse
from grader.reporting.page import page
from grader.reporting.words import teach_again
from tests.graded_class import make_class
from tests.grading_class import rows
from tests.grading_fixtures import ITEMS, KEYS, LESSON, NOTEBOOK, both
from tests.sources import question

pytestmark = pytest.mark.slow
NEW = "90-c-new"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("release")
    make_class(folder)
    return folder


@pytest.fixture
def made(whole, tmp_path):
    """The project and the class, copies of their own."""
    place = tmp_path / "all"
    shutil.copytree(whole, place)
    config = place / "class" / "nbgrader_config.py"
    config.write_text(config.read_text(encoding="utf-8").replace(str(whole), str(place)), encoding="utf-8")
    return Project(place / "project"), Course(place / "class")


def change(project, drop: str | None = None) -> None:
    """One question more, worth 3 points; drop: one less."""
    item = {**ITEMS[0], "id": NEW, "points": 3, "stem": both("Which letter is third?", "哪个字母排第三？")}
    items = [one for one in [*ITEMS, item] if one["id"] != drop]
    keys = {**KEYS, NEW: {**KEYS["90-c-single"], "correct": ["c"], "misconception": {"a": "x", "b": "x"}}}
    project.checkpoint_items(LESSON).write_text(yaml.safe_dump(items, allow_unicode=True), encoding="utf-8")
    project.keys(LESSON).write_text(
        yaml.safe_dump({k: v for k, v in keys.items() if k != drop}, allow_unicode=True), encoding="utf-8"
    )
    source = project.checkpoint_source(LESSON)
    text = source.read_text(encoding="utf-8").replace(question("90-c-order"), question("90-c-order") + question(NEW))
    source.write_text(text.replace(question(drop or ""), ""), encoding="utf-8")


def released(course) -> dict[str, float]:
    notebook = nbformat.read(course.root / "release" / LESSON / f"{NOTEBOOK}.ipynb", as_version=4)
    return {
        cell.metadata.nbgrader.grade_id: cell.metadata.nbgrader.points
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("grade")
    }


def files(course) -> dict:
    return {
        path: path.read_bytes()
        for name in ("source", "release", "exchange", "releases")
        for path in sorted((course.root / name).rglob("*"))
        if path.is_file()
    }


def release(course, capsys, *words) -> tuple[int, str]:
    status = main(["release", LESSON, "--dir", str(course.root), *words])
    return status, capsys.readouterr().out


def test_a_new_question_is_refused_with_the_choices_and_nothing_is_touched(made, capsys):
    project, course = made
    change(project)
    before, marks = files(course), rows(course.root)
    status, said = release(course, capsys)
    assert status == 1 and NEW in said and all(f"--added {word}" in said for word in ("nobody", "from-now", "all"))
    assert files(course) == before and rows(course.root) == marks


def test_a_release_that_fails_half_way_leaves_all_as_it_was(made, capsys, monkeypatch):
    project, course = made
    change(project, drop="90-c-order")
    before, marks = files(course), rows(course.root)

    def fail(course, lesson):
        return {"success": False, "log": "OSError: the exchange is gone", "error": None}

    monkeypatch.setattr("grader.releasing.run._hand_out", fail)
    status, said = release(course, capsys, "--added", "all", "--removed", "drop")
    assert status == 1 and "the exchange is gone" in said
    assert files(course) == before and rows(course.root) == marks


def test_a_question_for_nobody_is_worth_nothing_also_when_marked_again(made, capsys):
    project, course = made
    change(project)
    before = totals(course, LESSON)
    assert release(course, capsys, "--added", "nobody")[0] == 0
    assert released(course)[NEW] == 0 and totals(course, LESSON) == before
    diff(course, LESSON, How(jobs=1), lambda line: None)
    write(course, LESSON)
    assert totals(course, LESSON) == before
    assert f"`{NEW}`" not in str(teach_again(analyse(gather(course, LESSON)))), "it has no share of points"
    assert release(course, capsys)[0] == 0 and released(course)[NEW] == 0, "releasing once more keeps the decision"


def test_from_now_who_handed_in_before_gets_the_points_and_the_next_one_is_marked(made, capsys):
    project, course = made
    before = totals(course, LESSON).points
    change(project)
    ada, late = (course.root / "submitted" / name / LESSON for name in ("ada", "eve"))
    assert release(course, capsys, "--added", "from-now")[0] == 0
    late.mkdir(parents=True)
    for path in ada.iterdir():  # without the new question, after the release: it is marked
        (late / path.name).write_bytes(path.read_bytes().replace(b"def contrast", b"# eve\\ndef contrast"))
    autograde(course, LESSON, how=How(jobs=1), say=lambda line: None)
    found = totals(course, LESSON)
    assert found.points == {**{name: points + 3 for name, points in before.items()}, "eve": 13.0} and found.top == 16
    assert analyse(gather(course, LESSON))["unasked"] == [NEW]
    (course.root / "gradebook.db").unlink()
    assert "full points as before" in release(Course(course.root), capsys)[1]
    marked = autograde(Course(course.root), LESSON, how=How(jobs=1), say=lambda line: None)
    assert totals(course, LESSON).points == found.points
    for one in marked:
        assert one.reason == "" and one.noted == ("later",) and f"`{NEW}`" in one.problems[0]
    with Course(course.root).gradebook as gradebook:
        asked = [one["student"] for one in gradebook.submission_dicts(LESSON) if one["needs_manual_grade"]]
    assert asked == [], "formgrader lists nobody"
    numbers = analyse(gather(course, LESSON))
    assert numbers["unasked"] == [NEW] and NEW not in str(teach_again(numbers)) and NEW in page(numbers)
    assert feedback(course, LESSON, lambda line: None) == []
    pages = {
        name: (course.root / "feedback" / name / LESSON / f"{NOTEBOOK}.html").read_text(encoding="utf-8")
        for name in ("ada", "eve")
    }
    assert "✓ came after you handed in: full points" in pages["ada"] and "not attempted (" not in pages["ada"]
    assert "– not attempted (not in the release that your copy is of)" in pages["eve"]
    assert not any("put back" in one or "marked by hand" in one for one in pages.values())


def test_for_all_there_is_no_grade_until_it_is_marked_again(made, capsys):
    project, course = made
    change(project)
    before = totals(course, LESSON).points
    status, said = release(course, capsys, "--added", "all")
    assert status == 0 and "regrade" in said and set(totals(course, LESSON).points.values()) == {None}
    found = diff(course, LESSON, How(jobs=1), lambda line: None)
    assert {change.cell for change in found.changes} == {NEW}
    write(course, LESSON)
    assert totals(course, LESSON).points == before and totals(course, LESSON).top == 16
    assert {one.top for one in outcomes(course, LESSON)} == {16}


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "**13 points**: four questions (2, 2, 1 and 2 points), two code tasks (3 points each)."),
        ("zh", "**共 13 分**：四道题（2、2、1、2 分），两个编程任务（各 3 分）。"),
    ],
)
def test_the_points_in_the_text_come_from_the_data(made, language, said):
    project, _ = made
    source = project.checkpoint_source(LESSON)
    text = source.read_text(encoding="utf-8")
    source.write_text(
        text.replace("## Count and sort", "## {{worth}}").replace("## 数一数，排一排", "## {{worth}}"), encoding="utf-8"
    )
    assert said in checkpoint_notebook(project, LESSON, language).cells[4].source
    source.write_text(
        text.replace("Count and sort", "13 points").replace("数一数，排一排", "共 13 分"), encoding="utf-8"
    )
    found = lint(project)
    assert (
        [one.rule for one in found] == ["points-typed"] * 2 and "'13 points'" in found[0] and "'共 13 分'" in found[1]
    )


def test_what_goes_has_to_be_said_and_its_marks_are_kept_and_it_can_come_again(made, capsys):
    project, course = made
    with course.gradebook as gradebook:
        gradebook.find_grade("90-c-order", NOTEBOOK, LESSON, "bob").manual_score = 1.5
        gradebook.db.commit()
    before, marks = released(course), totals(course, LESSON).points
    change(project, drop="90-c-order")
    assert release(course, capsys, "--added", "from-now")[0] == 1, "that one goes has to be said, too"
    assert release(course, capsys, "--added", "from-now", "--removed", "drop")[0] == 0
    assert released(course).keys() ^ before.keys() == {NEW, "90-c-order"}
    (saved,) = json.loads((course.root / "releases" / LESSON / "1" / "was.json").read_text())["marks"]["grades"]
    assert saved["name"] == "90-c-order" and saved["rows"]["bob"]["manual_score"] == 1.5
    change(project)
    assert release(course, capsys, "--added", "all")[0] == 0
    found = autograde(course, LESSON, how=How(jobs=1, again=True), say=lambda line: None)
    assert released(course).keys() - before.keys() == {NEW}
    assert all(one.points >= marks[one.student] - 1.5 for one in found)


def test_nothing_handed_in_is_no_zero_and_no_date_hands_out_no_answers(made, capsys):
    project, course = made
    with course.gradebook as gradebook:
        gradebook.update_or_create_student("fay", last_name="Ray")
    assert main(["export", "--dir", str(course.root)]) == 0
    table = {row["student_id"]: row for row in csv.DictReader((course.root / "grades.csv").open(encoding="utf-8"))}
    assert table["fay"]["score"] == table["fay"]["raw_score"] == "" and table["dee"]["score"] == "0.0"
    capsys.readouterr()
    assert main(["feedback", LESSON, "--dir", str(course.root)]) == 1
    assert "no due date is set" in capsys.readouterr().out and not (course.root / "feedback" / "ada").exists()
    assert release(course, capsys, "--due", "2026-01-02 12:00 UTC")[1].count("c.Exchange.root") == 1
    assert main(["feedback", LESSON, "--dir", str(course.root)]) == 0

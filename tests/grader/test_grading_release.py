"""Releasing again: after a hand-in the questions are fixed, words, keys and points are not; a release that fails changes nothing. And
a checkpoint of an instructor's own, with a text marked by hand in it.
"""

from __future__ import annotations

import csv
import json
import shutil

import nbformat
import pytest
import yaml

from course.learning.sheet import MIME
from grader.authoring.question_check import YOURS
from grader.authoring.scaffold import new_checkpoint
from grader.cli import main
from grader.course import Course, init
from grader.course.marks import cell_marks
from grader.marking.autograde import How, autograde
from grader.marking.step import grade_id
from grader.project import Project
from grader.reporting.export import final_points
from grader.reporting.give_out import feedback
from grader.reporting.report import figures
from tests.support.grading_class import make_class, rows, stock
from tests.support.grading_fixtures import ITEMS, KEYS, LESSON, NOTEBOOK, both, make_project
from tests.support.sources import question

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


def change(project, drop: str) -> None:
    """One question more, and one less."""
    item = {**ITEMS[0], "id": NEW, "points": 3, "stem": both("Which letter is third?", "哪个字母排第三？")}
    keys = {**KEYS, NEW: {**KEYS["90-c-single"], "correct": ["c"], "misconception": {"a": "x", "b": "x"}}}
    del keys[drop]
    project.checkpoint_items(LESSON).write_text(yaml.safe_dump([one for one in [*ITEMS, item] if one["id"] != drop]))
    project.keys(LESSON).write_text(yaml.safe_dump(keys))
    source = project.checkpoint_source(LESSON)
    source.write_text(source.read_text("utf-8").replace(question(drop), question(NEW)), encoding="utf-8")


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


def test_after_a_hand_in_no_question_comes_or_goes_and_nothing_is_touched(made, capsys):
    project, course = made
    before, marks = files(course), rows(course.root)
    change(project, drop="90-c-order")
    status, said = release(course, capsys)
    assert status == 1 and f"new: {NEW}" in said and "gone: 90-c-order" in said and "4 have handed in" in said
    assert files(course) == before and rows(course.root) == marks


def test_before_anybody_handed_in_questions_come_and_go(made, capsys):
    project, course = made
    shutil.rmtree(course.root / "submitted")
    with course.gradebook as gradebook:
        for name in ("ada", "bob", "cyd", "dee"):
            gradebook.remove_student(name)
    change(project, drop="90-c-order")
    assert release(course, capsys)[0] == 0
    notebook = nbformat.read(course.root / "release" / LESSON / f"{NOTEBOOK}.ipynb", as_version=4)
    graded = {grade_id(cell) for cell in notebook.cells}
    assert NEW in graded and "90-c-order" not in graded


def test_nothing_handed_in_is_no_zero(made):
    project, course = made
    with course.gradebook as gradebook:
        gradebook.update_or_create_student("fay", last_name="Ray")
    assert main(["export", "--dir", str(course.root)]) == 0
    table = {row["student_id"]: row for row in csv.DictReader((course.root / "grades.csv").open(encoding="utf-8"))}
    assert table["fay"]["score"] == table["fay"]["raw_score"] == "" and table["dee"]["score"] == "0.0"


def test_marking_again_names_each_mark_that_differs_and_keeps_the_old_gradebook(made, capsys):
    """Also under stock nbgrader afterwards; a question of which all options are right gives everybody who answered it its points."""
    project, course = made
    words = ["autograde", LESSON, "--again", "--jobs", "1", "--dir", str(course.root)]
    first = cell_marks(course, LESSON)
    with course.gradebook as gradebook:
        gradebook.find_grade("90-c-single", NOTEBOOK, LESSON, "bob").manual_score = 1.5
        gradebook.db.commit()
    assert main(words) == 0 and "marks that differ: 0" in capsys.readouterr().out
    keys = {**KEYS, "90-c-single": {**KEYS["90-c-single"], "correct": ["a", "b", "c"]}}
    project.keys(LESSON).write_text(yaml.safe_dump(keys))
    project.checkpoint_items(LESSON).write_text(yaml.safe_dump([ITEMS[0], {**ITEMS[1], "points": 4}, *ITEMS[2:]]))
    module = project.task_module(LESSON)
    module.write_text(module.read_text().replace("/ (high + low)", "/ (high + low) if low else 7"))
    assert main(["release", LESSON, "--dir", str(course.root)]) == 0
    assert "90-c-multiple (2 -> 4)" in capsys.readouterr().out
    for copy in course.root.glob("gradebook-*.db"):
        copy.unlink()
    assert main(words) == 0
    said = capsys.readouterr().out.splitlines()
    assert "cyd  90-c-single  0/2 -> 2/2" in said and "ada  90-c-multiple  2/4 -> 4/4" in said
    assert "ada  90-t-contrast  3/3 -> 2/3" in said
    assert not [line for line in said if line.startswith("dee  90-c-single") or "90-t-report" in line]
    now = cell_marks(course, LESSON)
    assert (now["bob"]["90-c-single"].auto, now["bob"]["90-c-single"].points) == (2.0, 1.5)
    stock(course, LESSON, "ada")
    assert cell_marks(course, LESSON) == now
    (copy,) = course.root.glob("gradebook-*.db")
    shutil.copy(copy, course.root / "gradebook.db")
    assert {name: cells["90-c-single"].auto for name, cells in cell_marks(Course(course.root), LESSON).items()} == {
        name: cells["90-c-single"].auto for name, cells in first.items()
    }


NAME = "50_our_cluster"
FILE = f"{NAME}_checkpoint"


@pytest.fixture
def course(tmp_path):
    init(tmp_path / "class", "zh", "own", project=make_project(tmp_path / "project"))
    return Course(tmp_path / "class")


def in_own_words(course):
    for path in course.project.own_folder(NAME).glob("*.*"):
        text = path.read_text(encoding="utf-8")
        for word in YOURS:
            text = text.replace(word, "Mine.")
        path.write_text(text, encoding="utf-8")


def test_what_is_made_passes_the_linter_and_is_released(course, capsys):
    words = ["author", "new-checkpoint", NAME, "--dir", str(course.root)]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert said.count("still the template's words") == 3 and "nothing to mend" not in said
    assert main(["release", NAME, "--dir", str(course.root)]) == 1 and not (course.root / "release" / NAME).exists()
    assert "keys.yaml:3: line 3, 4, 8, 9" in capsys.readouterr().out
    in_own_words(course)
    assert main(["release", NAME, "--dir", str(course.root)]) == 0
    notebook = nbformat.read(course.root / "release" / NAME / f"{FILE}.ipynb", as_version=4)
    text = "\n".join(cell.source for cell in notebook.cells)
    assert "共 14 分" in text and "在这里写你的回答" in text and "points" not in text
    assert "return sum(values)" not in text and len(notebook.metadata.course.questions) == 3


@pytest.mark.parametrize(
    ("file", "before", "after", "said"),
    [
        ("checkpoint.yaml", "concept: first", "concept: First_call", "checkpoint.yaml:1: 50-c-first: field concept"),
        ("checkpoint.yaml", "options:", "options", "checkpoint.yaml:8: this is not valid YAML"),
        ("checkpoint.md", "50-c-second", "50-c-secnd", "50-c-secnd"),
        ("keys.yaml", "correct: [a]", "correct: [q]", "keys.yaml:1: 50-c-first: field correct: q is not an option"),
        ("keys.yaml", "ceil(images / batch)", "ceil(images / bach)", "'bach'"),
        ("keys.yaml", "range(0, images, batch)", "range(0, images, 2 * batch)", "keys.yaml:11: "),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line_and_not_released(course, capsys, file, before, after, said):
    place, problems = new_checkpoint(course.project, NAME, "zh")
    assert {one.rule for one in problems} == {"template-words"}
    text = (place / file).read_text("utf-8")
    assert before in text
    (place / file).write_text(text.replace(before, after, 1), "utf-8")
    assert main(["author", "new-checkpoint", NAME, "--dir", str(course.root)]) == 1
    assert said in capsys.readouterr().out
    assert main(["release", NAME, "--dir", str(course.root)]) == 1 and not (course.root / "release" / NAME).exists()


def hand_in(course, student, cells):
    """Put a submission with two answers in place. cells: grade id -> what the student wrote there."""
    folder = course.root / "submitted" / student / NAME
    folder.mkdir(parents=True)
    notebook = nbformat.read(course.root / "release" / NAME / f"{FILE}.ipynb", as_version=4)
    for cell in notebook.cells:
        cell.source = cells.get(grade_id(cell), cell.source)
    (folder / f"{FILE}.ipynb").write_text(nbformat.writes(notebook), encoding="utf-8")
    answer = {"options": ["a"], "number": None, "confidence": None, "time": "2026-01-01T10:00:00.000Z"}
    answers = {f"50-c-{one}": answer for one in ("first", "second") if "50-t-sum-answer" in cells}
    (folder / f"{NAME}.answers.json").write_text(json.dumps({"schema": 1, "checkpoint": NAME, "answers": answers}))


def test_a_text_is_marked_by_hand_and_the_mark_survives(course):
    main(["author", "new-checkpoint", NAME, "--dir", str(course.root)])
    in_own_words(course)
    main(["release", NAME, "--dir", str(course.root)])
    code, text = "def total_of(values):\n    return sum(values)", "Because I measured it."
    hand_in(course, "ada", {"50-t-sum-answer": code, "50-e-why": text})
    hand_in(course, "bob", {"50-t-sum-answer": code})
    hand_in(course, "cyd", {"50-e-why": text})
    hand_in(course, "dee", {})
    found = {one.student: one for one in autograde(course, NAME, how=How(jobs=1), say=lambda line: None)}
    assert found["ada"].reason == "by-hand" and "50-e-why" in found["ada"].problems[0]
    assert final_points(course, NAME) == {"ada": None, "bob": 8.0, "cyd": None, "dee": 0.0}, (
        "an untouched text is worth nothing, one nobody read has no grade"
    )
    with course.gradebook as gradebook:
        assert not gradebook.find_grade("50-t-sum", FILE, NAME, "ada").needs_manual_grade
        for student, points in (("ada", 3.0), ("cyd", 0.0)):
            grade = gradebook.find_grade("50-e-why", FILE, NAME, student)
            assert grade.needs_manual_grade
            grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.db.commit()
    for again in (False, True):
        autograde(course, NAME, how=How(jobs=1, again=again), say=lambda line: None)
        assert final_points(course, NAME) == {"ada": 11.0, "bob": 8.0, "cyd": 0.0, "dee": 0.0}
    assert figures(course, NAME)["counted"] == 4
    assert feedback(course, NAME, lambda line: None) == []
    page = (course.root / "feedback" / "ada" / NAME / f"{FILE}.html").read_text(encoding="utf-8")
    assert text in page and ">3 / 4<" in page and MIME not in page
    assert f"<code>{NAME}</code>" not in page, "the kernel that marks knows the questions of an own checkpoint"

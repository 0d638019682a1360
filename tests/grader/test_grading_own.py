"""A checkpoint of an instructor's own lies in the course directory: one language or two, a text marked by hand in it."""

from __future__ import annotations

import json

import nbformat
import pytest

from course.learning.sheet import MIME
from grader.authoring.question_check import YOURS
from grader.authoring.scaffold import new_checkpoint
from grader.cli import main
from grader.course import Course, init
from grader.course.marks import totals
from grader.marking.autograde import How, autograde
from grader.marking.step import grade_id
from grader.reporting.give_out import feedback
from grader.reporting.report import figures
from tests.support.grading_fixtures import make_project

pytestmark = pytest.mark.slow
NAME = "50_our_cluster"
FILE = f"{NAME}_checkpoint"


@pytest.fixture
def course(tmp_path):
    init(tmp_path / "class", "zh", "own", project=make_project(tmp_path / "project"))
    return Course(tmp_path / "class")


def own_files(course, language="zh"):
    place, problems = new_checkpoint(course.project, NAME, (language,))
    assert problems == []
    return place, place / "checkpoint.yaml", place / "keys.yaml"


def changed(path, *pairs):
    text = path.read_text(encoding="utf-8")
    for before, after in pairs:
        assert before in text
        text = text.replace(before, after, 1)
    path.write_text(text, encoding="utf-8")


def in_own_words(course):
    for path in course.project.own_folder(NAME).glob("*.*"):
        text = path.read_text(encoding="utf-8")
        for word in YOURS:
            text = text.replace(word, "Mine.")
        path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("language", ["en", "both"])
def test_what_is_made_passes_the_linter_and_is_released(course, capsys, language):
    words = ["author", "new-checkpoint", NAME, "--dir", str(course.root), "--language", language]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert said.count("STILL THE TEMPLATE'S WORDS") == 3 and "nothing to mend" not in said
    assert main(["release", NAME, "--dir", str(course.root)]) == 1 and not (course.root / "release" / NAME).exists()
    assert "keys.yaml, line 3, 4, 8, 9" in capsys.readouterr().out
    in_own_words(course)
    assert main(["release", NAME, "--dir", str(course.root)]) == 0
    notebook = nbformat.read(course.root / "release" / NAME / f"{FILE}.ipynb", as_version=4)
    text = "\n".join(cell.source for cell in notebook.cells)
    assert ("共 14 分" in text) == (language != "en") and ("**14 points**" in text) == (language == "en")
    assert "return sum(values)" not in text and len(notebook.metadata.course.questions) == 3
    assert "在这里写你的回答" in text or language == "en"


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
    place = own_files(course)[0]
    changed(place / file, (before, after))
    assert main(["author", "new-checkpoint", NAME, "--dir", str(course.root), "--language", "zh"]) == 1
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
    main(["author", "new-checkpoint", NAME, "--dir", str(course.root), "--language", "both"])
    in_own_words(course)
    main(["release", NAME, "--dir", str(course.root)])
    code, text = "def total_of(values):\n    return sum(values)", "Because I measured it."
    hand_in(course, "ada", {"50-t-sum-answer": code, "50-e-why": text})
    hand_in(course, "bob", {"50-t-sum-answer": code})
    hand_in(course, "cyd", {"50-e-why": text})
    hand_in(course, "dee", {})
    found = {one.student: one for one in autograde(course, NAME, how=How(jobs=1), say=lambda line: None)}
    assert found["ada"].reason == "by-hand" and "50-e-why" in found["ada"].problems[0]
    assert totals(course, NAME).points == {"ada": None, "bob": 8.0, "cyd": None, "dee": 0.0}, (
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
        assert totals(course, NAME).points == {"ada": 11.0, "bob": 8.0, "cyd": 0.0, "dee": 0.0}
    found = figures(course, NAME)
    assert found["blank"] == ["dee"] and found["totals"] == [11.0, 8.0, 0.0], "who wrote a text alone counts"
    assert feedback(course, NAME, lambda line: None) == []
    page = (course.root / "feedback" / "ada" / NAME / f"{FILE}.html").read_text(encoding="utf-8")
    assert text in page and "3 / 4 分" in page and MIME not in page
    assert f"<code>{NAME}</code>" not in page, "the kernel that marks knows the questions of an own checkpoint"

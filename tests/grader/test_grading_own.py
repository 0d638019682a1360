"""A checkpoint of an instructor's own lies in the course directory: one language or two, a text marked by hand in it."""

from __future__ import annotations

import json

import nbformat
import pytest

from course.learning.sheet import MIME
from grader.authoring.lint import lint
from grader.authoring.question_check import YOURS
from grader.authoring.scaffold import left_over, new_checkpoint
from grader.autograde.run import How, autograde
from grader.cli import main
from grader.course import Course, init
from grader.gradebook.marks import totals
from grader.marking.step import grade_id
from grader.project import Project, ProjectError
from grader.project.beliefs import known_beliefs
from grader.reporting.give_out import feedback
from grader.reporting.report import figures
from tests.support.grading_fixtures import make_project

pytestmark = pytest.mark.slow
NAME = "50_our_cluster"
FILE = f"{NAME}_checkpoint"
NAMES = ("50-c-first", "50-c-second", "50-c-draws")


@pytest.fixture
def course(tmp_path):
    init(tmp_path / "class", "zh", "own", project=make_project(tmp_path / "project"))
    return Course(tmp_path / "class")


@pytest.mark.parametrize("language", ["en", "zh", "both"])
def test_what_is_made_passes_the_linter_and_is_released(course, capsys, language):
    words = ["author", "new-checkpoint", NAME, "--dir", str(course.root), "--language", language]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert said.count("STILL THE TEMPLATE'S WORDS") == 3 and "nothing to mend" not in said
    assert f"change these lines before you release it, then run `python -m grader author new-checkpoint {NAME}" in said
    place, out = course.root / "checkpoints" / f"l{NAME}", course.root / "release" / NAME
    assert main(["release", NAME, "--dir", str(course.root)]) == 1 and not out.exists()
    said = capsys.readouterr().out
    assert "keys.yaml, line 3, 4, 8, 9" in said and f"release {NAME} --unfinished" in said
    assert main(["release", NAME, "--unfinished", "--dir", str(course.root)]) == 0
    assert "keys.yaml, line 3, 4, 8, 9" in capsys.readouterr().out
    notebook = nbformat.read(course.root / "release" / NAME / f"{FILE}.ipynb", as_version=4)
    text = "\n".join(cell.source for cell in notebook.cells)
    assert ("共 14 分" in text) == (language != "en") and ("**14 points**" in text) == (language == "en")
    assert "return sum(values)" not in text and len(notebook.metadata.course.questions) == 3
    assert {"en": "YOUR ANSWER HERE", "zh": "在这里写你的回答", "both": "在这里写你的回答"}[
        language
    ] in text or language == "en"
    items = place / "checkpoint.yaml"
    asked = items.read_text(encoding="utf-8")
    items.write_text(asked.replace("concept: first", "concept: First_call"), encoding="utf-8")
    assert main(words) == 1 and f"{NAME}/checkpoint.yaml:2: 50-c-first: field concept" in capsys.readouterr().out
    items.write_text(asked.replace("options:", "options", 1), encoding="utf-8")
    assert main(words) == 1 and f"{NAME}/checkpoint.yaml:8: this is not valid YAML" in capsys.readouterr().out
    items.write_bytes(asked.encode("utf-16"))
    assert main(words) == 1 and f"{NAME}/checkpoint.yaml: this is not UTF-8" in capsys.readouterr().out
    items.write_text(asked, encoding="utf-8")
    source = place / "checkpoint.md"
    source.write_text(source.read_text(encoding="utf-8").replace("50-c-second", "50-c-secnd"), encoding="utf-8")
    assert main(words) == 1 and "50-c-secnd" in capsys.readouterr().out
    assert main(["release", NAME, "--dir", str(course.root)]) == 1 and "mend this first" in capsys.readouterr().out


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


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_course_in_one_language_is_asked_for_one_and_a_trap_may_be_a_sentence(course, language):
    place, items, keys = own_files(course, language)
    assert "zh:" not in items.read_text("utf-8") and "en:" not in keys.read_text("utf-8")
    changed(
        keys, ({"en": "the last small batch is dropped", "zh": "最后那个小 batch 会被丢掉"}[language], "my-own-idea")
    )
    told = new_checkpoint(course.project, NAME, (language,))[1]
    assert [one.rule for one in told] == ["unknown-misconception"] and "keys.yaml:15: 50-c-draws" in told[0]
    (course.project.own / "misconceptions.yaml").write_text("my-own-idea: 我自己的说法\n", encoding="utf-8")
    assert new_checkpoint(course.project, NAME, (language,))[1] == []
    assert known_beliefs(course.project)["my-own-idea"] == "我自己的说法"
    shared = course.project.learner_folder / "misconceptions.yaml"
    shared.write_text('my-own-idea: {en: "An idea.", zh: "一个说法。"}\n', encoding="utf-8")
    with pytest.raises(ProjectError, match="my-own-idea is the id of one of the course's"):
        known_beliefs(course.project)


def test_everything_wrong_is_said_at_once_with_file_and_line(course):
    place, items, keys = own_files(course)
    changed(items, ("kind: single", "kind: cruel"), ("batch: [24", "batch: [x"), ("concept: second", "concept: X"))
    changed(keys, ("50-c-first:", "50-c-furst:"))
    told = new_checkpoint(course.project, NAME, ("zh",))[1]
    assert len(told) >= 3 and all("checkpoint.yaml:" in one or "keys.yaml:" in one for one in told)
    assert {"50-c-first", "50-c-second", "50-c-draws"} <= {name for one in told for name in NAMES if name in one}
    changed(items, ("kind: cruel", "kind: single"), ("batch: [x", "batch: [24"), ("concept: X", "concept: second"))
    changed(keys, ("50-c-furst:", "50-c-first:"), ('value: "ceil(images / batch)"', 'value: "ceil(images / bach)"'))
    changed(keys, ("range(0, images, batch)", "range(0, images, 2 * batch)"), ("correct: [a]", "correct: [q]"))
    told = "\n".join(new_checkpoint(course.project, NAME, ("zh",))[1])
    assert "keys.yaml:2: 50-c-first: field correct: q is not an option" in told and "'bach'" in told
    changed(keys, ("/ bach)", "/ batch)"), ("correct: [q]", "correct: [a]"))
    told = new_checkpoint(course.project, NAME, ("zh",))[1]
    assert [one.rule for one in told] == ["verify"] and "keys.yaml:22: " in told[0]


def test_names_that_are_taken_or_none_are_refused(course, capsys):
    for name, said in (("90_mine", "has these digits already"), ("mine", "two digits"), ("50-x", "two digits")):
        assert (
            main(["author", "new-checkpoint", name, "--dir", str(course.root)]) == 1 and said in capsys.readouterr().out
        )
    assert not (course.root / "checkpoints").exists()
    assert [line for line in lint(Project()) if "checkpoints/l" in line] == []


def test_words_of_the_template_are_named_until_they_are_gone(course):
    place, left = new_checkpoint(course.project, NAME, ("en", "zh"))[0], left_over(course.project, NAME)
    assert [line.split(", line")[0].rsplit("/", 1)[1] for line in left] == [
        "checkpoint.md",
        "checkpoint.yaml",
        "keys.yaml",
    ]
    for path in place.glob("*.*"):
        text = path.read_text(encoding="utf-8")
        for word in YOURS:
            text = text.replace(word, "Mine.")
        path.write_text(text, encoding="utf-8")
    assert left_over(course.project, NAME) == [] and left_over(course.project, "90_fixture") == []
    assert main(["release", NAME, "--dir", str(course.root)]) == 0


CODE, TEXT = "def total_of(values):\n    return sum(values)", "Because I measured it."


def hand_in(course, student, cells, answered):
    """Put a submission in place. cells: grade id -> what the student wrote there; answered: two questions, too."""
    folder = course.root / "submitted" / student / NAME
    folder.mkdir(parents=True)
    notebook = nbformat.read(course.root / "release" / NAME / f"{FILE}.ipynb", as_version=4)
    for cell in notebook.cells:
        cell.source = cells.get(grade_id(cell), cell.source)
    (folder / f"{FILE}.ipynb").write_text(nbformat.writes(notebook), encoding="utf-8")
    answer = {"options": ["a"], "number": None, "confidence": None, "time": "2026-01-01T10:00:00.000Z"}
    answers = {f"50-c-{one}": answer for one in ("first", "second") if answered}
    (folder / f"{NAME}.answers.json").write_text(json.dumps({"schema": 1, "checkpoint": NAME, "answers": answers}))


def mark_text(course, student, points):
    with course.gradebook as gradebook:
        grade = gradebook.find_grade("50-e-why", FILE, NAME, student)
        grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.db.commit()


def test_who_answered_nothing_but_a_text_counts_in_the_report(course):
    main(["author", "new-checkpoint", NAME, "--dir", str(course.root)])
    main(["release", NAME, "--unfinished", "--dir", str(course.root)])
    for student in ("ada", "bob"):
        hand_in(course, student, {"50-e-why": TEXT}, answered=False)
    hand_in(course, "cyd", {}, answered=False)
    autograde(course, NAME, how=How(jobs=1), say=lambda line: None)
    for student, points in (("ada", 3.0), ("bob", 0.0)):
        mark_text(course, student, points)
    found = figures(course, NAME)
    assert found["blank"] == ["cyd"] and found["totals"] == [3.0, 0.0]


def test_a_text_is_marked_by_hand_and_the_mark_survives(course):
    main(["author", "new-checkpoint", NAME, "--dir", str(course.root), "--language", "both"])
    main(["release", NAME, "--unfinished", "--dir", str(course.root)])
    hand_in(course, "ada", {"50-t-sum-answer": CODE, "50-e-why": TEXT}, answered=True)
    hand_in(course, "bob", {"50-t-sum-answer": CODE}, answered=True)
    found = {one.student: one for one in autograde(course, NAME, how=How(jobs=1), say=lambda line: None)}
    assert found["ada"].reason == "by-hand" and "50-e-why" in found["ada"].problems[0]
    assert totals(course, NAME).points == {"ada": None, "bob": 8.0}, (
        "an untouched text is worth nothing, one nobody read has no grade"
    )
    with course.gradebook as gradebook:
        assert gradebook.find_grade("50-e-why", FILE, NAME, "ada").needs_manual_grade
        assert not gradebook.find_grade("50-t-sum", FILE, NAME, "ada").needs_manual_grade
    mark_text(course, "ada", 3.0)
    assert totals(course, NAME).points["ada"] == 11.0
    autograde(course, NAME, how=How(jobs=1, again=True), say=lambda line: None)
    assert totals(course, NAME).points == {"ada": 11.0, "bob": 8.0}
    with course.gradebook as gradebook:
        assert not gradebook.find_grade("50-e-why", FILE, NAME, "ada").needs_manual_grade
    assert feedback(course, NAME, lambda line: None) == []
    page = (course.root / "feedback" / "ada" / NAME / f"{FILE}.html").read_text(encoding="utf-8")
    assert "Because I measured it." in page and "3 / 4 分" in page and MIME not in page
    assert f"<code>{NAME}</code>" not in page, "the kernel that marks knows the questions of an own checkpoint"
    found = figures(course, NAME)
    assert found["top"] == 14 and found["totals"] == [11.0, 8.0], "the text counts on both sides"

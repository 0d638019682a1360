"""``author items``: every finding of a question file with its line, and nothing to say where all is well."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from course.core.catalog import BY_ID
from grader.authoring.question_check import TEMPLATE, check, places
from grader.cli import main
from grader.project import Project
from tests.conftest import ROOT

LESSON = "05_cudnn_benchmark"


@pytest.fixture
def project(tmp_path):
    """A copy of what the commands read, with two of the lessons."""
    others = [f"l{one}" for one in BY_ID if one not in (LESSON, "02_timing")]
    for folder in ("course/lessons", "grader/lessons"):
        left = shutil.ignore_patterns("__pycache__", "recordings", *others)
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=left)
    return Project(tmp_path)


def checked(project, path, *changes):
    """(finding, the text of the line it names) of a file after some replacements."""
    text = path.read_text("utf-8")
    for before, after in changes:
        assert before in text
        text = text.replace(before, after, 1)
    path.write_text(text, "utf-8")
    [place] = places(project, path)
    found = [(one, re.match(r"(.+?\.yaml):(\d+): ", one)) for one in check(project, *place, run=True, seeds=20)]
    rows = {match[1]: Path(match[1]).read_text("utf-8").split("\n") for _, match in found}
    return [(one, rows[match[1]][int(match[2]) - 1]) for one, match in found]


@pytest.fixture
def draft(project):
    """The template in the place of a lesson's questions."""
    return Path(shutil.copy(TEMPLATE, project.items(LESSON)))


def test_the_template_is_sound_but_for_its_words(project, draft):
    """Somebody who copies an entry and writes other words has a question; nothing of the template passes unseen."""
    found = checked(project, draft)
    assert [one.rule for one, _ in found] == ["template-words"]
    rows = draft.read_text("utf-8").split("\n")
    texts = {number for number, row in enumerate(rows, 1) if re.search('(en|zh|source): "|change-me', row)}
    assert {int(number) for number in re.findall(r"\d+", found[0][0].split(": line")[1])} == texts
    mine = draft.read_text("utf-8").replace("change-me", "of-mine").replace("CHANGE ME: ", "").replace("请改写：", "")
    draft.write_text(mine, "utf-8")
    assert checked(project, draft) == []


@pytest.mark.parametrize(
    ("changes", "rule", "id"),
    [
        ([("concept: what-it-is-about", "kind: guess\n  concept: what-it-is-about")], "schema", "single"),
        ([("      correct: true\n", "      corect: true\n")], "schema", "single"),
        ([("misconception: async-timer", "misconception: asink-timer")], "unknown-misconception", "single"),
        ([('result = ["b"]', "while True: pass")], "verify", "single"),
        ([('result = ["b"]', 'result = ["a"]')], "verify", "single"),
        ([("05-toy-race", "05-toy-rase")], "unknown-id", "bet"),
        ([('value: "total"', 'value: "totl"')], "schema", "number"),
        ([('low: "search_ms"', 'low: "total"')], "trap-reversed", "number"),
        ([("05-change-me-order", "05-change-me-bet")], "id-taken", "bet"),
    ],
)
def test_a_fault_names_the_line_of_its_question(project, draft, monkeypatch, changes, rule, id):
    from course.questions.verify import run_verify

    monkeypatch.setattr("course.questions.verify.run_verify.__defaults__", (*run_verify.__defaults__[:-1], 0.3))
    found = checked(project, draft, *changes)
    assert any(one.rule == rule and f"05-change-me-{id}" in row for one, row in found), found


def test_all_findings_of_questions_and_keys_are_told_at_once(project):
    key = project.keys(LESSON)
    text = key.read_text("utf-8")
    text = text.replace("correct: [b]", "correct: [z]", 1).replace('"05-c-order":', '"05-c-ordre":', 1)
    key.write_text(text.replace('value: "layers * kinds"', 'value: "layers + "', 1), "utf-8")
    kind = "concept: benchmark-cache-key\n  kind: "
    found = checked(project, project.checkpoint_items(LESSON), (f"{kind}multiple", f"{kind}cruel"))
    told = {(one.rule, re.search(r": (05-c-[\w-]+):", one)[1]) for one, _ in found if "05-c-" in one}
    assert told >= {
        ("schema", "05-c-two-shapes"),
        ("key-missing", "05-c-order"),
        ("schema", "05-c-epoch"),
        ("schema", "05-c-new-key"),
    }
    for one, row in found:
        assert re.search(r"keys.yaml|checkpoint.yaml", one)
        assert "05-c-two-shapes" not in one or "05-c-two-shapes" in row


@pytest.mark.parametrize(
    "content, words", [("- [", "items.yaml:2: this is not"), ("just words", "a list of questions"), ("- 5", "all")]
)
def test_a_file_that_holds_no_questions_gets_a_sentence(project, content, words):
    path = project.items(LESSON)
    path.write_text(content, "utf-8")
    [place] = places(project, path)
    assert words in check(project, *place)[0]


def test_a_file_of_no_lesson_gets_a_sentence(tmp_path, capsys):
    assert main(["author", "items", str(tmp_path / "none.yaml")]) == 1
    assert "no file of questions" in capsys.readouterr().out

"""A student's file: what the grader will find in it, and the questions that a released checkpoint brings along."""

from __future__ import annotations

import json

import pytest

import course
from course.core.i18n import set_language
from course.learning import hand_in
from course.learning.sheet import open_sheet
from course.verbs import state
from course.verbs.checkpoints import embedded_questions
from grader.authoring.leaks import leaks
from grader.project import Project
from grader.project.build import checkpoint_notebook
from tests.grader.handin.test_hand_ins import work_of
from tests.support.grading_corpus.base import RIGHT
from tests.support.grading_fixtures import LESSON, NOTEBOOK, make_project
from tests.support.hand_ins import NAME, TOOLS


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    return work_of(make_project(tmp_path_factory.mktemp("project")), "ada")


@pytest.fixture
def file(work, tmp_path):
    path = tmp_path / NAME
    path.write_bytes(TOOLS["pycharm"](work.notebook))
    return path


def test_it_says_which_how_many_answers_and_which_tasks_have_code(work, file):
    said = "\n".join(hand_in.told(file))
    assert f"Checkpoint {LESSON}, saved" in said and "Answers: 4 of 4" in said
    assert "`contrast`: has code" in said and "`report`: has code" in said
    file.write_bytes(work.untouched)
    said = "\n".join(hand_in.told(file))
    assert "Answers: 0 of 4" in said and "`contrast`: has no code yet" in said and "`report`: has no code yet" in said
    file.write_bytes(TOOLS["jupyterlab"](work.cleared))
    file.with_name(f"{LESSON}.answers.json").write_bytes(work.answers)
    said = "\n".join(hand_in.told(file))
    assert "Answers: 4 of 4" in said and "4 of them are only in" in said


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_wrong_or_broken_file_is_named_with_the_next_step(work, file, language):
    set_language(language)
    words = {
        "en": ("not its checkpoint", "ends in the middle", "cannot be read", "no checkpoint", "save it"),
        "zh": ("不是它的测验", "只有一半", "无法按 JSON 读取", "不是本课程的测验", "保存"),
    }[language]
    try:
        found = []
        for data in (work.lesson, TOOLS["jupyterlab"](work.notebook)[:-100], b"<html>", b'{"cells": []}'):
            file.write_bytes(data)
            found.append(" ".join(hand_in.told(file)))
        assert all(word in said for word, said in zip(words, found, strict=False)) and words[4] in found[1]
    finally:
        set_language("en")


def test_answers_given_since_the_file_was_saved_are_named(file, monkeypatch, capsys):
    monkeypatch.chdir(file.parent)
    sheet = open_sheet(LESSON, ["90-c-single"], file.parent)
    course.check_file(NAME)
    assert "Not saved yet" not in capsys.readouterr().out
    sheet.answers = {"90-c-single": {**RIGHT[0], "time": "2099-01-01T10:00:00.000Z"}}
    course.check_file()
    assert "Not saved yet: 1 of your answers" in capsys.readouterr().out
    course.check_file("other.ipynb")
    assert "There is no file other.ipynb here" in capsys.readouterr().out.replace("`", "")


@pytest.fixture
def released(tmp_path):
    return json.loads(json.dumps(checkpoint_notebook(make_project(tmp_path / "project"), LESSON, "en")))


@pytest.fixture
def opened(tmp_path, monkeypatch):
    def open_(notebook, name=f"{NOTEBOOK}.ipynb"):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(state, "now", state.State())
        monkeypatch.setenv("COURSE_TEXT", "1")
        monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / name))
        (tmp_path / name).write_text(json.dumps(notebook), encoding="utf-8")
        course.checkpoint(notebook["metadata"]["course"]["lesson"])

    return open_


def test_a_mended_typo_needs_no_newer_package(opened, capsys):
    notebook = json.loads(json.dumps(checkpoint_notebook(Project(), "05_cudnn_benchmark", "en")))
    notebook["metadata"]["course"]["questions"][0]["stem"]["en"] = "A mended question, word for word?"
    opened(notebook, "handed out.ipynb")
    course.question(notebook["metadata"]["course"]["questions"][0]["id"])
    said = capsys.readouterr().out
    assert "A mended question, word for word?" in said


def test_a_checkpoint_that_no_package_knows_is_answered_and_kept(opened, released, capsys):
    opened(released)
    course.question("90-c-single")
    course.answer("90-c-single", "b")
    course.check("90-t-contrast")
    said = capsys.readouterr().out
    assert "Which letter is second?" in said and "There is no `contrast` yet" in said or "no contrast yet" in said
    assert state.now.sheet.answers["90-c-single"]["options"] == ["b"]


def test_of_the_saved_notebooks_the_one_of_this_checkpoint_counts_and_unknown_questions_are_told(released):
    items, tasks, said = embedded_questions([None, {}, released], LESSON)
    assert len(items) == 4 and tasks == {"90-t-contrast": "contrast", "90-t-report": "report"} and said == []
    released["metadata"]["course"]["questions"][0]["kind"] = "invented"
    assert embedded_questions([released], LESSON)[0] == [] and len(embedded_questions([released], LESSON)[2]) == 1
    assert embedded_questions([released], "02_timing") == ([], {}, [])


def test_what_travels_unseen_is_looked_through_for_keys(tmp_path):
    project = make_project(tmp_path)
    made = checkpoint_notebook(project, LESSON, "en")
    path = project.notebooks / "en" / "checkpoints" / f"{NOTEBOOK}.ipynb"
    assert leaks(project, {path: json.dumps(made)}) == []
    made.metadata.course.questions[0]["why"] = "The secret reason for option a stands here."
    assert any("explanation" in sentence for sentence in leaks(project, {path: json.dumps(made)}))

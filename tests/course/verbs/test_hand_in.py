"""A student looks at the file before handing it in and reads what the grader will find."""

from __future__ import annotations

import pytest

import course
from course.core.i18n import set_language
from course.learning import hand_in
from course.learning.sheet import open_sheet
from tests.grader.handin.test_hand_ins import work_of
from tests.support.grading_corpus.base import RIGHT
from tests.support.grading_fixtures import LESSON, make_project
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

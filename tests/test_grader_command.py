"""The command from any folder, the course folder it remembers, the list of commands in both languages, and `grade`."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from course.i18n import LANGUAGES, pick
from grader import launcher
from grader.commands import main
from grader.commands.grade import what_next
from grader.commands.words import COMMANDS, WEEKLY
from grader.course import Course, init
from grader.demo.handin import work
from grader.demo.students import Student
from grader.releasing.run import release
from tests.grading_fixtures import LESSON, NOTEBOOK, make_project


def test_the_lists_hold_every_command_in_plain_words_of_both_languages(capsys, monkeypatch):
    lists = {}
    for code in LANGUAGES:
        assert main(["--help", "--language", code]) == 0 and main(["author", "--help", "--language", code]) == 0
        lists[code] = capsys.readouterr().out
    there: set[str] = set()
    add = argparse._SubParsersAction.add_parser
    monkeypatch.setattr(
        argparse._SubParsersAction, "add_parser", lambda self, name, **more: there.add(name) or add(self, name, **more)
    )
    main(["--help"])
    assert there - {"author"} == {name.split()[-1] for name in COMMANDS}
    for code, page in lists.items():
        assert all(f"\n  {name:<17} {pick(words, code)}" in page for name, (_, words) in COMMANDS.items())
    assert "每周都用" in lists["zh"] and "Every week" in lists["en"]
    assert sum(group == WEEKLY for group, _ in COMMANDS.values()) == 11


def test_what_authors_need_is_named_where_the_word_author_is_missing(capsys):
    for name in (name for name in COMMANDS if name.startswith("author ")):
        assert main([*name.split()[1:], "--check", "a b.yaml"]) == 2
        assert f"python -m grader {name} --check 'a b.yaml'" in capsys.readouterr().out
    assert main(["author"]) == 1 and "author notebooks" in capsys.readouterr().out


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_help_of_a_command_is_chinese_when_asked_for(name, capsys):
    assert main([*name.split(), "--dir", "zh", "--help"]) == 0
    assert "options:" in capsys.readouterr().out
    assert main([*name.split(), "--help", "--language", "zh"]) == 0
    page = capsys.readouterr().out
    assert page.count("选项") and pick(COMMANDS[name][1], "zh")[:6] in page
    left = [line for line in page.splitlines()[1:] if re.search(r"(?<![\w-])(the|of|for|and|is|be|or) [a-z]+", line)]
    assert not left, left


def test_the_course_folder_is_the_one_named_the_one_we_stand_in_or_the_one_used_last(tmp_path, monkeypatch, capsys):
    for name in ("first", "second"):
        init(tmp_path / name, project=make_project(tmp_path / f"project of {name}"))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert main(["late", LESSON]) == 1 and "is no course directory" in capsys.readouterr().out
    main(["export", "--dir", str(tmp_path / "first")])
    capsys.readouterr()
    assert main(["export"]) == 0
    said = capsys.readouterr()
    assert str(tmp_path / "first" / "grades.csv") in said.out and "the one used last" in said.err
    monkeypatch.chdir(tmp_path / "second")
    main(["export"])
    said = capsys.readouterr()
    assert str(tmp_path / "second" / "grades.csv") in said.out and said.err == ""
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert launcher.remembered() == tmp_path / "second"
    shutil.rmtree(tmp_path / "second")
    assert launcher.remembered() is None


@pytest.mark.skipif(os.name == "nt", reason="a script of the shell")
def test_the_script_works_from_any_folder(tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    python = tmp_path / "bin" / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', "utf-8")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    script = launcher.install()
    assert script == tmp_path / "bin" / "grader"
    done = subprocess.run([script, "--help"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("grader COMMAND")
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    assert launcher.install() is None, "never into a Python that is not our own"


@pytest.mark.slow
def test_grade_goes_from_the_zip_to_marks_and_feedback(tmp_path, monkeypatch, capsys):
    init(tmp_path / "class", project=make_project(tmp_path / "project"))
    course = Course(tmp_path / "class")
    release(course, LESSON)
    roster = tmp_path / "roster.csv"
    roster.write_text(
        "Identifier,Full name,ID number,Email address\n"
        "Participant 11,Ada Lovelace,ada,ada@x.org\nParticipant 12,Bob Ross,bob,bob@x.org\n",
        "utf-8",
    )
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for number, (who, name) in enumerate((("ada", "Ada Lovelace"), ("bob", "Bob Ross")), 11):
            desk = tmp_path / who
            desk.mkdir()
            shutil.copy(course.root / "release" / LESSON / f"{NOTEBOOK}.ipynb", desk)
            work(course.project, LESSON, "en", Student(who, quiz="right" if who == "ada" else "wrong"), desk)
            for path in desk.iterdir():
                if path.is_file():
                    archive.write(path, f"{name}_{number}_assignsubmission_file_/{path.name}")
    monkeypatch.chdir(course.root)
    left = main(["grade", str(tmp_path / "all.zip"), "--roster", str(roster), "--early", "--jobs", "1"])
    said = capsys.readouterr().out
    assert left == 0, said
    assert "--- import (moodle)" in said and "--- autograde 90_fixture" in said and "Look at:" in said
    marks = (course.root / "grades.csv").read_text("utf-8")
    assert "ada" in marks and "bob" in marks
    zipped = Path(course.root / f"feedback-{LESSON}-moodle.zip")
    assert zipped.exists() and f"{zipped}: the feedback pages" in said
    assert "export --format moodle" in said and "--format" not in what_next(course, [LESSON], "teams")

"""The command from any folder, the course folder it remembers, and the list of commands in both languages."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys

import pytest

from course.i18n import LANGUAGES, pick
from grader import launcher
from grader.commands import main
from grader.commands.words import COMMANDS, WEEKLY
from grader.course import init
from tests.grading_fixtures import LESSON, make_project


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
    assert sum(group == WEEKLY for group, _ in COMMANDS.values()) == 9


def test_what_authors_need_is_named_where_the_word_author_is_missing(capsys):
    for name in (name for name in COMMANDS if name.startswith("author ")):
        assert main([*name.split()[1:], "--check", "a b.yaml"]) == 2
        assert f"python -m grader {name} --check 'a b.yaml'" in capsys.readouterr().out
    assert main(["author"]) == 1 and "author notebooks" in capsys.readouterr().out


def test_the_course_folder_is_the_one_named_the_one_we_stand_in_or_the_one_used_last(tmp_path, monkeypatch, capsys):
    for name in ("first", "second"):
        init(tmp_path / name, project=make_project(tmp_path / f"project of {name}"))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert main(["report", LESSON]) == 1 and "is no course directory" in capsys.readouterr().out
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

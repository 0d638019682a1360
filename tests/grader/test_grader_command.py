"""The list of commands, and the sentence that a problem of the files becomes."""

from __future__ import annotations

import argparse
import re

import pytest

from grader import cli as commands
from grader.cli import main
from tests.support.grading_fixtures import LESSON


def test_the_list_holds_every_command_in_both_languages(monkeypatch, capsys):
    there, add = [], argparse._SubParsersAction.add_parser

    def added(self, name, **more):
        there.append(name)
        return add(self, name, **more)

    monkeypatch.setattr(argparse._SubParsersAction, "add_parser", added)
    with pytest.raises(SystemExit):
        main(["--help"])
    assert commands.LIST in capsys.readouterr().out
    listed = re.findall(r"^  ([a-z-]+) +(.*)$", commands.LIST, re.MULTILINE)
    own = there[there.index("author") + 1 :]
    assert {name for name, _ in listed} == {*there} - {*own} and len(listed) == 12
    assert all(re.search("[\u4e00-\u9fff]", words) for _, words in listed) and all(one in commands.LIST for one in own)


def test_a_folder_that_is_no_course_is_a_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["report", LESSON]) == 1 and "is no course directory" in capsys.readouterr().out

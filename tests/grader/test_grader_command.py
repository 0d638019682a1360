"""The list of commands, and the sentence that a problem of the files becomes."""

from __future__ import annotations

import re

import pytest

from grader.cli import COMMANDS, main
from tests.support.grading_fixtures import LESSON


def test_every_command_is_listed_in_both_languages_and_has_help(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    said = capsys.readouterr().out
    for name in [name for commands in COMMANDS.values() for name in commands]:
        assert re.search(rf"^  {name} +\w.*[\u4e00-\u9fff]", said, re.MULTILINE), name
        with pytest.raises(SystemExit) as ended:
            main([*name.split(), "--help"])
        assert ended.value.code == 0


def test_a_folder_that_is_no_course_is_a_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["report", LESSON]) == 1 and "is no course directory" in capsys.readouterr().out

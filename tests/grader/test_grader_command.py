"""The list of commands, and the sentence that a problem of the files becomes."""

from __future__ import annotations

import re

import pytest

from grader.cli import COMMANDS, listed, main
from tests.support.grading_fixtures import LESSON


def test_the_list_holds_every_command_in_both_languages(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    assert listed() in capsys.readouterr().out
    names = [name for commands in COMMANDS.values() for name in commands]
    assert len({name.split()[0] for name in names}) == 12
    assert all(re.search(rf"^  {name} +\w.*[\u4e00-\u9fff]", listed(), re.MULTILINE) for name in names)
    for name in names:
        with pytest.raises(SystemExit) as ended:
            main([*name.split(), "--help"])
        assert ended.value.code == 0


def test_a_folder_that_is_no_course_is_a_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["report", LESSON]) == 1 and "is no course directory" in capsys.readouterr().out

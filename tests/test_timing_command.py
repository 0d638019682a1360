"""Timing: the command line."""

from __future__ import annotations

import subprocess
import sys

import pytest

from course.timing.__main__ import main

QUICK = ["--max-time", "0.2"]


def test_statements_are_compared_and_evidence_sets_the_exit_code(capsys):
    twice = ["sum(range(2000))", "sum(range(6000))", *QUICK]
    assert main(twice) == 0
    assert main([*twice, "--fail-above", "1.5"]) == 1
    assert main([*twice, "--fail-above", "9"]) == 0
    assert "sum(range(6000)) takes" in capsys.readouterr().out
    assert main(["sum(range(2000))", *QUICK]) == 0
    assert "first call" in capsys.readouterr().out


@pytest.mark.slow
def test_a_reader_that_stops_early_gets_no_traceback_and_the_exit_code_stays():
    """`... | head -1`: the pipe is closed before anything is written."""
    command = [sys.executable, "-m", "course.timing", "sum(range(400))", "sum(range(9000))", "--max-time", "0.2"]
    with subprocess.Popen([*command, "--fail-above", "1.5"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        run.stdout.close()
        said = run.stderr.read().decode()
    assert (run.returncode, said) == (1, "")


def test_setup_is_shared_and_statements_may_be_several_lines(capsys):
    setup = "import random\nx = [random.random() for _ in range(200)]"
    assert main(["sorted(x)", "y = list(x)\ny.sort()", "--setup", setup, *QUICK]) == 0
    capsys.readouterr()
    assert main(["sum(x)", "sum(list(x))", "--setup", setup, *QUICK]) == 0
    assert "does not return" not in capsys.readouterr().out, "both saw the same random numbers"


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["sum(range("], "SyntaxError"),
        (["x"], "NameError"),
        (["1", "--setup", "import nosuchlab"], "ModuleNotFoundError"),
        (["1", "--fail-above", "1.2"], "--fail-above"),
        (["1", "1", "--fail-above", "-2"], "fail_above"),
    ],
)
def test_what_cannot_be_measured_is_told_on_stderr(arguments, words, capsys):
    assert main([*arguments, "--max-time", "0.05"]) == 2
    told = capsys.readouterr()
    assert words in told.err and told.out == "" and "Traceback" not in told.err

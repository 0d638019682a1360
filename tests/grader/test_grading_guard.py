"""Whatever one student's files do to a step, it is named, and the other students' turn comes."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sqlite3
import time
from pathlib import Path
from unittest.mock import Mock

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from sqlalchemy.exc import DataError, OperationalError

from grader.cli import main
from grader.handin.exchange import collect
from grader.handin.guard import guarded
from grader.marking.autograde import autograde
from grader.project import Infrastructure, ProjectError
from grader.reporting.give_out import feedback
from tests.support.grading_fixtures import LESSON, NOTEBOOK


def outcome(act, seconds: float = 60) -> str:
    """What a guarded step says of the student."""
    failed: dict[str, str] = {}
    with guarded("ada", failed.__setitem__, seconds):
        act()
    return failed.get("ada", "")


@pytest.mark.parametrize(
    "error", [ValueError("x\n\ny\ud800"), MemoryError(), SystemExit(3), DataError("insert", {}, Exception("too long"))]
)
def test_what_one_student_caused_is_a_sentence_about_that_student(error):
    said = outcome(Mock(side_effect=error))
    assert said.startswith(type(error).__name__) and "\n" not in said and said.encode("utf-8")


@pytest.mark.parametrize(
    "error",
    [
        ProjectError("x"),
        Infrastructure("x"),
        KeyboardInterrupt(),
        OSError(errno.ENOSPC, "full"),
        OperationalError("insert", {}, sqlite3.OperationalError("database is locked")),
    ],
)
def test_what_would_meet_everybody_ends_the_run(error):
    with pytest.raises(type(error)):
        outcome(Mock(side_effect=error))


@pytest.mark.slow
def test_a_step_without_end_is_stopped_also_where_it_waits_or_swallows_that(tmp_path):
    os.mkfifo(tmp_path / "pipe")

    def swallow() -> None:
        try:
            time.sleep(60)
        except Exception:
            time.sleep(60)

    for act in (lambda: time.sleep(60), lambda: (tmp_path / "pipe").read_bytes(), swallow):
        assert "0.05 seconds" in outcome(act, 0.05)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert outcome(lambda: None) == ""


@pytest.mark.slow
def test_feedback_of_huge_notebooks_and_strange_names_costs_the_others_nothing(course):
    picture = new_output("display_data", data={"image/png": "A" * 9_000_000})
    for student, cells in (
        ("ada", [new_code_cell("x = 1\n" * 2_500_000, outputs=[picture]), *([new_markdown_cell("#")] * 1000)]),
        ("bob", [new_markdown_cell("![mine](attachment:lost.png)\n\nand words")]),
    ):
        path = course.autograded(student, LESSON)
        notebook = nbformat.read(path, as_version=4)
        notebook.cells = cells + notebook.cells
        path.chmod(0o644)
        nbformat.write(notebook, path)
    course.autograded("cyd", LESSON).unlink()
    course.autograded("cyd", LESSON).mkdir()
    for name in ("[a-s]*", "?ob", "*"):
        for folder in ("submitted", "autograded"):
            shutil.copytree(course.root / folder / "dee", course.root / folder / name)
    said: list[str] = []
    assert feedback(course, LESSON, said.append) == ["cyd"]
    assert [line.split(":")[0] for line in said if "did not work" in line] == ["feedback for cyd did not work"]
    pages = {path.name: path / LESSON / f"{NOTEBOOK}.html" for path in (course.root / "feedback").iterdir()}
    assert sorted(pages) == ["ada", "bob", "dee"]
    assert pages["ada"].stat().st_size < 2_000_000 and "Which letter is second?" in pages["ada"].read_text("utf-8")
    page = pages["bob"].read_text("utf-8")
    assert "missing from the notebook" in page and "and words" in page


@pytest.mark.slow
def test_report_and_export_name_whom_they_cannot_read_and_go_on(course, tmp_path, capsys):
    course.autograded("ada", LESSON).unlink()
    course.autograded("ada", LESSON).write_text("{broken", encoding="utf-8")
    answers = course.root / "submitted" / "bob" / LESSON / f"{LESSON}.answers.json"
    answers.unlink()
    os.mkfifo(answers)
    for command in (["report", LESSON, "--to", str(tmp_path / "r.html")], ["export"]):
        assert main([*command, "--dir", str(course.root)]) == 0, command
        assert ("ada is left out: " in capsys.readouterr().out) == (command[0] == "report")
    found = {one.student: one for one in autograde(course, LESSON, say=lambda line: None)}
    assert found["ada"].points == 13, "the broken one is marked anew"


@pytest.mark.slow
def test_collecting_goes_on_behind_one_that_cannot_be_taken_in(course, monkeypatch):
    from grader.handin import exchange

    inbound = course.root / "exchange" / "tools" / "inbound"
    for student in ("ann", "ben", "cat"):
        folder = inbound / f"{student}+{LESSON}+2026-04-01 10:00:00 UTC+x"
        folder.mkdir()
        shutil.copy(course.root / "release" / LESSON / f"{NOTEBOOK}.ipynb", folder)
        (folder / "timestamp.txt").write_text("2026-04-01 10:00:00 UTC")
    (inbound / f"dan+{LESSON}+2026-04-01 10:00:00 UTC+x").write_text("a file")
    prepare = exchange.prepare

    def failing(root: Path, project, lesson: str, student: str):
        if student == "ann":
            raise PermissionError(13, "Permission denied", "L.ipynb.new")
        prepare(root, project, lesson, student)

    monkeypatch.setattr(exchange, "prepare", failing)
    said: list[str] = []
    assert collect(course, LESSON, said.append) == 8
    assert [line for line in said if line.startswith("ann could not be collected: PermissionError")] == said
    assert (course.root / "submitted" / "dan" / LESSON / f"{NOTEBOOK}.ipynb").exists()


def test_a_disturbed_submission_is_marked_again_alone_and_never_loses_a_point_to_a_busy_machine():
    from grader.handin.reading import Files
    from grader.marking import pool
    from grader.marking.execute import DISTURBED
    from grader.marking.whole import Marked, Submission

    told: list[list[str]] = []

    class Busy(pool.Workers):
        def _answers(self, submissions, exam):
            told.append([])
            for one in submissions:
                told[-1].append(one.student)
                busy = one.student == "unlucky" and len(told) == 1 or one.student == "twice"
                yield (one, "gone" if one.student == "lost" else Marked(one.student, "", {}, {}, "", disturbed=busy))

    handed_in = [Submission(name, Files(), "") for name in ("ada", "unlucky", "lost", "twice", "zoe")]
    found = {one.student: answer for one, answer in Busy(1, True).mark(iter(handed_in), None)}
    assert told == [["ada", "unlucky", "lost", "twice", "zoe"], ["unlucky"], ["twice"]]
    assert (
        found["twice"] == DISTURBED and found["lost"] == "gone" and not found["unlucky"].disturbed and len(found) == 5
    )

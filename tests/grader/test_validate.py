"""`nbgrader validate`, as students run it: an untouched checkpoint does not pass, one that is filled in does."""

from __future__ import annotations

import subprocess
import sys

import nbformat
import pytest

from course.learning.sheet import AnswerSheet
from grader.cli.made_up import right
from grader.handin.answers import keyed_items
from grader.marking.step import grade_id
from grader.project import Project
from grader.project.build import answer_id
from grader.project.task import tasks

PROJECT, LESSON = Project(), "08_mps"


@pytest.mark.slow
def test_an_untouched_checkpoint_does_not_validate_and_a_finished_one_does(tmp_path):
    untouched, finished = (tmp_path / name / f"{LESSON}_checkpoint.ipynb" for name in ("untouched", "finished"))
    released = (PROJECT.notebooks / "en" / "checkpoints" / f"{LESSON}_checkpoint.ipynb").read_text(encoding="utf-8")
    items, hidden = keyed_items(PROJECT, LESSON), tasks(PROJECT, LESSON)
    untouched.parent.mkdir()
    untouched.write_text(released, encoding="utf-8")
    finished.parent.mkdir()
    notebook = nbformat.reads(released, as_version=4)
    for cell in notebook.cells:
        for identity, task in hidden.items():
            if grade_id(cell) == answer_id(identity):
                cell.source = task.solution
    nbformat.write(notebook, finished)
    sheet = AnswerSheet(LESSON, items, finished.parent)
    for identity, item in items.items():
        sheet.record(identity, right(item))

    command = [sys.executable, "-m", "nbgrader", "validate", str(untouched), str(finished)]
    ran = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)
    of_untouched, success, rest = ran.stdout.partition("Success! Your notebook passes all the tests.")
    assert f"FAILED ON {len(items) + len(hidden)} CELL(S)" in of_untouched, ran.stdout + ran.stderr
    assert all(f"{identity}: not" in of_untouched for identity in (*items, *hidden)), ran.stdout + ran.stderr
    assert success and not rest.strip(), ran.stdout + ran.stderr

"""`nbgrader validate`, as students run it: an untouched checkpoint does not pass, one that is filled in does."""

from __future__ import annotations

import subprocess
import sys

import nbformat
import pytest

from course.quiz.sheet import Sheet
from grader.authoring.build import answer_id
from grader.demo.students import right
from grader.marking.answers import keyed_items
from grader.marking.step import grade_id
from grader.project import Project, tasks

PROJECT, LESSON = Project(), "08_mps"


def validated(folder) -> str:
    command = [sys.executable, "-m", "nbgrader", "validate", f"{LESSON}.ipynb"]
    ran = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", timeout=300)
    return ran.stdout + ran.stderr


@pytest.mark.slow
def test_an_untouched_checkpoint_does_not_validate_and_a_finished_one_does(tmp_path):
    path = tmp_path / f"{LESSON}.ipynb"
    released = (PROJECT.notebooks / "en" / "checkpoints" / f"{LESSON}.ipynb").read_text(encoding="utf-8")
    path.write_text(released, encoding="utf-8")
    items, hidden = keyed_items(PROJECT, LESSON), tasks(PROJECT, LESSON)
    told = validated(tmp_path)
    assert f"FAILED ON {len(items) + len(hidden)} CELL(S)" in told
    assert all(f"{identity}: not" in told for identity in (*items, *hidden)), told

    notebook = nbformat.reads(released, as_version=4)
    for cell in notebook.cells:
        for identity, task in hidden.items():
            if grade_id(cell) == answer_id(identity):
                cell.source = task.solution
    nbformat.write(notebook, path)
    sheet = Sheet(LESSON, items, tmp_path)
    for identity, item in items.items():
        sheet.record(identity, right(item))
    assert "Success" in validated(tmp_path)

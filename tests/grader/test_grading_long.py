"""What takes many minutes: a class of 300 marked as an ordinary user without control groups."""

from __future__ import annotations

import copy
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from grader.cli.made_up import work
from grader.course import Course, init
from grader.marking.execute import DISTURBED
from grader.project import HERE
from grader.release.run import release
from tests.support import ordinary_user
from tests.support.graded_class import PUPILS
from tests.support.grading_class import copy_of, marked, rows
from tests.support.grading_corpus import CLASS, damaged, exhausting, hand_in
from tests.support.grading_corpus.base import CANARY
from tests.support.grading_fixtures import LESSON, NOTEBOOK, make_project

pytestmark = pytest.mark.long
HONEST, HOSTILE = 260, 40
BUSIEST = [
    *exhausting.CASES,
    *(case for case in damaged.CASES if "ours" in case.name or "rights" in case.name or "for-a" in case.name),
]
SETTINGS = "\nc.CourseExecute.timeout = 5\nc.CourseExecute.total_timeout = 60\nc.CourseExecute.memory_mb = 1000\n"


@pytest.fixture(scope="module")
def honest(tmp_path_factory) -> Path:
    """A course folder with 260 submissions of four kinds, not marked yet."""
    project = make_project(tmp_path_factory.mktemp("project"))
    root = tmp_path_factory.mktemp("course") / "class"
    init(root, "en", "large", project=project)
    with (root / "nbgrader_config.py").open("a") as file:
        file.write(SETTINGS)
    release(Course(root), LESSON)
    for number in range(HONEST):
        folder, kind = root / "submitted" / f"s{number:03}" / LESSON, PUPILS[number % len(PUPILS)]
        if number >= len(PUPILS):
            shutil.copytree(root / "submitted" / f"s{number % len(PUPILS):03}" / LESSON, folder)
            continue
        folder.mkdir(parents=True)
        shutil.copy(root / "release" / LESSON / f"{NOTEBOOK}.ipynb", folder)
        (folder / "timestamp.txt").write_text("2026-01-01 10:00:00.000000 UTC")
        work(project, LESSON, "en", kind, folder)
    ordinary_user.give(project.root)
    return root


def mark(root: Path) -> str:
    """Mark the class as an ordinary user; again what a busy machine has left without a grade, which is said."""
    ordinary_user.give(root)
    for _ in range(3):
        done = subprocess.run(
            [
                *ordinary_user.prefix(),
                sys.executable,
                "-m",
                "grader",
                "autograde",
                LESSON,
                "--dir",
                str(root),
                "--jobs",
                "2",
            ],
            cwd=HERE,
            capture_output=True,
            text=True,
            timeout=3600,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        )
        if DISTURBED not in done.stdout:
            break
    return done.stdout + done.stderr


def test_forty_hostile_submissions_change_no_mark_of_260_honest_ones(honest, tmp_path):
    quiet, rough = copy_of(honest, tmp_path / "quiet"), copy_of(honest, tmp_path / "rough")
    released = nbformat.read(honest / "release" / LESSON / f"{NOTEBOOK}.ipynb", as_version=4)
    words = {CANARY: "CANARY", "LISTENER_PORT": "9", "COURSE_ROOT": str(rough), "CHECKOUT_ROOT": str(HERE)}
    for number, case in enumerate(BUSIEST[-HOSTILE:]):  # between the honest ones, so that they run side by side
        hand_in(case, copy.deepcopy(released), rough / "submitted" / f"s{6 * number:03}-{case.name}" / LESSON, words)
    said = mark(quiet)
    assert "without a grade: nobody" in said, said[-3000:]
    said = mark(rough)
    assert "NOT ENFORCED HERE" in said and "without a grade: nobody" in said, said[-3000:]
    assert len(CLASS) > HOSTILE and marked(rough) == HONEST + HOSTILE
    assert [row for row in rows(rough) if "-" not in row[0]] == rows(quiet) and len(rows(quiet)) == HONEST * 6

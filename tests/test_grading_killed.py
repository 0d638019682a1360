"""Whatever is killed, whenever: after running again the gradebook is that of an undisturbed run, row for row."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from grader.course import Course, init
from grader.demo.handin import work
from grader.demo.students import CLASS, Student
from grader.pipeline import release
from grader.project import HERE
from tests.grading_fixtures import LESSON, make_project

KILLS = int(os.environ.get("COURSE_KILLS", "5"))
ROWS = """
select s.student_id, s.timestamp, c.name, g.auto_score, g.manual_score, g.needs_manual_grade, n.late_submission_penalty,
       (select group_concat(coalesce(k.auto_comment, '-')) from comment k where k.notebook_id = n.id)
from submitted_assignment s join submitted_notebook n on n.assignment_id = s.id
join grade g on g.notebook_id = n.id join base_cell c on c.id = g.cell_id order by 1, 3
"""


def rows(root: Path) -> list[tuple]:
    """All that the gradebook says about the class, without nbgrader's random row numbers."""
    with sqlite3.connect(root / "gradebook.db") as db:
        return db.execute(ROWS).fetchall()


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory) -> Path:
    """A course folder with a released checkpoint and 18 submissions, not marked yet."""
    project = make_project(tmp_path_factory.mktemp("project"))
    root = tmp_path_factory.mktemp("course") / "class"
    init(root, "en", "killed", project=project)
    course = Course(root)
    release(course, LESSON)
    for number in range(2):
        for student in CLASS:
            folder = root / "submitted" / f"{student.name}-{number}" / LESSON
            folder.mkdir(parents=True)
            shutil.copy(root / "release" / LESSON / f"{LESSON}.ipynb", folder)
            (folder / "timestamp.txt").write_text(f"2026-01-0{number + 1} 10:00:00.000000 UTC")
            work(project, LESSON, "en", Student(student.name, student.quiz, student.tasks, student.carried,
                                                student.damage), folder)
    return root


def copy_of(root: Path, place: Path) -> Path:
    """The same course folder elsewhere: settings and secret name no folder but their own."""
    shutil.copytree(root, place)
    config = place / "nbgrader_config.py"
    config.write_text(config.read_text().replace(str(root), str(place)))
    return place


def start(root: Path) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-m", "grader", "autograde", LESSON, "--dir", str(root), "--jobs", "2"],
                            cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def marked(root: Path) -> int:
    return len(list((root / "autograded").glob(f"*/{LESSON}")))


@pytest.mark.slow
def test_after_any_kill_the_next_run_brings_the_gradebook_of_an_undisturbed_one(handed_in, tmp_path):
    quiet, rough = copy_of(handed_in, tmp_path / "quiet"), copy_of(handed_in, tmp_path / "rough")
    undisturbed = start(quiet)
    said, _ = undisturbed.communicate(timeout=300)
    assert undisturbed.returncode == 0, said
    assert marked(quiet) == 18 and "without a grade: nobody" in said
    dice, kills = random.Random(2026), 0
    while kills < KILLS:
        if marked(rough) > 12:
            shutil.rmtree(rough)
            copy_of(handed_in, rough)
        run, before = start(rough), marked(rough)
        while run.poll() is None and marked(rough) <= before:
            time.sleep(0.005)
        time.sleep(dice.random() * 0.3)
        below = psutil.Process(run.pid).children(recursive=True) if run.poll() is None else []
        victim = dice.choice(below) if kills % 2 and below else run  # a marking process, the warm one under it, ...
        try:
            victim.kill()
        except psutil.NoSuchProcess:
            pass
        kills += 1
        run.communicate(timeout=300)
        assert not psutil.wait_procs(below, timeout=10)[1], "processes were left behind"
    last = start(rough)
    said, _ = last.communicate(timeout=300)
    assert last.returncode == 0, said
    assert rows(rough) == rows(quiet) and len(rows(quiet)) == 18 * 6

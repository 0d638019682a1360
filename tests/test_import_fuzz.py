"""Import never stops for one person and never takes a submission away: random files, a kill and a full disk at any moment."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from grader.course import Course, init
from grader.pipeline import release
from tests.grading_fixtures import LESSON, make_project
from tests.import_fuzz import KEPT, STUDENTS, check, damaged, hand_in, platform_file

SEED = 20261123


@pytest.fixture(scope="module")
def released(tmp_path_factory) -> Path:
    """A course folder with a released checkpoint and five students who have handed in nothing."""
    root = tmp_path_factory.mktemp("fuzz") / "class"
    init(root, "en", "fuzz", project=make_project(root.parent / "project"))
    course = Course(root)
    release(course, LESSON)
    with course.gradebook as gradebook:
        for name in STUDENTS:
            gradebook.update_or_create_student(name)
    return root


@pytest.mark.slow
@pytest.mark.parametrize("archives", [200, pytest.param(4000, marks=pytest.mark.long)])
def test_whatever_a_file_of_hand_ins_holds_nobody_loses_anything(released, tmp_path, archives):
    rng, course = random.Random(SEED), Course(released)
    for number in range(archives):
        if number % 10 == 0:
            for name in KEPT:
                shutil.rmtree(released / name, ignore_errors=True)
                (released / name).mkdir()
        sent = {student: hand_in(rng) for student in rng.sample(STUDENTS, rng.randrange(1, len(STUDENTS) + 1))}
        path = tmp_path / f"{number}.zip"
        platform_file(path, sent)
        if rng.random() < 0.1:  # the platform's own file is damaged
            path.write_bytes(damaged(rng, path.read_bytes(), 3))
            sent = {}
        try:
            check(course, path, sent)
        except BaseException:
            print(f"archive number {number} of seed {SEED} is kept as {path}")
            raise
        path.unlink()

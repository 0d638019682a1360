"""Marking again after a key, points or a test changed: each mark that differs is named, the old gradebook is kept, manual marks stay."""

from __future__ import annotations

import shutil

import pytest
import yaml

from grader.cli import main
from grader.course import Course
from grader.gradebook.marks import cell_marks
from tests.support.grading_class import make_class, stock
from tests.support.grading_fixtures import ITEMS, KEYS, LESSON, NOTEBOOK


@pytest.mark.slow
def test_marking_again_names_each_mark_that_differs_and_keeps_the_old_gradebook(tmp_path, capsys):
    """Also under stock nbgrader afterwards; a question of which all options are right gives everybody who answered it its points."""
    project, course = make_class(tmp_path)
    words = ["autograde", LESSON, "--again", "--jobs", "1", "--dir", str(course.root)]
    first = cell_marks(course, LESSON)
    with course.gradebook as gradebook:
        gradebook.find_grade("90-c-single", NOTEBOOK, LESSON, "bob").manual_score = 1.5
        gradebook.db.commit()
    assert main(words) == 0 and "0 marks differ" in capsys.readouterr().out
    keys = {**KEYS, "90-c-single": {**KEYS["90-c-single"], "correct": ["a", "b", "c"]}}
    project.keys(LESSON).write_text(yaml.safe_dump(keys))
    project.checkpoint_items(LESSON).write_text(yaml.safe_dump([ITEMS[0], {**ITEMS[1], "points": 4}, *ITEMS[2:]]))
    module = project.task_module(LESSON)
    module.write_text(module.read_text().replace("/ (high + low)", "/ (high + low) if low else 7"))
    assert main(["release", LESSON, "--dir", str(course.root)]) == 0
    assert "90-c-multiple (2 -> 4)" in capsys.readouterr().out
    for copy in course.root.glob("gradebook-*.db"):
        copy.unlink()
    assert main(words) == 0
    said = capsys.readouterr().out.splitlines()
    assert "cyd  90-c-single  0/2 -> 2/2" in said and "ada  90-c-multiple  2/4 -> 4/4" in said
    assert "ada  90-t-contrast  3/3 -> 2/3" in said
    assert not [line for line in said if line.startswith("dee  90-c-single") or "90-t-report" in line]
    now = cell_marks(course, LESSON)
    assert (now["bob"]["90-c-single"].auto, now["bob"]["90-c-single"].points) == (2.0, 1.5)
    stock(course, LESSON, "ada")
    assert cell_marks(course, LESSON) == now
    (copy,) = course.root.glob("gradebook-*.db")
    shutil.copy(copy, course.root / "gradebook.db")
    assert {name: cells["90-c-single"].auto for name, cells in cell_marks(Course(course.root), LESSON).items()} == {
        name: cells["90-c-single"].auto for name, cells in first.items()
    }

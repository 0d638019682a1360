"""The benchmark of grading: its plain course marks what ours marks, its tables hold what was measured."""

from __future__ import annotations

import shutil

import nbformat
import pytest

from benchmarks import grading, grading_class, grading_course
from grader.autograding import autograde
from grader.course import done


def test_tables_give_medians_ratios_and_what_is_beside_the_cells():
    seconds = {
        grading.STOCK: [6.0, 7.0, 8.0],
        grading.OURS: [0.3, 0.2, 0.25],
        "ours, 2 processes": [0.125] * 3,
        grading.FLOOR: [0.2, 0.2, 0.2],
    }
    found = {
        (name, work_s): [one + work_s for one in all_s] for name, all_s in seconds.items() for work_s in (0.0, 0.5)
    }
    text = "\n".join(grading.tables(found, {0.0: 0.05, 0.5: 0.55}))
    row = next(line for line in text.splitlines() if line.startswith(f"| {grading.OURS}"))
    assert [cell.strip() for cell in row.split("|")[2:-1]] == ["0.250", "0.200 to 0.300", "0.200", "28.0", "1.25"]
    assert "2.00 times" in text and "0.5 s of work" in text


@pytest.mark.slow
@pytest.mark.long
def test_both_courses_mark_the_same_class_alike(tmp_path):
    """The plain nbgrader course does the same work: right answers and right code get all, wrong ones nothing."""
    ours = grading_course.ours(tmp_path / "ours", 4, 0.0)
    plain = grading_course.plain(tmp_path / "plain", 4, 0.0)
    points = {outcome.student: outcome.points for outcome in autograde(ours, grading_course.LESSON)}
    assert points["s0000"] == 18 and points["s0002"] < points["s0001"] < 18
    for student in ("s0000", "s0002"):
        done(plain.autograde(grading_course.LESSON, student), "stock autograde")
    with plain.gradebook as gradebook:
        theirs = {row["student"]: row["score"] for row in gradebook.submission_dicts(grading_course.LESSON)}
    assert theirs == {"s0000": 18.0, "s0002": 0.0}
    [path] = (tmp_path / "plain" / "autograded" / "s0000" / grading_course.LESSON).glob("*.ipynb")
    shown = [output for cell in nbformat.read(path, as_version=4).cells for output in cell.get("outputs", ())]
    assert not [output for output in shown if output.output_type == "error"]
    assert grading_course.own_sources(ours)[1] == grading_course.OWN


@pytest.mark.long  # every way of marking, with a course of its own each
def test_a_look_measures_every_way_once(tmp_path):
    grading.main(["--look", "--out", str(tmp_path / "look.md")])
    text = (tmp_path / "look.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:3] for line in text.splitlines() if line.startswith(("| ours", "| stock", "| the floor"))]
    assert len(rows) == 7 and all(float(seconds) > 0 for _, seconds in rows)


@pytest.mark.slow
def test_a_class_is_told_by_the_step(tmp_path, monkeypatch):
    monkeypatch.setattr(grading_class, "STEP", 2)
    course = grading_course.ours(tmp_path / "class", 6, 0.0)  # more than there are kinds of students
    text = "\n".join(grading_class.large_class(course, 1))
    assert "6 submissions in" in text and "0 without a grade" in text
    assert [line.split("|")[1].strip() for line in text.splitlines() if line.startswith(("| 2", "| 4", "| 6"))] == [
        "2",
        "4",
        "6",
    ]
    shutil.rmtree(course.root)

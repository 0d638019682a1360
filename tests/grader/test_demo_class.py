"""The made-up class of `make demo`: handed in, graded and given back, and each student gets what was planned."""

from __future__ import annotations

import pytest

from grader.cli.made_up import CLASS, demo
from grader.project import ProjectError
from tests.support.grading_fixtures import LESSON, NOTEBOOK, make_project


@pytest.mark.one_of_each  # a class of three, graded and given back
@pytest.mark.slow
def test_a_class_is_graded_as_deserved_and_nothing_of_others_is_cleared(tmp_path):
    project, root = make_project(tmp_path / "project"), tmp_path / "demo"
    assert demo(root, "en", project, students=CLASS[:3], say=(said := []).append) == []
    assert (root / "feedback" / "partly" / LESSON / f"{NOTEBOOK}.html").exists() and "grades.csv" in "\n".join(said)
    (root / "made-by-grader-demo").unlink()
    with pytest.raises(ProjectError, match="another folder"):
        demo(root, "en", project, students=CLASS[:1])
    assert (root / "grades.csv").exists()

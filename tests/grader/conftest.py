"""A small class that was really marked, made once in a process; each test gets a copy of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.course import Course
from tests.support.grading_class import copy_of, make_class


@pytest.fixture(scope="session")
def marked_class(tmp_path_factory) -> Path:
    return make_class(tmp_path_factory.mktemp("marked"))[1].root


@pytest.fixture
def root(marked_class, tmp_path) -> Path:
    """The course folder of ada, bob, cyd and dee; all copies have one project, which no test may change."""
    return copy_of(marked_class, tmp_path / "class")


@pytest.fixture
def course(root) -> Course:
    return Course(root)

"""How much of a checkpoint differs from student to student."""

from __future__ import annotations

from typing import NamedTuple

from course.questions.variants import is_template
from grader.project import Project, checkpoint_items

WHICH_ID = (
    "Outside JupyterHub the first cell asks for the id: tell the class which one to type (exchange: the login name there; "
    "Moodle, Canvas: the id of your roster; the name under submitted/)"
)


class Varied(NamedTuple):
    """The number of questions that differ and of all questions, and the points of both; without code tasks."""

    questions: int
    all_questions: int
    points: float
    all_points: float


def varied(project: Project, lesson: str) -> Varied:
    """How many of a checkpoint's questions differ from student to student: by question, numbers or options."""
    raw = checkpoint_items(project, lesson).values()
    own = [one for one in raw if is_template(one)]
    return Varied(len(own), len(raw), *(sum(float(one.get("points", 0)) for one in part) for part in (own, raw)))


def told_of(found: Varied) -> str:
    """The sentence for the instructor at a release."""
    return (
        f"{found.questions} of {found.all_questions} questions ({found.points:g} of {found.all_points:g} points) differ for "
        "every student: other questions, numbers or options; the rest is the same for all."
    )

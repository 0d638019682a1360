"""Which paper a submission is marked against. A paper is the variants of all questions that one student was given.

A paper follows from the student's id and the release's salt, a text made from the course's secret and written into the
released notebook. Nothing in the submission can change it. A student who mistyped the id was given another paper;
the instructor says so in ``papers.yaml`` of the course directory::

    15_review:
      ada: adda        # ada typed "adda" and answered that paper: her answers are marked against it
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from course.i18n import Text, both
from course.questions.items import Item
from course.questions.variants import Paper, is_template, same_student
from grader.groups import groups
from grader.notebook_name import notebook_in
from grader.project import Infrastructure, Project, ProjectError, checkpoint_items, read_yaml

FILE = "papers.yaml"


def salt(secret: bytes, lesson: str) -> str:
    """The salt for one checkpoint of a course: the same at every release. The secret cannot be computed from it."""
    return hmac.new(secret, f"papers of {lesson}".encode(), hashlib.sha256).hexdigest()[:16]


def has_papers(project: Project, lesson: str) -> bool:
    """Whether a checkpoint has questions with variants."""
    return any(map(is_template, checkpoint_items(project, lesson).values()))


def released_salt(notebook: Any) -> str:
    """The salt in a released notebook; "" where all students have the same paper."""
    said = notebook.get("metadata", {}).get("course", {})
    return str(said.get("paper", ""))


def paper_of(released: Any, lesson: str, student: str, elsewhere: Mapping[str, str]) -> Paper | None:
    """The paper of a student; None where all have the same. elsewhere: student -> the id whose paper was answered
    (``answered_papers``).
    """
    found = released_salt(released)
    if not found:
        return None
    handed_out = {one["id"]: one for one in released["metadata"]["course"].get("questions", ())}
    return Paper(elsewhere.get(student, student), lesson, found, handed_out)


def paper_in(course: Path, lesson: str, student: str) -> Paper | None:
    """The paper of a student, read from the release and ``papers.yaml`` of a course directory; None where all have the
    same. Raises Infrastructure.
    """
    path = notebook_in(course, "release", lesson)
    if not path.exists():
        return None
    return paper_of(json.loads(path.read_text(encoding="utf-8")), lesson, student, answered_papers(course, lesson))


def papers_answered(answers: Mapping[str, Mapping[str, Any]], items: Mapping[str, Item]) -> dict[str, str]:
    """On whose paper each question was answered: question -> the student id that its answer carries, "" where it carries none.

    Only questions with variants are looked at; where none of them is answered, all answers that carry an id.
    """
    said = {name: str(answers[name].get("student", "")) for name in items if name in answers}
    varying = {name: other for name, other in said.items() if items[name].varies}
    return varying or {name: other for name, other in said.items() if other}


def on_other_papers(answered: Mapping[str, str], paper: Paper) -> dict[str, str]:
    """Those of ``papers_answered`` that were not given on this paper."""
    return {name: other for name, other in answered.items() if same_student(other) != same_student(paper.student)}


def sentences_on_other_papers(others: Mapping[str, str], paper: Paper) -> Iterator[Text]:
    """For each other paper a sentence that names the questions answered on it. others: from ``on_other_papers``."""
    for other in sorted({*others.values()}):
        names = [f"`{name}`" for name, said in others.items() if said == other]
        en, zh = (
            (f"on the paper of “{other}”", f"“{other}”的试卷")
            if other
            else ("without saying on whose paper", "没有注明是谁的试卷")
        )
        yield both(
            f"Answered {en}, and marked against the questions of “{paper.student}”: {', '.join(names)}.",
            f"作答来自{zh}，按“{paper.student}”的题目评分：{'、'.join(names)}。",
        )


def answered_papers(course: Path, lesson: str) -> dict[str, str]:
    """Student -> the id whose paper this student answered, from ``papers.yaml``, and in a group the paper of whom is named first
    there. Raises Infrastructure.
    """
    first = {student: group[0] for student, group in groups(course, lesson).items() if student != group[0]}
    path = course / FILE
    try:
        said = read_yaml(path) or {}
        listed = said.get(lesson, {})
        return first | {str(student): str(other) for student, other in listed.items()}
    except (ProjectError, AttributeError) as error:
        raise Infrastructure(
            f"{path} cannot be read: write a line `checkpoint:` and below it `student: whose paper` ({error})"
        ) from error

"""Whose questions a submission is marked against, where every student has a paper of their own.

The salt of a release is made from the course's secret and stands in the released notebook; the student is the one whose
submission it is. Nothing that is handed in plays a part. ``papers.yaml`` of the course directory is for accidents::

    15_review:
      ada: adda        # ada answered the paper of "adda", a slip of the pen: her answers are marked against that one
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
from grader.project import Infrastructure, Project, ProjectError, checkpoint_items, read_yaml

FILE = "papers.yaml"


def salt(secret: bytes, lesson: str) -> str:
    """The salt of a course's releases of one checkpoint: always the same, and no way back to the secret."""
    return hmac.new(secret, f"papers of {lesson}".encode(), hashlib.sha256).hexdigest()[:16]


def has_papers(project: Project, lesson: str) -> bool:
    """Whether a checkpoint has questions with variants."""
    return any(map(is_template, checkpoint_items(project, lesson).values()))


def released_salt(notebook: Any) -> str:
    """The salt a released notebook was handed out with, "" where all have the same paper."""
    said = notebook.get("metadata", {}).get("course", {})
    return str(said.get("paper", ""))


def paper_of(released: Any, lesson: str, student: str, elsewhere: Mapping[str, str]) -> Paper | None:
    """The paper of a student; None where all have the same. elsewhere: as ``moved`` gives it."""
    found = released_salt(released)
    if not found:
        return None
    handed_out = {one["id"]: one for one in released["metadata"]["course"].get("questions", ())}
    return Paper(elsewhere.get(student, student), lesson, found, handed_out)


def paper_in(course: Path, lesson: str, student: str) -> Paper | None:
    """The paper of a student as a course directory says: its release, and ``papers.yaml``. Raises Infrastructure."""
    path = course / "release" / lesson / f"{lesson}.ipynb"
    if not path.exists():
        return None
    return paper_of(json.loads(path.read_text(encoding="utf-8")), lesson, student, moved(course, lesson))


def of_others(answers: Mapping[str, Mapping[str, Any]], items: Mapping[str, Item], paper: Paper) -> dict[str, str]:
    """Question -> the student on whose paper the answer says it was given ("" where it says nothing), for those answers to
    questions with variants that were not given on this paper.
    """
    said = {
        name: str(answers[name].get("student", "")) for name, item in items.items() if item.varies and name in answers
    }
    return {name: whose for name, whose in said.items() if same_student(whose) != same_student(paper.student)}


def said_of_others(others: Mapping[str, str], paper: Paper) -> Iterator[Text]:
    """A sentence for each paper that answers were copied from, or given on by mistake."""
    for whose in sorted({*others.values()}):
        names = [f"`{name}`" for name, said in others.items() if said == whose]
        en, zh = (
            (f"on the paper of “{whose}”", f"“{whose}”的试卷")
            if whose
            else ("without saying on whose paper", "没有注明是谁的试卷")
        )
        yield both(
            f"Answered {en}, and marked against the questions of “{paper.student}”: {', '.join(names)}.",
            f"作答来自{zh}，按“{paper.student}”的题目评分：{'、'.join(names)}。",
        )


def moved(course: Path, lesson: str) -> dict[str, str]:
    """Student -> whose paper was answered, of ``papers.yaml``. Raises Infrastructure."""
    path = course / FILE
    try:
        said = read_yaml(path) or {}
        listed = said.get(lesson, {})
        return {str(student): str(whose) for student, whose in listed.items()}
    except (ProjectError, AttributeError) as error:
        raise Infrastructure(
            f"{path} cannot be read: write a line `checkpoint:` and below it `student: whose paper` ({error})"
        ) from error

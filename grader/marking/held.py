"""Holding back the marks of a submission until the instructor has looked at it.

That happens when the wrong file came, it arrived damaged or in several versions (``grader.handin.reading``), when it was answered on
another student's paper, or when it needs what this machine lacks. The student gets no zero and sees no right answer; every export
leaves the cell empty.

``autograde L --accept STUDENT`` says that the instructor has looked: this submission is then marked as it is. A new one is
checked again.
"""

from __future__ import annotations

import html
import json
from pathlib import Path

from nbformat import NotebookNode

from course.core.i18n import Text, pick
from course.learning.sheet import MIME
from course.questions.variants import Paper
from grader.handin.sentences import joined, said
from grader.marking import render
from grader.marking.said import say
from grader.marking.step import CourseStep, note, state
from grader.project.files import replace

FOLDER = "accepted"


def why_held(nb: NotebookNode, others: dict[str, str], questions: int, paper: Paper | None) -> tuple[str, Text] | None:
    """Why the marks are held back: (code, sentence for the student); None where they count.

    others: the answers given on another paper (``papers.on_other_papers``). questions: how many of ``papers.papers_answered``
    there are.
    """
    # missing: a cell for code or text that could not be read
    if "damaged" in state(nb)["happened"] and state(nb).get("missing"):
        return "damaged", joined(say("held.cells-gone"), said("save_again"))
    if twice := state(nb).get("twice"):
        names = ", ".join(f"`{one}`" for one in twice)
        return "two-cells", say("held.two-cells", cells=names)
    if others and len(others) == questions:
        if not any(others.values()):
            return "no-paper", say("held.no-paper")
        other = "”, “".join(sorted({*others.values()} - {""}))
        return "other-paper", say("held.other-paper", other=other, student=paper.student)
    return None


def hold(nb: NotebookNode, code: str, sentence: Text, language: str) -> None:
    """Remove every mark and every right answer from a graded notebook and write ``sentence`` into it."""
    for cell in nb.cells:
        if cell.cell_type != "code":
            continue
        cell.outputs = [one for one in cell.outputs if MIME not in one.get("data", {})]
        if cell.metadata.get("nbgrader", {}).get("grade"):
            words = html.escape(pick(say("held.waits"), language))
            cell.outputs, cell.execution_count = [render.shown(0.0, f"<p>{words}</p>")], None
    names = {cell: {"name": one["name"]} for cell, one in state(nb).get("verdicts", {}).items()}
    state(nb).update(marked=True, held=code, said=dict(sentence), verdict="look", verdicts=names)
    note(nb, "held", sentence)


def accepted(course: Path, lesson: str) -> dict[str, str]:
    """Student -> digest of the submission that the instructor has accepted."""
    path = course / FOLDER / f"{lesson}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def accept(course: Path, lesson: str, student: str, digest: str) -> None:
    """Write down that the instructor has accepted this submission."""
    known = accepted(course, lesson)
    if known.get(student) != digest:
        data = json.dumps({**known, student: digest}, indent=1, sort_keys=True)
        replace(course, course / FOLDER / f"{lesson}.json", data.encode())


class HoldBack(CourseStep):
    """Under stock nbgrader: removes the automatic marks and comments of a submission that is held back, after nbgrader has saved them."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Leave its cells without a mark in the gradebook, so that formgrader lists them."""
        said = resources["nbgrader"]
        if self.ours(resources) and state(nb).get("held"):
            from nbgrader.api import Gradebook

            with Gradebook(said["db_url"]) as gradebook:
                one = gradebook.find_submission_notebook(said["notebook"], said["assignment"], said["student"])
                for grade in one.grades:
                    grade.auto_score, grade.needs_manual_grade = None, grade.manual_score is None
                for comment in one.comments:
                    comment.auto_comment = None
                gradebook.db.commit()
        return nb, resources

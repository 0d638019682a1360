"""After the run: give each graded cell points and reasons, computed outside the kernel from keys and references."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from nbformat import NotebookNode
from nbgrader import utils

from course.core.i18n import Text, pick
from course.core.markup import plain
from course.core.verdict import Verdict
from course.learning.marking import Response, mark, misconceptions_of
from course.learning.sheet import MIME
from course.questions.items import Item
from course.questions.variants import Paper
from grader.handin.papers import on_other_papers, papers_answered, sentences_on_other_papers
from grader.handin.reading import Held
from grader.marking import render
from grader.marking.held import hold, why_held
from grader.marking.running import Found
from grader.marking.said import gravest, say
from grader.marking.step import STATE, grade_id, note, notes, reasons, state
from grader.marking.tasks import judge_task
from grader.project import Infrastructure
from grader.project.task import Task

Marks = tuple[dict[str, float | None], dict[str, str | None]]
"""Grade id -> points, None for a person; -> nbgrader's comment."""
METADATA = ("nbgrader", "tags")  # of a cell that stay; the rest tells pages and front ends how to show it


@dataclass(frozen=True)
class Circumstances:
    """What is known about a submission beside its answers.

    paper: the paper that its questions belong to, None where all students have the same. looked: the instructor has accepted it, so
    nothing is held back. held: why it is held back as it came, or None. lacks: why cells stopped that would have run on the
    student's machine, or None. stopped: whether a cell of the student did not run to its end.
    """

    language: str
    paper: Paper | None = None
    looked: bool = False
    held: Held | None = None
    lacks: Text | None = None
    stopped: bool = False


def mark_cells(
    nb: NotebookNode, items: dict[str, Item], tasks: dict[str, Task], found: Found, known: Circumstances
) -> Marks:
    """Give every graded cell its mark, from the answers stored in the notebook and from the results of the probes. What the pages say
    about them is stored in the notebook's metadata (``step.state``). Returns the marks for the gradebook, none where they are held back.
    """
    language, paper = known.language, known.paper
    verdicts, lost = {}, False
    happened, others = {*state(nb).get("happened", ())}, {}
    answered = papers_answered(state(nb)["answers"], items)
    if paper is not None and (others := on_other_papers(answered, paper)):
        state(nb)["others"] = others
        happened.add("look")
    why = None if known.looked else known.held or why_held(nb, others, len(answered), paper)
    if why is None:
        _note_answers(nb, items, happened, others, paper)
    for cell in nb.cells:
        cell.metadata = NotebookNode({name: _plain(cell.metadata[name]) for name in METADATA if name in cell.metadata})
        if cell.metadata.get("nbgrader", {}).get("grade") and not cell.metadata.nbgrader.get("solution"):
            identity, top = grade_id(cell), float(cell.metadata.nbgrader.points)
            if identity in items:
                verdict, reasons_of, about = _question(nb, items[identity], language)
            elif identity in tasks:
                verdict, reasons_of, about = _task(nb, tasks[identity], found, known)
                happened |= _words(verdict)
                lost |= verdict.points < verdict.max_points
            else:
                raise Infrastructure(f"the graded cell {identity!r} is neither an item nor a task")
            points = verdict.points / verdict.max_points * top
            verdicts[identity] = {"state": verdict.state, **about}
            cell.outputs = [render.result(points, top, verdict.state, reasons_of, language)]
            cell.execution_count = None
        elif cell.cell_type == "code":  # the answer sheet that the run displays is empty: remove it
            cell.outputs = [output for output in cell.outputs if MIME not in output.get("data", {})]
    nb.metadata = NotebookNode(
        {name: _plain(nb.metadata[name]) for name in (STATE, "kernelspec", "course") if name in nb.metadata}
    )
    if isinstance(nb.metadata.get("course"), dict):
        nb.metadata["course"].pop("questions", None)  # a graded notebook needs no questions
    state(nb).update(marked=True, verdict=gravest(happened), verdicts=verdicts)
    if why is None and lost and known.lacks is not None and not known.looked:
        why = "machine", say("held.machine", why=known.lacks)
    if "look" in reasons(nb):
        state(nb)["verdict"] = gravest({*happened, "look"})
    said = notes(nb, language)
    if why is not None:  # the head of the page says why
        hold(nb, *why, language)
    if said:
        nb.cells.insert(0, render.notes_cell(said, language))
    scores, comments = _marks(nb)
    return (scores, comments) if why is None else (dict.fromkeys(scores), dict.fromkeys(comments))


def _note_answers(
    nb: NotebookNode, items: dict[str, Item], happened: set, others: dict[str, str], paper: Paper | None
) -> None:
    """Note for the student that answers are missing, or were given on another paper."""
    if items and not state(nb).get("sheet", True) and not state(nb)["answers"]:
        happened.add("answers")
        n = len(items)
        note(nb, "answers-missing", say("mark.answers-missing", n=n, s="" if n == 1 else "s"))
    for sentence in sentences_on_other_papers(others, paper) if others else ():
        note(nb, "other-paper", sentence)


def _plain(value: Any) -> Any:
    """JSON data with null instead of NaN and infinity, which only Python can read."""
    if isinstance(value, dict):
        return NotebookNode({key: _plain(inner) for key, inner in value.items()})
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _words(verdict: Verdict) -> set[str]:
    """The words (of ``said.WORDS``) that a task's verdict adds to what happened to the submission."""
    if verdict.state in ("correct", "not attempted"):
        return set()
    happened = verdict.evidence.get("happened", ())
    if "raised:MemoryError" in happened:
        return {"memory"}
    return {"raised" if any(state.startswith("raised") for state in happened) else "wrong"}


def _question(nb: NotebookNode, item: Item, language: str) -> tuple[Verdict, str, dict[str, Any]]:
    """(the verdict, what the cell shows, what the pages say about it)."""
    given = state(nb)["answers"].get(item.id)
    response = Response(tuple(given["options"]), given["number"], given["confidence"]) if given else Response()
    verdict, held = mark(item, response), misconceptions_of(item, response)
    wrong = [one for one in response.options if item.kind != "order" and one not in item.correct]
    lost = not state(nb).get("sheet", True) and not state(nb)["answers"]  # the class did not get it wrong: no key
    about = {
        "name": " ".join(plain(pick(item.stem, language)).split()),
        "key": "" if lost else item.key,
        "wrong": wrong if item.number is None else held,
        "beliefs": held,
    }
    return verdict, render.question_html(item, response, verdict, language), about


def _task(nb: NotebookNode, task: Task, found: Found, known: Circumstances) -> tuple[Verdict, str, dict[str, Any]]:
    """The same for a task."""
    verdict = judge_task(task, *found[task.id], known.stopped)
    if "by_hand" in verdict.evidence:
        note(nb, "look", say("task.by-hand", id=task.id, why=verdict.evidence["by_hand"]))
    wrong = [part for part, points in (verdict.evidence.get("parts") or {}).items() if not points]
    about = {"name": f"`{task.name}`", "key": task.id, "wrong": wrong, "beliefs": []}
    return verdict, render.task_html(verdict, known.language), about


def _marks(nb: NotebookNode) -> Marks:
    """(scores, comments) of the marked cells, read by nbgrader's own rules."""
    scores, comments = {}, {}
    for cell in nb.cells:
        if utils.is_grade(cell):
            points, top = utils.determine_grade(cell)
            if utils.is_solution(cell):  # marked by hand; untouched, it is worth nothing
                scores[cell.metadata.nbgrader.grade_id] = points
                comments[cell.metadata.nbgrader.grade_id] = "No response." if points == 0 else None
                continue
            if points is None or not (math.isfinite(points) and 0 <= points <= top):
                raise Infrastructure(f"the mark of {cell.metadata.nbgrader.grade_id!r} is {points!r}")
            scores[cell.metadata.nbgrader.grade_id] = float(points)
        if utils.is_solution(cell):
            untouched = cell.metadata.nbgrader.get("checksum") == utils.compute_checksum(cell)
            comments[cell.metadata.nbgrader.grade_id] = "No response." if untouched else None
    return scores, comments

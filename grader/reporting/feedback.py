"""The feedback page for a student: the marks, the beliefs to look at again, then the notebook with a reason for each answer."""

from __future__ import annotations

import html
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from nbgrader.api import Gradebook

from course.core.i18n import pick
from course.core.look import css
from course.core.markup import inline, plain
from course.core.units import format_points
from course.learning.marking import misconceptions_of
from course.questions.items import Item
from grader.course.marks import CellMark, standings
from grader.handin.answers import keyed_items, stored
from grader.marking.render import WORDS
from grader.marking.step import STATE, CourseStep
from grader.project import Infrastructure, beliefs, remedies
from grader.project.dates import shown
from grader.project.task import Task
from grader.reporting.words import TEXTS, words

CSS = Path(__file__).with_name("feedback.css")
SIGNS = {"correct": "✓", "partly": "◐", "incorrect": "✗", "not attempted": "–", "inconclusive": "?"}
AGAIN = ("damaged", "wrong-file", "two-works", "two-cells", "other-release")  # held until another file comes
LONGEST = 90  # characters of a question in the table
Data = dict[str, Any]


class FeedbackPage(HTMLExporter):
    """Makes the page with the course's own template; its content comes from ``Overview``."""


class Overview(CourseStep):
    """Puts the content of the page above the notebook into ``resources["course_page"]``, after the grades were read."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Collect the content. For a notebook that is no checkpoint of the course it has no beliefs and the names of the cells."""
        language, said, state = self.language(nb), resources["nbgrader"], nb.metadata.get(STATE, {})
        word = words("feedback", language)
        items, lesson, student = self._items(nb, resources), said["assignment"], said["student"]
        with Gradebook(said["db_url"]) as gradebook:
            standing = standings(gradebook, lesson, student)[student]
            due = gradebook.find_assignment(lesson).duedate and gradebook.find_submission(lesson, student).duedate
        for cell in nb.cells:
            if cell.metadata.get("nbgrader", {}).get("comment") == TEXTS["feedback"]["untouched"]["en"]:  # nbgrader's
                cell.metadata.nbgrader.comment = word["untouched"]
        known = self.tasks(resources) if self.ours(resources) else {}
        graded = [cell for cell in nb.cells if cell.metadata.get("nbgrader", {}).get("grade")]
        marks = [standing.cells.get(cell.metadata.nbgrader.grade_id, CellMark(None)) for cell in graded]
        asked = {**known, **items}
        rows = [_row(*one, state, asked, word, language) for one in zip(graded, marks, strict=True)]
        held, counts = state.get("held"), Counter(row["how"] for row in rows)
        resources["course_page"] = {
            "lang": {"en": "en", "zh": "zh-Hans"}[language],
            "css": css(CSS),
            "word": word,
            "title": word["title"].format(lesson=lesson),
            "whose": student,
            "due": word["due"].format(when=shown(due, self.course_timezone)) if due else "",
            "held": self._next_step(state, due, word, language) if held else "",
            "lost": bool(held and state.get("lost")),  # the wrong file came: there is nothing of the student's to show
            "waits": any(row["waits"] for row in rows),
            "score": _points(max(0.0, said["score"]), said["max_score"], word),
            "late": _late(said["late_penalty"], word),
            "counts": [counts[how] for how in ("correct", "partly", "incorrect", "not attempted")],
            "rows": rows,
            "graded": {row["id"]: {**row, "number": place} for place, row in enumerate(rows, start=1)},
            "ideas": [] if held else self._ideas(state, items, lesson, word, language),
        }
        return nb, resources

    def _next_step(self, state: dict, due: datetime | None, word: dict[str, str], language: str) -> str:
        """A sentence for a student whose marks are held back: what to do, and until when."""
        sentence = pick(state["said"], language)
        if state["held"] not in AGAIN:
            return sentence
        past = due is None or due < datetime.now(timezone.utc).replace(tzinfo=None)
        until = word["again_soon"] if past else word["again_by"].format(when=shown(due, self.course_timezone))
        return sentence + (" " if language == "en" else "") + until

    def _items(self, nb: NotebookNode, resources: dict) -> dict[str, Item]:
        try:
            if not self.ours(resources):
                return {}
            return keyed_items(self.project, self.lesson(resources), self.paper(nb, resources))
        except Infrastructure:  # a key was removed after marking: show the marks with the names of the cells
            return {}

    def _ideas(
        self, state: dict, items: dict[str, Item], lesson: str, word: dict[str, str], language: str
    ) -> list[str]:
        """The false beliefs that the answers show, each with experiments and questions that help, as HTML."""
        if not (held := _beliefs(state, items)):
            return []
        texts, meet = beliefs(self.project), remedies(self.project, lesson)
        ideas = []
        for belief in held:
            known = meet.get(belief, {"experiments": [], "practice": []})
            calls = {
                "measure": [f'observe("{one}")' for one in known["experiments"]],
                "practise": [f'review("{one}")' for one in known["practice"]],
            }
            parts = [
                word[name].format(", ".join(f"`{one}`" for one in found)) for name, found in calls.items() if found
            ]
            all_parts = map(inline, [pick(texts.get(belief, belief), language), *parts])
            ideas.append((" " if language == "en" else "").join(all_parts))
        return ideas


def _row(
    cell: NotebookNode, mark: CellMark, state: dict, asked: dict[str, Item | Task], word: dict, language: str
) -> Data:
    """What the page says of one graded cell. how: its state; aside: the remark where a mark was given by hand, or ""."""
    name = cell.metadata.nbgrader.grade_id
    by_hand, waits = mark.manual is not None, mark.points is None
    how = _state(mark, state.get("verdicts", {}).get(name, {}).get("state"))
    points = "–" if waits else _points(mark.points, mark.top, word)
    sign = f"{SIGNS[how]} {pick(WORDS[how], language)}"
    return {
        "id": name,
        "asked": isinstance(asked.get(name), Item),
        "name": _name(asked.get(name), cell, word, language),
        "how": how,
        "state": how.replace(" ", "-"),
        "points": points,
        "waits": waits,
        "words": f"… {word['waits']}" if waits else sign + (word["by_hand"] if by_hand else ""),
        "aside": word["stands"].format(points=points) if by_hand else "",
    }


def _beliefs(state: dict, items: dict[str, Item]) -> list[str]:
    answers = state.get("answers", {})
    found = (misconceptions_of(item, stored(answers[name])) for name, item in items.items() if name in answers)
    return list(dict.fromkeys(belief for held in found for belief in held))


def _state(mark: CellMark, stored: str | None) -> str:
    """The state of a mark: as stored while marking, or by the points where a person or nobody marked."""
    if mark.points is None:
        return "inconclusive"
    if stored and mark.manual is None:
        return stored
    share = mark.points / mark.top if mark.top else 1.0
    return "correct" if share >= 1 else "partly" if share > 0 else "incorrect"


def _name(asked: Item | Task | None, cell: NotebookNode, word: dict[str, str], language: str) -> str:
    """The name of a cell as HTML: the question, the name of the function, the heading of a text; else its id."""
    if isinstance(asked, Item):
        text = " ".join(plain(pick(asked.stem, language)).split())
        return html.escape(text if len(text) <= LONGEST else text[:LONGEST].rsplit(" ", 1)[0] + " …")
    if asked is not None:
        return f"<code>{html.escape(asked.name)}</code>"
    name = html.escape(cell.metadata.nbgrader.grade_id)
    return f"{word['text']} <code>{name}</code>" if cell.cell_type == "markdown" else name


def _points(points: float, top: float, word: dict[str, str]) -> str:
    return word["one" if top == 1 else "score"].format(points=format_points(points), top=top)


def _late(taken: float, word: dict[str, str]) -> str:
    return word["late_one" if taken == 1 else "late"].format(points=format_points(taken)) if taken else ""

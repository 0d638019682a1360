"""The feedback page for a student: the marks, the beliefs to look at again, then the notebook with a reason for each answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from nbgrader.api import Gradebook

from course.core.i18n import pick
from course.core.look import css
from course.core.markup import inline
from course.core.units import format_points
from grader.course.marks import CellMark, standings
from grader.marking.render import WORDS
from grader.marking.step import STATE, CourseStep
from grader.project import beliefs, remedies
from grader.project.dates import shown
from grader.reporting import TEXTS

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
        """Collect the content. For a notebook that the course has not marked it has no beliefs, and the ids of the cells as names."""
        language, said, state = self.language(nb), resources["nbgrader"], nb.metadata.get(STATE, {})
        word = {name: text[language] for name, text in TEXTS["feedback"].items()}
        lesson, student = said["assignment"], said["student"]
        with Gradebook(said["db_url"]) as gradebook:
            standing = standings(gradebook, lesson, student)[student]
            due = gradebook.find_assignment(lesson).duedate and gradebook.find_submission(lesson, student).duedate
        for cell in nb.cells:
            if cell.metadata.get("nbgrader", {}).get("comment") == TEXTS["feedback"]["untouched"]["en"]:  # nbgrader's
                cell.metadata.nbgrader.comment = word["untouched"]
        graded = [cell for cell in nb.cells if cell.metadata.get("nbgrader", {}).get("grade")]
        marks = [standing.cells.get(cell.metadata.nbgrader.grade_id, CellMark(None)) for cell in graded]
        rows = [_row(*one, state, word, language) for one in zip(graded, marks, strict=True)]
        held = state.get("held")
        next_step = [pick(state["said"], language), *([word["again"]] if held in AGAIN else [])] if held else []
        resources["course_page"] = {
            "lang": {"en": "en", "zh": "zh-Hans"}[language],
            "css": css(CSS),
            "word": word,
            "lesson": lesson,
            "student": student,
            "due": shown(due, self.course_timezone) if due else "",
            "held": (" " if language == "en" else "").join(next_step),
            "lost": bool(held and state.get("lost")),  # the wrong file came: there is nothing of the student's to show
            "waits": any(row["waits"] for row in rows),
            "points": format_points(max(0.0, said["score"])),
            "top": said["max_score"],
            "late": format_points(said["late_penalty"]) if said["late_penalty"] else "",
            "rows": rows,
            "graded": {row["id"]: {**row, "number": place} for place, row in enumerate(rows, start=1)},
            "ideas": self._ideas(state, lesson, word, language),
        }
        return nb, resources

    def _ideas(self, state: dict, lesson: str, word: dict[str, str], language: str) -> list[str]:
        """The false beliefs that the answers show, each with what helps against it, as HTML."""
        held = dict.fromkeys(one for cell in state.get("verdicts", {}).values() for one in cell.get("beliefs", ()))
        if not held:
            return []
        texts, meet = beliefs(self.project), remedies(self.project, lesson)
        ideas = []
        for belief in held:
            calls = ", ".join(f"`{one}`" for one in meet.get(belief, ()))
            parts = [pick(texts.get(belief, belief), language), *([word["helps"].format(calls)] if calls else [])]
            ideas.append((" " if language == "en" else "").join(map(inline, parts)))
        return ideas


def _row(cell: NotebookNode, mark: CellMark, state: dict, word: dict, language: str) -> Data:
    """What the page says of one graded cell. how: its state; sign: that in words."""
    own = cell.metadata.nbgrader.grade_id
    verdict = state.get("verdicts", {}).get(own, {})
    name = verdict.get("name") or (f"{word['text']} `{own}`" if cell.cell_type == "markdown" else own)
    how, waits = _state(mark, verdict.get("state")), mark.points is None
    return {
        "id": own,
        "name": inline(name if len(name) <= LONGEST else name[:LONGEST].rsplit(" ", 1)[0] + " …"),
        "how": how,
        "points": "–" if waits else f"{format_points(mark.points)} / {mark.top:g}",
        "waits": waits,
        "sign": f"{SIGNS[how]} {pick(WORDS[how], language)}",
        "by_hand": mark.manual is not None,
    }


def _state(mark: CellMark, stored: str | None) -> str:
    """The state of a mark: as stored while marking, or by the points where a person or nobody marked."""
    if mark.points is None:
        return "inconclusive"
    if stored and mark.manual is None:
        return stored
    share = mark.points / mark.top if mark.top else 1.0
    return "correct" if share >= 1 else "partly" if share > 0 else "incorrect"

"""The report on a marked checkpoint: one page with one table, the question with the fewest points first. For each question it
shows the wrong answer given most, the idea behind it, and what helps against that idea.

All variants of a question count as one question, under the id of its key. Of a wrong number its trap is counted, of a wrong order
nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from course.core.units import format_points
from course.learning.marking import misconceptions_of
from course.questions.items import Item
from course.questions.variants import alternatives
from grader.course import Course
from grader.course.marks import CellMark, cell_marks, require
from grader.handin.answers import every_item, keyed_items, stored
from grader.handin.guard import guarded
from grader.handin.papers import paper_in
from grader.marking.outcomes import graded_notebook
from grader.marking.step import STATE, grade_id
from grader.project import beliefs, remedies
from grader.project.task import Task, tasks
from grader.project.template import render
from grader.reporting.words import words

HERE = Path(__file__).parent
FEW = 10  # submissions; with fewer the page says that they show single answers
Data = dict[str, Any]


def write_report(course: Course, lesson: str, to: Path | None = None, language: str | None = None) -> Path:
    """Write the page and return its path. to: default report-LESSON.html in the course directory. Raises ProjectError."""
    to = to or course.root / f"report-{lesson}.html"
    to.write_text(page(figures(course, lesson), language or course.language), encoding="utf-8")
    return to


@dataclass
class Row:
    """What the class did with one question (its standard variant) or task. n: how many were asked; earned: the sum of their shares of
    the points; wrong: how many gave each wrong answer: an option, the belief behind a number, or a part of the task.
    """

    subject: Item | Task
    top: float
    n: int = 0
    earned: float = 0.0
    skipped: int = 0
    wrong: Counter = field(default_factory=Counter)

    @property
    def share(self) -> float:
        """The share of the points that was earned, 0..1."""
        return self.earned / self.n if self.n else 0.0

    def count(self, cell: str, seen: Seen) -> None:
        """Add what one student did with it."""
        self.n += 1
        self.earned += min(1.0, seen.points.get(cell, 0.0) / self.top) if self.top else 1.0
        own = seen.asked[cell]
        if isinstance(own, Task):
            self.skipped += seen.states.get(cell) == "not attempted"
            parts = seen.parts.get(cell)
            self.wrong.update(part for part in own.parts if parts and not parts.get(part))
        elif cell in seen.answers:
            self.wrong.update(wrong_in(own, self.subject, seen.answers[cell]))
        else:
            self.skipped += 1

    @property
    def worst(self) -> Data:
        """The wrong answer that most gave: how many, its text, the belief behind it; empty where there is none."""
        if not self.wrong:
            return {}
        ((most, count),) = self.wrong.most_common(1)
        if isinstance(self.subject, Task):
            return {"count": count, "text": self.subject.parts[most].reason}
        if self.subject.number is not None:
            return {"count": count, "belief": most}
        option = self.subject.option(most)
        return {"count": count, "text": option.text, "belief": option.misconception}


@dataclass(frozen=True)
class Seen:
    """What one graded student did, by cell. asked: the questions of this student's paper, as they stood there, and the tasks. by_hand:
    whether a person has marked a text.
    """

    asked: dict[str, Item | Task]
    points: dict[str, float]
    states: dict[str, str] = field(default_factory=dict)
    parts: dict[str, dict[str, Any]] = field(default_factory=dict)
    answers: dict[str, Data] = field(default_factory=dict)
    by_hand: bool = False

    @property
    def tried(self) -> bool:
        return self.by_hand or bool({*self.states.values()} - {"not attempted"})


def wrong_in(own: Item, standard: Item, answer: Data) -> list[str]:
    """The wrong options in an answer to a variant, as they stand in the standard variant; of a number the belief behind it. Nothing where
    other options are right in the variant.
    """
    if own.number is not None:
        return [*misconceptions_of(own, stored(answer))]
    other = own.varies and "shown" not in own.values and own.correct != standard.correct
    if other or own.kind == "order":
        return []
    return [one.id for one in standard.options if one.id in (answer.get("options") or ()) and not one.correct]


def figures(course: Course, lesson: str, say: Callable[[str], object] = print) -> Data:
    """The numbers of the report. Students without a grade, and submissions in which nothing was attempted, are counted and then left
    out. For a question only the students count whose paper asks it and whose answers are not lost. Raises ProjectError.
    """
    require(course, lesson)
    marks, items = cell_marks(course, lesson), every_item(course.project, lesson)
    tops = {cell: mark.top for cell, mark in next(iter(marks.values()), {}).items()}
    rows = {}
    for place, item in keyed_items(course.project, lesson).items():
        drawn = [one["id"] for one in alternatives(item.template)] if item.template is not None else [item.id]
        rows |= {key: Row(items[key], tops[place]) for key in drawn if place in tops}
    rows |= {name: Row(one, tops[name]) for name, one in tasks(course.project, lesson).items() if name in tops}
    names = sorted({*marks, *course.submitted(lesson)})
    found: dict[str, Seen | None] = dict.fromkeys(names)
    for name in names:
        with guarded(name, lambda student, reason: say(f"{student} is left out: {reason}")):
            found[name] = _seen(course, lesson, name, marks.get(name, {}))
    with course.gradebook as gradebook:
        idle = sorted({student.id for student in gradebook.students} - {*names})
    about = {"lesson": lesson, "top": sum(tops.values()), "idle": idle}
    about |= {"beliefs": beliefs(course.project), "remedies": remedies(course.project, lesson)}
    return {**about, **tally(rows, found)}


def tally(rows: dict[str, Row], found: dict[str, Seen | None]) -> Data:
    """Count what the students did. found: student -> None for no grade."""
    counted = [seen for seen in found.values() if seen is not None and seen.tried]
    for seen in counted:
        for cell, own in seen.asked.items():
            rows[own.id if isinstance(own, Task) else own.key].count(cell, seen)
    return {
        "handed_in": len(found),
        "counted": len(counted),
        "blank": [name for name, seen in found.items() if seen is not None and not seen.tried],
        "without_grade": [name for name, seen in found.items() if seen is None],
        "totals": [sum(seen.points.values()) for seen in counted],
        "rows": sorted((row for row in rows.values() if row.n), key=lambda row: row.share),
    }


def _seen(course: Course, lesson: str, name: str, marks: dict[str, CellMark]) -> Seen | None:
    """What a student did; None for one without a grade."""
    notebook = graded_notebook(course, name, lesson)
    state = notebook.metadata.get(STATE, {}) if notebook is not None else {}
    points = {cell: mark.points for cell, mark in marks.items()}
    if not (state.get("marked") and points) or None in points.values():
        return None
    own = keyed_items(course.project, lesson, paper_in(course.root, lesson, name, state.get("salt", "")))
    answers = {item: dict(answer) for item, answer in state.get("answers", {}).items() if item in own}
    lost = {*own} if not (state.get("sheet", True) or answers) else set()
    there = {grade_id(cell) for cell in notebook.cells} - lost
    asked = {
        cell: one for cell, one in {**own, **tasks(course.project, lesson)}.items() if cell in there and cell in marks
    }
    verdicts = state.get("verdicts", {})
    return Seen(
        asked,
        points,
        {cell: verdict["state"] for cell, verdict in verdicts.items()},
        {cell: dict(verdict["parts"]) for cell, verdict in verdicts.items() if verdict.get("parts")},
        answers,
        any(mark.auto is None for mark in marks.values()),
    )


def page(found: Data, language: str = "en") -> str:
    """The report as one HTML page without names, scripts or other files; light, dark and in print."""
    said = words("report", language)
    counts = {name: len(found[name]) for name in ("blank", "without_grade", "idle")}
    middle = format_points(median(found["totals"] or [0.0]))
    return render(
        HERE / "report.html",
        language,
        (HERE / "report.css",),
        title=said["title"].format(lesson=found["lesson"]),
        who=said["who"].format(**{**found, **counts, "middle": middle, "top": format_points(found["top"])}),
        few=0 < found["counted"] < FEW,
        found=found,
        words=said,
    )

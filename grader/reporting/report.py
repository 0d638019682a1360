"""The report on a marked checkpoint: one page with one table, the question with the fewest points first. For each question it
shows the wrong answer given most, the idea behind it, and what helps against that idea.

All variants of a question count as one question, under the id of its key. Of a wrong number its trap is counted, of a wrong order
nothing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from course.core.i18n import Text
from course.questions.items import Item
from grader.course import Course
from grader.course.marks import CellMark, cell_marks, require
from grader.handin.answers import every_item
from grader.handin.guard import guarded
from grader.marking.outcomes import state_of
from grader.project import beliefs, remedies
from grader.project.task import Task, tasks
from grader.project.template import render
from grader.reporting import TEXTS

HERE = Path(__file__).parent
Data = dict[str, Any]
# Of a student with a grade, by cell: marks, verdicts as in ``step.state``.
Seen = tuple[dict[str, CellMark], dict[str, Data]]


def write_report(course: Course, lesson: str) -> Path:
    """Write report-LESSON.html into the course directory, in the language of the course; returns its path. Raises ProjectError."""
    to = course.root / f"report-{lesson}.html"
    to.write_text(page(figures(course, lesson), course.language), encoding="utf-8")
    return to


@dataclass
class Row:
    """What the class did with one question (its standard variant) or task. n: how many were asked; earned: the sum of their shares of
    the points; wrong: how many gave each wrong answer: an option, the belief behind a number, or a part of the task.
    """

    subject: Item | Task
    n: int = 0
    earned: float = 0.0
    wrong: Counter = field(default_factory=Counter)

    @property
    def share(self) -> float:
        """The share of the points that was earned, 0..1."""
        return self.earned / self.n if self.n else 0.0

    def count(self, mark: CellMark, verdict: Data) -> None:
        """Add what one student did with it."""
        self.n += 1
        self.earned += min(1.0, mark.points / mark.top) if mark.top else 1.0
        self.wrong.update(one for one in verdict.get("wrong", ()) if self._text(one) is not None)

    def _text(self, wrong: str) -> Text | None:
        """The words of a wrong answer, "" for a number; None where it is not wrong on the standard paper, or is not there any more."""
        if isinstance(self.subject, Task):
            return self.subject.parts[wrong].reason if wrong in self.subject.parts else None
        if self.subject.number is not None:
            return ""
        option = self.subject.option(wrong)
        return option.text if option is not None and not option.correct else None

    @property
    def worst(self) -> Data:
        """The wrong answer that most gave: how many, its text, the belief behind it; empty where there is none."""
        if not self.wrong:
            return {}
        ((most, count),) = self.wrong.most_common(1)
        option = None if isinstance(self.subject, Task) else self.subject.option(most)
        number = isinstance(self.subject, Item) and self.subject.number is not None
        belief = most if number else option.misconception if option is not None else None
        return {"count": count, "text": self._text(most), "belief": belief}


def figures(course: Course, lesson: str) -> Data:
    """The numbers of the report, of the students with a grade. For a question only those count whose paper asks it and whose answers
    are not lost. Raises ProjectError.
    """
    require(course, lesson)
    marks = cell_marks(course, lesson)
    names = sorted({*marks, *course.submitted(lesson)})
    found: list[Seen] = []
    for name in names:
        with guarded(name, lambda student, reason: print(f"{student} is left out: {reason}")):
            own, state = marks.get(name, {}), state_of(course, name, lesson)
            if state.get("marked") and own and all(mark.points is not None for mark in own.values()):
                found.append((own, state.get("verdicts", {})))
    about = {"lesson": lesson, "handed_in": len(names)}
    about |= {"beliefs": beliefs(course.project), "remedies": remedies(course.project, lesson)}
    return {**about, **tally({**every_item(course.project, lesson), **tasks(course.project, lesson)}, found)}


def tally(subjects: dict[str, Item | Task], found: list[Seen]) -> Data:
    """Count what the students with a grade did. subjects: all questions by their keys, and the tasks."""
    rows: dict[str, Row] = {}
    for marks, verdicts in found:
        for cell, verdict in verdicts.items():
            key = verdict.get("key", cell)
            if key in subjects and cell in marks:
                rows.setdefault(key, Row(subjects[key])).count(marks[cell], verdict)
    return {"counted": len(found), "rows": sorted(rows.values(), key=lambda row: row.share)}


def page(found: Data, language: str = "en") -> str:
    """The report as one HTML page without names, scripts or other files; light, dark and in print."""
    return render(HERE / "report.html", language, TEXTS["report"], (HERE / "report.css",), found=found)

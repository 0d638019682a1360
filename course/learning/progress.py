"""A learner's progress: what is done, in progress and due in each lesson, whether the learner is ready for its
checkpoint. Computed from the log alone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from course.learning.entry import Entry, now
from course.learning.review import plan
from course.questions.bank import Bank

READY = 0.8
"""A checkpoint looks ready when this share of the practice questions is right at the latest answer."""


@dataclass(frozen=True)
class LessonProgress:
    """The progress in one lesson. total: practice questions; answered, right: how many, by their latest answer; solved:
    exercises passed; due: concepts and lost bets to review now; recorded: checkpoint questions answered of
    checkpoint_total; started: whether the log has anything of it; done: whether the lesson was finished.
    """

    lesson: str
    total: int
    answered: int
    right: int
    solved: int
    due: int
    recorded: int
    checkpoint_total: int
    started: bool
    done: bool

    @property
    def ready(self) -> bool:
        """Whether the learner is probably ready for the checkpoint (a rule of thumb, see READY)."""
        return bool(self.checkpoint_total) and self.right >= READY * self.total


@dataclass(frozen=True)
class Progress:
    """The progress in all lessons."""

    lessons: tuple[LessonProgress, ...]

    @property
    def due(self) -> int:
        """How many concepts and lost bets to review now, over all lessons."""
        return sum(one.due for one in self.lessons)


def summary(entries: Iterable[Entry], bank: Bank, at: datetime | None = None) -> Progress:
    """The progress at a moment (default: now). Entries of questions the bank does not have are left out."""
    entries = list(entries)
    moment = at or now().astimezone()
    answers = {entry.item: entry for entry in entries if entry.event == "answer"}
    moved = {entry.lesson for entry in entries if entry.event == "move"}
    finished = {entry.item for entry in entries if entry.event == "finish"}
    touched = {entry.item[:2] for entry in entries}
    solved: dict[str, set[str]] = defaultdict(set)
    for entry in entries:
        if entry.event == "check" and entry.verdict == "correct":
            solved[entry.item[:2]].add(entry.item)
    practice, graded = bank.items(), bank.items(checkpoint=True)
    waiting = Counter(bank[item].lesson for item in plan(entries, bank, moment).items)
    lessons = []
    for lesson in bank.lessons():
        own = [item for item in practice if item.lesson == lesson and item.kind != "predict"]
        sheet = [item for item in graded if item.lesson == lesson]
        given = [answers[item.id] for item in own if item.id in answers]
        lessons.append(
            LessonProgress(
                lesson,
                len(own),
                len(given),
                sum(one.verdict == "correct" for one in given),
                len(solved[lesson[:2]]),
                waiting[lesson],
                sum(item.id in answers for item in sheet),
                len(sheet),
                lesson[:2] in touched,
                lesson in finished and bool(given or not own or lesson in moved),
            )
        )
    return Progress(tuple(lessons))

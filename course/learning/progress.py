"""A learner's progress: what is done, in progress and due in each lesson, whether the learner is ready for its
checkpoint, and which false beliefs are still held. Computed from the log alone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from course.core.i18n import Text
from course.learning.bets import Bet, placed_bets
from course.learning.entry import Entry, now
from course.learning.marking import misconceptions_of, response_of
from course.learning.review import plan
from course.questions.bank import Bank
from course.questions.items import Item, redrawn

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
    """The progress in all lessons. beliefs: those still held, the most widespread first. bets: (won, lost, not decided)."""

    lessons: tuple[LessonProgress, ...]
    beliefs: tuple[Belief, ...]
    bets: tuple[int, int, int]

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
    practice, graded, bets = bank.items(), bank.items(checkpoint=True), placed_bets(entries, bank)
    waiting = Counter(bank[item].lesson for item in plan(entries, bank, moment).items)
    held = beliefs(entries, bank, bets)
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
    return Progress(tuple(lessons), tuple(held), _counts(bets))


def _counts(bets: list[Bet]) -> tuple[int, int, int]:
    number = Counter(bet.state for bet in bets)
    return number["won"], number["lost"], number["open"] + number["inconclusive"]


@dataclass(frozen=True)
class Belief:
    """A false belief that the learner still holds. concepts, lessons: where."""

    id: str
    statement: Text
    concepts: frozenset[str]
    lessons: frozenset[str]


def beliefs(entries: Iterable[Entry], bank: Bank, bets: Iterable[Bet]) -> list[Belief]:
    """Every belief still held, the most widespread first.

    A belief counts as held while the latest answer to a question shows it. After a lost bet it counts as held until a later
    right answer to a question that has it as a wrong option, or to the bet asked again.
    """
    items = {item.id: item for item in bank.items()}
    latest: dict[str, Entry] = {}
    refuted: dict[str, str] = {}
    for entry in entries:
        item = items.get(entry.item)
        if entry.event != "answer" or item is None:
            continue
        if entry.verdict == "correct":
            refuted.update(dict.fromkeys(_offered(item), entry.time))
        if item.kind != "predict":
            latest[item.id] = entry
    places: dict[str, list[Item]] = defaultdict(list)
    for identity, entry in latest.items():
        item = items[identity]
        asked = redrawn(item, entry.variant or "") if item.varies else item
        for one in misconceptions_of(asked, response_of(entry)):
            places[one].append(item)
    for bet in bets:
        option = bet.item.option(bet.choice)
        if bet.state != "lost" or option is None or not option.misconception or bet.settled is None:
            continue
        if refuted.get(option.misconception, "") <= f"{bet.settled:%Y-%m-%dT%H:%M:%S.%fZ}":
            places[option.misconception].append(bet.item)
    statements = bank.misconceptions()
    found = [
        Belief(
            one, statements[one], frozenset(item.concept for item in where), frozenset(item.lesson for item in where)
        )
        for one, where in places.items()
        if one in statements
    ]
    return sorted(found, key=lambda one: (-len(one.concepts), one.id))


def _offered(item: Item) -> set[str]:
    """The beliefs that the wrong options of an item stand for."""
    traps = item.number.traps if item.number else ()
    return {one.misconception for one in (*item.options, *traps) if one.misconception}

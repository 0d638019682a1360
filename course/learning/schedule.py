"""When a concept is due again: spaced repetition (FSRS) over concepts, replayed from the answer log.

Deterministic: the same log and the same time give the same questions. Not counted as reviews: bets, a second try at the
same question within an hour (the explanation has just been read), and answers that were taken back.

A day holds at most A_DAY reviews: what is due beyond them waits for the next day (see ``review.plan``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from course.learning.entry import Entry
from course.questions.bank import Bank
from course.questions.items import Item

A_DAY = 12
"""Reviews on one day; more would tire the learner."""
RETRY = timedelta(hours=1)
RATED = ("correct", "partly", "incorrect")


@dataclass(frozen=True)
class Due:
    """A concept with the date when it is due. item: its question that was answered longest ago, in lessons started so far."""

    concept: str
    item: str
    lesson: str
    due: datetime


def rating(verdict: str, confidence: int | None) -> int:
    """FSRS rating of an answer: 1 again (incorrect), 2 hard (partly, or right by a guess), 3 good, 4 easy
    (certain).
    """
    if verdict == "incorrect":
        return 1
    if verdict == "partly" or confidence == 1:
        return 2
    return 4 if confidence == 3 else 3


def _earlier_lessons(bank: Bank, lesson: str | None) -> dict[str, Item]:
    """Practice items and interview questions by id; with a lesson, only those of lessons before it."""
    return {
        item.id: item
        for item in (*bank.items(), *bank.interview())
        if item.kind != "predict" and (lesson is None or item.lesson[:2] < lesson[:2])
    }


def _reviews(entries: Iterable[Entry], items: dict[str, Item]) -> dict[str, list[Entry]]:
    """Answers that count as reviews, by concept, oldest first."""
    last: dict[str, datetime] = {}
    found: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        if entry.event != "answer" or entry.item not in items or entry.verdict not in RATED:
            continue
        when = entry.when
        if entry.item in last and when - last[entry.item] < RETRY:
            continue
        last[entry.item] = when
        found[items[entry.item].concept].append(entry)
    return found


def timetable(entries: Iterable[Entry], bank: Bank, lesson: str | None = None) -> list[Due]:
    """Every concept answered so far with the date it is due, soonest first (``lesson``: only from lessons
    before it).
    """
    from fsrs import Card, Rating, Scheduler

    items = _earlier_lessons(bank, lesson)
    scheduler = Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False, maximum_interval=365)
    table, reviewed = [], _reviews(entries, items)
    met = {items[entry.item].lesson for reviews in reviewed.values() for entry in reviews}
    for concept, reviews in reviewed.items():
        card = Card(card_id=1)
        for entry in reviews:
            card, _ = scheduler.review_card(card, Rating(rating(entry.verdict, entry.confidence)), entry.when)
        latest = {entry.item: entry.time for entry in reviews}
        pool = [item for item in items.values() if item.concept == concept and item.lesson in met]
        item = min(pool, key=lambda one: (latest.get(one.id, ""), one.id))
        table.append(Due(concept, item.id, item.lesson, card.due))
    return sorted(table, key=lambda one: (one.due, one.concept))


def due(entries: Iterable[Entry], bank: Bank, now: datetime, lesson: str | None = None) -> list[str]:
    """Ids of the items to ask at ``now``, one for each concept that is due, longest overdue first.

    lesson: the lesson being read; only concepts from lessons before it count. now: aware datetime.
    """
    return [one.item for one in timetable(entries, bank, lesson) if one.due <= now]


def interleave(table: Sequence[Due]) -> list[Due]:
    """The same concepts in another order: the first of each lesson, then the second of each, and so on.

    Mixed practice is harder than one lesson at a time, and its effect lasts longer.
    """
    turn: dict[str, int] = defaultdict(int)
    ranked = []
    for one in table:
        ranked.append((turn[one.lesson], one))
        turn[one.lesson] += 1
    return [one for _, one in sorted(ranked, key=lambda pair: pair[0])]


def reviewed_on(day: date, now: datetime, entries: Iterable[Entry], bank: Bank) -> int:
    """How many reviews were done on a day (by the time zone of ``now``): answers to concepts that were answered on an earlier day
    already, and to lost bets.
    """
    entries = list(entries)

    def days(answers: Iterable[Entry]) -> list[date]:
        return [entry.when.astimezone(now.tzinfo).date() for entry in answers]

    concepts = [days(reviews) for reviews in _reviews(entries, _earlier_lessons(bank, None)).values()]
    bets = {item.id for item in bank.items() if item.kind == "predict"}
    lost = {
        entry.item for entry in entries if entry.event == "answer" and entry.item in bets and days([entry]) == [day]
    }
    return sum(day in one and one[0] < day for one in concepts) + len(lost)

"""The daily review: which question cards, in which order, and the sentences before them. No days in a row are counted, and cards
that wait for another day are never lost.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from course.core.i18n import t
from course.learning.bets import returns
from course.learning.entry import Entry
from course.questions.bank import Bank
from course.questions.items import Item


@dataclass(frozen=True)
class Plan:
    """The reviews of today. items: ids of today's questions, the lessons taking turns.

    waiting: how many more are due, and wait for another day because today is full. table: every concept
    answered so far, and every lost bet that will come back, with its date, soonest first.
    """

    items: tuple[str, ...]
    waiting: int
    table: tuple[Due, ...]

    @property
    def due(self) -> int:
        """How many are to review today."""
        return len(self.items)


def plan(entries: Iterable[Entry], bank: Bank, now: datetime) -> Plan:
    """The reviews at ``now`` (aware), at most A_DAY a day: first lost bets that come back, then due concepts, the longest
    overdue first, with the lessons taking turns.
    """
    entries = list(entries)
    bets = [Due(one.item, one.item, one.lesson, one.due) for one in returns(entries, bank)]
    concepts = timetable(entries, bank)
    wanted = [one for group in (bets, concepts) for one in interleave([one for one in group if one.due <= now])]
    room = max(0, A_DAY - reviewed_on(now.date(), now, entries, bank))
    chosen = wanted[:room]
    return Plan(
        tuple(one.item for one in chosen),
        len(wanted) - len(chosen),
        tuple(sorted([*bets, *concepts], key=lambda one: (one.due, one.concept))),
    )


def ideas(count: int) -> str:
    """A number of concepts in words."""
    return t(f"{count} idea" + ("s" if count != 1 else ""), f"{count} 个知识点")


def greeting(found: Plan, now: datetime) -> list[str]:
    """The sentences before the cards."""
    if not found.table:
        return [
            t(
                "Nothing to review yet. Answer a few cards, and they come back when it helps most.",
                "还没有可复习的。先答几张卡片，它们会在最合适的时候回来。",
            )
        ]
    if not found.due and found.waiting:
        return [
            t(f"Enough for today. {found.waiting} more come tomorrow.", f"今天够了，还有 {found.waiting} 个明天再来。")
        ]
    if not found.due:
        return [t("Nothing is due now.", "现在没有要复习的。"), next_words(found, now)]
    said = [t(f"{ideas(found.due)} to review today.", f"今天复习 {ideas(found.due)}。")]
    if found.waiting:
        said.append(
            t(
                f"No day has more than {A_DAY}; the other {found.waiting} wait, and nothing is lost.",
                f"每天最多 {A_DAY} 个；另外 {found.waiting} 个往后排，一个都不会丢。",
            )
        )
    return said


def next_words(found: Plan, now: datetime) -> str:
    """A sentence: when the next concept will be due."""
    first = min(found.table, key=lambda one: one.due)
    day = first.due.astimezone(now.tzinfo).date()
    when = t(f"on {day}", f" {day} ") if day > now.date() else t("later today", "今天晚些时候")
    return t(f"The next idea comes back {when}. Coming later is fine too.", f"下一个知识点{when}回来，晚几天也没关系。")


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

"""The daily review: which question cards, in which order, and the sentences before them. No days in a row are counted, and cards
that wait for another day are never lost.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from course.core.i18n import language, t
from course.learning.bets import returns
from course.learning.entry import Entry
from course.learning.schedule import A_DAY, Due, interleave, reviewed_on, timetable
from course.questions.bank import Bank

AWAY = timedelta(days=14)
_MONTHS = "January February March April May June July August September October November December".split()
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()


@dataclass(frozen=True)
class Plan:
    """The reviews of today. items: ids of today's questions, the lessons taking turns. lessons: how many lessons they are from.

    waiting: how many more are due, and wait for another day because today is full. away_days: days since the last answer or move
    in a game after a long break, else 0. table: every concept answered so far, and every lost bet that will come back, with its
    date, soonest first.
    """

    items: tuple[str, ...]
    lessons: int
    waiting: int
    away_days: int
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
    worked = [entry.when for entry in entries if entry.event in ("answer", "move")]
    away = now - max(worked) if worked else timedelta(0)
    return Plan(
        tuple(one.item for one in chosen),
        len({one.lesson for one in chosen}),
        len(wanted) - len(chosen),
        away.days if away >= AWAY and chosen else 0,
        tuple(sorted([*bets, *concepts], key=lambda one: (one.due, one.concept))),
    )


def day_words(day: date, today: date) -> str:
    """A day in words: today, tomorrow, Tuesday 24 November."""
    if day == today:
        return t("today", "今天")
    if day == today + timedelta(days=1):
        return t("tomorrow", "明天")
    if language() == "zh":
        year = f"{day.year}年" if day.year != today.year else ""
        return f"{year}{day.month}月{day.day}日（星期{'一二三四五六日'[day.weekday()]}）"
    year = f" {day.year}" if day.year != today.year else ""
    return f"{_DAYS[day.weekday()]} {day.day} {_MONTHS[day.month - 1]}{year}"


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
        return [t("Nothing is due today.", "今天没有要复习的。"), next_words(found, now)]
    said = []
    if found.away_days:
        said.append(
            t(
                f"Welcome back after {found.away_days} days. What was forgotten comes back faster than it was learnt.",
                f"欢迎回来，隔了 {found.away_days} 天。忘掉的东西，重新捡起来比当初学快得多。",
            )
        )
    from_lessons = (
        t(f" from {found.lessons} lessons, mixed", f"，来自 {found.lessons} 课，交错着来") if found.lessons > 1 else ""
    )
    said.append(t(f"{ideas(found.due)} to review today{from_lessons}.", f"今天复习 {ideas(found.due)}{from_lessons}。"))
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
    day = day_words(max(now.date(), first.due.astimezone(now.tzinfo).date()), now.date())
    later = day == t("today", "今天")
    when = t("later today", "今天晚些时候") if later else t(f"on {day}" if day != "tomorrow" else day, day)
    return t(f"The next idea comes back {when}. Coming later is fine too.", f"下一个知识点{when}回来，晚几天也没关系。")

"""The daily review: which question cards, in which order, and the sentences before and after them. No days in a row are
counted, and cards that move to a later day are never lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from course.core.i18n import language, t
from course.learning.bets import returns
from course.learning.entry import Entry
from course.learning.schedule import A_DAY, Due, reviewed_on, spread, timetable
from course.questions.bank import Bank

AWAY = timedelta(days=14)
_MONTHS = "January February March April May June July August September October November December".split()
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()


@dataclass(frozen=True)
class Plan:
    """The reviews of today and of the days to come. items: ids of today's questions, the lessons taking turns. lessons: how many
    lessons they are from.

    days: how many of those due by now are asked on which day, as (day, number), since a day holds so many only.
    away_days: days since the last answer or move in a game after a long break, else 0.
    table: every concept answered so far, and every lost bet that will come back, with its date, soonest first.
    """

    items: tuple[str, ...]
    lessons: int
    days: tuple[tuple[date, int], ...]
    away_days: int
    table: tuple[Due, ...]

    @property
    def due(self) -> int:
        """How many are to review today."""
        return len(self.items)

    @property
    def moved(self) -> int:
        """How many are due by now, and wait for a later day because today is full."""
        return sum(many for _, many in self.days) - self.due


def plan(entries: Iterable[Entry], bank: Bank, now: datetime, a_day: int = A_DAY) -> Plan:
    """The reviews at ``now`` (aware), at most ``a_day`` a day: first lost bets that come back, then due concepts, the longest
    overdue first, with the lessons taking turns.
    """
    entries = list(entries)
    bets = [Due(one.item, one.item, one.lesson, one.due, bet=True) for one in returns(entries, bank)]
    wanted = [*bets, *timetable(entries, bank)]
    table = spread(wanted, now, reviewed_on(now.date(), now, entries, bank), a_day)
    chosen = [one.item for one in table if one.due <= now]
    by_now = {one.concept for one in wanted if one.due <= now}
    days = Counter(max(now, one.due).astimezone(now.tzinfo).date() for one in table if one.concept in by_now)
    worked = [entry.when for entry in entries if entry.event in ("answer", "move")]
    away = now - max(worked) if worked else timedelta(0)
    return Plan(
        tuple(chosen),
        len({bank[item].lesson for item in chosen}),
        tuple(days.items()),
        away.days if away >= AWAY and chosen else 0,
        tuple(sorted(table, key=lambda one: (one.due, one.concept))),
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


def things(due: Sequence[Due]) -> str:
    """How many concepts, and how many lost cases, in words."""
    cases = sum(one.case for one in due)
    said = [ideas(len(due) - cases)] if cases < len(due) else []
    said += [t(f"{cases} case" + ("s" if cases != 1 else ""), f"{cases} 道题")] if cases else []
    return t(" and ", "和").join(said)


def greeting(found: Plan, now: datetime) -> list[str]:
    """The sentences before the cards."""
    if not found.table:
        return [
            t(
                "Nothing to review yet. Answer a few cards, and they come back when it helps most.",
                "还没有可复习的。先答几张卡片，它们会在最合适的时候回来。",
            )
        ]
    if not found.due and not found.moved:
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
    if found.due:
        said.append(
            t(f"{ideas(found.due)} to review today{from_lessons}.", f"今天复习 {ideas(found.due)}{from_lessons}。")
        )
    return [*said, *_moved(found, now)]


def _moved(found: Plan, now: datetime) -> list[str]:
    """A sentence, where more is due than fits into today."""
    if not found.moved:
        return []
    days = spread_words(found, now)
    if not found.due:
        return [t(f"Enough for today. Nothing is lost: {days}.", f"今天够了。一个都不会丢：{days}。")]
    return [
        t(
            f"Spread so that no day has more than {A_DAY}, and nothing is lost: {days}.",
            f"每天最多 {A_DAY} 个，一个都不会丢：{days}。",
        )
    ]


def spread_words(found: Plan, now: datetime) -> str:
    """Half a sentence: on which days what is due by now is asked: "12 today, 6 tomorrow"."""
    named = [(day_words(day, now.date()), many) for day, many in found.days]
    if len(named) <= 2:
        return t(", ", "，").join(t(f"{many} {day}", f"{day} {many} 个") for day, many in named)
    (first, many), (last, _) = named[0], named[-1]
    return t(f"{many} {first}, and so on until {last}", f"{first} {many} 个，以后每天一些，到{last}为止")


def next_words(found: Plan, now: datetime) -> str:
    """A sentence: when the next concept or lost case will be due."""
    first = min(found.table, key=lambda one: one.due)
    day = day_words(max(now.date(), first.due.astimezone(now.tzinfo).date()), now.date())
    later = day == t("today", "今天")
    when = t("later today", "今天晚些时候") if later else t(f"on {day}" if day != "tomorrow" else day, day)
    what = t("case", "道题") if first.case else t("idea", "个知识点")
    return t(f"The next {what} comes back {when}. Coming later is fine too.", f"下一{what}{when}回来，晚几天也没关系。")


def closing(answered: int, right: int, found: Plan, now: datetime) -> str:
    """The sentences after the cards. found: the plan made after the last answer."""
    said = t(
        f"Done for now: {answered} answered, {right} right. ", f"这一轮完成了：答了 {answered} 张，对了 {right} 张。"
    )
    if found.due:
        return said + t(
            f"{ideas(found.due)} can wait; `review()` goes on whenever you like.",
            f"还有 {ideas(found.due)}，不急；想继续就再运行 `review()`。",
        )
    return said + (" ".join(_moved(found, now)) or (next_words(found, now) if found.table else ""))

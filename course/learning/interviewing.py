"""The interview: which question comes next, and its model answers as HTML."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from course.core.i18n import pick, t
from course.core.markup import inline
from course.learning.entry import Entry
from course.learning.schedule import timetable
from course.questions.bank import Bank
from course.questions.interview import FLUENCY, Spoken
from course.questions.wording import call_text


def following(entries: Iterable[Entry], bank: Bank, now: datetime, count: int = 1) -> list[str]:
    """Ids of the questions to ask at ``now`` (aware): those due, then those never asked, then those due soonest."""
    questions = {one.id: one for one in bank.interview()}
    met = {one.item: one.due for one in timetable(entries, bank) if one.item in questions}
    due = [item for item, when in met.items() if when <= now]  # longest overdue first, as the timetable is
    fresh = [item for item in questions if item not in met]
    return list(dict.fromkeys([*due, *fresh, *met]))[:count]


def where_words(entries: Iterable[Entry], bank: Bank, now: datetime) -> str:
    """A sentence: how many questions have been asked, and how many are due."""
    total = len(bank.interview())
    ids = {one.id for one in bank.interview()}
    table = [one for one in timetable(entries, bank) if one.item in ids]
    due = sum(one.due <= now for one in table)
    return t(
        f"🎤 Interview: {len(table)} of {total} questions met, {due} due today.",
        f"🎤 面试：{total} 题练过 {len(table)} 题，今天到期 {due} 题。",
    )


def short_head() -> str:
    """The heading of the short answer."""
    return t("In 30 seconds", "30 秒版")


def full_head() -> str:
    """The heading of the long answer."""
    return t(
        "In 3 minutes: the points, in order; add an example and your own numbers",
        "3 分钟版：按顺序的要点，再配一个例子和自己的数字",
    )


def said_head() -> str:
    """The heading of the criteria."""
    return t("What did you say?", "你说到了哪些？")


def model_html(item: Spoken) -> str:
    """Both model answers as HTML."""
    points = "".join(f"<li>{inline(pick(one))}</li>" for one in item.full)
    return (
        f"<h4>{short_head()}</h4><p>{inline(pick(item.short))}</p><h4>{full_head()}</h4><ol>{points}</ol>"
        f"<p><small>{t('Source: ', '依据：')}{inline(item.source)}</small></p>"
    )


def criteria_html(item: Spoken) -> str:
    """The criteria as HTML, and how to rate by typing."""
    listed = "".join(f"<li><b>{one.id})</b> {inline(pick(one.text))}</li>" for one in item.options)
    said = t(", ", "、").join(f"{level} = {pick(words)}" for level, words in FLUENCY.items())
    rate = t(
        f"Rate it: `{call_text(item)}` (add confidence={said})", f"打分：`{call_text(item)}`（可加 confidence={said}）"
    )
    return f'<h4>{said_head()}</h4><ul style="list-style:none">{listed}</ul><p>{inline(rate)}</p>'

"""The calendar of what comes back, as an accessible table of weeks; the same in words stands beside it."""

from __future__ import annotations

import html
from datetime import date, datetime, timedelta

from course.cards.style import SHEET
from course.i18n import language, t
from course.learning.review import Plan, calendar_words, day_words, things
from course.learning.schedule import Due, calendar

_WEEK = {"en": ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"), "zh": ("一", "二", "三", "四", "五", "六", "日")}


def calendar_html(found: Plan, now: datetime, days: int = 14) -> str:
    """Weeks as rows, Monday first; a cell holds the day of the month and how many ideas and lost cases come back."""
    due = calendar(found.table, now, days)
    first, last = min(due), max(due)
    day = first - timedelta(days=first.weekday())
    rows = []
    while day <= last:
        rows.append("".join(_cell(day + timedelta(days=number), due, now.date()) for number in range(7)))
        day += timedelta(days=7)
    heads = "".join(f'<th scope="col">{one}</th>' for one in _WEEK[language()])
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    caption = t(f"The next {days} days", f"接下来 {days} 天")
    return (
        f'{SHEET}<div class="tbq tbq-cal"><table><caption>{caption}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
        f'<p class="tbq-note">{html.escape(calendar_words(found, now, days))}</p></div>'
    )


def _cell(day: date, due: dict[date, list[Due]], today: date) -> str:
    if day not in due:
        return '<td class="out"></td>'
    back = due[day]
    names = [name for name, holds in (("due", back), ("today", day == today)) if holds]
    title = html.escape(day_words(day, today), quote=True)
    number = f"<b>{t(things(back), f'{len(back)} 项')}</b>" if back else ""
    return f'<td class="{" ".join(names)}" title="{title}">{day.day}{number}</td>'

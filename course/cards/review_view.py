"""The calendar of what comes back, as an accessible table of weeks; the same in words stands beside it."""

from __future__ import annotations

import html
from datetime import date, datetime, timedelta

from course.cards.style import SHEET
from course.i18n import language, t
from course.learning.review import Plan, calendar_words, day_words, ideas
from course.learning.schedule import calendar

_CSS = """<style>
.tbq.tbq-cal table{border-collapse:separate;border-spacing:4px;width:100%;table-layout:fixed;margin:4px 0 8px -4px;
border:0}.tbq.tbq-cal caption{text-align:left;font-weight:600;padding:0 4px 4px;color:var(--q-fg);caption-side:top}
.tbq.tbq-cal tr{background:none!important}.tbq.tbq-cal th,.tbq.tbq-cal td{border:0;padding:3px 2px;text-align:center!important;
font-size:13px;color:var(--q-soft);vertical-align:top;background:none}
.tbq.tbq-cal td{height:46px;border-radius:8px;background:var(--q-fill)}.tbq.tbq-cal td.out{background:none}
.tbq.tbq-cal td b{display:block;font-size:12.5px;line-height:1.3;color:var(--q-main)}.tbq.tbq-cal td.due{background:var(--q-pick);
color:var(--q-fg)}.tbq.tbq-cal td.today{box-shadow:inset 0 0 0 2px var(--q-main)}
</style>"""
_WEEK = {"en": ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"), "zh": ("一", "二", "三", "四", "五", "六", "日")}


def calendar_html(found: Plan, now: datetime, days: int = 14) -> str:
    """Weeks as rows, Monday first; a cell holds the day of the month and how many ideas come back."""
    counts = {day: len(due) for day, due in calendar(found.table, now, days).items()}
    first, last = min(counts), max(counts)
    day = first - timedelta(days=first.weekday())
    rows = []
    while day <= last:
        rows.append("".join(_cell(day + timedelta(days=number), counts, now.date()) for number in range(7)))
        day += timedelta(days=7)
    heads = "".join(f'<th scope="col">{one}</th>' for one in _WEEK[language()])
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    caption = t(f"The next {days} days", f"接下来 {days} 天")
    return (
        f'{SHEET}{_CSS}<div class="tbq tbq-cal"><table><caption>{caption}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
        f'<p class="tbq-note">{html.escape(calendar_words(found, now, days))}</p></div>'
    )


def _cell(day: date, counts: dict[date, int], today: date) -> str:
    if day not in counts:
        return '<td class="out"></td>'
    count = counts[day]
    names = [name for name, holds in (("due", count), ("today", day == today)) if holds]
    title = html.escape(day_words(day, today), quote=True)
    number = f"<b>{t(ideas(count), f'{count} 项')}</b>" if count else ""
    return f'<td class="{" ".join(names)}" title="{title}">{day.day}{number}</td>'

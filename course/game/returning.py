"""Lost cases come back: a week after a first attempt with fewer than half of the points, as the twin, until that is closed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from course.core.i18n import pick, t
from course.core.markup import plain
from course.core.units import format_points
from course.game.board import Standing
from course.game.cases import Case
from course.learning.bets import RETURN_AFTER

LOST = 5.0
"""A first attempt with fewer points than this is lost."""


@dataclass(frozen=True)
class Return:
    """A lost case that comes back. asked: its twin, or the case itself where it has none. due: aware datetime."""

    lost: Standing
    asked: Case
    due: datetime


def coming_back(standings: Iterable[Standing]) -> list[Return]:
    """Every lost case whose twin was not closed since, soonest first. The tutorial does not come back."""
    known = {one.case.id: one for one in standings}
    found = []
    for one in known.values():
        if one.case.tutorial or one.first is None or one.first.points >= LOST:
            continue
        asked = known[one.case.twin or one.case.id]
        if not any(when > one.closed[0] for when in asked.closed):
            found.append(Return(one, asked.case, one.closed[0] + RETURN_AFTER))
    return sorted(found, key=lambda one: one.due)


def return_words(one: Return) -> str:
    """What was lost, and what is asked now; with marks."""
    lost, day = one.lost, f"{one.lost.closed[0].astimezone():%Y-%m-%d}"
    title, points = plain(pick(lost.case.title)), format_points(lost.first.points)
    said = t(
        f"🔁 {lost.case.icon} **{title}** gave you {points} of 10 on {day}.",
        f"🔁 {lost.case.icon} **{title}**，{day} 得了 {points} / 10。",
    )
    if one.asked.id == lost.case.id:
        return said + t(" Do you see it now? This time is practice.", "现在看得出来了吗？这次算练习。")
    twin = f"{one.asked.icon} **{plain(pick(one.asked.title))}**"
    return said + t(
        f" Now its twin, the same code in another situation: {twin}.",
        f"现在换它的双胞胎，同样的代码，另一种场合：{twin}。",
    )

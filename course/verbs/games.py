"""The verbs of games: ``case`` to play one, ``board`` to see all, ``share`` to send one to a friend."""

from __future__ import annotations

import html
from typing import Any

from course.core.i18n import pick, t
from course.core.markup import plain
from course.core.units import format_points
from course.core.version import address
from course.game import board as boards
from course.game import cases
from course.game.play import Attempt, attempts
from course.game.view import STYLE
from course.verbs import state
from course.verbs.say import in_words, put, say


@in_words
def case(name: str) -> Any:
    """A case of a game: ``case("voice")`` shows it; ``case("voice").run(...)`` and the like play it by typing."""
    found = cases.find(name)
    return boards.game(found.lesson).player(found, state.now.log)


@in_words
def share(name: str) -> None:
    """A case you closed as text, to send to a friend: what there is to bet on, and your points; not why."""
    found = cases.find(name)
    its = boards.game(found.lesson)
    first = attempts(found, state.now.log.entries(), its.reader(found))[0]
    if not first.closed:
        say(
            t(
                f"First close the case: `{found.call}`. Then it can be shared.",
                f"先做完这一个：`{found.call}`，然后才能分享。",
            )
        )
        return
    text = share_text(first, its.hook(first))
    put(f'<pre style="white-space:pre-wrap">{html.escape(text)}</pre>', text)


def share_text(first: Attempt, hook: str) -> str:
    """A closed attempt, to paste anywhere. hook: what makes a friend want to bet."""
    of, points = first.case, first.score()
    lines = [f"🎲 {hook}", f"{of.icon} {plain(pick(of.title))} · {format_points(points.points)} / {points.most:g}"]
    for part in points.parts:
        bar = "▇" * round(12 * part.points / part.most) or "▏"
        lines.append(f"{bar} {pick(part.name)} {format_points(part.points)} / {part.most:g}")
    number = of.lesson[:2]
    where = t(f"torch-backends-course, lesson {number}: {of.call}", f"torch-backends-course 第 {number} 课：{of.call}")
    return "\n".join(filter(None, [*lines, where, address()]))


@in_words
def board(lesson: str | None = None) -> None:
    """The cases of a game with their state and calls, and your mean. lesson: its id (default: the lesson at work, else every game)."""
    games = boards.games()
    lesson = lesson or (state.now.lesson if state.now.lesson in games else None)
    if lesson is not None and lesson not in games:
        names = ", ".join(f"`{one}`" for one in games)
        say(t(f"`{lesson}` is no game; the games are {names}.", f"`{lesson}` 不是游戏课；游戏课有 {names}。"))
        return
    for one in [lesson] if lesson else games:
        put(STYLE + boards.board_html(one, state.now.log.entries()))

"""The board: every case of a game with its state, the mean of the first attempts, as one piece of HTML."""

from __future__ import annotations

import html
import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean
from types import ModuleType

from course.cards.render import in_language
from course.core.catalog import BY_ID, LESSONS, lesson_folder
from course.core.i18n import Text, both, pick, t
from course.core.markup import inline, plain
from course.core.units import format_points
from course.game.cases import FILE, Case, cases
from course.game.play import Score, attempts
from course.learning.entry import Entry

OPEN = both("open", "待接")
GOOD, BEST = 5.5, 8.0
"""Points from which a tile is washed, and framed."""


@dataclass(frozen=True)
class Standing:
    """Where a learner stands with one case. words: its state while it is open. scores: of every closed attempt, oldest first; the
    first counts.
    """

    case: Case
    words: Text
    scores: tuple[Score, ...] = ()

    @property
    def first(self) -> Score | None:
        return self.scores[0] if self.scores else None

    @property
    def said(self) -> str:
        """Its state: open, or the points of the first attempt and of the last, which is practice."""
        if not self.first:
            return pick(self.words)
        first, last = (format_points(one.points) for one in (self.scores[0], self.scores[-1]))
        apart = t(" (a warm-up, not counted)", "（热身，不计入总分）") if self.case.tutorial else ""
        again = t(f" · practice: {last}", f" · 练习：{last}") if len(self.scores) > 1 else ""
        return t(f"closed: {first} of 10", f"已完成：{first} / 10") + apart + again


def games() -> list[str]:
    """Ids of the lessons that are games: those whose folder has cases."""
    return [one.id for one in LESSONS if (lesson_folder(one.id) / FILE).exists()]


def game(lesson: str) -> ModuleType:
    """The module ``game`` of a lesson's folder (see ``course.game``)."""
    return importlib.import_module(f"course.lessons.l{lesson}.game")


def standing(case: Case, entries: Sequence[Entry]) -> Standing:
    """The standing of one case: its state in the words of its game while it is open, what each closed attempt gave."""
    its = game(case.lesson)
    found = attempts(case, entries, its.reader(case))
    words = "" if found[0].closed else its.words(found)
    return Standing(case, words, tuple(one.score() for one in found if one.closed))


def standings(lesson: str, entries: Sequence[Entry]) -> list[Standing]:
    """The standing of each case of a game, in file order."""
    return [standing(case, entries) for case in cases(lesson).values()]


def mean_line(found: Sequence[Standing]) -> str:
    """The mean of first attempts, and how many cases are closed; the tutorial does not count. With marks."""
    counted = [one for one in found if not one.case.tutorial]
    firsts = [one.first.points for one in counted if one.first]
    if not firsts:
        return t("No case counts yet: the night is young.", "还没有计分的案子：夜还长着呢。")
    points = format_points(round(mean(firsts), 1))
    return t(
        f"**{points} of 10** on average, {len(firsts)} of {len(counted)} cases closed.",
        f"平均 **{points} 分**（满分 10），做完 {len(firsts)} 个（共 {len(counted)} 个）。",
    )


# --- the board as HTML ----------------------------------------------------------------------------------------------


def groups(found: Sequence[Standing]) -> list[tuple[Standing, ...]]:
    """Every case: twins together and first, else in file order."""
    by_id, made = {one.case.id: one for one in found}, {}
    for one in found:
        if one.case.twin not in made:
            made[one.case.id] = (one, by_id[one.case.twin]) if one.case.twin else (one,)
    return sorted(made.values(), key=len, reverse=True)


def tile_html(one: Standing) -> str:
    """One case: its name, its state or the points of the first attempt as a bar, the call that opens it."""
    points = one.first.points if one.first else None
    look = "open" if points is None else "best" if points >= BEST else "good" if points >= GOOD else ""
    bar = "" if points is None else f'<i><u style="width:{round(10 * points)}%"></u></i>'
    return (
        f'<p class="tbb-tile tbb-{look}"><b>{one.case.icon} {html.escape(plain(pick(one.case.title)))}</b> '
        f"<span>{bar}{html.escape(one.said)}</span> <code>{html.escape(one.case.call)}</code></p>"
    )


def board_html(lesson: str, entries: Sequence[Entry]) -> str:
    """The board of one game, as the log has it."""
    found = standings(lesson, entries)
    joined = groups(found)
    twins = t(
        "**⇄ Twins:** the same code in another situation. What helps one may hurt the other.",
        "**⇄ 双胞胎：**同样的代码，换一种场合。帮了这个，可能害了那个。",
    )
    tiles = "".join(
        f'<div class="{"tbb-pair" if len(group) > 1 else "tbb-alone"}">{"<em>⇄</em>".join(map(tile_html, group))}</div>'
        for group in joined
    )
    return in_language(
        f'<div class="tbq-head"><h3>🗂️ {html.escape(plain(pick(BY_ID[lesson].question)))}</h3></div>'
        f'<p class="tbb-mean">{inline(mean_line(found))}</p>'
        + (f'<p class="tbb-small">{inline(twins)}</p>' if len(joined[0]) > 1 else "")
        + f'<div class="tbb-grid">{tiles}</div>',
        "tbq tbg tbb",
    )

"""What a learner would send to a friend: one attempt as a picture and as text. It asks, and does not give the cause away."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from course.figures.picture import Diagram
from course.figures.svg import wide
from course.game.cases import Case
from course.game.score import Score
from course.i18n import pick, t
from course.look import COLOURS
from course.markup import plain
from course.units import format_points

WIDTH, HEIGHT = 1200, 630
"""Pixels: what chat programs show as a preview."""


@dataclass(frozen=True)
class Bar:
    """One thing that was tried, without the setting's name. length: 1 is as long as today. said: what came out. bet: what was bet
    on it, how sure: what was said of that. broken: drawn hollow.
    """

    name: str
    length: float
    said: str
    bet: str = ""
    sure: str = ""
    broken: bool = False


@dataclass(frozen=True)
class Shared:
    """One closed attempt. bars: in the order in which they were made. middle: the word at length 1, "" for none. origin: where
    the numbers come from.
    """

    case: Case
    score: Score
    bars: Sequence[Bar]
    middle: str
    origin: str

    @property
    def points(self) -> str:
        return f"{format_points(self.score.points)} / 10"

    @property
    def ask(self) -> str:
        return t("Can you beat it?", "换你来？")

    @property
    def where(self) -> str:
        """How the case is opened."""
        number = self.case.lesson[:2]
        return t(
            f"torch-backends-course, lesson {number}: {self.case.call}",
            f"torch-backends-course 第 {number} 课：{self.case.call}",
        )

    @property
    def sentences(self) -> tuple[str, str]:
        """The case: who comes, and what counts."""
        counts = t("What counts: ", "看重的是：") + plain(pick(self.case.wants))
        return plain(pick(self.case.client)), counts


def share_text(one: Shared) -> str:
    """The attempt as text, to paste anywhere."""
    longest = max(bar.length for bar in one.bars)
    lines = [f"{one.case.icon} {plain(pick(one.case.title))} · {one.points}", *one.sentences]
    for bar in one.bars:
        drawn = "▇" * round(12 * bar.length / (longest or 1)) or "▏"
        bet = t(f"  🎲 bet: {bar.bet}, {bar.sure}", f"  🎲 押的是：{bar.bet}，{bar.sure}") if bar.bet else ""
        lines.append(f"{bar.name}  {drawn} {bar.said}{bet}")
    return "\n".join([*lines, one.origin, f"🎯 {one.ask} {one.where}"])


class ShareCard(Diagram):
    """The picture: 1200 × 630 pixels, light, made to be read at a third of that."""

    size, dpi = (WIDTH / 100, HEIGHT / 100), 100

    def __init__(self, shared: Shared) -> None:
        self.shared, self.alt = shared, share_text(shared)

    def paint(self, ax: Any) -> None:
        one = self.shared
        ax.set(xlim=(0, WIDTH), ylim=(HEIGHT, 0))
        _box(ax, 14, 14, WIDTH - 28, HEIGHT - 28, edge="line", width=2, r=24)
        kicker = t("torch.backends, a game · ", "torch.backends 小游戏 · ") + one.case.id
        _text(ax, 64, 66, kicker, "out", 22, bold=True)
        _text(ax, 1136, 104, one.points, "fg", 44, ha="right", bold=True)
        _text(ax, 64, 116, plain(pick(one.case.title)), "fg", _fitting(plain(pick(one.case.title)), 46, 840), bold=True)
        client, counts = one.sentences
        _text(ax, 64, 172, client, "soft", _fitting(client, 26, 1070))
        _text(ax, 64, 208, counts, "soft", _fitting(counts, 26, 1070))
        self._bars(ax)
        _text(ax, 64, 532, one.ask, "bet", 36, bold=True)
        _text(ax, 1136, 532, one.where, "fg", 24, ha="right", bold=True)
        origin = re.sub(r"^\W+", "", one.origin)  # matplotlib's fonts hold no pictograms
        _text(ax, 64, 584, origin, "soft", _fitting(origin, 18, 1070))

    def _bars(self, ax: Any) -> None:
        """A row for each try: what it was called, how long, what came out; at the right the bet."""
        one, x0, x1 = self.shared, 232, 490
        high = min(64, 252 / len(one.bars))
        longest = max([1.0, *(bar.length for bar in one.bars)])
        if one.middle:
            at = x0 + (x1 - x0) / longest
            ax.plot([at, at], [244, 248 + high * len(one.bars)], color=COLOURS["fg"][0], linewidth=1.5, zorder=1)
            _text(ax, at, 234, one.middle, "soft", 17, ha="center")
        for place, bar in enumerate(one.bars):
            y = 250 + high * (place + 0.5)
            end = x0 + (x1 - x0) * bar.length / longest
            _text(ax, 212, y, bar.name, "fg", 22, ha="right")
            _box(ax, x0, y - 0.34 * high, max(end - x0, 3), 0.68 * high, "" if bar.broken else "out", "out")
            said = _folded(bar.said, 22, 270)
            _text(ax, max(end, at if one.middle else 0) + 14, y, said, "fg", _fitting(said, 22, 270), bold=True)
            if bar.bet:
                _box(ax, 786, y - 0.43 * high, 350, 0.86 * high, "betwash", "bet", dash=True)
                bet = t(f"bet: {bar.bet}", f"押：{bar.bet}")
                whole = f"{bet}\n{bar.sure}" if wide(bet, 20) <= 334 else _folded(f"{bet} · {bar.sure}", 20, 334)
                _text(ax, 961, y, whole, "bet", _fitting(whole, 20, 334), ha="center")


def _folded(words: str, size: float, room: float) -> str:
    """The words; in two lines of about the same length where one is too long for the room."""
    places = [place for place, sign in enumerate(words, 1) if sign in " ，：、"]
    if wide(words, size) <= room or not places:
        return words
    lines = ((words[:place].strip(), words[place:].strip()) for place in places)
    return "\n".join(min(lines, key=lambda two: max(map(wide, two))))


def _fitting(words: str, size: float, room: float) -> float:
    """The size in pixels at which the longest line fits into the room."""
    return min(size, size * room / max(wide(line, size) for line in words.split("\n")))


def _text(ax: Any, x: float, y: float, words: str, ink: str, size: float, ha: str = "left", bold: bool = False) -> None:
    weight = "bold" if bold else "normal"
    ax.text(x, y, words, color=COLOURS[ink][0], fontsize=0.72 * size, ha=ha, va="center", fontweight=weight, zorder=4)


def _box(
    ax: Any,
    x: float,
    y: float,
    w: float,
    h: float,
    fill: str = "",
    edge: str = "",
    width: float = 1.5,
    r: float = 6,
    dash=False,
) -> None:
    from matplotlib.patches import FancyBboxPatch

    ax.add_patch(
        FancyBboxPatch(
            (x, y), w, h, boxstyle=f"round,pad=0,rounding_size={min(r, w / 2, h / 2)}",
            facecolor=COLOURS[fill][0] if fill else "none", edgecolor=COLOURS[edge][0], linewidth=width,
            linestyle=(0, (5, 4)) if dash else "-", zorder=2,
        )
    )  # fmt: skip

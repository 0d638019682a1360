"""What a learner would send to a friend: one attempt as a picture and as text. It asks, and does not give the cause away."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from course.figures.picture import Diagram
from course.figures.svg import wide
from course.figures.wrap import wrap
from course.game.cases import Case
from course.game.score import Score
from course.i18n import pick, t
from course.look import COLOURS
from course.markup import plain
from course.units import format_points
from course.version import address

SIDE = 1080
"""Pixels of the square: no messenger cuts it."""
EDGE, CODE = 64, 236
CODE_AT = (SIDE - EDGE - CODE, SIDE - EDGE - CODE + 14)
"""Pixels: left free on each side; of the QR code's side; of its upper left corner."""
SIZES = (60, 54, 48, 44, 40)
"""Of the hook: the largest at which it needs no more than five lines."""


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
    """One closed attempt. hook: what makes a friend want to bet. bars: in the order in which they were made. middle: the word at
    length 1, "" for none. origin: where the numbers come from.
    """

    case: Case
    hook: str
    score: Score
    bars: Sequence[Bar]
    middle: str
    origin: str

    @property
    def points(self) -> str:
        return f"{format_points(self.score.points)} / 10"

    @property
    def where(self) -> str:
        """How the case is opened."""
        number = self.case.lesson[:2]
        return t(
            f"torch-backends-course, lesson {number}: {self.case.call}",
            f"torch-backends-course 第 {number} 课：{self.case.call}",
        )


def share_text(one: Shared) -> str:
    """The attempt as text, to paste anywhere."""
    longest = max(bar.length for bar in one.bars)
    lines = [f"🎲 {one.hook}", f"{one.case.icon} {plain(pick(one.case.title))} · {one.points}"]
    for bar in one.bars:
        drawn = "▇" * round(12 * bar.length / (longest or 1)) or "▏"
        bet = t(f"  🎲 bet: {bar.bet}, {bar.sure}", f"  🎲 押的是：{bar.bet}，{bar.sure}") if bar.bet else ""
        lines.append(f"{bar.name}  {drawn} {bar.said}{bet}")
    return "\n".join(filter(None, [*lines, one.origin, one.where, address()]))


class ShareCard(Diagram):
    """The picture: a square, light, made to be read at a third of its size. With the package segno the address is a QR code as well."""

    size, dpi = (SIDE / 100, SIDE / 100), 100

    def __init__(self, shared: Shared) -> None:
        self.shared, self.alt = shared, share_text(shared)

    def paint(self, ax: Any) -> None:
        one, room = self.shared, SIDE - 2 * EDGE
        ax.set(xlim=(0, SIDE), ylim=(SIDE, 0))
        _box(ax, 14, 14, SIDE - 28, SIDE - 28, edge="line", width=2, r=28)
        _text(ax, EDGE, 72, t("torch.backends, a game", "torch.backends 小游戏"), "out", 24, bold=True)
        _text(ax, SIDE - EDGE, 72, one.case.id, "soft", 22, ha="right")
        size, lines = next(
            (size, lines) for size in SIZES if len(lines := _lines(one.hook, size, room)) <= 5 or size == SIZES[-1]
        )
        for place, line in enumerate(lines):
            ink = "bet" if place == len(lines) - 1 else "fg"
            _text(ax, EDGE, 112 + size * (0.7 + 1.36 * place), line, ink, size, bold=True)
        top = 136 + 1.36 * size * len(lines)
        title = plain(pick(one.case.title))
        title = plain(pick(one.case.client)) if title in one.hook else title
        _text(ax, EDGE, top + 8, title, "soft", _fitting(title, 27, room - 180))
        _text(ax, SIDE - EDGE, top + 8, one.points, "fg", 34, ha="right", bold=True)
        self._bars(ax, top + 44, 778)
        self._way_there(ax)

    def _way_there(self, ax: Any) -> None:
        """At the foot: how the case is opened, the address, where the numbers come from; at the right the QR code."""
        one, url = self.shared, address()
        drawn = bool(url) and _code(ax, url, *CODE_AT)
        room = SIDE - 2 * EDGE - (CODE + 24 if drawn else 0)
        origin = _folded(re.sub(r"^\W+", "", one.origin), 19, room)  # matplotlib's fonts hold no pictograms
        shown = re.sub(r"^https?://", "", url)
        for y, words, ink, size in ((884, one.where, "fg", 25), (932, shown, "out", 25), (994, origin, "soft", 19)):
            _text(ax, EDGE, y, words, ink, _fitting(words, size, room), bold=ink == "fg")

    def _bars(self, ax: Any, top: float, bottom: float) -> None:
        """A row for each try: what it was called, how long, what came out; at the right the bet."""
        one, x0, x1, bet_x, bet_wide = self.shared, 210, 430, 676, 340
        high = min(84, (bottom - top - 24) / len(one.bars))
        longest = max([1.0, *(bar.length for bar in one.bars)])
        at = x0 + (x1 - x0) / longest
        if one.middle:
            ax.plot(
                [at, at], [top + 18, top + 24 + high * len(one.bars)], color=COLOURS["fg"][0], linewidth=1.5, zorder=1
            )
            _text(ax, at, top + 8, one.middle, "soft", 18, ha="center")
        for place, bar in enumerate(one.bars):
            y = top + 24 + high * (place + 0.5)
            end = x0 + (x1 - x0) * bar.length / longest
            _text(ax, x0 - 16, y, bar.name, "fg", _fitting(bar.name, 22, x0 - 16 - EDGE), ha="right")
            _box(ax, x0, y - 0.34 * high, max(end - x0, 3), 0.68 * high, "" if bar.broken else "out", "out")
            start = max(end, at if one.middle else 0) + 14
            said = _folded(bar.said, 22, bet_x - 12 - start)
            _text(ax, start, y, said, "fg", _fitting(said, 22, bet_x - 12 - start), bold=True)
            if bar.bet:
                _box(ax, bet_x, y - 0.43 * high, bet_wide, 0.86 * high, "betwash", "bet", dash=True)
                bet = t(f"bet: {bar.bet}", f"押：{bar.bet}")
                room = bet_wide - 16
                whole = f"{bet}\n{bar.sure}" if wide(bet, 20) <= room else _folded(f"{bet} · {bar.sure}", 20, room)
                _text(ax, bet_x + bet_wide / 2, y, whole, "bet", _fitting(whole, 20, room), ha="center")


def _lines(words: str, size: float, room: float) -> list[str]:
    """The words in lines that fit into the room; sentences that ask stand on a line of their own at the end."""
    before, ask = re.fullmatch(r"(.*?[.。！?？!”])?\s*([^.。！?？]+[?？])", words, re.S).groups()
    columns = int(room / wide("x", size, True))
    return [line for part in (before, ask) if part for line in wrap(part.strip(), columns).split("\n")]


def _code(ax: Any, url: str, x: float, y: float) -> bool:
    """Draw the QR code of an address, its upper left corner at (x, y); False where the package for it is not there."""
    try:
        import segno
    except ImportError:
        return False
    matrix = [list(row) for row in segno.make(url, error="m", micro=False).matrix_iter(border=2)]
    ax.imshow(
        matrix, cmap="gray_r", interpolation="nearest", extent=(x, x + CODE, y + CODE, y), aspect="auto", zorder=3
    )
    return True


def _folded(words: str, size: float, room: float) -> str:
    """The words; in two lines of about the same length where one is too long for the room."""
    places = [place for place, sign in enumerate(words, 1) if sign in " ，：、"]
    if wide(words, size) <= room or not places:
        return words
    lines = ((words[:place].strip(), words[place:].strip()) for place in places)
    return "\n".join(min(lines, key=lambda two: max(map(wide, two))))


def _fitting(words: str, size: float, room: float) -> float:
    """The size in pixels at which the longest line fits into the room, also in bold."""
    return min(size, size * room / max(1.0, *(wide(line, size, True) for line in words.split("\n"))))


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

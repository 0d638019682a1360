"""A record as a learner sees it: where it comes from, one sentence, the bets, the picture, a table to unfold."""

from __future__ import annotations

import html
import re
import textwrap
import unicodedata
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from course.figures.picture import Drawing, both_themes
from course.figures.plots import intervals, samples
from course.i18n import Text, language, pick, t

if TYPE_CHECKING:
    from course.records import Record

LONGEST_TABLE = 60
"""Rows shown in the foldable table; the rest is counted."""
CELL_SAMPLES = 3


class Shown:
    """What `show` gives back: displays itself in a notebook, prints as text elsewhere.

    label, sentence, bets: strings in the learner's language. png(dark) renders the picture.
    """

    def __init__(self, record: Record, experiment: Any, bets: Sequence[Text] = ()) -> None:
        self.record, self.experiment = record, experiment
        self.label = pick(record.label())
        self._finding = _finding(record, experiment)
        self.sentence = pick(self._finding)
        self.bets = tuple(pick(bet) for bet in bets)

    def png(self, dark: bool = False, words: bool = True) -> bytes:
        """The picture as PNG bytes; empty when there is nothing to draw.

        words: with the sentence above it and the bets below, for a picture that stands alone.
        """
        return self._drawing(words).png(dark) if self.record.rows else b""

    def _drawing(self, words: bool) -> Drawing:
        def fill(figure: Any) -> None:
            _draw(self.record, self.experiment, figure.add_subplot())
            if words:
                figure.suptitle(wrap(pick(self._finding)), x=0.01, ha="left", fontsize=11)
            if words and self.bets and _drawable(self.bets):
                figure.text(0.01, -0.02, wrap("\n".join(self.bets)), ha="left", va="top", fontsize=10, style="italic")

        return Drawing(fill, (7.0, 3.8), tight=0.12)

    def _repr_html_(self) -> str:
        bets = "".join(f"<li>{html.escape(bet)}</li>" for bet in self.bets)
        drawn = both_themes(self._drawing(words=False).png, self.sentence, 760) if self.record.rows else ""
        return (
            f'<div class="tb-shown"><div><small>{html.escape(self.label)}</small></div>'
            f'<p style="max-width:760px"><strong>{html.escape(self.sentence)}</strong></p>'
            + (f"<ul>{bets}</ul>" if bets else "")
            + f"{drawn}{_table(self.record)}</div>"
        )

    def __str__(self) -> str:
        return "\n".join([self.label, self.sentence, *self.bets])

    __repr__ = __str__

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


def show(record: Record, experiment: Any = None, bets: Sequence[Text] = ()) -> Shown:
    """`record` made displayable.

    experiment: the Experiment (or anything with `.finding(record)` and `.draw(record, ax)`); without it a
    plain drawing and no claim. bets: lines such as "your bet: twice as fast -> 1.02 x, not settled".
    """
    return Shown(record, experiment, bets)


def wrap(text: str, width: int = 84) -> str:
    """`text` broken into lines at most `width` columns wide; a Chinese character counts two columns."""
    return "\n".join(line for part in text.split("\n") for line in _balanced(part, width))


def _balanced(text: str, width: int) -> list[str]:
    """The fewest lines, about equally long."""
    best = _wrap_line(text, width)
    for narrower in range(width - 4, width // 2, -4):
        lines = _wrap_line(text, narrower)
        if len(lines) > len(best):
            break
        best = lines
    return best


def _wrap_line(text: str, width: int) -> list[str]:
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    if wide * 4 < len(text):
        return textwrap.wrap(text, width) or [""]
    lines, line, columns = [], "", 0
    for piece in re.findall(r"[!-~]+|.", text):
        size = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in piece)
        if columns + size > width and piece not in "，。；：！？）、” ":
            opening = line[-1:] if line.endswith(("（", "“")) else ""  # an opening mark goes with what it opens
            lines.append(line.removesuffix(opening).rstrip())
            line, columns = opening, 2 * len(opening)
        line, columns = line + piece, columns + size
    return [*lines, line]


def _drawable(texts: Sequence[str]) -> bool:
    """Whether the figure's font can show these texts (a Chinese bet needs a Chinese font)."""
    return language() == "zh" or all(ord(c) < 0x2E80 for text in texts for c in text)


def _finding(record: Record, experiment: Any) -> Text:
    if not record.rows:
        return t(
            "Nothing was measured before the run ended; run it again.", "运行结束前没有测到任何数据；请再运行一次。"
        )
    if experiment is None:
        return t(f"{record.experiment}: the rows as measured.", f"{record.experiment}：原始测量数据。")
    try:
        return experiment.finding(record)
    except Exception as error:  # noqa: BLE001  (a cut-short record may lack the rows a sentence needs)
        kind = type(error).__name__
        return t(
            f"Inconclusive: these rows are too few for a finding ({kind}). Run it again with more time.",
            f"无法判定：数据不足以得出结论（{kind}）。请多给些时间再运行一次。",
        )


def _draw(record: Record, experiment: Any, ax: Any) -> None:
    draw: Callable[[Any, Any], None] = getattr(experiment, "draw", None) or default_draw
    try:
        draw(record, ax)
    except Exception as error:  # noqa: BLE001  (sentence and table must still reach the learner)
        ax.clear()
        ax.set_axis_off()
        kind = type(error).__name__
        sentence = t(f"No picture from these rows ({kind}).", f"这些数据画不出图（{kind}）。")
        ax.text(0.5, 0.5, sentence, ha="center", transform=ax.transAxes)


def default_draw(record: Record, ax: Any) -> None:
    """Intervals where rows have a ratio or median_ms with low and high, else raw samples, else points."""
    rows = record.rows
    first = rows[0]
    labels = [" ".join(v for v in row.values() if isinstance(v, str)) or str(i) for i, row in enumerate(rows)]
    for mid, low, high, unit in (
        ("ratio", "low", "high", ""),
        ("ratio", "ratio_low", "ratio_high", ""),
        ("median_ms", "low_ms", "high_ms", "ms"),
    ):
        if {mid, low, high} <= first.keys():
            columns = [[row[key] for row in rows] for key in (mid, low, high)]
            intervals(ax, labels, *columns, unit, reference=1 if mid == "ratio" else None, what=mid)
            return
    raw = next((key for key, value in first.items() if isinstance(value, list)), None)
    if raw:
        samples(ax, dict(zip(labels, (row[raw] for row in rows), strict=True)), "", what=raw)
        return
    key = next(k for k, v in first.items() if isinstance(v, (int, float)) and not isinstance(v, bool))
    ax.plot([row[key] for row in rows], range(len(rows)), "o")
    ax.set_yticks(range(len(rows)), labels)
    ax.set_xlabel(key)


def _table(record: Record) -> str:
    """All rows in a <details> block; long lists shortened, long tables counted."""
    rows = record.rows
    keys = list(dict.fromkeys(key for row in rows for key in row))
    head = "".join(f'<th scope="col" style="text-align:left">{html.escape(key)}</th>' for key in keys)
    lines = [[html.escape(_cell(row.get(key))) for key in keys] for row in rows[:LONGEST_TABLE]]
    cells = ["".join(f'<td style="text-align:left">{cell}</td>' for cell in line) for line in lines]
    body = "".join(f"<tr>{line}</tr>" for line in cells)
    more = len(rows) - LONGEST_TABLE
    rest = f"<p>{t(f'and {more} more rows', f'另有 {more} 行')}</p>" if more > 0 else ""
    title = t(f"The numbers ({len(rows)} rows)", f"数据（{len(rows)} 行）")
    return (
        f'<details><summary>{title}</summary><div style="overflow-x:auto"><table><thead><tr>{head}</tr>'
        f"</thead><tbody>{body}</tbody></table></div>{rest}</details>"
    )


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return t("yes", "是") if value else t("no", "否")
    if isinstance(value, float):
        return f"{value:.5g}"
    if isinstance(value, list):
        shown = ", ".join(_cell(v) for v in value[:CELL_SAMPLES])
        more = len(value) - CELL_SAMPLES
        return shown + (t(f", … {more} more", f"，……另有 {more} 个") if more > 0 else "")
    return str(value)

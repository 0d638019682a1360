"""Words and pictures that the CPU and the CUDA records of lesson 04 share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from course.figures.style import ink_on
from course.i18n import Text, both, t

BLUE, ORANGE = "C0", "C1"  # the theme's, for all eyes alike; a word stands beside
NOTHING = both("Inconclusive: too few rows came back. Run it again.", "尚无定论：返回的数据太少。请再运行一次。")
OPERATIONS = {"Conv2d, depthwise": both("depthwise Conv2d", "depthwise Conv2d"),
              "attention": both("attention", "注意力")}
CASES = {"plain": both("plain 3×3", "普通 3×3"), "large batch": both("batch of 32", "batch 为 32"),
         "small": both("one small image", "一张小图"), "depthwise": both("depthwise", "深度卷积"),
         "dilated": both("dilated", "空洞"), "transposed": both("transposed", "转置"),
         "float64": both("float64", "float64")}


def called(name: str) -> Text:
    """An operation in words; most are called by their own name."""
    return OPERATIONS.get(name, both(name, name))


def word(text: Text) -> str:
    """A two-language text in the language of the figure."""
    return t(text["en"], text["zh"])


def joined(names: Sequence[str], code: str) -> str:
    """A list in words."""
    return (", " if code == "en" else "、").join(names)


def listed(names: Sequence[str], code: str) -> str:
    """Operations in words."""
    return joined([called(name)[code] for name in names], code)


def columns(ax: Any, heads: Sequence[str], lines: Sequence[tuple[str, Sequence[str]]]) -> None:
    """A table of tiles: a label and one word a column; orange where a word is not that of the first column."""
    width = 1 / len(heads)
    for height, (_, words) in enumerate(reversed(lines)):
        for place, text in enumerate(words):
            colour = BLUE if text == words[0] else ORANGE
            ax.barh(height, width - 0.01, left=place * width, height=0.82, color=colour)
            ax.text((place + 0.5) * width, height, text, ha="center", va="center", color=ink_on(colour), fontsize=9)
    for place, head in enumerate(heads if len(heads) > 1 else ()):
        ax.text((place + 0.5) * width, len(lines) - 0.35, head, ha="center", va="center", fontsize=9)
    ax.set_yticks(range(len(lines)), [label for label, _ in reversed(lines)], fontsize=9)
    ax.set_xlim(0, 1)
    ax.set_ylim(-0.5, len(lines) - (0.05 if len(heads) > 1 else 0.4))
    ax.set_xticks([])
    ax.grid(False)
    for side in ax.spines.values():
        side.set_visible(False)


def tiles(ax: Any, lines: Sequence[tuple[str, str, bool]]) -> None:
    """One line for each (label, word, bright): the label at the left, the word on a coloured tile."""
    columns(ax, [""], [(label, [text]) for label, text, _ in lines])
    for bar, (_, _, bright) in zip(ax.patches, reversed(lines), strict=True):
        bar.set_color(BLUE if bright else ORANGE)


# --- races: an operation with a switch on and off -----------------------------------------------------------

SLIGHT = 0.05  # a difference below 5 % is called none


def verdict(low: float, high: float) -> str:
    """slower or faster beyond 5 %, same within 5 %, else undecided, for an interval of a ratio."""
    if low > 1 + SLIGHT or high < 1 - SLIGHT:
        return "slower" if low > 1 else "faster"
    return "same" if 1 - SLIGHT <= low and high <= 1 + SLIGHT else "undecided"


def named(record: Any, *verdicts: str) -> list[str]:
    """The operations with one of these verdicts."""
    return [row["operation"] for row in record.rows if row["verdict"] in verdicts]


def races(record: Any, code: str, *verdicts: str) -> str:
    """Operations with one of these verdicts, each with its ratio and interval: time without over with."""
    return joined([f"{called(r['operation'])[code]} {r['ratio']:.2f} [{r['low']:.2f}, {r['high']:.2f}]"
                   for r in record.rows if r["verdict"] in verdicts], code)


GROUPS = {"slower": both("slower", "变慢"), "faster": both("faster", "变快"),
          "same": both("within 5 % of 1", "与 1 相差不到 5%"), "undecided": both("undecided", "未定")}


def race_groups(record: Any, code: str) -> str:
    """All races by verdict: figures for those that differ, names for those that do not."""
    parts = [f"{GROUPS[verdict][code]}{': ' if code == 'en' else '：'}"
             + (listed(named(record, verdict), code) if verdict == "same" else races(record, code, verdict))
             for verdict in GROUPS if named(record, verdict)]
    return ("; " if code == "en" else "；").join(parts)


def draw_races(record: Any, ax: Any) -> None:
    """Every ratio with its interval; ratios near 1 on an axis from 0.9 to 1.1, so that little looks little."""
    from course.figures import intervals

    rows = record.rows
    near = all(0.9 < row["low"] and row["high"] < 1.1 for row in rows)
    intervals(ax, [word(called(row["operation"])) for row in rows], [row["ratio"] for row in rows],
              [row["low"] for row in rows], [row["high"] for row in rows], "", reference=1.0, log=not near,
              digits=4 if near else 3,
              what=t("time switched off / on (right of 1: off is slower)", "关 / 开 的耗时比（1 的右边：关掉更慢）"))
    if near:
        ax.set_xlim(0.9, 1.1)

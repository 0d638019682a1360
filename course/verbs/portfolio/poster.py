"""The whole map on one poster: an SVG drawn from the table of switches, in both languages, light and dark.

Text is set in the reader's own fonts; widths are estimated, so nothing depends on what is installed here.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from course.core.i18n import pick, t
from course.core.look import css
from course.flags import GROUPS, PLACES, SWITCHES, Switch, module_of, precision
from course.flags.switch import DEPENDS
from course.lessons.l01_map.switch_map import PROPERTIES

WIDTH, MARGIN, GAP, BETWEEN, COLUMNS = 1680, 40, 20, 14, 4
COLUMN = (WIDTH - 2 * MARGIN - (COLUMNS - 1) * GAP) / COLUMNS
CSS = Path(__file__).with_name("poster.css")


def width_of(text: str, size: float, mono: bool = False) -> float:
    """The estimated width in px of a text in a font of that size, rather too wide than too narrow."""
    return size * sum(1.0 if ord(sign) > 0x2E7F else 0.61 if mono else 0.55 for sign in text)


@lru_cache(maxsize=2048)
def wrapped(text: str, size: float, width: float) -> tuple[str, ...]:
    """The text in lines of at most that width: Chinese breaks anywhere, signs and words stay whole and brackets keep to their text."""
    lines, line = [], ""
    for part in re.findall(r"（?(?:[\u2e80-\uffff]|[^\s\u2e80-\uffff]+)[，。；：、！？）”]*|\s+", text):
        if line.strip() and width_of((line + part).rstrip(), size) > width:
            lines.append(line.strip())
            line = ""
        line += part
    return (*lines, line.strip()) if line.strip() else tuple(lines)


@dataclass
class Marks:
    """Marks of the drawing, top to bottom. y: where the next one begins."""

    y: float = 0.0
    marks: list[str] = field(default_factory=list)

    def text(self, x: float, y: float, words: str, size: float = 12, classes: str = "", anchor: str = "") -> None:
        more = f' text-anchor="{anchor}"' if anchor else ""
        self.marks.append(
            f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size:g}" class="{classes}"{more}>{html.escape(words)}</text>'
        )

    def box(self, x: float, y: float, width: float, height: float, classes: str, round_px: float = 8) -> None:
        self.marks.append(
            f'<rect x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{height:.0f}" rx="{round_px:g}" class="{classes}"/>'
        )

    def line(self, x0: float, y0: float, x1: float, y1: float) -> None:
        self.marks.append(f'<path d="M{x0:.0f} {y0:.0f}L{x1:.0f} {y1:.0f}" class="line"/>')


@dataclass(frozen=True)
class Entry:
    """One switch or query as it stands in its card."""

    switch: Switch

    @property
    def name(self) -> str:
        """The switch's name without its submodule; functions with "()"."""
        short = self.switch.name.partition(".")[2] if self.switch.group != "root" else self.switch.name
        called = (
            self.switch.kind == "setter"
            or self.switch.kind == "query"
            and not {short, self.switch.name} & set(PROPERTIES)
        )
        return short + ("()" if called else "")

    @property
    def default(self) -> str:
        """What stands at the right: the default of a switch, a question mark for a query, nothing for a tool."""
        if self.switch.kind == "query":
            return "?"
        if self.switch.kind == "tool":
            return "⚒"
        return t("varies", "视情况") if self.switch.default is DEPENDS else repr(self.switch.default)

    def lines(self) -> tuple[str, ...]:
        return wrapped(pick(self.switch.text), 11.5, COLUMN - 44)

    @property
    def height(self) -> float:
        return 19 + 15 * len(self.lines()) + 7

    def draw(self, sheet: Marks, x: float, y: float) -> None:
        changeable = self.switch.changeable
        size = min(12.5, 12.5 * (COLUMN - 100) / max(width_of(self.name, 12.5, True), 1))
        sheet.text(x + 14, y + 14, self.name, size, "m b" if changeable else "m")
        sheet.text(x + COLUMN - 14, y + 14, self.default, 12, "m hot" if changeable else "m s", "end")
        for number, line in enumerate(self.lines()):
            sheet.text(x + 14, y + 31 + 15 * number, line, 11.5, "s")


@dataclass(frozen=True)
class Card:
    """One submodule with its entries, switches first."""

    group: str
    entries: tuple[Entry, ...]

    def about(self) -> tuple[str, ...]:
        return wrapped(pick(GROUPS[self.group].text), 12, COLUMN - 28)

    @property
    def height(self) -> float:
        return 34 + 16 * len(self.about()) + 6 + sum(entry.height for entry in self.entries) + 4

    def draw(self, sheet: Marks, x: float, y: float) -> None:
        place = GROUPS[self.group].place
        sheet.box(x, y, COLUMN, self.height, f"card e-{place}")
        sheet.box(x, y, 6, self.height, place, 3)
        sheet.text(x + 14, y + 22, module_of(self.group), 15, f"m b {place}")
        sheet.text(x + COLUMN - 14, y + 22, pick(PLACES[place]), 11, f"{place}", "end")
        for number, line in enumerate(self.about()):
            sheet.text(x + 14, y + 41 + 16 * number, line, 12)
        below = y + 34 + 16 * len(self.about()) + 6
        for entry in self.entries:
            entry.draw(sheet, x, below)
            below += entry.height


def cards() -> list[Card]:
    """All submodules, those of one place side by side, in the order of PLACES."""
    found = []
    for group in sorted(GROUPS, key=lambda one: list(PLACES).index(GROUPS[one].place)):
        own = [one for one in SWITCHES.values() if one.group == group]
        found.append(Card(group, tuple(Entry(one) for one in sorted(own, key=lambda one: not one.changeable))))
    return found


def columns(found: Sequence[Card]) -> list[list[Card]]:
    """The cards over the columns, as even as can be: the tallest first, each where there is most room; then by place."""
    parts: list[list[Card]] = [[] for _ in range(COLUMNS)]
    for card in sorted(found, key=lambda one: -one.height):
        min(parts, key=lambda part: sum(one.height + BETWEEN for one in part)).append(card)
    return sorted(([card for card in found if card in part] for part in parts), key=lambda part: found.index(part[0]))


def poster() -> str:
    """The poster as one SVG element, in the language in use."""
    sheet = Marks()
    _head(sheet)
    _cards(sheet)
    _tree(sheet)
    style = html.escape(css(CSS), quote=False)
    title, words = t("Map of torch.backends", "torch.backends 全图"), described()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tbo" role="img" viewBox="0 0 {WIDTH} {sheet.y:.0f}" width="{WIDTH}" '
        f'height="{sheet.y:.0f}" lang="{t("en", "zh-Hans")}"><title>{title}</title><desc>{html.escape(words)}</desc><style>{style}</style>'
        f'<rect width="{WIDTH}" height="{sheet.y:.0f}" fill="var(--p-paper)"/>{"".join(sheet.marks)}</svg>'
    )


def described() -> str:
    """The poster in words."""
    switches = [one for one in SWITCHES.values() if one.changeable]
    return t(
        f"{len(GROUPS)} groups with {len(switches)} switches and {len(SWITCHES) - len(switches)} queries and tools, "
        "sorted by where they compute: everywhere, on a GPU of NVIDIA or AMD, on an Apple GPU, on the CPU. "
        "Below: the precision tree.",
        f"共 {len(GROUPS)} 组，{len(switches)} 个开关，{len(SWITCHES) - len(switches)} 个查询和工具，按计算的地方排列："
        "哪里都管、NVIDIA 或 AMD 的 GPU、苹果 GPU、CPU。下面是精度树。",
    )


def _head(sheet: Marks) -> None:
    sheet.text(MARGIN, 62, "torch.backends", 40, "m b")
    sheet.text(WIDTH - MARGIN, 46, t("the whole map", "全图"), 22, "b", "end")
    legend = t("orange: default of a switch · ? a query · ⚒ a tool", "橙色：开关的默认值 · ? 查询 · ⚒ 工具")
    sheet.text(WIDTH - MARGIN, 70, legend, 14, "s", "end")
    sheet.y = 96


def _cards(sheet: Marks) -> None:
    bottoms = []
    for number, column in enumerate(columns(cards())):
        x, y = MARGIN + number * (COLUMN + GAP), sheet.y
        for card in column:
            card.draw(sheet, x, y)
            y += card.height + BETWEEN
        bottoms.append(y)
    sheet.y = max(bottoms) + 12


def node_name(node: precision.Node) -> str:
    """A node of the precision tree as a program writes it, without `torch.backends.`."""
    library, operator = node
    if library == "generic":
        return "fp32_precision"
    if operator == "all":
        return "cudnn.fp32_precision" if library == "cuda" else f"{library}.fp32_precision"
    return precision.NAMES.get(node, f"{library}.{operator}.fp32_precision")


def _tree(sheet: Marks) -> None:
    """The precision tree: a leaf that says "none" asks its branch, the branch asks the root."""
    head = t(
        "Who decides how exactly float32 is computed: “none” asks the box on its left",
        "float32 算到多精确由谁说了算：值为“none”就问左边那一格",
    )
    sheet.text(MARGIN, sheet.y + 20, head, 16, "b")
    top, row, wide = sheet.y + 36, 30, 300
    leaves = [node for branch in precision.BRANCHES for node in precision.LEAVES if node[0] == branch[0]]
    places = {node: (MARGIN + 2 * (wide + 90), top + number * row) for number, node in enumerate(leaves)}
    for branch in precision.BRANCHES:
        own = [places[node][1] for node in leaves if node[0] == branch[0]]
        places[branch] = (MARGIN + wide + 90, sum(own) / len(own))
    places[precision.ROOT] = (MARGIN, sum(places[branch][1] for branch in precision.BRANCHES) / len(precision.BRANCHES))
    for node in (*precision.BRANCHES, *leaves):
        parent = (
            precision.ROOT
            if node in precision.BRANCHES
            else next(one for one in precision.BRANCHES if one[0] == node[0])
        )
        (x0, y0), (x1, y1) = places[parent], places[node]
        sheet.line(x0 + wide, y0 + 12, x1, y1 + 12)
    for node, (x, y) in places.items():
        place = {"cuda": "gpu", "mkldnn": "cpu"}.get(node[0], "all")
        sheet.box(x, y, wide, 24, f"fill e-{place}", 5)
        sheet.text(x + 10, y + 16, node_name(node), 12.5, f"m {place}")
    sheet.y = top + len(leaves) * row + MARGIN

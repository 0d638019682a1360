"""The map for paper: every name with its default on one A4 page, in type that can be read. The poster is for the screen and for A3."""

from __future__ import annotations

import html

from course.core.i18n import pick, t
from course.flags import GROUPS, PLACES, module_of, precision
from course.verbs.portfolio.poster import Card, cards, node_name


def paper_map() -> str:
    """The map as HTML, in the language in use: the submodules by place, then the precision tree."""
    legend = t(
        "Bold: a switch, with its default. ? a query, ⚒ a tool. What each does is on the sheets that follow.",
        "粗体：开关，后面是默认值。? 查询，⚒ 工具。各自的作用见后面的速查表。",
    )
    body = "".join(map(_card, cards()))
    return f'<div class="paper-map"><p>{legend}</p><div class="columns">{body}{_tree()}</div></div>'


def _card(card: Card) -> str:
    rows = "".join(
        f"<li{' class=switch' if entry.switch.changeable else ''}><code>{html.escape(entry.name)}</code>"
        f"<span>{html.escape(entry.default)}</span></li>"
        for entry in card.entries
    )
    place = html.escape(pick(PLACES[GROUPS[card.group].place]))
    return f"<section><h3><code>{module_of(card.group)}</code> <small>{place}</small></h3><ul>{rows}</ul></section>"


def _tree() -> str:
    """The precision tree, root first."""
    lines = [(0, precision.ROOT)]
    for branch in precision.BRANCHES:
        lines += [(1, branch), *((2, leaf) for leaf in precision.LEAVES if leaf[0] == branch[0])]
    rows = "".join(f'<li style="padding-left:{3 * deep}mm"><code>{node_name(node)}</code></li>' for deep, node in lines)
    head = t("Precision: “none” asks the line it hangs from", "精度：“none”就问上一级")
    return f"<section><h3>{head}</h3><ul>{rows}</ul></section>"

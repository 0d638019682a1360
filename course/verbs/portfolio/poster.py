"""The whole map on one page, made from the table of switches: a box for each submodule, and the tree that decides precision.

It is HTML that needs no kernel: its columns follow the width of the page, and its text can be read out and searched.
"""

from __future__ import annotations

import html
from pathlib import Path

from course.cards.render import in_language
from course.core.i18n import pick, t
from course.core.look import css
from course.core.markup import inline
from course.flags import GROUPS, PLACES, SWITCHES, Switch, module_of, precision
from course.flags.switch import DEPENDS
from course.lessons.l01_map.switch_map import PROPERTIES

CSS = Path(__file__).with_name("poster.css")
PLAIN = "list-style:none;padding:0 0 0 10px"
"""Of a list that shows its levels by lines; written into it, as JupyterLab has rules of its own for lists in lists."""


def poster(level: int = 3) -> str:
    """The map as HTML, in the language in use: submodules by the place where they act. level: of its headings."""
    legend = t("orange: default of a switch · ? a query · ⚒ a tool", "橙色：开关的默认值 · ? 查询 · ⚒ 工具")
    groups = sorted(GROUPS, key=lambda one: list(PLACES).index(GROUPS[one].place))
    head = t(
        "Who decides how exactly float32 is computed: “none” asks the box before it",
        "float32 算到多精确由谁说了算：值为“none”就问前一格",
    )
    return in_language(
        f'<style>{css(CSS)}</style><p class="soft">{legend}</p><div class="cards">{"".join(_card(one, level) for one in groups)}</div>'
        f'<h{level}>{head}</h{level}><ul style="{PLAIN}">{_tree(precision.ROOT)}</ul>',
        "tbo",
    )


def entry_name(switch: Switch) -> str:
    """The switch's name without its submodule; functions with "()"."""
    short = switch.name.partition(".")[2] if switch.group != "root" else switch.name
    called = switch.kind == "query" and not {short, switch.name} & set(PROPERTIES)
    return short + ("()" if called or switch.kind == "setter" else "")


def _default(switch: Switch) -> str:
    """What stands beside the name: the default of a switch, a sign for a query or a tool."""
    if switch.kind in ("query", "tool"):
        return {"query": "?", "tool": "⚒"}[switch.kind]
    return t("varies", "视情况") if switch.default is DEPENDS else repr(switch.default)


def _card(group: str, level: int) -> str:
    """One submodule with its entries, switches first."""
    own = sorted((one for one in SWITCHES.values() if one.group == group), key=lambda one: not one.changeable)
    entries = "".join(
        f"<li{' class=changeable' if one.changeable else ''}><code>{html.escape(entry_name(one))}</code> "
        f"<b>{html.escape(_default(one))}</b><div>{inline(pick(one.text))}</div></li>"
        for one in own
    )
    place = GROUPS[group].place
    return (
        f'<section class="{place}"><h{level}><code>{module_of(group)}</code> <small>{pick(PLACES[place])}</small></h{level}>'
        f"<p>{inline(pick(GROUPS[group].text))}</p><ul style='padding:0'>{entries}</ul></section>"
    )


def _tree(node: precision.Node) -> str:
    """A node of the precision tree with those that ask it when they say "none"."""
    below = [one for one in precision.LEAVES if one[0] == node[0] and node in precision.BRANCHES]
    below = list(precision.BRANCHES) if node == precision.ROOT else below
    place = {"cuda": "gpu", "mkldnn": "cpu"}.get(node[0], "all")
    asking = f'<ul class="asking" style="{PLAIN}">{"".join(map(_tree, below))}</ul>' if below else ""
    return f'<li class="node {place}"><code>{node_name(node)}</code>{asking}</li>'


def node_name(node: precision.Node) -> str:
    """A node of the precision tree as a program writes it, without `torch.backends.`."""
    library, operator = node
    if library == "generic":
        return "fp32_precision"
    if operator == "all":
        return "cudnn.fp32_precision" if library == "cuda" else f"{library}.fp32_precision"
    return precision.NAMES.get(node, f"{library}.{operator}.fp32_precision")

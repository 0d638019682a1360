"""The whole of torch.backends as one picture: submodules, switches and queries, changed ones marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from course.figures.picture import Diagram
from course.figures.style import colors, faint
from course.flags import ABSENT, DEPENDS, Unreadable, map_rows
from course.i18n import Text, both, pick, t

WIDTH = 9.0  # inches; 900 px in a notebook
COLUMN = 4.38
LINE = 0.182
HEAD = 0.27
GAP = 0.13
SMALL, MONO = 7.4, "DejaVu Sans Mono"
LEFT = ("root", "cudnn", "mkldnn", "nnpack", "mha", "miopen", "opt_einsum", "quantized", "python_native")
RIGHT = ("cuda", "torch")
ASKED_ONLY = ("mps", "cusparselt", "single")
SINGLE = ("cpu", "mkl", "openmp", "kleidiai", "xnnpack")  # one query each: they share a card, called "single"
PROPERTIES = ("xnnpack.enabled", "supported_engines", "available_dsls")  # queries read without a call
LONG = "_reduced_precision_reduction_split_k"


class MapPicture(Diagram):
    """What `backends_map` gives back: a picture in a notebook, lines of text elsewhere.

    rows: as `course.flags.map_rows()`. alt: the picture in words, in both languages.
    """

    dpi = 150

    def __init__(self, rows: Sequence[dict[str, Any]]) -> None:
        self.rows = [row for row in rows if row["kind"] != "tool"]
        self.size = (WIDTH, _height(self.rows))
        self.alt = alt_text(self.rows)

    def paint(self, ax: Any) -> None:
        _draw(ax, self.rows)

    def __str__(self) -> str:
        lines = [pick(self.alt)]
        for row in self.rows:
            mark = "◆" if row["changed"] else " "
            default = f"  ({t('default', '默认')} {_default(row)})" if row["changed"] else ""
            lines.append(f"{mark} {row['path']:<66} {_value(row['value'])}{default}")
        return "\n".join(lines)


def backends_map(rows: Sequence[dict[str, Any]] | None = None) -> MapPicture:
    """The map as things stand now, or of the given `map_rows()` taken earlier."""
    return MapPicture(map_rows() if rows is None else rows)


def alt_text(rows: Sequence[dict[str, Any]]) -> Text:
    """The picture in words: how many there are of each kind, where, and which differ from the default."""
    switches = [row for row in rows if row["kind"] in ("switch", "setter")]
    inside = [row for row in switches if row["group"] != "torch"]
    queries = len(rows) - len(switches)
    with_switches = len({row["group"] for row in inside} - {"root"})
    absent = sum(row["absent"] for row in rows)
    changed = [row for row in switches if row["changed"]]
    english = (
        f"Map of torch.backends: {len(inside)} switches in {with_switches} submodules and at the top, "
        f"{len(switches) - len(inside)} process-wide settings of torch beside them, {queries} queries; "
        f"{absent} entries do not exist in this build. "
    )
    chinese = (
        f"torch.backends 全图：{with_switches} 个子模块及顶层共有 {len(inside)} 个开关，"
        f"旁边是 torch 的 {len(switches) - len(inside)} 个进程级设置，另有 {queries} 个查询；"
        f"其中 {absent} 项在当前构建中不存在。"
    )
    if changed:
        listed = {code: [_setting(row, code) for row in changed] for code in ("en", "zh")}
        return both(
            f"{english}Different from the default: {', '.join(listed['en'])}.",
            f"{chinese}与默认值不同的有：{'、'.join(listed['zh'])}。",
        )
    return both(f"{english}Every switch has its default.", f"{chinese}所有开关都是默认值。")


def _setting(row: dict[str, Any], code: str) -> str:
    if isinstance(row["value"], Unreadable):
        return f"{row['name']} {pick(both('(unreadable)', '（无法读取）'), code)}"
    return f"{row['name']} = {_value(row['value'])}"


def _columns(rows: Sequence[dict[str, Any]]) -> list[list[tuple[str, list[dict[str, Any]]]]]:
    """Two columns of (group, its rows); an unknown group joins the queries."""
    by_group: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: row["kind"] == "query"):
        by_group.setdefault("single" if row["group"] in SINGLE else row["group"], []).append(row)
    rest = [*ASKED_ONLY, *(group for group in by_group if group not in (*LEFT, *RIGHT, *ASKED_ONLY))]
    return [[(group, by_group[group]) for group in names if group in by_group] for names in (LEFT, [*RIGHT, *rest])]


def _card_height(rows: Sequence[dict[str, Any]]) -> float:
    return HEAD + LINE * len(rows) + 0.07


TOP, LEGEND = 0.62, 0.30


def _height(rows: Sequence[dict[str, Any]]) -> float:
    left, right = _columns(rows)
    bodies = [sum(_card_height(part) + GAP for _, part in column) for column in (left, right)]
    return TOP + max(bodies[0], bodies[1] + HEAD) + LEGEND


def _draw(ax: Any, rows: Sequence[dict[str, Any]]) -> None:
    changed = sum(row["changed"] for row in rows)
    state = (
        t(f"{changed} changed from the default", f"有 {changed} 个与默认值不同")
        if changed
        else t("every switch has its default", "所有开关都是默认值")
    )
    ax.text(0.08, 0.2, "torch.backends", fontsize=15, fontweight="bold", va="center", family=MONO)
    ax.text(WIDTH - 0.08, 0.2, state, fontsize=10, va="center", ha="right")
    for index, column in enumerate(_columns(rows)):
        left, y = 0.08 + index * (COLUMN + 0.08), TOP
        _heading(ax, left, y, t("submodules with switches", "带开关的子模块"), colors()[0])
        _column_heads(ax, left, y - 0.12)
        queries_begun = False
        for group, part in column:
            if index and group not in RIGHT and not queries_begun:
                queries_begun, y = True, y + HEAD
                _heading(ax, left, y, t("submodules you can only ask", "只能查询的子模块"), colors()[2])
            _card(ax, left, y, group, part)
            y += _card_height(part) + GAP
    _legend(ax, _height(rows) - 0.2)


def _heading(ax: Any, left: float, y: float, text: str, color: str) -> None:
    ax.text(left, y - 0.12, text, fontsize=9, color=color, fontweight="bold", va="center")


def _column_heads(ax: Any, left: float, y: float) -> None:
    for right, label in ((0.72, t("here", "此处")), (0.08, t("default", "默认"))):
        ax.text(left + COLUMN - right, y, label, fontsize=SMALL, ha="right", va="center")


def _card(ax: Any, left: float, top: float, group: str, rows: Sequence[dict[str, Any]]) -> None:
    from matplotlib.patches import FancyBboxPatch

    asked_only = all(row["kind"] == "query" for row in rows)
    accent = colors()[5] if group == "torch" else colors()[2] if asked_only else colors()[0]
    height = _card_height(rows)
    ax.add_patch(
        FancyBboxPatch(
            (left, top),
            COLUMN,
            height,
            boxstyle="round,pad=0,rounding_size=0.05",
            facecolor="none",
            edgecolor=faint(),
            linewidth=0.8,
        )
    )
    ax.plot([left + 0.03] * 2, [top + 0.06, top + height - 0.06], color=accent, linewidth=2.5)
    ax.text(left + 0.1, top + 0.145, _title(group), fontsize=9, fontweight="bold", va="center", color=accent)
    for index, row in enumerate(rows):
        _row(ax, left, top + HEAD + LINE * (index + 0.5), row)


def _title(group: str) -> str:
    if group == "root":
        return t("torch.backends itself", "torch.backends 本身")
    if group == "torch":
        return t("beside it: settings of torch", "旁边：torch 的进程级设置")
    if group == "single":
        return t("one query each", "各有一个查询")
    return group


def _row(ax: Any, left: float, y: float, row: dict[str, Any]) -> None:
    from matplotlib.patches import Rectangle

    query, changed = row["kind"] == "query", row["changed"]
    alpha = 0.6 if row["absent"] or row["unreadable"] else 1.0
    weight = "bold" if changed else "normal"
    accent = colors()[1]
    if changed:
        ax.add_patch(Rectangle((left + 0.06, y - LINE / 2), COLUMN - 0.1, LINE, color=accent, alpha=0.16, linewidth=0))
    ax.text(
        left + 0.16,
        y,
        "◆" if changed else "?" if query else "●",
        fontsize=6.5,
        ha="center",
        va="center",
        color=accent if changed else None,
        alpha=1.0 if changed else 0.55,
        family="DejaVu Sans",
    )
    ax.text(left + 0.25, y, _label(row), fontsize=SMALL, va="center", family=MONO, alpha=alpha, weight=weight)
    value, default = _value(row["value"]), "" if query else _default(row)
    ax.text(
        left + COLUMN - 0.72,
        y,
        value,
        fontsize=SMALL,
        va="center",
        ha="right",
        weight=weight,
        color=accent if changed else None,
        alpha=alpha,
        **_family(value),
    )
    if default:
        ax.text(
            left + COLUMN - 0.08, y, default, fontsize=SMALL, va="center", ha="right", alpha=0.75, **_family(default)
        )


def _family(text: str) -> dict[str, str]:
    """Code in a monospaced font; words in the font of the language."""
    return {"family": MONO} if text.isascii() and not text.startswith("(") else {}


def _legend(ax: Any, y: float) -> None:
    parts = t(
        "●  switch: you can set it      ?  query: it only tells      "
        "◆  differs from the default      grey: not in this build, or torch does not tell",
        "●  开关：可以设置      ?  查询：只能读取      ◆  与默认值不同      灰色：当前构建没有，或 torch 不给出",
    )
    ax.text(WIDTH / 2, y, parts, fontsize=8, ha="center", va="center")


def _label(row: dict[str, Any]) -> str:
    name = row["name"]
    if row["group"] not in ("root", "torch", *SINGLE):
        name = name.partition(".")[2]
    if name.endswith(LONG):
        return "    ↳ …_split_k"
    if row["group"] == "torch":
        return name.partition(".")[2]
    called = row["kind"] == "query" and name not in PROPERTIES
    return f"{name}()" if called or row["kind"] == "setter" else name


def _value(value: Any) -> str:
    if value == ABSENT:
        return t("(absent)", "（没有）")
    if isinstance(value, Unreadable):
        return t("(raises)", "（抛出异常）")
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "[" + ", ".join(map(str, value)) + "]"
    return repr(value)


def _default(row: dict[str, Any]) -> str:
    return repr(DEPENDS) if row["default"] is DEPENDS else _value(row["default"])

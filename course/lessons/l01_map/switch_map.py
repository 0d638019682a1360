"""The whole of torch.backends on one page: submodules, switches and queries, changed ones marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from course.core.i18n import t
from course.core.plain_text import text_of
from course.core.tables import Table
from course.figures.block import Block
from course.flags import ABSENT, DEPENDS, Unreadable, map_rows

Row = dict[str, Any]
SINGLE = ("cpu", "mkl", "openmp", "kleidiai", "xnnpack")  # one query each: they share a table, called "single"
PROPERTIES = ("xnnpack.enabled", "supported_engines", "available_dsls")  # queries read without a call


class SwitchMap:
    """A table for each submodule, as the picture of a block: ``alt`` and ``html()``. rows: as `course.flags.map_rows()`."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows

    @property
    def alt(self) -> str:
        return text_of(self.html())

    def html(self) -> str:
        """Its look is in ``course/figures/result.css``: the tables flow in as many columns as the page has room for."""
        return f'<div class="tbr-map">{"".join(table.html() for table in self.tables())}</div>'

    def tables(self) -> Iterator[Table]:
        """The tables, those of queries alone at the end."""
        groups: dict[str, list[Row]] = {}
        for row in self.rows:
            groups.setdefault("single" if row["group"] in SINGLE else row["group"], []).append(row)
        for group, rows in sorted(groups.items(), key=lambda one: all(row["kind"] == "query" for row in one[1])):
            rows = sorted(rows, key=lambda row: row["kind"] == "query")
            marks = {(number, 2): "quiet" for number in range(len(rows))}
            marks |= {(number, 1): "told" for number, row in enumerate(rows) if row["changed"]}
            marks |= {(number, 1): "quiet" for number, row in enumerate(rows) if row["absent"] or row["unreadable"]}
            lines = [(_label(row), "◆ " * row["changed"] + _value(row["value"]), _default(row)) for row in rows]
            yield Table([(_title(group), t("here", "此处"), t("default", "默认")), *lines], marks)


def backends_map(rows: Sequence[Row] | None = None) -> Block:
    """The map as things stand now, or of the given `map_rows()` taken earlier."""
    rows = [row for row in (map_rows() if rows is None else rows) if row["kind"] != "tool"]
    changed = sum(row["changed"] for row in rows)
    headline = {
        0: t("Every switch has its default.", "所有开关都是默认值。"),
        1: t("One switch differs from its default.", "有 1 个开关与默认值不同。"),
    }.get(changed, t(f"{changed} switches differ from their defaults.", f"有 {changed} 个开关与默认值不同。"))
    return Block(headline, "", SwitchMap(rows), f"{_counted(rows)} {_legend()}")


def _counted(rows: Sequence[Row]) -> str:
    """How many there are of each kind, and where."""
    switches = [row for row in rows if row["kind"] in ("switch", "setter")]
    inside = [row for row in switches if row["group"] != "torch"]
    groups, beside = len({row["group"] for row in inside} - {"root"}), len(switches) - len(inside)
    queries, absent = len(rows) - len(switches), sum(row["absent"] for row in rows)
    return t(
        f"{len(inside)} switches in {groups} submodules of torch.backends and at its top, {beside} process-wide settings of "
        f"torch beside them, {queries} queries; {absent} entries do not exist in this build.",
        f"torch.backends 的 {groups} 个子模块及顶层共有 {len(inside)} 个开关，旁边是 torch 的 {beside} 个进程级设置，"
        f"另有 {queries} 个查询；其中 {absent} 项在当前构建中不存在。",
    )


def _legend() -> str:
    return t("◆: differs from the default. ?: a query, it only tells.", "◆：与默认值不同。?：查询，只能读取。")


def _title(group: str) -> str:
    return {
        "root": t("torch.backends itself", "torch.backends 本身"),
        "torch": t("beside it: settings of torch", "旁边：torch 的进程级设置"),
        "single": t("one query each", "各有一个查询"),
    }.get(group, group)


def _label(row: Row) -> str:
    name = row["name"]
    if row["group"] not in ("root", *SINGLE):
        name = name.partition(".")[2]
    called = row["kind"] == "query" and name not in PROPERTIES
    return f"{name}()" if called or row["kind"] == "setter" and row["group"] != "torch" else name


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


def _default(row: Row) -> str:
    """The default as text; "?" for a query, which has none."""
    if row["kind"] == "query":
        return "?"
    return repr(DEPENDS) if row["default"] is DEPENDS else _value(row["default"])

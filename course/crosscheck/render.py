"""A cross-check as a sentence, as text and as HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from course.flops.render import certificate, convention
from course.i18n import pick, t
from course.tables import as_html, as_text

if TYPE_CHECKING:
    from course.crosscheck.check import CrossCheck


def _number(value: Any, form: str) -> str:
    return "–" if value is None else f"{value:{form}}"


def _tools(check: CrossCheck) -> list[list[str]]:
    return [[t("tool", "工具"), t("it says", "它报告"), t("unit", "单位"), "MACs", t("difference", "差"), "%"]] + [
        [
            row["tool"],
            _number(row["reported"], ","),
            row["unit"],
            _number(row["macs"], ","),
            _number(row["difference"], "+,"),
            _number(row["relative"], "+.3%"),
        ]
        for row in check.rows()
    ]


def _explanations(check: CrossCheck) -> list[str]:
    lines = []
    for row in check.tools:
        told = (
            pick(row.note)
            if row.note is not None
            else f"{row.difference:+,} MACs"
            if row.difference
            else (t("agrees to the last digit", "与本课结果一位不差"))
        )
        lines += [row.tool + t(": ", "：") + told]
        lines += [f"    {reason.amount:+,}  {pick(reason.text)}" for reason in row.reasons]
    return lines


def sentence(check: CrossCheck) -> str:
    """How many of the tools that gave a number agree, and which lies farthest off."""
    told = [row for row in check.tools if row.difference is not None]
    if not told:
        return t("None of the other tools gave a number.", "其他工具都没有给出数字。")
    same = sum(not row.difference for row in told)
    far = max(told, key=lambda row: abs(row.difference or 0))
    start = t(
        f"{same} of {len(told)} tools count the same {check.ours.macs:,} MACs",
        f"{len(told)} 个工具中有 {same} 个同样数出 {check.ours.macs:,} 个 MAC",
    )
    if not far.difference:
        return start + t(".", "。")
    share = f"{100 * far.difference / max(check.ours.macs, 1):+.2g} %"
    return start + t(f"; the farthest is {far.tool}, {share}.", f"；差得最远的是 {far.tool}，{share}。")


def text(check: CrossCheck) -> str:
    """The table, then for each tool the pieces of its difference."""
    return "\n".join([*as_text(_tools(check)), "", *_explanations(check), "", certificate(check.ours), convention()])


def page(check: CrossCheck) -> str:
    """The same as HTML."""
    lines = "".join(f'<div style="white-space:pre-wrap">{escape(line)}</div>' for line in _explanations(check))
    title = t("The same model, counted by each tool", "同一个模型，各工具的计数")
    return f"{as_html(_tools(check), title)}{lines}<p>{escape(convention())}</p>"

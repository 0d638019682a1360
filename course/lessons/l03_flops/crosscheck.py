"""`cross_check`: thop, ptflops and torch's own counter beside ours, all as MACs, each difference explained."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from course.core.i18n import pick, t
from course.core.plain_text import text_of
from course.core.tables import as_html, as_text, wide
from course.flops import FlopCount, count
from course.flops.checks import CountError, describe
from course.flops.copies import Real
from course.flops.counting import attempt
from course.flops.result import certificate, convention
from course.lessons.l03_flops.peers import PeerCount, ask_all
from course.lessons.l03_flops.reasons import explain

if TYPE_CHECKING:
    from course.core.records import Record


@dataclass(frozen=True)
class CrossCheck:
    """Our count and the other tools'."""

    ours: FlopCount
    tools: tuple[PeerCount, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Tidy rows: tool, reported, unit, macs, difference, relative; ours first."""
        ours = self.ours.macs
        mine = PeerCount("course.flops", reported=ours, difference=0)
        return [
            {"tool": one.tool, "reported": one.reported, "unit": one.unit, "macs": one.macs}
            | {"difference": one.difference}
            | {"relative": None if one.difference is None else one.difference / max(ours, 1)}
            for one in (mine, *self.tools)
        ]

    def __getitem__(self, name: str) -> PeerCount:
        """The row of a tool by (the beginning of) its name; KeyError lists the names."""
        for row in self.tools:
            if row.tool.startswith(name):
                return row
        raise KeyError(f"no tool {name!r}; there are {', '.join(row.tool for row in self.tools)}")

    def sentence(self) -> str:
        """How many of the tools that gave a number agree, and which lies farthest off."""
        told = [row for row in self.tools if row.difference is not None]
        if not told:
            return t("None of the other tools gave a number.", "其他工具都没有给出数字。")
        same = sum(not row.difference for row in told)
        far = max(told, key=lambda row: abs(row.difference or 0))
        start = t(
            f"{same} of {len(told)} tools count the same {self.ours.macs:,} MACs",
            f"{len(told)} 个工具中有 {same} 个同样数出 {self.ours.macs:,} 个 MAC",
        )
        if not far.difference:
            return start + t(".", "。")
        share = f"{100 * far.difference / max(self.ours.macs, 1):+.2g} %"
        return start + t(f"; the farthest is {far.tool}, {share}.", f"；差得最远的是 {far.tool}，{share}。")

    def __repr__(self) -> str:
        return self.sentence()

    def __str__(self) -> str:
        table = as_text(_table(self))
        return "\n".join([*table, "", *_explanations(self), "", certificate(self.ours), convention()])

    def _repr_html_(self) -> str:
        lines = "".join(f'<div style="white-space:pre-wrap">{escape(line)}</div>' for line in _explanations(self))
        title = t("The same model, counted by each tool", "同一个模型，各工具的计数")
        return f"{as_html(_table(self), title)}{lines}<p>{escape(convention())}</p>"


def cross_check(model: nn.Module, inputs: Any, max_time: float = 30.0) -> CrossCheck:
    """Count the forward of `model` with every tool and explain the differences in words and numbers.

    model: an nn.Module; copies of it run in evaluation mode. inputs: a tensor, or a tuple of them.
    max_time: seconds for each of the other tools; one that takes longer is left behind. Tools that take too long, are
    not installed, or stop, get a row that says so and what to do.
    Raises CountError as `count` does. Nothing stays behind in the model or in torch.
    """
    if not isinstance(model, nn.Module):
        raise CountError(
            t(
                f"cross_check needs an nn.Module, because the other tools do, and got {describe(model)}.",
                f"cross_check 需要 nn.Module（其他工具只接受它），得到的却是 {describe(model)}。",
            )
        )
    if isinstance(inputs, dict):
        raise CountError(
            t(
                "cross_check takes the inputs in the order of the forward, not by name: cross_check(model, (a, b)).",
                "cross_check 按 forward 的顺序接收输入，不按名字：cross_check(model, (a, b))。",
            )
        )
    while isinstance(model, nn.DataParallel) or hasattr(model, "_orig_mod"):
        model = model.module if isinstance(model, nn.DataParallel) else model._orig_mod
    modes = [(one, one.training) for one in model.modules()]
    arguments = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    try:
        with torch.no_grad():
            model.eval()
            ours = count(model, *arguments)
            seen = ours if ours.ground == "real" else attempt(model, arguments, {}, False, Real())
            peers = ask_all(model, arguments, max_time)
    finally:
        for one, mode in modes:
            one.training = mode
    for peer in peers:  # one that sees operators is explained by those of a real run
        peer.difference = None if peer.macs is None else peer.macs - ours.macs
        peer.reasons = tuple(explain(ours if peer.by_operator is None else seen, peer))
    return CrossCheck(ours, tuple(peers))


def _number(value: Any, form: str) -> str:
    return "–" if value is None else f"{value:{form}}"


def _table(check: CrossCheck) -> list[list[str]]:
    return [[t("tool", "工具"), t("it says", "它报告"), t("unit", "单位"), "MACs", t("difference", "差"), "%"]] + [
        [row["tool"], _number(row["reported"], ","), row["unit"], _number(row["macs"], ",")]
        + [_number(row["difference"], "+,"), _number(row["relative"], "+.3%")]
        for row in check.rows()
    ]


def _explanations(check: CrossCheck) -> list[str]:
    lines = []
    for row in check.tools:
        told = t("agrees to the last digit", "与本课结果一位不差")
        if row.note is not None or row.difference:
            told = pick(row.note) if row.note is not None else f"{row.difference:+,} MACs"
        lines += [row.tool + t(": ", "：") + told]
        lines += [f"    {reason.amount:+,}  {pick(reason.text)}" for reason in row.reasons]
    return lines


# --- the reasons of a record, in the lesson ---


class Differences:
    """What `differences` gives back. rows: the reasons, each with its tool and its MACs more (+) or fewer than ours."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows

    def _lines(self) -> list[tuple[str, str, str]]:
        lines = []
        for tool, group in groupby(self.rows, key=lambda row: row["tool"]):
            for at, row in enumerate(group):
                lines.append(("" if at else tool, f"{row['macs']:+,}", t(row["reason_en"], row["reason_zh"])))
        return lines

    def _repr_html_(self) -> str:
        head = (t("tool", "工具"), t("MACs more than ours", "比我们多的 MACs"), t("why", "原因"))
        return wide(as_html([head, *self._lines()], figures=False))

    def __str__(self) -> str:
        return text_of(self._repr_html_()) if self.rows else ""

    __repr__ = __str__


def differences(record: Record | None) -> Differences:
    """The reasons that a record of "03-vgg16-counters" holds; none without a record."""
    return Differences([row for row in record.rows if row["part"] == "reason"] if record else [])

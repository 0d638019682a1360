"""`cross_check`: thop, ptflops and torch's own counter beside ours, all as MACs, each difference
explained.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from course.flops.counter import CountError, attempt, count, modules_of
from course.flops.grounds import RealGround
from course.flops.peers import ask_all
from course.flops.reasons import Reason, explain
from course.flops.restore import modules_kept, process_kept
from course.flops.result import FlopCount
from course.i18n import Text, t


@dataclass(frozen=True)
class ToolRow:
    """One tool. reported: its number in its own unit; macs: the same as MACs; difference: macs minus ours.

    reasons: pieces that add up to the difference. note: why there is no number (package missing, tool
    stopped).
    """

    tool: str
    unit: str
    reported: int | None
    macs: int | None
    difference: int | None
    reasons: tuple[Reason, ...]
    note: Text | None


@dataclass(frozen=True)
class CrossCheck:
    """Our count and the other tools'."""

    ours: FlopCount
    tools: tuple[ToolRow, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Tidy rows: tool, reported, unit, macs, difference, relative; ours first."""
        mine = {
            "tool": "course.flops",
            "reported": self.ours.macs,
            "unit": "MACs",
            "macs": self.ours.macs,
            "difference": 0,
            "relative": 0.0,
        }
        return [mine] + [
            {
                "tool": row.tool,
                "reported": row.reported,
                "unit": row.unit,
                "macs": row.macs,
                "difference": row.difference,
                "relative": None if row.difference is None else row.difference / max(self.ours.macs, 1),
            }
            for row in self.tools
        ]

    def tool(self, name: str) -> ToolRow:
        """The row of a tool by (the beginning of) its name; KeyError lists the names."""
        for row in self.tools:
            if row.tool.startswith(name):
                return row
        raise KeyError(f"no tool {name!r}; there are {', '.join(row.tool for row in self.tools)}")

    def __str__(self) -> str:
        from course.flops.render import cross_text

        return cross_text(self)

    def _repr_html_(self) -> str:
        from course.flops.render import cross_html

        return cross_html(self)


def cross_check(model: nn.Module, inputs: Any) -> CrossCheck:
    """Count the forward of `model` with every tool and explain the differences in words and numbers.

    model: an nn.Module on the CPU or a GPU, run in evaluation mode on copies, so it must fit in memory twice.
    inputs: a tensor, or a tuple of them. Tools that are not installed, or stop, get a row that says so.
    Raises CountError as `count` does. Nothing stays behind in the model or in torch.
    """
    if not isinstance(model, nn.Module):
        raise CountError(
            t(
                "cross_check needs an nn.Module, because the other tools do, and got "
                f"{type(model).__name__}.",
                f"cross_check 需要 nn.Module（其他工具只接受它），得到的却是 {type(model).__name__}。",
            )
        )
    arguments = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    with process_kept(), modules_kept(model.modules()), torch.no_grad():
        model.eval()
        ours = count(model, *arguments)
        modules = modules_of(model)
        with modules_kept(modules):
            seen = attempt(model, model, modules, arguments, {}, False, RealGround())
        fast = torch.backends.mha.get_fastpath_enabled()
        torch.backends.mha.set_fastpath_enabled(True)
        try:
            peers = ask_all(model, arguments)
        finally:
            torch.backends.mha.set_fastpath_enabled(fast)
    rows = []
    for peer in peers:
        base = seen if peer.by_operator is not None else ours
        difference = None if peer.macs is None else peer.macs - ours.macs
        rows.append(
            ToolRow(
                peer.tool,
                peer.unit,
                peer.reported,
                peer.macs,
                difference,
                tuple(explain(base, peer)),
                peer.note,
            )
        )
    return CrossCheck(ours, tuple(rows))

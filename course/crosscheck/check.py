"""`cross_check`: thop, ptflops and torch's own counter beside ours, all as MACs, each difference explained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from course.crosscheck.peers import PeerCount, ask_all
from course.crosscheck.reasons import explain
from course.flops.counter import Call, count, for_real
from course.flops.result import FlopCount
from course.flops.validation import ask_model, ask_seconds, describe, error, plain
from course.isolation.restoring import unchanged


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
        """How many of the tools agree with ours, and the farthest of the others."""
        from course.crosscheck.render import sentence

        return sentence(self)

    def __repr__(self) -> str:
        return self.sentence()

    def __str__(self) -> str:
        from course.crosscheck.render import text

        return text(self)

    def _repr_html_(self) -> str:
        from course.crosscheck.render import page

        return page(self)


def cross_check(model: nn.Module, inputs: Any, max_time: float = 30.0) -> CrossCheck:
    """Count the forward of `model` with every tool and explain the differences in words and numbers.

    model: an nn.Module, run in evaluation mode. inputs: a tensor, or a tuple of them.
    max_time: seconds for each of the other tools; one that takes longer is cut off. Tools that are cut off, not
    installed, or stop, get a row that says so and what to do.
    Raises CountError as `count` does. Nothing stays behind in the model or in torch.
    """
    ask_model(model)
    if not isinstance(model, nn.Module):
        raise error("no module", given=describe(model))
    if isinstance(inputs, Mapping):
        raise error("by name")
    ask_seconds(max_time)
    model = plain(model)
    arguments = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    with unchanged(model, memory=False), torch.no_grad():
        model.eval()
        ours = count(model, *arguments)
        seen = ours if ours.ground == "real" else for_real(Call(model, arguments, {}, False))[0]
    peers = ask_all(model, arguments, max_time)
    for peer in peers:  # one that sees operators is explained by those of a real run
        peer.difference = None if peer.macs is None else peer.macs - ours.macs
        peer.reasons = tuple(explain(ours if peer.by_operator is None else seen, peer))
    return CrossCheck(ours, tuple(peers))

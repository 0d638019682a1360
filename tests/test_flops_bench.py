"""The benchmark of counters: its tables, its verdicts, and that it finds traces where there are some."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import version
from typing import Any

import pytest
import torch
from torch import nn

from benchmarks.flops import _verdict, tables
from benchmarks.flops_tools import STEPS, TOOLS
from benchmarks.flops_traces import traces
from benchmarks.running import heading
from benchmarks.zoo import ZOO
from benchmarks.zoo_parts import layer
from tests.without_fork import without_fork  # noqa: F401


def result(tool: str, step: bool) -> dict[str, Any]:
    return {
        "tool": tool,
        "forward": {"a": "exact", "b": "zero"},
        "step": {"a": "exact"} if step else None,
        "small": 0.46,
        "vgg16": 0.0123,
        "vit": 1.5,
        "left": [],
        "left_after_exception": ["hooks"],
    }


def test_the_tables_carry_machine_versions_and_date() -> None:
    text = "\n".join(heading("Counters", "5 rounds", "thop"))
    assert f"torch {torch.__version__}" in text and " thread" in text and " UTC" in text and "Python" in text
    assert f"thop {version('thop')}" in text
    text = "\n".join(tables([result("course.flops", True), result("thop", False)], ["fvcore: not measured"]))
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    assert ["course.flops", "50%", "1", "0", "0", "0", "0.5", "0.012", "1.500"] in rows
    assert ["course.flops", "100%", "0", "0", "0", "0"] in rows and "counts forwards only" in text
    assert "nothing; after an exception also hooks" in text and "fvcore: not measured" in text
    assert f"{len(ZOO)} modules" in text


def test_verdicts() -> None:
    entry = layer("linear", 6, (1, 2), nn.Linear, 2, 3)

    def says(macs: int, flagged: bool = False) -> str:
        return _verdict(lambda model, inputs: (macs, flagged), entry, False)

    def stops(model: nn.Module, inputs: tuple[Any, ...]) -> tuple[int, bool]:
        raise RuntimeError

    assert (says(6), says(7), says(0), says(5, True)) == ("exact", "wrong", "zero", "flagged")
    assert _verdict(stops, entry, False) == "crash"
    assert _verdict(TOOLS["course.flops"], entry, False) == "exact"
    assert _verdict(STEPS["FlopCounterMode"], replace(entry, macs=12), True) == "exact"


@pytest.mark.parametrize("stop", [False, True])
def test_ours_leaves_nothing_and_a_careless_one_is_found_out(stop: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    assert traces(TOOLS["course.flops"], stop) == traces(STEPS["course.flops"], stop) == []

    def careless(model: nn.Module, inputs: tuple[Any, ...]) -> None:
        model.eval()
        model.register_buffer("total", torch.zeros(1))
        monkeypatch.setattr(torch, "relu", lambda x: x)
        torch.rand(1)

    assert {"entries in state_dict", "eval mode", "moved RNG", "1 patched torch functions"} <= set(
        traces(careless, stop)
    )

"""Lesson 03: page faults are told apart from work."""

from __future__ import annotations

import platform

import pytest

from course.core.records import Record
from course.experiment.base import load_all, run
from course.experiment.result import block
from tests.lessons.l03_flops.rows import memories

pytestmark = pytest.mark.slow


def record(name: str, rows: list[dict]) -> Record:
    return Record(name, 1, "03_flops", {"device": "cpu"}, rows)


@pytest.mark.parametrize("faults", [1100.0, None])
def test_both_ratios_are_told(faults):
    """Where the system does not tell the faults, too."""
    rows = [{**row, "low_ms": row["call_ms"], "high_ms": row["call_ms"]} for row in memories(faults)]
    shown = str(block(record("03-page-faults", rows), load_all()["03-page-faults"]))
    assert "0.57" in shown and "0.25" in shown and ("1,100 page faults" in shown) == (faults is not None)


def glibc() -> bool:
    return platform.libc_ver()[0] == "glibc"


@pytest.mark.skipif(not glibc(), reason="the rules of glibc")
def test_memory_that_is_kept_costs_no_page_faults():
    rows = run("03-page-faults").rows
    faults = {(row["layer"], row["memory"]): row["page_faults"] for row in rows}
    assert len(rows) == len(faults) == 4
    assert faults["dense", "fresh"] > 392 and faults["depthwise", "fresh"] > 392  # the pages of one result
    assert faults["dense", "kept"] < 20 and faults["depthwise", "kept"] < 20


@pytest.mark.skipif(not glibc(), reason="the rules of glibc")
def test_depthwise_is_measured_without_page_faults():
    found = run("03-depthwise")  # in its own time: a new process starts late beside other work
    assert found.rows and all(row["page_faults"] <= 20 for row in found.rows)

"""Lesson 03: page faults are counted, one a page, and told apart from work."""

from __future__ import annotations

import mmap
import platform

import pytest

from course.experiment.base import load_all, run
from course.experiment.result import block
from course.lessons.l03_flops import page_faults as faults
from tests.lessons.l03_flops.rows import memories
from tests.lessons.live import record_of

COUNTED = pytest.mark.skipif(faults.minor_faults() is None, reason="this system does not count page faults")
GLIBC = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the rules of glibc")


def touch(pages: int) -> None:
    with mmap.mmap(-1, pages * mmap.PAGESIZE) as fresh:
        if hasattr(mmap, "MADV_NOHUGEPAGE"):
            fresh.madvise(mmap.MADV_NOHUGEPAGE)
        for at in range(0, len(fresh), mmap.PAGESIZE):
            fresh[at] = 1


@COUNTED
def test_fresh_pages_are_counted_one_by_one():
    with faults.count_faults() as seen:
        touch(500)
    assert 500 <= seen.minor < 1000


@COUNTED
def test_where_nothing_is_counted_nothing_is_said(monkeypatch):
    monkeypatch.setattr(faults, "resource", None)
    with faults.count_faults() as seen:
        touch(10)
    assert seen.minor is None


@pytest.mark.slow
@pytest.mark.parametrize("faults", [1100.0, None])
def test_both_ratios_are_told(faults):
    """Where the system does not tell the faults, too."""
    rows = [{**row, "low_ms": row["call_ms"], "high_ms": row["call_ms"]} for row in memories(faults)]
    shown = str(block(record_of("03-page-faults", rows), load_all()["03-page-faults"]))
    assert "0.57" in shown and "0.25" in shown and ("1,100 page faults" in shown) == (faults is not None)


@pytest.mark.slow
@GLIBC
def test_memory_that_is_kept_costs_no_page_faults():
    rows = run("03-page-faults").rows
    faults = {(row["layer"], row["memory"]): row["page_faults"] for row in rows}
    assert len(rows) == len(faults) == 4
    assert faults["dense", "fresh"] > 392 and faults["depthwise", "fresh"] > 392  # the pages of one result
    assert faults["dense", "kept"] < 20 and faults["depthwise", "kept"] < 20


@pytest.mark.slow
@GLIBC
def test_depthwise_is_measured_without_page_faults():
    found = run("03-depthwise")  # in its own time: a new process starts late beside other work
    assert found.rows and all(row["page_faults"] <= 20 for row in found.rows)

"""Lesson 03: page faults are told apart from work, and the roof names only what is beyond doubt."""

from __future__ import annotations

import platform

import pytest

from course.experiment.base import load_all, run
from course.records import Record
from tests.lessons.l03_flops.rows import memories, shares

pytestmark = pytest.mark.slow


def record(name: str, rows: list[dict], **machine: str) -> Record:
    return Record(name, 1, "03_flops", {"device": "cpu", **machine}, rows)


@pytest.mark.parametrize("faults, word", [(1100.0, "1,100"), (None, "? page faults")])
def test_both_ratios_are_told(faults, word):
    sentence = load_all()["03-page-faults"].finding(record("03-page-faults", memories(faults)))
    assert word in sentence["en"] and "0.57" in sentence["en"] and "0.25 without" in sentence["en"]
    assert "0.57" in sentence["zh"] and "0.25" in sentence["zh"]


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
    found = run("03-depthwise", 0.5)
    assert found.rows and all(row["page_faults"] <= 20 for row in found.rows)
    assert "No page faults are in these times" in load_all()["03-depthwise"].finding(found)["en"]


def test_page_faults_that_remain_are_said():
    sentence = load_all()["03-depthwise"].finding(
        record("03-depthwise", [{**shares(0.05, 0.06)[0], "page_faults": 1144}])
    )
    assert "1,144" in sentence["en"] and "1,144" in sentence["zh"]


def roof(*shares_: tuple[str, float, float]) -> list[dict]:
    peak = {"part": "peak", "flops_per_s": 1e11, "bytes_per_s": 1e10, "ridge": 10.0, "dtype": "float32", "busy": 0}
    return [
        peak,
        *(
            {
                "part": "operation",
                "operation": name,
                "share_of_roof": (low + high) / 2,
                "share_low": low,
                "share_high": high,
            }
            for name, low, high in shares_
        ),
    ]


@pytest.mark.parametrize(
    "operations, nearest, farthest",
    [
        ([("matrix product", 0.8, 0.9), ("ReLU", 0.3, 0.4), ("dense conv", 0.5, 0.6)], True, True),
        ([("matrix product", 0.55, 0.9), ("ReLU", 0.3, 0.4), ("dense conv", 0.5, 0.6)], False, True),
        ([("matrix product", 0.8, 0.9), ("ReLU", 0.3, 0.55), ("dense conv", 0.5, 0.6)], True, False),
        ([("matrix product", 0.8, 0.9)], False, False),
    ],
)
def test_the_roof_names_only_what_stands_apart(operations, nearest, farthest):
    sentence = load_all()["03-roof"].finding(record("03-roof", roof(*operations)))["en"]
    assert ("Nearest to its roof: matrix product" in sentence) == nearest
    assert ("Farthest from it: ReLU" in sentence) == farthest


def test_the_roof_names_the_machine_it_was_measured_on():
    sentence = load_all()["03-roof"].finding(record("03-roof", roof(), cpu="Some Processor"))
    assert "Some Processor" in sentence["en"] and "Some Processor 单线程" in sentence["zh"]

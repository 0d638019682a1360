"""The figures on the page about the tools are those that `make bench` wrote into benchmarks/results."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT

COUNTERS = {"`course.flops`": "course.flops", "torch's FlopCounterMode": "FlopCounterMode"}
TIMERS = {
    "`course.timing.compare`": "ours",
    "pytest-benchmark, minimum": "pytest-benchmark min",
    "timeit, best of": "timeit best",
    "do_bench's way, medians": "do_bench median",
    "torch.utils.benchmark, blocked": "torch blocked",
    "torch.utils.benchmark, by its IQRs": "torch IQRs",
    "pyperf, in one process": "pyperf",
}
MARKERS = {
    "stock nbgrader": "stock nbgrader",
    "ours, in the sandbox, 1 process": "ours, 1 process",
    "ours, in the sandbox, 2 processes": "ours, 2 processes",
}


def tables(path: str) -> list[list[list[str]]]:
    """The tables of a Markdown file: rows of cells, without the line below the head."""
    found: list[list[list[str]]] = [[]]
    for line in (ROOT / path).read_text(encoding="utf-8").splitlines():
        if not line.startswith("|"):
            found += [[]] if found[-1] else []
        elif set(line) - set("|-: "):
            found[-1].append([cell.strip() for cell in line.strip("|").split("|")])
    return [table for table in found if table]


def numbers(cells: list[str]) -> list[float]:
    return [float(number) for cell in cells for number in re.findall(r"\d+(?:\.\d+)?", cell)]


def test_counting():
    forward, step, _ = tables("benchmarks/results/flops.md")
    forwards, steps = {row[0]: row for row in forward}, {row[0]: row for row in step}
    for name, exact, zero, trained, cost in tables("docs/tools.md")[0][1:]:
        tool = COUNTERS.get(name, name)
        measured = forwards[tool]
        assert numbers([exact, zero]) == numbers(measured[1:3])
        assert numbers([cost]) == [round(float(measured[-1]), 2)]
        assert numbers([trained]) == (numbers(steps[tool][1:2]) if "cannot" not in steps[tool][1] else [])


def test_timing():
    summary = tables("benchmarks/results/timing.md")[1]
    measured = {(row[0], row[1]): row[2:] for row in summary}
    for name, *shown in tables("docs/tools.md")[1][1:]:
        quiet, busy = measured[TIMERS[name], "quiet"], measured[TIMERS[name], "4"]
        assert numbers(shown[:2]) == numbers([quiet[0], quiet[2]])
        assert numbers(shown[2:4]) == numbers([busy[0], busy[2]])
        assert numbers(shown[4:]) == numbers([quiet[3], busy[3]])


def test_trying():
    measured = [row[1:] for row in tables("benchmarks/results/try_switches.md")[0][1:]]
    assert [row[1:] for row in tables("docs/tools.md")[2][1:]] == measured and measured


def test_grading():
    light, heavy = ({row[0]: row for row in table} for table in tables("benchmarks/results/grading.md")[:2])
    for name, little, half in tables("docs/tools.md")[3][1:]:
        of_a_submission = [float(each[MARKERS[name]][1]) for each in (light, heavy)]
        assert numbers([little, half]) == pytest.approx(of_a_submission, abs=0.0051)


def test_the_chinese_page_has_the_same_figures():
    english, chinese = (
        [sorted(numbers(row[1:])) for table in tables(page) for row in table[1:]]
        for page in ("docs/tools.md", "docs/tools.zh-CN.md")
    )
    assert english == chinese

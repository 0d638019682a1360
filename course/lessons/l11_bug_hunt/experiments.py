"""Experiments of lesson 11: how to hunt. Two faults that hide each other; a witness that is steady; halving the suspects."""

from __future__ import annotations

import math
from collections import Counter
from time import perf_counter
from typing import Any

import torch

from course.core.i18n import both
from course.exercises.checking import watched
from course.experiment.base import Budget, experiment
from course.experiment.reading import Reading, race_row
from course.timing import compare
from course.timing.stats import median

LESSON = "11_bug_hunt"
ENABLED = "mkldnn.enabled"
PAIRS, MARGIN = 24, 1.15


def _one_thread() -> None:
    torch.set_num_threads(1)  # the experiment's run restores it


# --- 11-hidden ------------------------------------------------------------------------------------------------------


@experiment(name="11-hidden", lesson=LESSON, needs="mkldnn", seconds=6)
def hidden(budget: Budget) -> list[dict]:
    """A convolution with float64 data and oneDNN off: each fault repaired alone, and both, against both faults left in."""
    _one_thread()
    torch.manual_seed(0)
    pixels_last = torch.channels_last
    photos = {"float64": torch.randn(4, 16, 48, 48, dtype=torch.float64).to(memory_format=pixels_last)}
    photos["float32"] = photos["float64"].float()
    nets = {
        name: torch.nn.Conv2d(16, 64, 3, padding=1).eval().to(dtype, memory_format=pixels_last)
        for name, dtype in (("float32", torch.float32), ("float64", torch.float64))
    }

    def script(onednn: bool, dtype: str) -> Any:
        def run() -> None:
            torch.backends.mkldnn.enabled = onednn
            with torch.inference_mode():
                nets[dtype](photos[dtype])

        return run

    found = compare(
        {
            "none": script(False, "float64"),
            "switch": script(True, "float64"),
            "type": script(False, "float32"),
            "both": script(True, "float32"),
        },
        baseline="none",
        max_time=max(1.0, min(4.0, budget.left() - 1)),
        ci=0.02,
        gate=0.05,
        same=False,
    )
    return [
        {"repaired": name, **race_row(pair), "rounds": found.rounds}
        for name, pair in found.pairs.items()
        if math.isfinite(pair.ratio)
    ]


def read_hidden(rows: list[dict]) -> Reading | None:
    """What the switch repaired alone does; it is hidden by the other fault where both repaired gain more than that one alone."""
    by = {row["repaired"]: row for row in rows}
    if set(by) != {"switch", "type", "both"}:
        return None
    outcome = {"faster": "a", "same": "b", "slower": "c"}.get(by["switch"]["verdict"])
    ends = by["both"]["high"], by["type"]["low"]
    return Reading("b hidden" if outcome == "b" and None not in ends and ends[0] < ends[1] else outcome)


# --- 11-witness -----------------------------------------------------------------------------------------------------


@experiment(name="11-witness", lesson=LESSON, needs="mkldnn", seconds=4)
def witness(budget: Budget) -> list[dict]:
    """Twenty-four pairs of single calls, oneDNN on and off: the switch as it was while each ran, and the ratio of times."""
    _one_thread()
    net = torch.nn.Conv2d(16, 64, 3).eval().to(memory_format=torch.channels_last)
    photo = torch.randn(2, 16, 48, 48).to(memory_format=torch.channels_last)
    backend = torch.backends.mkldnn

    def call(onednn: bool) -> tuple[bool, float]:
        backend.enabled = onednn
        seen = watched(lambda: net(photo), ENABLED)
        start = perf_counter()
        net(photo)
        return seen[-1].switches[ENABLED], perf_counter() - start

    rows = []
    with torch.inference_mode():
        call(True), call(False)
        for number in budget.loop(range(PAIRS), desc=both("asking", "询问"), least=PAIRS // 2):
            (on, fast), (off, slow) = call(True), call(False)
            rows.append({"pair": number, "on": on, "off": off, "ratio": slow / fast})
    return rows


def read_witness(rows: list[dict]) -> Reading:
    """How often each witness said something else; a ratio does so from 10 % off the middle one on."""
    answers = Counter((row["on"], row["off"]) for row in rows)
    ratios = [row["ratio"] for row in rows]
    centre = median(ratios)
    off = sum(not centre / 1.1 <= one <= 1.1 * centre for one in ratios)
    shares = {"switch": sorted(answers.values(), reverse=True), "ratio": [len(rows) - off, *[1] * off]}
    drawn = [
        {"witness": name, "each": each, "changed": len(rows) - each[0], "said": "other" if len(each) > 1 else "same"}
        for name, each in shares.items()
    ]
    outcome = {(True, True): "a", (True, False): "b", (False, True): "c", (False, False): "d"}[
        len(answers) == 1, off == 0
    ]
    return Reading(outcome if len(rows) >= PAIRS // 2 else None, {"asked": len(rows)}, drawn)


# --- 11-bisect ------------------------------------------------------------------------------------------------------

LINES = 16


@experiment(name="11-bisect", lesson=LESSON, needs="cpu", seconds=5, whole=True)
def bisect(budget: Budget) -> list[dict]:
    """One line of sixteen switches oneDNN off; a run sets the first k lines and reads the switch beside a convolution."""
    net, photo = torch.nn.Conv2d(3, 8, 3).eval(), torch.randn(1, 3, 16, 16)

    def harmless() -> None:
        torch.backends.cudnn.benchmark = True

    def fault() -> None:
        torch.backends.mkldnn.enabled = False

    rows = []
    for place in budget.loop(range(1, LINES + 1), desc=both("scripts", "脚本"), least=LINES // 2):
        lines = [fault if number == place else harmless for number in range(1, LINES + 1)]
        runs = 0

        def symptom(count: int, lines: list = lines) -> bool:
            nonlocal runs
            runs += 1
            torch.backends.mkldnn.enabled = True
            for line in lines[:count]:
                line()
            return watched(lambda: net(photo), ENABLED)[-1].switches[ENABLED] is False

        good, bad = 0, LINES
        while bad - good > 1:
            middle_line = (good + bad) // 2
            good, bad = (good, middle_line) if symptom(middle_line) else (middle_line, bad)
        halving, runs = runs, 0
        walked = next(count for count in range(1, LINES + 1) if symptom(count))
        rows.append({"place": place, "halving": halving, "line_by_line": runs, "found": bad == walked == place})
    return rows


def read_bisect(rows: list[dict]) -> Reading:
    halving, walking = ([row[key] for row in rows] for key in ("halving", "line_by_line"))
    if not all(row["found"] for row in rows):
        outcome = "not found"
    elif sum(halving) >= sum(walking):
        outcome = "no fewer"
    else:
        outcome = "at most"
    return Reading(outcome, {"most": max(halving)})

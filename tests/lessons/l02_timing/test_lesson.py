"""Lesson 02: its bets follow their records, its devices keep order, and its notebook is not lost by running it."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
import torch
from torch.nn.modules.module import register_module_forward_hook

from course.exercises.exercise import all_exercises, judge
from course.experiment.base import run
from course.experiment.reading import groups
from course.lessons.l02_timing.exercises import cut
from course.lessons.l02_timing.experiments import STORIES
from course.lessons.l02_timing.toy_device import ToyDevice, VirtualDevice
from course.timing import clock, compare
from course.timing.stats import median_interval as interval_of
from grader.lessons.l02_timing.tasks import judge_report
from tests.conftest import ROOT
from tests.lessons.live import as_rows
from tests.support.timing_clocks import Cost, NoisyClock, costing


def test_the_race_of_the_notebook_is_not_lost_yet(monkeypatch):
    """Running the cells as they come must not earn anything. Clocks go by the pixels that a convolution gets, 1 ns each."""
    cells = json.loads((ROOT / "notebooks/en/lessons/02_timing.ipynb").read_text("utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    source = [text for text in code if "naive_ms" in text]
    assert len(source) == 2
    ns = [0]
    monkeypatch.setattr(clock, "time", SimpleNamespace(perf_counter=lambda: ns[0] * 1e-9))

    def passes(module, given, found):
        ns[0] += given[0].numel()

    names = {"torch": torch, "perf_counter": lambda: ns[0] * 1e-9, "compare": compare, "check": lambda *_: None}
    with register_module_forward_hook(passes):
        exec("\n".join(source), names)
    assert names["evidence"]["naive_ratio"] == pytest.approx(1 / 4)
    assert names["evidence"]["comparison"].ratio == pytest.approx(1 / 4)
    assert judge(all_exercises()["02-lose"], names["evidence"]).state == "incorrect"


@pytest.mark.parametrize("count", [6, 7, 11, 12, 20, 41, 100])
def test_cut_agrees_with_the_interval_of_the_timing_package(count):
    ordered = [float(v) for v in range(count)]
    interval = interval_of(ordered)
    assert (ordered[cut(count)], ordered[-1 - cut(count)]) == (interval.low, interval.high)
    assert cut(5) is None


def test_the_toy_devices_launch_at_once_and_fence():
    with ToyDevice() as toy:
        start, kernel = toy.event(), toy.launch(1_500)
        end = toy.event()
        assert not kernel.done() and toy.waiting() >= 2
        toy.synchronize()
        assert kernel.done() and toy.waiting() == 0
        assert start.elapsed_ms(end) >= 1_499
        with pytest.raises(ValueError, match="from 0 on"):
            toy.launch(-1)
    device = VirtualDevice()  # its time moves by work alone
    device.launch(20)
    assert device.clock() < 1e-3
    device.synchronize()
    assert 0.020 <= device.clock() < 0.021


def test_the_queue_is_drawn_as_it_ran():
    """Whatever the machine does, the device works in order, and a clock stopped behind a fence has seen the kernel end."""
    found = groups(run("02-queue").rows, "story")
    assert len(found) == 2
    for story, rows in found.items():
        span = {row["what"]: (row["start_ms"], row["end_ms"]) for row in rows}
        assert (span["reading"][1] >= span["kernel"][1]) == STORIES[story]
        assert span["kernel"][1] - span["kernel"][0] >= 19.9


NOISES = [(0.02, 0.2, 0.05), (0.003, 0.05, 0.5), (0.001, 0.0, 0.02), (0.3, 0.3, 0.3)]
"""jitter, drift and hiccup of a `NoisyClock`."""
SOUND = {"device": "cpu", "threads": 2, "warmup_calls": 5, "fence": "none needed", "gate": 0.02}


def report_of(found) -> dict:
    """What the checkpoint asks for, copied from a comparison of a and b."""
    ratios = list(found.pairs["b"].ratios)
    return {
        **SOUND,
        "ratios": ratios,
        "low": found.low,
        "high": found.high,
        "claim": found.verdict,
        "why": found.sentence(),
    }


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("ratio", [1, 1.003, 1.01, 1.37, 0.6])
def test_a_report_copied_from_compare_earns_all(noise, ratio):
    for seed, budget_s in enumerate((0.5, 2, 5)):
        sides = {"a": costing(1e-4), "b": costing(1e-4 * ratio)}
        found = compare(sides, baseline="a", max_time=budget_s, clock=NoisyClock(seed, *noise), seed=seed)
        verdict = judge_report(report_of(found))
        assert verdict.points == 4, (verdict.messages, found.low, found.high, found.pairs["b"].ratios)


def test_undecided_because_of_a_drift_is_honest_with_its_reason_or_without():
    left = iter([1e-2] * 40)
    sides = {"a": costing(1e-3), "b": lambda: Cost(next(left, 2e-3))}
    found = compare(sides, "a", clock=NoisyClock(1, jitter=0.01, drift=0, hiccup=0), seed=1)
    report = report_of(found)
    assert found.verdict == "undecided" and found.low > 1
    assert judge_report(report).points == 4
    assert judge_report({**report, "why": ""}).points == 4, "the ratios themselves show the drift"
    assert judge_report({**report, "why": "", "ratios": sorted(report["ratios"], key=hash)}).points == 3.5


@pytest.mark.parametrize(
    "low, high, claim, points",
    [
        (0.90, 0.92, "faster", 4),
        (0.90, 0.92, "undecided", 3.5),
        (0.90, 0.92, "slower", 3),
        (0.95, 1.05, "faster", 3),
        (0.95, 1.05, "same", 3),
        (0.95, 1.05, "undecided", 4),
        (0.985, 0.998, "faster", 4),
        (0.985, 0.998, "same", 4),
        (0.985, 0.998, "undecided", 3.5),
        (0.96, 0.998, "undecided", 4),
        (0.99, 1.01, "undecided", 3.5),
    ],
)
def test_a_claim_earns_what_its_interval_carries(low, high, claim, points):
    ratios = [low + (high - low) * part / 19 for part in range(20)]
    assert judge_report({**SOUND, "ratios": ratios, "low": low, "high": high, "claim": claim}).points == points


@pytest.mark.parametrize("low, high, points", [(0.92, 0.92, 2), (0.80, 0.99, 2), (0.945, 0.95, 2), (0.905, 0.935, 4)])
def test_an_interval_that_the_ratios_do_not_give_earns_neither_its_point_nor_its_claim(low, high, points):
    ratios = [0.9 + 0.04 * part / 19 for part in range(20)]
    report = {**SOUND, "ratios": ratios, "low": low, "high": high, "claim": "faster"}
    assert judge_report(report).points == points


# --- invented rows that settle each bet on each of its options (tests/course/experiment); nothing was measured ---


def waits(call_ms: float, read_ms: float) -> list[dict]:
    return [
        {"where": place, "repeat": i, "call_ms": call_ms * (1 + i / 1e3), "read_ms": read_ms}
        for place in ("cpu", "toy")
        for i in range(9)
    ]


def readings(median_ms: float, high_ms: float = 0.1, **others: float) -> list[dict]:
    """The five stopwatches: the one with a fence after the launch reads this; others: what those named here read."""
    read = {
        "no fence": 0.01,
        "fence after only": median_ms,
        "fence before and after": 20.2,
        "fence before, then .cpu()": 26.3,
        "two events": 20.1,
    } | {name.replace("_", " "): ms for name, ms in others.items()}
    return as_rows(
        "stopwatch kernel_ms earlier_ms median_ms low_ms high_ms samples_ms",
        *((name, 20.0, 30.0, ms, ms - 0.005, ms + high_ms, [ms] * 9) for name, ms in read.items()),
    )


def calls(*ratios: float) -> list[dict]:
    return [
        {"shape": shape, "call": call, "call_ms": ratio if call == 1 else 1.0}
        for shape, ratio in enumerate(ratios)
        for call in range(1, 13)
    ]


METHODS = ("means, each alone", "best of, each alone", "paired")


def races(*winners: int, trials: int = 20) -> list[dict]:
    """Twins: how often each method announced a winner."""
    return [
        {"trial": i, "method": method, "ratio": 1 + i / 1e3, "planted": 1.0, "said": "slower" if i < count else "same"}
        for i in range(trials)
        for method, count in zip(METHODS, winners, strict=True)
    ]


def planted(*near: int, trials: int = 12) -> list[dict]:
    """How often each method came near to a true ratio of 1.05."""
    return [
        {"trial": i, "method": method, "ratio": 1.05 if i < count else 1.2, "planted": 1.05, "said": "slower"}
        for i in range(trials)
        for method, count in zip(METHODS, near, strict=True)
    ]


def stopwatches(**no_fence_ms: float) -> list[dict]:
    """On a GPU: at each size what the clock without a fence reads where the events read 10 ms."""
    return as_rows(
        "size stopwatch median_ms low_ms high_ms samples_ms",
        *(
            (int(size[1:]), name, ms, ms - 0.1, ms + 0.1, [ms - 0.1, ms, ms + 0.1])
            for size, unfenced in no_fence_ms.items()
            for name, ms in (("no fence", unfenced), ("two events", 10.0), ("fence before, then print", 12.0))
        ),
    )


def told(story: str, reading_ms: float) -> list[dict]:
    """Rows of one story: a kernel that is over after 50 ms."""
    return as_rows(
        "story lane what start_ms end_ms",
        (story, "cpu", "launch", 0.0, 0.1),
        (story, "cpu", "fence", 0.1, reading_ms),
        (story, "clock", "reading", 0.0, reading_ms),
        (story, "device", "kernel", 0.1, 50.0),
    )


ROWS = {
    "02-bet-cpu": {"a": waits(0.1, 9), "b": waits(9, 0.1), "c": waits(5, 5)},
    "02-bet-one-fence": {"a": readings(0.01), "b": readings(20.3), "c": readings(50.4)},
    "02-bet-first-call": {"a": calls(*[1.05] * 8), "b": calls(*[2.0] * 8), "c": calls(*[8.0] * 8)},
    "02-bet-same-code": {"a": races(1, 0, 0), "b": races(2, 0, 0), "c": races(6, 0, 0)},
}
FURTHER = {
    "02-bet-cpu": [([*waits(9, 0.1)[:9], *waits(0.1, 20)[9:]], "b")],  # a read that waits on the toy device
    "02-bet-one-fence": [
        (readings(300.0), None),
        (readings(50.4, two_events=30.0), "c"),
        (readings(20.1, no_fence=20.0), "b"),
        ([{**row, "median_ms": 20.0, "low_ms": 19.9, "high_ms": 20.1} for row in readings(20.0)], "b"),
        (readings(20.2, high_ms=10.0), None),  # a busy machine
        ([{**row, "samples_ms": row["samples_ms"][:5]} for row in readings(20.2)], None),
    ],
    "02-bet-first-call": [(calls(1, 1, 2, 2, 5, 5, 9, 9), None)],
    "02-bet-same-code": [
        (races(0, 0, 0), "a"),
        (races(0, 3, 0), "a"),
        (races(2, 0, 1), "b"),
        (races(6, 0, 0, trials=9), None),
    ],
}
BRANCHES = {
    "02-queue": [told("no fence", 0.1), told("no fence", 50.2)],
    "02-planted-difference": [planted(2, 3, 9), planted(5, 11, 12, trials=3)],
    "02-stopwatches-cuda": [
        stopwatches(s512=10.0),
        stopwatches(s512=0.4, s4096=0.4),
        stopwatches(s512=9.8, s4096=0.4),
        stopwatches(s512=8.0, s4096=0.4),
    ],
}
RECORDED = {"02-stopwatches-cuda": ("Without a fence, the clock missed 99 % of the time at one size.", {})}
"""What the recordings made on a GPU say, derived by hand from their rows: experiment -> headline, bets."""

"""Lesson 16: what its probes find here: bits, counts, errors. No speed is asserted."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import psutil
import pytest
import torch
from torch._dynamo.utils import counters
from torch.backends import opt_einsum
from torch.profiler import ProfilerActivity, profile

from course.core.machine import can
from course.experiment.new_process import rows_of
from course.lessons.l16_rest.probes import FLUSH_ORDERS
from tests.lessons.live import as_rows, check_shown, measured


def order_after_compiling() -> list[dict[str, int]]:
    """In a new process: an einsum compiled by aot_eager with the search on; then the switch goes off.

    again: further compilations; compiled, plain: whether this code and a plain call then still multiply the vector first.
    """
    a, b, v = torch.ones(20, 20), torch.ones(20, 20), torch.ones(20)

    def product(a: torch.Tensor, b: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return torch.einsum("ij,jk,k->i", a, b, v)

    opt_einsum.enabled = True
    compiled = torch.compile(product, backend="aot_eager")
    compiled(a, b, v)
    before = counters["stats"]["unique_graphs"]
    opt_einsum.enabled = False
    compiled(a, b, v)

    def largest(call: Any) -> int:
        with profile(activities=[ProfilerActivity.CPU], record_shapes=True, acc_events=True) as recording:
            call(a, b, v)
        products = [event for event in recording.events() if event.name in ("aten::mm", "aten::bmm", "aten::mv")]
        return max(one.input_shapes[0][-2] * one.input_shapes[1][-1] for one in products)

    again = counters["stats"]["unique_graphs"] - before
    return [{"again": again, "compiled": int(largest(compiled) < 400), "plain": int(largest(product) < 400)}]


@pytest.mark.slow
def test_compiled_code_keeps_its_order_when_the_switch_goes_off():
    """What the knowledge card of opt_einsum says."""
    if not can("opt_einsum"):
        pytest.skip("opt_einsum is not installed")
    (found,) = rows_of("tests.lessons.l16_rest.test_lesson", "order_after_compiling")
    assert found == {"again": 0, "compiled": 1, "plain": 0}


@pytest.mark.slow
def test_who_packed_computes():
    crossed = {row["like"] for row in measured("16-packed", 60).rows if row["packed"] != row["engine"]}
    assert crossed <= {"maker", "both"}  # "both" where two engines round alike


@pytest.mark.slow
def test_the_order_of_switch_and_threads_decides_what_is_flushed():
    late, early, other = (rows_of("course.lessons.l16_rest.probes", "flushed", order)[0] for order in (
        "threads, then set", "set, then threads", "set in another thread"))  # fmt: skip
    assert {late["threads"], early["threads"], other["threads"]} == {2}
    if not late["supported"]:
        pytest.skip("this processor cannot flush denormal numbers")
    assert (late["first"], late["second"]) == (0.0, 1.0)
    assert early["kept"] == 0.0 and other["kept"] == 1.0


@pytest.mark.long
def test_a_frozen_model_mixes_old_and_new_weights():
    if not can("compiler"):
        pytest.skip("no C++ compiler")
    record = measured("16-frozen")
    check_shown(record)
    answers = {(row["frozen"], row["change"]): row["answers"] for row in record.rows}
    assert answers[1, "load_state_dict(other)"] == "neither" and answers[0, "load_state_dict(other)"] == "new"
    assert {answer for (frozen, _), answer in answers.items() if not frozen} == {"new"}


@pytest.mark.slow
@pytest.mark.skipif(not can("two_cores"), reason="the neighbour takes a core of its own")
def test_the_busy_neighbour_ends_also_when_the_measurement_is_killed():
    """A run that takes too long is killed; its busy loop would take a core of the learner's machine until it is restarted."""
    code = "from course.lessons.l16_rest.probes import beside_a_neighbour as run; run(2, 1000)"
    measuring = subprocess.Popen([sys.executable, "-c", code])
    try:
        neighbours, end = [], time.monotonic() + 60
        while not neighbours and time.monotonic() < end and measuring.poll() is None:
            neighbours = psutil.Process(measuring.pid).children()
            time.sleep(0.05)
        assert neighbours, "the second half of the run has one"
        measuring.kill()
        measuring.wait()
        gone, alive = psutil.wait_procs(neighbours, timeout=30)
        assert gone and not alive
    finally:
        measuring.kill()
        measuring.wait()


# --- invented rows that settle each bet on each of its options (tests/course/experiment); nothing was measured ---


def einsums(tiny, best=0.01, width=0.01):
    """The tiny case and the large one with these ratios, 1.0 for the others."""
    ratios = {"vector last": best, "vector first": 1.0, "adapter": 1.0, "two operands": 1.0, "tiny": tiny}
    return as_rows(
        "case equation ratio low high same_bits",
        *(
            (case, "ij,jk->ik", ratio, ratio * (1 - width), ratio * (1 + width), int(case != "adapter"))
            for case, ratio in ratios.items()
        ),
    )


def packed(like):
    return [
        {"packed": maker, "engine": runner, "like": like if maker != runner else "both"}
        for maker in ("x86", "qnnpack")
        for runner in ("x86", "qnnpack")
    ]


def flushed(first, second, supported=1):
    """The share kept in either half when the switch comes after the threads; all in the other orders."""
    halves = {order: (1.0, 1.0) for order in FLUSH_ORDERS} | {"threads, then set": (first, second)}
    return [
        {"order": order, "supported": supported, "threads": 2, "kept": (a + b) / 2, "first": a, "second": b}
        for order, (a, b) in halves.items()
    ]


def frozen(load):
    changes = ("conv.weight.mul_(2)", "load_state_dict(other)")
    answers = (0, changes[0], "new"), (0, changes[1], "new"), (1, changes[0], "old"), (1, changes[1], load)
    return as_rows("frozen change answers", *answers)


def neighbours(median, slow, rounds=8, spread=0.01):
    """Two threads over one: the median and the slowest of a hundred, in that many rounds, alone and beside a neighbour."""
    return as_rows(
        "neighbours round calls threads median_ms p99_ms",
        *(
            (beside, number, 100, *told)
            for beside in (0, 1)
            for number in range(rounds)
            for away in (spread * (number % 3 - 1),)
            for told in ((1, 1.0, 2.0), (2, median + away, 2 * slow + 2 * away))
        ),
    )


ROWS = {
    "16-bet-tiny": {"a": einsums(0.5), "b": einsums(1.0), "c": einsums(5.0)},
    "16-bet-packed": {"a": packed("runner"), "b": packed("maker"), "c": packed("error")},
    "16-bet-flush": {"a": flushed(1.0, 1.0), "b": flushed(0.0, 0.0), "c": flushed(0.0, 1.0), "d": flushed(0.3, 0.6)},
    "16-bet-frozen": {"a": frozen("new"), "b": frozen("old"), "c": frozen("neither")},
    "16-bet-neighbour": {
        "a": neighbours(0.6, 0.6),
        "b": neighbours(1.5, 4.0),
        "c": neighbours(0.6, 8.0),
        "d": neighbours(1.0, 1.0, spread=0.005),
    },
}
FURTHER = {
    "16-bet-tiny": [(einsums(1.0, width=0.3), None), (einsums(5.0)[:-1], None), (einsums(1.0, best=1.0), "b")],
    "16-bet-packed": [(packed("both"), None), (packed("neither"), None), (packed("maker")[:1], None)],
    "16-bet-flush": [(flushed(0.0, 1.0, supported=0), None)],
    "16-bet-frozen": [(frozen("neither")[:2], None)],
    "16-bet-neighbour": [(neighbours(0.6, 8.0, rounds=4), None), (neighbours(1.0, 8.0, spread=0.2), None)],
}

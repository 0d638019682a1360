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
from tests.lessons.live import check_shown, measured


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

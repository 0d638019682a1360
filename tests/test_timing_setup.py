"""Timing: a setup before every call, outside the time; bars only where somebody watches."""

from __future__ import annotations

import io
import itertools
import sys
from functools import partial

import pytest

from course.timing import TimingError, compare, measure
from course.timing import clock as clock_module
from tests.timing_clocks import Cost, NoisyClock, costing


def test_setup_runs_before_every_call_and_its_result_is_handed_over():
    numbers, seen = itertools.count(), []

    def use(number):
        seen.append(number)
        return Cost(1e-3)

    result = measure(use, setup=lambda: next(numbers), clock=NoisyClock(1), calibrate=None, max_time=0.2)
    assert seen == list(range(len(seen))) and len(seen) > 20 and result.calls_per_sample == 1
    assert result.median_ms == pytest.approx(1.1, rel=0.2)


@pytest.mark.parametrize("good", [0, 30])
def test_a_setup_that_raises_is_named(good):
    left = iter(range(good))
    with pytest.raises(TimingError, match="setup raised StopIteration " + ("after" if good else "on the first call")):
        measure(lambda _: Cost(1e-3), setup=lambda: next(left), clock=NoisyClock(1), calibrate=None, max_time=0.2)


def test_setup_is_outside_the_time(monkeypatch):
    """On the clock that is used, whose hands move in steps of the test: 2 ms in the setup, 1 us in the function."""
    ns = [0]

    def lasting(step):
        def act():
            ns[0] += step

        return act

    monkeypatch.setattr(clock_module, "_plain_ns", partial(clock_module._plain_ns, now=lambda: ns[0]))
    work = lasting(1_000)
    result = compare({"a": work, "b": work}, setup=lasting(2_000_000), same=False, max_time=0.1, device="cpu")
    assert result.medians_ms == pytest.approx({"a": 1e-3, "b": 1e-3})


def test_a_list_sorted_in_place_is_unsorted_in_every_call():
    kinds = set()

    def sort(values):
        kinds.add(tuple(values))
        values.sort()

    compare({"one": sort, "two": sort}, setup=lambda: [3, 1, 2], max_time=0.05, device="cpu")
    assert kinds == {(3, 1, 2)}


@pytest.mark.parametrize(
    "setup, f, words", [(3, int, "type int"), (lambda x: x, int, "setup"), (int, lambda a, b: 0, "arguments")]
)
def test_an_odd_setup_gets_a_sentence(setup, f, words):
    for attempt in (lambda: measure(f, setup=setup), lambda: compare({"a": f, "b": f}, setup=setup)):
        with pytest.raises(TimingError, match=words):
            attempt()


# ---- bars -------------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_bar_is_shown_only_where_somebody_watches(monkeypatch):
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    seen = []
    for stream in (Terminal(), io.StringIO(), None):
        monkeypatch.setattr(sys, "stderr", stream)
        seen.append(clock_module.somebody_watches())
    monkeypatch.setitem(sys.modules, "ipykernel", object())
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert [*seen, clock_module.somebody_watches()] == [True, False, False, True]
    monkeypatch.delitem(sys.modules, "ipykernel")
    compare({"a": costing(1), "b": costing(1)}, max_time=3, clock=NoisyClock(0), seed=1, ci=1e-9, gate=1e-9)
    assert sys.stderr.getvalue() == ""

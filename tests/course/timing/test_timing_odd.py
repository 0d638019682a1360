"""Timing: odd input gets a sentence with the next step, never a bare traceback; setups, bars."""

from __future__ import annotations

import asyncio
import io
import itertools
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from course.core import bars
from course.timing import TimingError, compare, measure
from course.timing import clock as clocks
from tests.support.timing_clocks import Cost, NoisyClock, costing


def fails():
    raise ZeroDivisionError("division by zero")


POOL = ThreadPoolExecutor(1)


async def coroutine():
    await asyncio.sleep(0)


@pytest.mark.parametrize(
    "f, words",
    [
        (3.0, "float"),
        ("mod:f", "fresh_process"),
        (lambda x: x, "arguments"),
        (fails, "ZeroDivisionError"),
        (lambda: (i for i in "ab"), "generator"),
        (coroutine, "coroutine"),
        (lambda: map(print, "ab"), "map"),
        (lambda: POOL.submit(int), r"f().result()"),
    ],
)
def test_odd_functions_get_a_sentence(f, words):
    for attempt in (lambda: measure(f), lambda: compare({"one": f, "two": costing(1)})):
        with pytest.raises(TimingError) as caught:
            attempt()
        assert words in str(caught.value) and caught.value._render_traceback_() == [str(caught.value)]


BOTH = {"a": fails, "b": fails}


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: compare([fails, fails]), "dict"),
        (lambda: compare({"a": fails}), "at least two"),
        (lambda: compare({"plain": fails, "tuned": fails}, "plane"), "none of the candidates"),
        (lambda: compare(BOTH, ci=0), "ci"),
        (lambda: compare(BOTH, same=-1.0), "same must be"),
        (lambda: compare(BOTH, max_time=float("inf")), "finite"),
        (lambda: compare(BOTH, max_time="x"), "max_time"),
        (lambda: compare(BOTH, setup=lambda x: x), "setup"),
        (lambda: measure(costing(1), clock=5), "clock"),
        (lambda: measure(costing(1), device=[]), "device"),
        (lambda: measure(costing(1), device="gpu"), "gpu"),
        (lambda: measure(costing(1), max_time=float("nan")), "max_time"),
        (lambda: measure(int, setup=3), "type int"),
        (lambda: measure(lambda a, b: 0, setup=int), "arguments"),
    ],
)
def test_odd_settings_get_a_sentence(call, words):
    with pytest.raises(TimingError, match=words):
        call()


def test_prints_are_hidden_and_told(capsys):
    result = measure(lambda: print("epoch 0"), max_time=0.05, device="cpu")
    assert capsys.readouterr().out == ""
    assert any('"epoch 0"' in note for note in result.notes)


def test_a_failure_at_the_hundredth_call_stops_with_its_name():
    calls = iter(range(99))

    def late():
        if next(calls, None) is None:
            raise OSError("stream is used up")

    with pytest.raises(TimingError, match="late raised OSError"):
        compare({"a": costing(1e-3), "late": late}, device="cpu", max_time=5)


# ---- a setup before every call, outside the time ------------------------------------------------------------------


def test_setup_runs_before_every_call_and_its_result_is_handed_over():
    numbers, seen = itertools.count(), []

    def use(number):
        seen.append(number)
        return Cost(1e-3)

    result = measure(use, setup=lambda: next(numbers), clock=NoisyClock(1), max_time=0.2)
    assert seen == list(range(len(seen))) and len(seen) > 20 and result.calls_per_sample == 1
    assert result.median_ms == pytest.approx(1.1, rel=0.2)


@pytest.mark.parametrize("good", [0, 30])
def test_a_setup_that_raises_is_named(good):
    left = iter(range(good))
    with pytest.raises(TimingError, match="setup raised StopIteration" + (", after" if good else r"\. Call it")):
        measure(lambda _: Cost(1e-3), setup=lambda: next(left), clock=NoisyClock(1), max_time=0.2)


def test_setup_is_outside_the_time(monkeypatch):
    """On the clock that is used, whose hands move in steps of the test: 2 ms in the setup, 1 us in the function."""
    ns = [0]

    def lasting(step):
        def act():
            ns[0] += step

        return act

    monkeypatch.setattr(clocks, "_plain_ns", partial(clocks._plain_ns, now=lambda: ns[0]))
    work = lasting(1_000)
    result = compare({"a": work, "b": work}, setup=lasting(2_000_000), same=False, max_time=0.1, device="cpu")
    assert result.medians_ms == pytest.approx({"a": 1e-3, "b": 1e-3})


# ---- bars -------------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_bar_is_shown_only_where_somebody_watches(monkeypatch):
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    seen = []
    for stream in (Terminal(), io.StringIO(), None):
        monkeypatch.setattr(sys, "stderr", stream)
        seen.append(bars.somebody_watches())
    monkeypatch.setitem(sys.modules, "ipykernel", object())
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert [*seen, bars.somebody_watches()] == [True, False, False, True]
    monkeypatch.delitem(sys.modules, "ipykernel")
    compare({"a": costing(1), "b": costing(1)}, max_time=3, clock=NoisyClock(0), seed=1, ci=1e-9, gate=1e-9)
    assert sys.stderr.getvalue() == ""


def test_in_a_notebook_a_bar_that_is_done_leaves_no_dead_widget(tmp_path):
    nbclient, v4 = pytest.importorskip("nbclient"), pytest.importorskip("nbformat").v4
    code = "from course.core.bars import vanishing\nwith vanishing()(total=2, leave=False) as bar:\n    bar.update(2)"
    book = v4.new_notebook(cells=[v4.new_code_cell(code)])
    nbclient.NotebookClient(book, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert [dict(one.data) for one in book.cells[0].outputs] == [{"text/html": "", "text/plain": ""}]

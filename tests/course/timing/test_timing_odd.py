"""Timing: odd input gets a sentence with the next step, never a bare traceback; bars."""

from __future__ import annotations

import asyncio
import io
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from course.core import bars
from course.timing import TimingError, compare, measure
from tests.support.timing_clocks import NoisyClock, costing


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
        (lambda: measure(costing(1), clock=5), "clock"),
        (lambda: measure(costing(1), device=[]), "device"),
        (lambda: measure(costing(1), device="gpu"), "gpu"),
        (lambda: measure(costing(1), max_time=float("nan")), "max_time"),
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

"""Timing: a setup before every call, outside the time; grids of comparisons; bars only where somebody watches."""

from __future__ import annotations

import io
import itertools
import json
import sys

import pytest

from course.i18n import set_language
from course.timing import TimingError, compare, compare_over, measure
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


def test_setup_is_outside_the_time():
    import time

    result = compare(
        {"a": lambda: None, "b": lambda: None}, setup=lambda: time.sleep(0.002), max_time=0.3, device="cpu"
    )
    assert max(result.medians_ms.values()) < 1


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


# ---- grids ------------------------------------------------------------------------------------------------


def over(axes=None, **more):
    candidates = {
        "plain": lambda n, k: Cost(1e-4 * n * k),
        "tuned": lambda n, k: Cost(1e-4 * (1.5 * k if n == 1 else 0.5 * k)),
    }
    return compare_over(
        axes or {"n": [1, 4], "k": [1, 2]}, candidates, max_time=0.2, clock=NoisyClock(1), seed=1, **more
    )


def test_a_grid_compares_at_every_point():
    grid = over()
    assert [point for point, _ in grid.cells] == [{"n": n, "k": k} for n in (1, 4) for k in (1, 2)]
    assert [pair.verdict for pair in grid["tuned"]] == ["slower", "slower", "faster", "faster"]
    assert grid.at(n=4, k=2).ratio == pytest.approx(0.125, rel=0.02)
    rows = grid.rows()
    assert json.loads(json.dumps(rows)) == rows and list(rows[0])[:2] == ["n", "k"] and len(rows) == 4
    for name in ("at", "tuned"):
        with pytest.raises(TimingError, match="There is no"):
            grid.at(n=3, k=1) if name == "at" else grid["turned"]


@pytest.mark.parametrize("code, words", [("en", "n=1, k=1; n=1, k=2; faster"), ("zh", "n=1, k=1")])
def test_a_grid_reads_as_a_sentence_and_a_table(code, words):
    set_language(code)
    try:
        grid = over()
        assert words in grid.sentence()
        assert len(str(grid).split("\n")) == 6 and grid._repr_html_().count("<tr>") == 5
    finally:
        set_language("en")


def test_inputs_are_made_once_a_point_and_handed_over():
    made = []

    def inputs(n):
        made.append(n)
        return {"x": n}

    grid = compare_over(
        {"n": [1, 2]},
        {"a": lambda x: Cost(x * 1e-3), "b": lambda x: Cost(x * 2e-3)},
        inputs=inputs,
        max_time=0.1,
        clock=NoisyClock(1),
    )
    assert made == [1, 2] and all(pair.verdict == "slower" for pair in grid["b"])
    for give in (lambda n: (n,), lambda n: n):
        assert compare_over(
            {"n": [1]},
            {"a": lambda x: Cost(x * 1e-3), "b": lambda x: Cost(x * 1e-3)},
            inputs=give,
            max_time=0.1,
            clock=NoisyClock(1),
        ).cells


def test_a_point_that_fails_is_named_and_the_others_stand():
    def fails(n):
        if n == 2:
            raise MemoryError
        return Cost(1e-3)

    grid = compare_over({"n": [1, 2, 3]}, {"a": lambda n: Cost(1e-3), "b": fails}, max_time=0.1, clock=NoisyClock(1))
    assert [point["n"] for point, _ in grid.cells] == [1, 3]
    assert grid.failed[0][0] == {"n": 2} and "n=2: b raised MemoryError" in str(grid)
    with pytest.raises(TimingError, match="n=2: b raised"):
        compare_over({"n": [2]}, {"a": lambda n: Cost(1e-3), "b": fails}, clock=NoisyClock(1))


def test_an_interrupted_grid_keeps_its_points():
    def stops(n):
        if n == 3:
            raise KeyboardInterrupt
        return Cost(1e-3)

    candidates = {"a": lambda n: Cost(1e-3), "b": stops}
    grid = compare_over({"n": [1, 2, 3, 4]}, candidates, max_time=0.1, clock=NoisyClock(1))
    assert len(grid.cells) == 2 and not grid.complete and "Interrupted" in str(grid)
    with pytest.raises(KeyboardInterrupt, match="before anything"):
        compare_over({"n": [3]}, candidates, clock=NoisyClock(1))


@pytest.mark.parametrize("axes", [{}, [1, 2], {"n": []}, {"n": 3}, {"n": "abc"}, {1: [1]}])
def test_odd_axes_get_a_sentence(axes):
    with pytest.raises(TimingError, match="dict"):
        compare_over(axes, {"a": costing(1), "b": costing(1)})


@pytest.mark.parametrize("axes", [{"n": [1, 4], "k": [1, 2]}, {"n": [1, 4], "k": [1]}])
def test_a_grid_draws_itself(axes):
    import matplotlib.pyplot as plt

    ax = over(axes).plot()
    lines = ax.get_legend().get_texts()
    assert len(lines) == len(axes["k"]) and ax.get_xlabel() == "n" and "time of plain" in ax.get_ylabel()
    ax.figure.savefig(io.BytesIO(), format="png")
    plt.close(ax.figure)


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

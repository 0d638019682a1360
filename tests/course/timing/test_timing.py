"""Timing: whole runs on pretended clocks, how their results read, and odd input, which gets a sentence with the next step."""

from __future__ import annotations

import asyncio
import json
import math
from concurrent.futures import ThreadPoolExecutor

import pytest

from course.core.units import format_ms
from course.timing import Comparison, TimingError, compare, measure
from tests.conftest import tries
from tests.support.timing_clocks import Cost, NoisyClock, costing

# ---- whole runs on pretended clocks -----------------------------------------------------------------------


def trial(seed: int, ratio: float, max_time: float = 0.4, **more) -> Comparison:
    return compare(
        {"a": costing(2e-4), "b": costing(2e-4 * ratio)}, max_time=max_time, seed=seed, clock=NoisyClock(seed), **more
    )


@pytest.mark.slow
@pytest.mark.parametrize("count", tries(60, 300))
def test_equal_code_is_rarely_called_different(count):
    results = [trial(seed, 1.0, ci=1e-9, gate=1e-9) for seed in range(count)]
    alarms = sum(c.verdict in ("faster", "slower") for c in results)
    assert alarms / count <= 0.05
    assert sum(trial(seed, 1.0).verdict == "same" for seed in range(count // 3)) >= 0.97 * (count // 3)


@pytest.mark.parametrize("noise", [{"jitter": 0.05}, {"hiccup": 0.2}, {"jitter": 0.003, "hiccup": 0.02}])
@pytest.mark.parametrize("count", tries(40, 200))
def test_the_stopping_rule_keeps_its_promises_under_any_noise(count, noise):
    """Equal code with the usual settings: looking early must cost neither alarms nor coverage."""
    results = [
        compare({"a": costing(2e-4), "b": costing(2e-4)}, max_time=0.4, seed=seed, clock=NoisyClock(seed, **noise))
        for seed in range(count)
    ]
    assert sum(c.verdict in ("faster", "slower") for c in results) <= 0.05 * count
    assert sum(c.low <= 1 <= c.high for c in results) >= 0.93 * count


@pytest.mark.slow
@pytest.mark.parametrize("count", tries(40, 150))
def test_interval_covers_the_truth_whenever_it_stops(count):
    for ratio in (1.0, 1.03, 0.9, 1.5):
        results = [trial(seed, ratio) for seed in range(count)]
        assert sum(c.low <= ratio <= c.high for c in results) / count >= 0.93


@pytest.mark.parametrize("count", tries(40, 150))
def test_three_percent_are_found_and_the_ratio_is_close(count):
    results = [trial(seed, 1.03) for seed in range(count)]
    assert sum(c.verdict == "slower" for c in results) >= 0.99 * count
    assert math.sqrt(sum((c.ratio - 1.03) ** 2 for c in results) / count) < 0.005


@pytest.mark.parametrize("count", tries(40, 100))
def test_one_percent_is_found_and_a_narrow_gate_keeps_looking(count):
    assert sum(trial(seed, 0.99).verdict == "faster" for seed in range(count)) >= 0.85 * count


def test_a_large_difference_stops_long_before_the_budget():
    assert trial(1, 2.0, max_time=30).seconds < 1


@pytest.mark.parametrize("count", tries(40, 150))
def test_several_candidates_share_the_error(count):
    def alarms(seed):
        result = compare(
            {str(i): costing(2e-4) for i in range(5)},
            max_time=0.4,
            seed=seed,
            ci=1e-9,
            gate=1e-9,
            clock=NoisyClock(seed),
        )
        return any(p.verdict in ("faster", "slower") for p in result.pairs.values())

    assert sum(alarms(seed) for seed in range(count)) / count <= 0.05
    result = compare({"a": costing(1e-4), "b": costing(1.2e-4), "c": costing(0.8e-4)}, clock=NoisyClock(3), seed=1)
    assert {n: p.verdict for n, p in result.pairs.items()} == {"b": "slower", "c": "faster"}
    with pytest.raises(AttributeError, match="several"):
        result.ratio  # noqa: B018


def test_a_round_longer_than_the_budget_is_the_only_one():
    clock = NoisyClock(0, 0, 0, 0)
    result = compare({"a": costing(3.0), "b": costing(4.0)}, max_time=1, clock=clock, seed=1)
    assert clock.time == pytest.approx(14)
    assert (result.rounds, result.verdict, result.low) == (1, "undecided", None)
    assert result.ratio == pytest.approx(4 / 3)


def test_measure_reports_first_call_and_samples():
    cost = iter([0.8])
    result = measure(lambda: next(cost, 3e-3), clock=NoisyClock(1), name="f<b>")
    assert result.first_call_ms > 800
    assert result.low_ms <= result.median_ms <= result.high_ms < 5
    assert len(result.samples_ms) > 20
    assert "f&lt;b&gt;" in result._repr_html_()


# ---- what a reader sees -----------------------------------------------------------------------------------


def test_times_carry_three_figures_and_a_unit():
    said = {812.4: "812 ms", 3.1: "3.10 ms", 0.0412: "41.2 µs", 8.5e-5: "85.0 ns", 2500: "2.50 s", 0.9999: "1.00 ms"}
    assert {ms: format_ms(ms) for ms in said} == said


def test_too_few_rounds_and_samples_carry_no_interval():
    result = compare({"a": costing(0.1), "b": costing(0.12)}, max_time=0.6, clock=NoisyClock(1), seed=1)
    assert result.rounds < 12 and (result.low, result.high, result.verdict) == (None, None, "undecided")
    assert f"({result.rounds} of at least 12)" in result.sentence() and "0.12" not in result.sentence()
    assert json.loads(json.dumps(result.rows()))[0]["low"] is None
    single = measure(costing(0.1), max_time=0.6, clock=NoisyClock(1))
    assert (single.low_ms, single.quality) == (None, "few") and "of at least 12" in single.sentence()
    alike = measure(costing(1e-3), clock=NoisyClock(0, 0, 0, 0))
    assert (alike.low_ms, alike.high_ms) == (None, None) and "alike" in alike.sentence()


def late(slow, count, then):
    """A function whose first `count` calls take longer."""
    left = iter([slow] * count)
    return lambda: Cost(next(left, then))


def test_compare_names_a_late_warm_up_with_its_direction():
    clock = NoisyClock(1, jitter=0.01, drift=0, hiccup=0)
    result = compare({"plain": costing(1e-3), "late": late(1e-2, 40, 1e-3)}, clock=clock, seed=1)
    assert result.verdict == "undecided" and "the ratio fell from 9.9" in result.sentence()


def growing():
    """A function whose calls take longer and longer."""
    kept = []

    def call():
        kept.append(0)
        return 1e-4 * (1 + len(kept) / 2000)

    return call


@pytest.mark.parametrize("f, words", [(growing(), "It climbed from"), (late(1e-2, 60, 1e-4), "It fell from 1")])
def test_measure_names_a_time_that_climbs_or_falls(f, words):
    result = measure(f, max_time=1.0, clock=NoisyClock(2, hiccup=0, drift=0.02))
    assert result.quality == "drifting" and words in result.sentence() and "means little" in str(result)


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

    def ends_late():
        if next(calls, None) is None:
            raise OSError("stream is used up")

    with pytest.raises(TimingError, match="ends_late raised OSError"):
        compare({"a": costing(1e-3), "ends_late": ends_late}, device="cpu", max_time=5)


# ---- bars -------------------------------------------------------------------------------------------------


def test_in_a_notebook_a_bar_that_is_done_leaves_no_dead_widget(tmp_path):
    nbclient, v4 = pytest.importorskip("nbclient"), pytest.importorskip("nbformat").v4
    code = "from course.core.bars import vanishing\nwith vanishing()(total=2, leave=False) as bar:\n    bar.update(2)"
    book = v4.new_notebook(cells=[v4.new_code_cell(code)])
    nbclient.NotebookClient(book, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert [dict(one.data) for one in book.cells[0].outputs] == [{"text/html": "", "text/plain": ""}]

"""A run ends when its time is out, with the rows it has, wherever it is at that moment."""

from __future__ import annotations

import signal
import sys
import time

import pytest

from course.experiment import base
from course.experiment.base import PATIENCE, Experiment, load_or_run, run_experiment
from course.experiment.ending import time_left
from course.experiment.new_process import answer_of


def of(function):
    """An experiment of the test's own."""
    return Experiment("99-a", "99_test", 1, "cpu", 1.0, function)


LATE: list[str] = []
"""Who went on after a sleep that had to be cut off."""


def asleep(budget):
    yield {"i": 1}
    time.sleep(60)
    LATE.append("asleep")


def busy(budget):
    yield {"i": 1}
    while True:
        sum(range(1000))


def in_a_new_process(budget):
    yield {"i": 1}
    answer_of("import time; time.sleep(60)")
    LATE.append("in a new process")


def wrapped(budget):
    """As a library does that turns every error of what it runs into one of its own."""
    yield {"i": 1}
    try:
        time.sleep(60)
        LATE.append("wrapped")
    except KeyboardInterrupt as error:
        raise RuntimeError("the compiler failed") from error


def told(budget):
    """An experiment whose finding is which error comes; what comes of an interrupt is none."""
    yield {"i": 1}
    try:
        list(wrapped(budget))
    except Exception as error:
        yield {"i": type(error).__name__}
    yield {"i": 3}


@pytest.mark.slow
@pytest.mark.parametrize("function", [asleep, busy, in_a_new_process, wrapped, told])
def test_a_run_keeps_its_rows_when_its_time_is_out(function):
    record = run_experiment(of(function), limit_s=0.5)
    assert record.rows == [{"i": 1}] and not record.complete and not record.interrupted and not LATE


def test_a_run_ends_in_time_where_interrupts_are_ignored_as_in_a_background_script():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        record = run_experiment(of(asleep), limit_s=0.5)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    assert record.rows == [{"i": 1}] and not record.complete


def test_a_run_that_is_in_time_is_whole_and_nothing_comes_after_it():
    record = run_experiment(of(lambda budget: [{"i": 1}]), limit_s=0.3)
    time.sleep(0.6)
    assert record.rows == [{"i": 1}] and record.complete and time_left() == float("inf")


def test_a_module_that_is_being_loaded_is_not_cut_off(tmp_path, monkeypatch):
    """A later run in the same session would find torch._dynamo half loaded."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "slow_to_load.py").write_text("import time\ntime.sleep(1.5)\nwhole = True\n")

    def loads(budget):
        yield {"i": 1}
        import slow_to_load

        assert slow_to_load.whole
        yield {"i": 2}
        time.sleep(60)
        LATE.append("loads")

    record = run_experiment(of(loads), limit_s=0.3)
    assert not record.complete and record.rows[0] == {"i": 1} and not LATE
    assert sys.modules["slow_to_load"].whole


def test_what_a_learner_waits_for_has_a_limit(monkeypatch):
    seen = []
    monkeypatch.setattr(base, "run_experiment", lambda exp, budget_s, limit_s: seen.append(limit_s))
    for budget_s in (None, 0.1, 4):
        load_or_run(of(lambda budget: []), budget_s)
    assert seen == [PATIENCE, PATIENCE, 4 * PATIENCE] and PATIENCE < 2

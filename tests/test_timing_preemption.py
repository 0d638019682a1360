"""Timing: CPU time counts only for one thread that never waits and lost the processor in most rounds. Real work, real counters."""

from __future__ import annotations

import multiprocessing
import random
import threading
import time
from types import SimpleNamespace

import pytest

from course.i18n import set_language
from course.timing import clock_for, compare, preemption
from course.timing.clock import MIN_BLOCK_S, SHORT_BLOCK_S
from course.timing.effort import Effort, starved
from course.timing.preemption import Watch, watch_for
from course.timing.rounds import Plan, Run
from tests.timing_clocks import Cost, NoisyClock, costing

linux = pytest.mark.skipif(preemption.THREAD is None, reason="this system does not tell who lost the processor")


def spins():
    sum(range(50_000))


def sleeps():
    time.sleep(0.001)


def hands_on():
    helper = threading.Thread(target=lambda: sum(range(300_000)))
    helper.start()
    helper.join()


def watched(work, rounds=20):
    watch = Watch()
    for _ in range(rounds):
        watch.block(work)
        watch.round_ends()
    watch.preempted = watch.total  # as beside heavy neighbours
    return watch


@linux
@pytest.mark.parametrize("work, counts", [(spins, True), (sleeps, False), (hands_on, False)])
def test_cpu_time_counts_for_work_of_one_thread_that_never_waits(work, counts):
    """In a forked child: there no thread of pytest-xdist, which takes messages, can make a round wait."""

    def facts():
        watch = watched(work)
        found = watch.says_cpu(), watch.total, watch.waited
        watch.preempted = 0
        return *found, watch.says_cpu()

    here, there = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=lambda: there.send(facts()))
    child.start()
    assert here.poll(60)
    says, total, waited, says_unpreempted = here.recv()
    child.join()
    assert says is counts
    assert total == 20 and (waited > 0) is not counts
    assert not says_unpreempted, "where the processor is kept, the wall clock counts"


@linux
def test_the_cpu_time_of_a_block_leaves_waiting_out():
    found, seconds = Watch().block(lambda: (time.sleep(0.05), "result")[1])
    assert found == "result" and 0 <= seconds < 0.05


@linux
def test_only_long_blocks_on_the_plain_clock_of_the_cpu_are_watched():
    auto, wall, cold = clock_for("cpu"), clock_for("cpu", "wall"), clock_for("cpu", cache="cold")
    assert watch_for(auto, 0.001) and not watch_for(auto, 0.0001)
    assert not watch_for(wall, 0.001) and not watch_for(cold, 0.001)
    assert (auto.block_s, cold.block_s) == (SHORT_BLOCK_S, MIN_BLOCK_S)


@linux
@pytest.mark.parametrize("language, words", [("en", "CPU time was compared"), ("zh", "CPU 时间")])
def test_a_result_in_cpu_time_says_so(monkeypatch, language, words):
    """As beside heavy neighbours: every round counts as one in which the processor was taken away."""
    switches, clock = iter(range(10**9)), NoisyClock(1)
    monkeypatch.setattr(preemption, "_switches", lambda: (0, next(switches)))
    monkeypatch.setattr(preemption, "time", SimpleNamespace(thread_time=clock.now, process_time=clock.now))
    monkeypatch.setattr(Effort, "busy", lambda self: 1.0)
    clock.cpu_may_count = True
    set_language(language)
    try:
        plan = Plan("a", 0.005, 0.3, 0.02, True, 10.0, random.Random(1))
        once, twice = costing(1e-3), costing(2e-3)
        found = Run(plan, {"a": once, "b": twice}, clock).go()
        assert found.clock == "cpu" and any(words in note for note in found.notes)
        assert ("CPU time" if language == "en" else "CPU 时间") in str(found).split("\n")[1]
        assert found["b"].verdict == "slower" and 1.5 < found.ratio < 2.5
        wall = Run(plan, {"a": once, "b": twice}, NoisyClock(1)).go()
        assert wall.clock == "wall" and not wall.notes
    finally:
        set_language("en")


def test_both_sides_run_the_same_number_of_calls_unless_one_takes_far_longer():
    def rounds(scale):
        work = {"a": costing(1e-6), "b": costing(1e-6 * scale)}
        return compare(work, max_time=0.5, seed=1, clock=NoisyClock(1)).calls

    assert len(set(rounds(2).values())) == 1
    calls = rounds(20_000)
    assert calls["a"] > calls["b"] == 1


def held(seed, seconds, share=0.4):
    """A function whose blocks wait for a core: so many of them take up to some hundred times as long."""
    noise = random.Random(seed)
    return lambda: Cost(seconds * (noise.uniform(50, 500) if noise.random() < share else 1))


@pytest.mark.parametrize(("busy", "told"), [(1.9, True), (1.0, False)])
def test_threads_that_wait_for_a_core_decide_nothing_and_are_named(busy, told, monkeypatch):
    """Several threads at work: undecided, an interval as wide as the rounds, a sentence. One thread: as it comes out."""
    monkeypatch.setattr(Effort, "busy", lambda self: busy)
    found = compare({"one": costing(2e-4), "many": held(3, 2e-4)}, max_time=30, seed=3, clock=NoisyClock(3))
    pair = found.pairs["many"]
    named = [note for note in found.notes if "many" in note and "core" in note]
    assert (len(named) == 1) is told and "one" not in "".join(named).split("wait")[0]
    if told:
        assert pair.verdict == "undecided" and pair.low < 1.5 and pair.high > 50


def test_only_blocks_far_slower_than_the_fastest_count_as_waiting():
    assert not starved([1.0] * 11 + [9.9] * 5) and starved([1.0] * 11 + [11.0] * 5)
    assert not starved([1.0] * 30 + [500.0])  # one hiccup is no waiting
    assert not starved([1.0, 500.0])  # too few to tell

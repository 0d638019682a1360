"""Timing: clocks and devices, the full queue of an accelerator, other programs and threads."""

from __future__ import annotations

import contextlib
import gc
import inspect
import random
import sys
import types

import pytest
import torch

from course.core import where
from course.timing import TimingError, clock_for, compare, measure, rounds
from course.timing import clock as clocks
from tests.support.timing_clocks import Cost, Device, NoisyClock, costing


def test_a_device_this_machine_lacks_is_told(monkeypatch):
    monkeypatch.setattr(clocks, "available", lambda kind: kind == "cpu")
    with pytest.raises(TimingError, match='"cuda"'):
        clock_for("cuda")
    with pytest.raises(TimingError, match='"gpu"'):
        clock_for("gpu")
    with pytest.raises(TimingError, match="clock"):
        clock_for("cpu", "stopwatch")
    with pytest.raises(TimingError, match="clock must be"):
        clock_for("cpu", "events")
    assert (clock_for().device, clock_for().kind) == ("cpu", "wall")


def test_wall_clock_waits_before_and_after_and_restores_collection():
    seen = []
    clock = clocks.WallClock("cuda", lambda: seen.append("fence"))
    clock.block(lambda: seen.append(("call", gc.isenabled())), 2)
    assert seen == ["fence", ("call", False), ("call", False), "fence"]
    assert gc.isenabled()


def test_marks_go_to_the_stream_of_the_device_named(monkeypatch):
    used, filled = [], []

    class Event:
        def __init__(self, enable_timing):
            assert enable_timing

        def record(self, stream):
            used.append(stream)

        def query(self):
            return False

        def synchronize(self):
            pass

        def elapsed_time(self, other):
            return 2.0

    fake = types.SimpleNamespace(
        synchronize=lambda device=None: None,
        Event=Event,
        current_stream=lambda device: f"stream of {device}",
        device=lambda name: contextlib.nullcontext(filled.append(name)),
        _sleep=filled.append,
    )
    monkeypatch.setattr(clocks, "available", lambda kind: True)
    monkeypatch.setattr("torch.cuda", fake)
    assert clock_for("cuda:1").block(lambda: None, 1) == pytest.approx(2e-3)
    assert used == ["stream of cuda:1"] * 2 and filled == ["cuda:1", 200_000], "its queue is filled before"


def test_torch_has_what_the_clock_of_a_gpu_calls():
    assert all(callable(getattr(torch.cuda, name)) for name in ("synchronize", "current_stream", "_sleep"))
    assert "enable_timing" in inspect.signature(torch.cuda.Event.__new__).parameters
    assert "stream" in inspect.signature(torch.cuda.Event.record).parameters
    assert all(callable(getattr(torch.cuda.Event, name)) for name in ("query", "synchronize", "elapsed_time"))
    assert callable(torch.mps.synchronize)


def test_between_its_two_readings_the_timer_calls_the_function_and_nothing_else():
    """As timeit does. How many ns that takes beside it, `benchmarks.timing` measures."""
    clock, called = clock_for("cpu"), []

    def idle():
        pass

    def note(frame, event, function):
        if event in ("call", "c_call"):
            called.append(frame.f_code.co_name if event == "call" else function.__name__)

    sys.setprofile(note)
    try:
        clock.block(idle, 5)
    finally:
        sys.setprofile(None)
    first = called.index("perf_counter")
    assert called[first : first + 7] == ["perf_counter", *["idle"] * 5, "perf_counter"]
    assert called.count("perf_counter") == 2 and called.count("idle") == 5


@pytest.mark.parametrize("share, words", [(0.8, "Other programs take 80 %"), (0.0, "")])
@pytest.mark.parametrize("threads", [1.0, 2.0])
def test_times_that_jump_are_explained_by_other_programs_and_threads(share, words, threads, monkeypatch):
    monkeypatch.setattr(rounds.Effort, "busy", lambda self: threads)
    monkeypatch.setattr(rounds.Since, "others", lambda self: share)
    found = measure(costing(1e-3), clock=NoisyClock(1, jitter=0.4), max_time=0.4)
    race = compare({"a": costing(1e-3), "b": costing(1e-3)}, clock=NoisyClock(1, jitter=0.4), seed=1, max_time=0.1)
    assert (found.quality, race.verdict) == ("noisy", "undecided")
    for one in (found, race):
        said = " ".join(one.notes).replace("%", " %").replace("  ", " ")
        assert words in said and ("Other programs" in said) is bool(words)
        assert ("torch.set_num_threads(1)" in said) is (threads > 1)
    clear = compare({"a": costing(1e-3), "b": costing(2e-3)}, clock=NoisyClock(1), seed=1, max_time=0.5)
    assert clear.verdict == "slower" and not clear.notes


def test_threads_that_wait_for_a_core_decide_nothing(monkeypatch):
    """Beside other programs a call of two threads takes now 1 ms, now 50: a ratio of such calls is luck."""
    monkeypatch.setattr(rounds.Effort, "busy", lambda self: 1.9)

    noise = random.Random(1)

    def waiting(seconds):
        return lambda: Cost(seconds * (50 if noise.random() < 0.3 else 1))

    found = compare({"a": waiting(1e-3), "b": waiting(1.2e-3)}, clock=NoisyClock(1, 0.01, 0, 0), seed=1, max_time=2)
    assert found.verdict == "undecided" and found.high - found.low > 0.5 and "set_num_threads" in " ".join(found.notes)


# ---- an accelerator, a pretended one: the queue is full while it is timed, the clock follows the tensors ------------


@pytest.mark.parametrize("seconds", [2e-6, 50e-6, 3e-3])
def test_the_time_of_a_kernel_is_that_of_the_device_alone(seconds, monkeypatch):
    """Python takes 20 us to issue it: the time in between is no time of the kernel."""
    device = Device()
    found = measure(lambda: device.launch(seconds), clock=device.clock(monkeypatch), name="f")
    assert ("Launch-bound: the GPU waits for Python" in found.sentence()) is (seconds < 20e-6)
    assert found.median_ms == pytest.approx(seconds * 1e3, rel=0.02) and found.clock == "events"
    assert found.issue_ms == pytest.approx(0.02, rel=0.05) and ("Launch-bound" in str(found)) is (seconds < 20e-6)


def test_a_call_that_waits_for_the_device_is_timed_by_the_wall(monkeypatch):
    device = Device()

    def item():
        device.launch(100e-6)
        device.wait()

    found = measure(item, clock=device.clock(monkeypatch), max_time=0.2)
    assert found.clock == "wall" and found.issue_ms is None and "waits for the device" in found.notes[0]
    assert found.median_ms == pytest.approx(0.12, rel=0.02)


def test_more_launches_than_the_queue_holds_are_timed_in_parts(monkeypatch):
    device = Device(issue_s=2e-6, depth=100)

    def many():
        for _ in range(40):
            device.launch(1e-6)

    clock = device.clock(monkeypatch)
    assert clock.block(many, 1) == pytest.approx(40e-6, rel=0.05)
    assert clock.block(many, 8) == pytest.approx(320e-6, rel=0.05) and not clock.waits(many)


def test_a_function_that_gives_the_device_nothing_ends_the_search(monkeypatch):
    device = Device()

    def nothing():
        device.host += 10e-6

    clock = device.clock(monkeypatch)
    assert clocks.calls_for(clock, nothing) < 100_000


def test_compare_times_the_device_and_names_what_is_launch_bound(monkeypatch):
    device = Device()
    found = compare(
        {"a": lambda: device.launch(4e-6), "b": lambda: device.launch(5e-6)},
        clock=device.clock(monkeypatch), same=False, seed=1, max_time=0.5,
    )  # fmt: skip
    assert found.ratio == pytest.approx(1.25, rel=0.02) and found.clock == "events"
    assert found.issue_ms["a"] == pytest.approx(0.02, rel=0.05) and "Launch-bound" in " ".join(found.notes)


# ---- the clock follows the tensors ----------------------------------------------------------------------------


def test_work_on_the_cpu_of_a_machine_with_an_accelerator_is_timed_by_the_wall(monkeypatch):
    waited = []
    monkeypatch.setattr(clocks, "accelerators_here", lambda: ["cuda"])
    monkeypatch.setattr(clocks, "_fence", lambda device, only_in_use: lambda: waited.append(device))
    x = torch.ones(8, 8)
    for found in (
        measure(lambda: x @ x, max_time=0.05),
        compare({"a": lambda: x @ x, "b": lambda: x + x}, same=False, max_time=0.05),
    ):
        assert found.device == "cpu" and found.clock == "wall" and "cpu" in str(found)
    assert set(waited) == {"cuda"}, "before anybody knows where the work is"


def test_a_compiled_function_is_compiled_while_its_devices_are_noted():
    """`aot_eager` needs no compiler; what counts is that torch.compile does not step aside."""
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    compiled, found, x = torch.compile(lambda x: x.relu() + 1, backend=backend), set(), torch.ones(2)
    with where.noted(found):
        compiled(x)
    assert len(graphs) == 1 and found == {"cpu"}

"""Timing: clocks, devices, reference operations and processes of their own."""

from __future__ import annotations

import sys
import timeit

import pytest

from course.timing import TimingError, clock_for, compare, effort, measure, measuring
from course.timing import clock as clock_module
from course.timing.calibration import reference_op
from tests.timing_clocks import NoisyClock, costing


def test_a_device_this_machine_lacks_is_told(monkeypatch):
    monkeypatch.setattr(clock_module, "available", lambda kind: kind == "cpu")
    with pytest.raises(TimingError, match='"cuda"'):
        clock_for("cuda")
    with pytest.raises(TimingError, match="Unknown device"):
        clock_for("gpu")
    with pytest.raises(TimingError, match="clock"):
        clock_for("cpu", "stopwatch")
    with pytest.raises(TimingError, match="Events"):
        clock_for("cpu", "events")
    assert (clock_for().device, clock_for().kind) == ("cpu", "wall")


class FakeEvent:
    """An event of a device whose queue is always one millisecond a step."""

    ticks = 0

    def record(self):
        FakeEvent.ticks += 1
        self.at = FakeEvent.ticks

    def synchronize(self):
        self.waited = True

    def elapsed_time(self, other):
        assert other.waited
        return float(other.at - self.at)


def test_event_clock_reads_milliseconds_between_marks():
    clock = clock_module.EventClock("cuda", lambda: None, FakeEvent)
    assert clock.block(lambda: FakeEvent().record(), 4) == pytest.approx(5e-3)


def test_wall_clock_waits_before_and_after_and_restores_collection():
    import gc

    seen = []
    clock = clock_module.WallClock("cuda", lambda: seen.append("fence"))
    clock.block(lambda: seen.append(("call", gc.isenabled())), 2)
    assert seen == ["fence", ("call", False), ("call", False), "fence"]
    assert gc.isenabled()


def test_several_devices_are_all_waited_for(monkeypatch):
    import types

    waited = []
    fake = types.SimpleNamespace(synchronize=lambda device=None: waited.append(device))
    monkeypatch.setattr(clock_module, "available", lambda kind: True)
    monkeypatch.setattr("torch.cuda", fake)
    clock = clock_for(["cuda:0", "cuda:1"])
    clock.block(lambda: None, 1)
    assert clock.kind == "wall" and waited == ["cuda:0", "cuda:1"] * 2


def test_a_cold_cache_is_flushed_before_every_call():
    flushed = []
    clock = clock_module.WallClock("cpu", None, lambda: flushed.append(1))
    assert clock.cache == "cold" and clock_module.calls_for(clock, lambda: None) == 1
    clock.block(lambda: None, 3)
    assert len(flushed) == 3
    assert measure(lambda: None, max_time=0.05, device="cpu", cache="cold", calibrate=None).cache == "cold"


def test_marks_go_to_the_stream_of_the_device_named(monkeypatch):
    import types

    used = []

    class Event:
        def __init__(self, enable_timing):
            assert enable_timing

        def record(self, *stream):
            used.append(stream)

        def synchronize(self):
            pass

        def elapsed_time(self, other):
            return 2.0

    fake = types.SimpleNamespace(
        synchronize=lambda device=None: None, Event=Event, current_stream=lambda device: f"stream of {device}"
    )
    monkeypatch.setattr(clock_module, "available", lambda kind: True)
    monkeypatch.setattr("torch.cuda", fake)
    assert clock_for("cuda:1").block(lambda: None, 1) == pytest.approx(2e-3)
    assert used == [("stream of cuda:1",)] * 2
    clock_for("cuda").block(lambda: None, 1)
    assert used[2:] == [(), ()]


@pytest.mark.parametrize("kind", ["cuda", "xpu", "mps"])
def test_torch_has_what_the_clocks_of_accelerators_call(kind):
    import inspect

    import torch

    module = getattr(torch, kind)
    event = module.event.Event if kind == "mps" else module.Event
    assert callable(module.synchronize)
    assert "enable_timing" in inspect.signature(getattr(event, "__new__" if kind != "mps" else "__init__")).parameters
    assert all(callable(getattr(event, name)) for name in ("record", "synchronize", "elapsed_time"))
    if kind != "mps":
        assert "stream" in inspect.signature(event.record).parameters and callable(module.current_stream)


# ---- what a measurement costs, and its reference_op ----------------------------------------------------------


def test_between_its_two_readings_the_timer_calls_the_function_and_nothing_else():
    """As timeit does. How many ns that takes beside it, `benchmarks.timing` measures."""
    clock, called = clock_for("cpu"), []

    def note(frame, event, function):
        if event in ("call", "c_call"):
            called.append(frame.f_code.co_name if event == "call" else function.__name__)

    sys.setprofile(note)
    try:
        clock.block(effort._nothing, 5)
    finally:
        sys.setprofile(None)
    first = called.index("perf_counter_ns")
    assert called[first : first + 7] == ["perf_counter_ns", *["_nothing"] * 5, "perf_counter_ns"]
    assert called.count("perf_counter_ns") == 2 and called.count("_nothing") == 5


def test_threads_at_work_are_processor_time_over_own_time(monkeypatch):
    now = {"all": 1.0, "own": 0.5}
    monkeypatch.setattr(effort.time, "process_time", lambda: now["all"])
    monkeypatch.setattr(effort.time, "thread_time", lambda: now["own"])
    watched = effort.Effort()
    now.update(all=1.19, own=0.6)
    assert watched.busy() == pytest.approx(1.9)
    now.update(all=1.0005, own=0.5001)
    assert watched.busy() == 1.0, "too short to tell"


@pytest.mark.parametrize("busy, device, name", [(1.0, "cpu", "calls"), (1.9, "cpu", "compute")])
def test_the_reference_op_uses_as_many_threads_as_the_function(monkeypatch, busy, device, name):
    monkeypatch.setattr(measuring, "Effort", lambda: type("E", (), {"busy": lambda self: busy})())
    result = measure(lambda: sum(range(3000)), max_time=0.1, device=device)
    assert result.calibration == name and result.busy_threads == busy and result.relative > 0
    assert measure(costing(1e-3), clock=NoisyClock(1), calibrate=None).calibration is None


def test_the_small_reference_op_stays_in_one_thread():
    name, small = reference_op("calls", "cpu", parallel=False)
    watched = effort.Effort()
    timeit.timeit(small, number=60_000)
    assert name == "calls" and watched.busy() < effort.PARALLEL


def test_noise_of_a_parallel_function_is_explained(monkeypatch):
    monkeypatch.setattr(measuring, "Effort", lambda: type("E", (), {"busy": lambda self: 2.0})())
    result = measure(costing(1e-3), clock=NoisyClock(1, jitter=0.4), calibrate=None, max_time=0.4)
    assert result.quality == "noisy" and "torch.set_num_threads(1)" in result.notes[0]


# ---- processes of their own -------------------------------------------------------------------------------


def test_an_undecided_race_of_parallel_functions_is_explained(monkeypatch):
    monkeypatch.setattr(effort.Effort, "busy", lambda self: 2.0)
    wild = NoisyClock(1, jitter=0.4)
    result = compare({"a": costing(1e-3), "b": costing(1e-3)}, clock=wild, seed=1, max_time=0.1)
    assert result.verdict == "undecided" and "torch.set_num_threads(1)" in result.notes[-1]
    result = compare({"a": costing(1e-3), "b": costing(2e-3)}, clock=NoisyClock(1), seed=1, max_time=0.5)
    assert result.verdict == "slower" and not result.notes


def test_the_number_of_threads_of_another_process_needs_no_torch_here(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)  # an import would fail
    assert effort.threads(NoisyClock(1)) == 1

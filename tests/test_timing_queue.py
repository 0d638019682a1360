"""Timing on an accelerator, on a pretended one: the queue is full while it is timed, and the clock follows the tensors."""

from __future__ import annotations

import pytest
import torch

from course.i18n import speaking
from course.timing import clock as clocks
from course.timing import compare, measure, where
from tests.timing_queue import Device


@pytest.mark.parametrize("seconds", [2e-6, 10e-6, 50e-6, 400e-6, 3e-3])
def test_the_time_of_a_kernel_is_that_of_the_device_alone(seconds, monkeypatch):
    """Python takes 20 us to issue it: the time in between is no time of the kernel."""
    device = Device()
    found = measure(lambda: device.launch(seconds), clock=device.clock(monkeypatch), calibrate=None, seed=1, name="f")
    assert found.median_ms == pytest.approx(seconds * 1e3, rel=0.02) and found.clock == "events"
    assert found.issue_ms == pytest.approx(0.02, rel=0.05) and found.launch_bound is (seconds < 20e-6)


@pytest.mark.parametrize(
    "language, words", [("en", "Launch-bound: the GPU waits for Python"), ("zh", "GPU 在等 Python")]
)
def test_a_launch_bound_function_is_told(language, words, monkeypatch):
    short, long = Device(), Device()
    with speaking(language):
        found = measure(
            lambda: short.launch(2e-6), clock=short.clock(monkeypatch), calibrate=None, seed=1, max_time=0.1
        )
        assert words in found.sentence() and "20.0 µs" in found.sentence()
        found = measure(lambda: long.launch(1e-3), clock=long.clock(monkeypatch), calibrate=None, seed=1, max_time=0.1)
        assert words not in str(found)


def test_a_call_that_waits_for_the_device_is_timed_by_the_wall(monkeypatch):
    device = Device()

    def item():
        device.launch(100e-6)
        device.wait()

    found = measure(item, clock=device.clock(monkeypatch), calibrate=None, seed=1, max_time=0.2)
    assert found.clock == "wall" and found.issue_ms is None and "waits for the device" in found.notes[0]
    assert found.median_ms == pytest.approx(0.12, rel=0.02)


def test_where_one_candidate_waits_the_wall_times_all(monkeypatch):
    device = Device()

    def item():
        device.launch(1e-3)
        device.wait()

    found = compare(
        {"item": item, "queued": lambda: device.launch(1e-3)},
        clock=device.clock(monkeypatch),
        same=False,
        seed=1,
        max_time=0.5,
    )
    assert found.clock == "wall" and "item waits" in " ".join(found.notes).replace("of item", "item")


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


def test_every_call_behind_a_setup_gets_an_input_of_its_own(monkeypatch):
    """Also where the queue ran empty and the call is timed again."""
    device, made, used = Device(issue_s=300e-6), [], []

    def setup():
        made.append(len(made))
        return made[-1]

    def use(number):
        used.append(number)
        device.launch(50e-6)

    found = measure(use, setup=setup, clock=device.clock(monkeypatch), calibrate=None, seed=1, max_time=0.2)
    assert len(set(used)) == len(used) and found.median_ms == pytest.approx(0.05, rel=0.05)


def test_compare_times_the_device_and_names_what_is_launch_bound(monkeypatch):
    device = Device()
    found = compare(
        {"a": lambda: device.launch(4e-6), "b": lambda: device.launch(5e-6)},
        clock=device.clock(monkeypatch), same=False, seed=1, max_time=0.5,
    )  # fmt: skip
    assert found.ratio == pytest.approx(1.25, rel=0.02) and found.clock == "events"
    assert found.issue_ms["a"] == pytest.approx(0.02, rel=0.05) and "Launch-bound" in " ".join(found.notes)


# ---- the clock follows the tensors ----------------------------------------------------------------------------


def test_the_devices_of_all_tensors_that_operations_touch_are_noted():
    found: set[str] = set()
    x = torch.ones(3, requires_grad=True)
    with where.noted(found):
        (x * 2).sum().backward()
    assert found == {"cpu"}
    with where.noted(found):
        torch.cat([torch.ones(2, device="meta")] * 2)
    assert found == {"cpu", "meta"} and where.devices_in({"a": [torch.ones(1, device="meta")]}) == {"meta"}
    assert where.work_of(found) == ["cpu"] and where.work_of({"mps:0", "cpu"}) == ["mps"]


def test_work_on_the_cpu_of_a_machine_with_an_accelerator_is_timed_by_the_wall(monkeypatch):
    waited = []
    monkeypatch.setattr(clocks, "accelerators_here", lambda: ["cuda"])
    monkeypatch.setattr(clocks, "_fence_of", lambda device, only_in_use=False: lambda: waited.append(device))
    x = torch.ones(8, 8)
    for found in (
        measure(lambda: x @ x, max_time=0.05, calibrate=None),
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

"""Training steps: exact for every family, the same on every ground, and the kernels asked do not matter."""

from __future__ import annotations

import pytest

from benchmarks.zoo_parts import Entry
from benchmarks.zoo_steps import STEPS
from course.flops import CountError, count
from course.flops.counter import attempt
from course.flops.grounds import FakeGround, MetaGround, RealGround
from course.flops.reach import modules_of
from course.flops.restore import modules_kept, process_kept

SMALL = [entry for entry in STEPS if entry.macs < 3_000_000]


@pytest.mark.parametrize("entry", STEPS, ids=[entry.name for entry in STEPS])
def test_steps_are_exact(entry: Entry) -> None:
    model, inputs = entry.make()
    counted = count(model, *inputs, training=True)
    assert counted.macs == entry.macs and counted.exact and counted.training
    assert counted.by_module.macs == sum(counted.by_operator.values()) == counted.macs
    assert all(p.grad is None for p in model.parameters())


@pytest.mark.parametrize("entry", SMALL, ids=[entry.name for entry in SMALL])
@pytest.mark.filterwarnings("ignore:LSTM with projections")
def test_every_ground_agrees_on_a_step(entry: Entry) -> None:
    """Shapes alone, fake tensors and fused kernels in a real run give one number."""
    ran = 0
    for ground in (MetaGround, FakeGround, RealGround):
        model, inputs = entry.make()
        modules = modules_of(model)
        try:
            with process_kept(), modules_kept(modules):
                counted = attempt(model, modules, inputs, {}, True, ground())
        except CountError:
            assert ground is not RealGround
            continue
        ran += 1
        assert counted.macs == entry.macs and counted.exact, ground.name
    assert ran >= 1


def test_names_are_unique() -> None:
    assert len({entry.name for entry in STEPS}) == len(STEPS)

"""Lesson 08: the simulated machines answer as machines do."""

from __future__ import annotations

import pytest
import torch

from course.lessons.l08_mps.machines import KINDS, MACHINES, pretend

# --- the simulated machines -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MACHINES)
def test_a_simulated_machine_answers_as_one(name):
    questions = [
        torch.cuda.is_available,
        torch.backends.mps.is_available,
        torch.backends.mps.is_built,
        torch.xpu.is_available,
        torch.accelerator.is_available,
        torch.accelerator.current_accelerator,
    ]
    before = [ask() for ask in questions]
    with pretend(name) as machine:
        answers = {kind: getattr(torch, kind).is_available() for kind in KINDS}
        assert answers == {kind: machine.best == kind for kind in KINDS}
        assert torch.accelerator.is_available() == machine.usable == (torch.accelerator.device_count() == 1)
        assert torch.backends.mps.is_available() == (machine.best == "mps")
        accelerator = torch.accelerator.current_accelerator()
        assert (accelerator and accelerator.type) == machine.built
    assert [ask() for ask in questions] == before


# --- what depends on the version ----------------------------------------------------------------------------


def test_streams_on_a_mac_came_with_torch_2_15():
    version = tuple(map(int, torch.__version__.split(".")[:2]))
    assert hasattr(torch.mps, "Stream") == (version >= (2, 15))

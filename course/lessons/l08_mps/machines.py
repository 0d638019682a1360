"""A simulation: PyTorch's own questions about devices, answered as another machine would answer them.

Only the questions are simulated (``torch.cuda.is_available()`` and its kin, and what ``torch.accelerator``
asks underneath). No tensor can be made on a device that is not there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from unittest import mock

from course.core import arguments
from course.core.i18n import Text, both

KINDS = ("cuda", "mps", "xpu")


@dataclass(frozen=True)
class Machine:
    """What a build of torch was compiled for (``built``: one of KINDS or None), and whether it is usable."""

    name: Text
    built: str | None
    usable: bool = False

    @property
    def best(self) -> str:
        """The device type that works and computes fastest there: the accelerator, else ``"cpu"``."""
        return self.built if self.built and self.usable else "cpu"


MACHINES = {
    "cpu build": Machine(both("CPU build", "CPU 版"), None),
    "gpu server": Machine(both("CUDA build, GPU works", "CUDA 版，GPU 可用"), "cuda", True),
    "no driver": Machine(both("CUDA build, no GPU", "CUDA 版，没有 GPU"), "cuda"),
    "macbook": Machine(both("Mac build, GPU works", "Mac 版，GPU 可用"), "mps", True),
    "mac in a vm": Machine(both("Mac build, no usable GPU", "Mac 版，GPU 不可用"), "mps"),
    "intel gpu": Machine(both("XPU build, GPU works", "XPU 版，GPU 可用"), "xpu", True),
}
"""The availability table, by name."""


@contextlib.contextmanager
def pretend(name: str) -> Iterator[Machine]:
    """Answer torch's questions about devices as MACHINES[name] for one block; all is as before afterwards.

    Raises ValueError for an unknown name.
    """
    import torch

    arguments.one_of(both("machine", "机器"), name, MACHINES)
    machine = MACHINES[name]
    accelerator = torch.device(machine.built) if machine.built else None
    with contextlib.ExitStack() as stack:

        def answer(owner: object, question: str, value: object) -> None:
            stack.enter_context(mock.patch.object(owner, question, lambda *args, **kwargs: value))

        for kind in KINDS:
            here = machine.usable and machine.built == kind
            module = getattr(torch, kind)
            answer(module, "is_available", here)
            answer(module, "device_count", int(here))
        for kind in ("cuda", "mps"):
            answer(getattr(torch.backends, kind), "is_built", machine.built == kind)
        answer(torch.backends.mps, "is_available", machine.usable and machine.built == "mps")
        answer(torch._C, "_accelerator_getAccelerator", accelerator)
        yield machine

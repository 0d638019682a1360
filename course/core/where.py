"""Where the work of a call is: the devices of the tensors that its operations take and give.

The clock, the profiler and the label of a measurement follow these devices, not what the machine has: work on CPU tensors is
timed by the wall on a machine with a GPU, too.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

ACCELERATORS = ("cuda", "mps")


def accelerators_here() -> list[str]:
    """The kinds of accelerator that this build of torch and this machine have."""
    return [kind for kind in ACCELERATORS if available(kind)]


def available(kind: str) -> bool:
    """Whether this build of torch and this machine have a device of this kind."""
    if kind == "cpu":
        return True
    import torch

    if kind == "mps":
        return bool(torch.backends.mps.is_available())
    module = getattr(torch, kind, None)
    return bool(module is not None and module.is_available())


@contextlib.contextmanager
def noted(found: set[str]) -> Iterator[None]:
    """Add to `found` the devices ("cpu", "cuda:0") of all tensors that the operations inside the block take and give.

    Seen are the operations of this thread and of a backward that it starts. Kernels that torch.compile made are not, but what
    goes in and out of them is, through the operations around them and `devices_in` of the result.
    """
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class Noted(TorchDispatchMode):
        supports_higher_order_operators = True

        @classmethod
        def ignore_compile_internals(cls) -> bool:
            """torch.compile does its work in the block as it does outside."""
            return True

        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = function(*args, **(kwargs or {}))
            for value in (*args, *(kwargs or {}).values(), result):
                if isinstance(value, torch.Tensor):
                    found.add(str(value.device))
                elif isinstance(value, (list, tuple)):
                    found.update(str(one.device) for one in value if isinstance(one, torch.Tensor))
            return result

    with Noted():
        yield


def devices_in(value: Any) -> set[str]:
    """The devices of the tensors in a result: in lists, tuples, dicts."""
    torch = sys.modules.get("torch")
    if torch is None:
        return set()
    if isinstance(value, torch.Tensor):
        return {str(value.device)}
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return {device for part in parts for device in devices_in(part)}


def work_of(found: set[str]) -> list[str]:
    """The devices to wait for and to name: the accelerators among those found, else the CPU.

    The device in use is named by its kind alone, as "cuda".
    """
    accelerators = sorted(name for name in found if name.split(":")[0] in ACCELERATORS)
    return [_in_use(name) for name in accelerators] or ["cpu"]


def _in_use(name: str) -> str:
    kind, _, index = name.partition(":")
    if kind != "cuda" or not index:
        return kind
    import torch

    return kind if int(index) == torch.cuda.current_device() else name

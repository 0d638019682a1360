"""Which operators certainly contain no contraction, and therefore count no MACs.

Four proofs, tried in turn: torch itself tags the operator (or its twin in aten) as pointwise; it is a view; it is a
factory of torch that reads no tensor; or it is on the audited list `free.txt`. Everything else is unknown: FFTs, linear
solvers, custom kernels. Interpolation and norms do arithmetic, which the convention counts as element operations.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import torch

_MESSAGES = frozenset("c10d _c10d_functional _c10d_functional_autograd fsdp prim profiler".split())
"""Namespaces of messages between processes, which move tensors or add them element by element, and of questions."""


_LIST = re.findall(r"\[(.+)\]([^\[]+)", Path(__file__).with_name("free.txt").read_text("utf-8"))
FREE = frozenset(space + name for space, names in _LIST for name in names.split())


def _listed(name: str) -> bool:
    """Whether the list has the name, its out-of-place twin (`relu_`), or the forward of a gradient.

    The gradient of an operator without a contraction has none either: pooling, norms, losses, indexing and
    interpolation are sums, selections and element operations in both directions.
    """
    for ending in ("_backward", "_backward_reduce", "_backward_elemt", "_dense_backward"):
        if name.endswith(ending):
            forward = name[: -len(ending)]
            if any(stem in FREE for stem in (forward, forward + "_forward", forward.replace("::", "::_", 1))):
                return True
    return name in FREE or name.rstrip("_") in FREE


def is_free(func: Any) -> bool:
    """Whether the operator (an OpOverload) provably holds no contraction."""
    space, _, name = func._schema.name.partition("::")
    if space in _MESSAGES:
        return True
    twin = getattr(torch.ops.aten, name, None) if space == "prims" else None  # forward-mode derivatives use some
    twins = [getattr(twin, one) for one in twin.overloads()] if twin is not None else []
    if any(torch.Tag.pointwise in one.tags for one in (func, *twins)) or _listed(func._schema.name):
        return True
    reads = any("Tensor" in str(argument.type) for argument in func._schema.arguments)
    return space in ("aten", "prims") and (bool(getattr(func, "is_view", False)) or not reads)

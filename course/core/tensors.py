"""Find the tensors in what a function is given and gives back."""

from __future__ import annotations

import copyreg
import types
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves

_CLOSED = (nn.Module, type, str, types.FunctionType, types.ModuleType)
"""What is not looked into for tensors."""


def tensors_of(values: Any) -> list[torch.Tensor]:
    """Every tensor in containers, dataclasses and objects with attributes, however deep, each once."""
    found: dict[int, torch.Tensor] = {}
    seen, waiting = dict[int, Any](), [values]
    while waiting:
        for leaf in tree_leaves(waiting.pop(0)):
            if isinstance(leaf, torch.Tensor):
                found.setdefault(id(leaf), leaf)
            elif id(leaf) not in seen and not isinstance(leaf, _CLOSED):
                seen[id(leaf)] = leaf  # an id means something only while its object lives
                held = leaf if isinstance(leaf, dict) else getattr(leaf, "__dict__", {})
                slots = (getattr(leaf, name, None) for name in copyreg._slotnames(type(leaf)))
                waiting.append([*held.values(), *slots])
    return list(found.values())

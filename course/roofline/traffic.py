"""Ideal memory traffic of one layer call: inputs, weights and outputs, each once, in bytes."""

from __future__ import annotations

import types
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves

CLOSED = (nn.Module, type, types.FunctionType, types.ModuleType)
"""Objects that are no containers of inputs or outputs: they are not looked into."""


def tensors(values: Any) -> list[torch.Tensor]:
    """Every tensor in nested containers and in objects that hold some (dataclasses, caches), each once although it may be passed
    several times.
    """
    found: dict[int, torch.Tensor] = {}
    looked_into: dict[int, Any] = {}
    left = [values]
    while left:
        for leaf in tree_leaves(left.pop(0)):
            if isinstance(leaf, torch.Tensor):
                found.setdefault(id(leaf), leaf)
            elif id(leaf) not in looked_into and not isinstance(leaf, CLOSED):
                looked_into[id(leaf)] = leaf
                left.append(list(getattr(leaf, "__dict__", {}).values()))
    return list(found.values())


def size(tensor: torch.Tensor) -> int:
    """Bytes that must be touched to see every element; an expanded tensor is no larger than its storage."""
    dense = tensor.numel() * tensor.element_size()
    if tensor.layout is not torch.strided or tensor.is_nested:
        return dense
    return min(dense, tensor.untyped_storage().nbytes())


def weights(module: nn.Module, inputs: list[torch.Tensor]) -> int:
    """Bytes of parameters and buffers read; of an embedding only the rows looked up."""
    held = tensors([*module.parameters(), *module.buffers()])
    if isinstance(module, (nn.Embedding, nn.EmbeddingBag)) and inputs:
        row = module.embedding_dim * module.weight.element_size()
        return min(sum(map(size, held)), inputs[0].numel() * row)
    return sum(map(size, held))


def moved(module: nn.Module, inputs: list[torch.Tensor], output: Any, written: bool) -> int:
    """Bytes of one call. A view of an input that nobody wrote to (Flatten, Identity) moves nothing.

    written: whether the call wrote to one of its inputs.
    """
    outputs = tensors(output)
    own = weights(module, inputs)
    if not own and not written and outputs and all(_view(o, inputs) for o in outputs):
        return 0
    return sum(map(size, inputs)) + own + sum(map(size, outputs))


def backward_moved(module: nn.Module, inputs: list[torch.Tensor], output: Any) -> int:
    """Bytes of the backward of one call: the gradient of the output, inputs and weights are read; gradients are written.

    0 where the output has no gradient, as in a forward without a backward.
    """
    if not any(x.requires_grad for x in tensors(output)):
        return 0
    written = [x for x in (*inputs, *tensors(list(module.parameters()))) if x.requires_grad]
    return sum(map(size, (*inputs, *tensors(output), *written))) + weights(module, inputs)


def _view(output: torch.Tensor, inputs: list[torch.Tensor]) -> bool:
    return any(output is x or _storage(output) == _storage(x) is not None for x in inputs)


def _storage(tensor: torch.Tensor) -> int | None:
    if tensor.layout is not torch.strided or tensor.is_nested:
        return None
    return tensor.untyped_storage().data_ptr() or None

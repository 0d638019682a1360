"""The tensors of a call: found in whatever holds them, sized in bytes, copied."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import nn

from course.flops.checks import tensors_of as tensors


def size(tensor: torch.Tensor) -> int:
    """Bytes that must be touched to see every element; an expanded tensor is no larger than its storage."""
    dense, storage = tensor.numel() * tensor.element_size(), _storage(tensor)
    return dense if storage is None else min(dense, storage.nbytes())


def _storage(tensor: torch.Tensor) -> Any:
    """Its memory, or None: nested and sparse ones, and those under vmap, have none of their own."""
    try:
        return None if tensor.is_nested else tensor.untyped_storage()
    except (RuntimeError, NotImplementedError):
        return None


def weights(module: nn.Module, inputs: list[torch.Tensor]) -> int:
    """Bytes of parameters and buffers read that are no inputs; of an embedding only the rows looked up."""
    given = {id(x) for x in inputs}
    held = sum(size(x) for x in tensors([*module.parameters(), *module.buffers()]) if id(x) not in given)
    if isinstance(module, (nn.Embedding, nn.EmbeddingBag)) and inputs:
        return min(held, inputs[0].numel() * module.embedding_dim * module.weight.element_size())
    return held


def moved(module: nn.Module, inputs: list[torch.Tensor], output: Any, written: bool) -> int:
    """Least bytes of one call: inputs, weights, outputs, each once. A view of an input that nobody wrote to (Flatten) moves none.

    written: whether the call wrote to one of its inputs.
    """
    outputs, own = tensors(output), weights(module, inputs)
    seen = {storage.data_ptr() for x in inputs if (storage := _storage(x)) is not None}
    if not own and not written and outputs and all((s := _storage(x)) and s.data_ptr() in seen for x in outputs):
        return 0
    return sum(map(size, (*inputs, *outputs))) + own


def copied(values: Any) -> Any:
    """The same values, objects such as a cache too, with every tensor cloned and out of its graph; an expanded one stays as small as it is.

    Raises what copy.deepcopy raises for what it cannot copy.
    """
    own = {}
    for x in tensors(values):
        dense = _storage(x) is None or size(x) == x.numel() * x.element_size()
        own[id(x)] = x.detach().clone() if dense else x.detach()
    return copy.deepcopy(values, own)

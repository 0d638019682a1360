"""Working on copies: what is placed is a copy of the model on copies of its inputs, so nothing of the user's changes."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import nn

from course.i18n import t
from course.roofline.memory import is_out_of_memory
from course.roofline.traffic import tensors
from course.roofline.words import RooflineError, reason


def copied_model(model: nn.Module) -> nn.Module:
    """A copy with weights, buffers and attributes of its own. RooflineError, in words, where it cannot be made."""
    made = {
        id(value): value.detach().clone()
        for module in model.modules()
        for value in vars(module).values()
        if isinstance(value, torch.Tensor) and not value.is_leaf
    }  # results kept from an earlier forward
    try:
        return copy.deepcopy(model, made)
    except Exception as error:
        if is_out_of_memory(error):
            raise
        name, why = type(model).__name__, reason(error)
        raise RooflineError(
            t(
                f"{name} cannot be copied ({why}), and place works on a copy, so that nothing of yours changes. "
                "Keep locks, open files, generators and results with gradients out of the model's attributes.",
                f"{name} 无法复制（{why}）；place 只在副本上运行，以免改动你的任何东西。"
                "请不要把锁、打开的文件、生成器或带梯度的结果存成模型的属性。",
            )
        ) from error


def copied(arguments: Any) -> Any:
    """The same arguments with every tensor cloned; an expanded one stays as small as it is."""
    return _with({id(x): _own(x) for x in tensors(arguments)}, arguments)


def detached(arguments: Any) -> Any:
    """The same arguments with every tensor cloned into a leaf that asks for a gradient where the original had one."""
    with torch.no_grad():
        return _with({id(x): _own(x).detach().requires_grad_(x.requires_grad) for x in tensors(arguments)}, arguments)


def _with(own: dict[int, Any], arguments: Any) -> Any:
    """A copy of the arguments, of objects such as a cache too, with these tensors in place of theirs.

    What cannot be copied (a lock, an open file) makes RooflineError: a forward may change it.
    """
    try:
        return copy.deepcopy(arguments, own)
    except Exception as error:
        if is_out_of_memory(error):
            raise
        why = reason(error)
        raise RooflineError(
            t(
                f"The inputs cannot be copied ({why}), and place works on copies, so that nothing of yours changes. Hand over "
                "tensors, and objects that copy.deepcopy can copy.",
                f"输入无法复制（{why}）；place 只在副本上运行，以免改动你的任何东西。请传入张量，或 copy.deepcopy 能复制的对象。",
            )
        ) from error


def _own(x: torch.Tensor) -> torch.Tensor:
    if x.layout is not torch.strided or x.is_nested or x.numel() * x.element_size() <= x.untyped_storage().nbytes():
        return x.clone()
    return x.detach()

"""Check the arguments of `place`; a RooflineError says in a sentence what is wrong and what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from course.i18n import t
from course.roofline.memory import enough_memory, is_out_of_memory
from course.roofline.peaks import DTYPES
from course.roofline.roof import Peaks
from course.roofline.traffic import tensors
from course.roofline.words import RooflineError, reason


@contextmanager
def in_words(device: str) -> Iterator[None]:
    """Turn an exception that stops a forward in this block into RooflineError."""
    with enough_memory(device):
        try:
            yield
        except Exception as error:
            if isinstance(error, RooflineError) or is_out_of_memory(error):
                raise
            raise RooflineError(
                t(
                    f"The forward stopped while its layers were timed, with {type(error).__name__}: {reason(error)}. "
                    "Each layer is called many times here: does one of them work only once, or count its calls?",
                    f"逐层计时的时候 forward 中断了，{type(error).__name__}：{reason(error)}。这里每一层都会被调用很多次："
                    "是不是有哪一层只能调用一次，或者会统计自己的调用次数？",
                )
            ) from error


def checked(model: Any, inputs: tuple[Any, ...]) -> nn.Module:
    """Returns the model to place. Raises RooflineError, with what to do, for the usual mistakes in model and inputs."""
    if isinstance(model, type) and issubclass(model, nn.Module):
        raise RooflineError(
            t(
                f"{model.__name__} is a class, not a model: make one first, as in place({model.__name__}(...), x).",
                f"{model.__name__} 是类，不是模型：请先实例化，例如 place({model.__name__}(...), x)。",
            )
        )
    if not isinstance(model, nn.Module):
        kind = type(model).__name__
        raise RooflineError(
            t(
                f"place needs a model (an nn.Module) and got {kind}. Write place(model, x), the model first.",
                f"place 需要模型（nn.Module），得到的却是 {kind}。请写成 place(model, x)，模型放在前面。",
            )
        )
    if not inputs:
        raise RooflineError(
            t(
                f"place needs inputs to run {type(model).__name__} on: work and traffic depend on their shape. "
                "For an image model: place(model, torch.randn(1, 3, 224, 224)).",
                f"place 需要输入才能运行 {type(model).__name__}：工作量和访存量都取决于输入的形状。"
                "图像模型可以写成 place(model, torch.randn(1, 3, 224, 224))。",
            )
        )
    while isinstance(model, nn.DataParallel) or hasattr(model, "_orig_mod"):
        model = model.module if isinstance(model, nn.DataParallel) else model._orig_mod
    scripted = [name for name, part in model.named_modules() if isinstance(part, torch.jit.ScriptModule)]
    if scripted:
        raise RooflineError(
            t(
                f"`{scripted[0] or type(model).__name__}` is TorchScript, whose layers cannot be watched one by one. "
                "Give the model as it was before torch.jit.",
                f"`{scripted[0] or type(model).__name__}` 是 TorchScript，无法逐层观察。请传入 torch.jit 之前的模型。",
            )
        )
    return model


def where(model: nn.Module, inputs: tuple[Any, ...]) -> str:
    """The one device of the model and its inputs."""
    found = dict.fromkeys(str(x.device) for x in tensors([*model.parameters(), *model.buffers(), *inputs]))
    devices = list(found) or ["cpu"]
    if len(devices) > 1:
        raise RooflineError(
            t(
                f"Model and inputs lie on several devices ({', '.join(devices)}). Move both to one: "
                f'model.to("{devices[0]}"), x.to("{devices[0]}").',
                f"模型和输入分布在多个设备上（{'、'.join(devices)}）。请都移到同一个设备："
                f'model.to("{devices[0]}")，x.to("{devices[0]}")。',
            )
        )
    if devices[0] == "meta":
        raise RooflineError(
            t(
                "On the meta device there are shapes but no data, so nothing can be timed. "
                "Make the model and the inputs on a real device.",
                "meta 设备上只有形状，没有数据，无法计时。请在真实设备上创建模型和输入。",
            )
        )
    return devices[0]


def dtype(model: nn.Module, inputs: tuple[Any, ...]) -> torch.dtype:
    """The floating type most of the weights have (of the inputs where there are none)."""
    sizes: dict[torch.dtype, int] = {}
    for values in (list(model.parameters()), list(inputs)):
        for x in tensors(values):
            if x.dtype in DTYPES:
                sizes[x.dtype] = sizes.get(x.dtype, 0) + x.numel()
        if sizes:
            break
    return max(sizes, key=lambda dtype: sizes[dtype]) if sizes else torch.float32


def mismatch(roof: Peaks, device: str, dtype: torch.dtype) -> list[str]:
    """Warnings if the peaks were measured on another device or number format than the model's."""
    name, notes = str(dtype).removeprefix("torch."), []
    if roof.device.split(":")[0] != device.split(":")[0] or roof.dtype != name:
        notes.append(
            t(
                f"The peaks are those of {roof.dtype} on {roof.device}, the model is {name} on {device}.",
                f"峰值属于 {roof.device} 上的 {roof.dtype}，而模型是 {device} 上的 {name}。",
            )
        )
    now = torch.get_num_threads()
    if device == "cpu" and roof.threads != now:
        notes.append(
            t(
                f"The peaks are those of {roof.threads} threads; now there are {now}.",
                f"峰值是在 {roof.threads} 个线程下测的；现在是 {now} 个线程。",
            )
        )
    return notes

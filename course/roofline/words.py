"""The words of the roofline that several pages share; the error that carries them; what `place` asks of its arguments."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from course.core.i18n import t
from course.roofline.exported import is_exported, regrouped


class RooflineError(ValueError):
    """Something that cannot be placed as given. A notebook shows its sentence alone, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def cannot(english: str, chinese: str) -> RooflineError:
    """The error to raise, with its sentence in the learner's language."""
    return RooflineError(t(english, chinese))


def reason(error: BaseException) -> str:
    """Class and first line of an exception, without a full stop at the end."""
    lines = str(error).strip().splitlines()
    return type(error).__name__ + (f": {lines[0][:300].rstrip('.')}" if lines else "")


def percent(share: float) -> str:
    """A share as a percentage with two significant figures or whole per cents."""
    return f"{share:.0%}" if share >= 0.0995 else f"{share:.1%}"


def between(low: float, high: float) -> str:
    """An interval of shares: 52 % where both ends read the same, else 48% to 55%."""
    ends = percent(low), percent(high)
    return ends[0] if ends[0] == ends[1] else t(f"{ends[0]} to {ends[1]}", f"{ends[0]} 至 {ends[1]}")


def bound_word(bound: str) -> str:
    """`compute`, `memory`, `overhead` or `outside` in the learner's language."""
    words = {"compute": t("compute", "计算"), "memory": t("memory", "访存"), "overhead": t("overhead", "调用开销")}
    return words.get(bound, t("code outside the layers", "各层之外的代码"))


def checked(model: Any) -> nn.Module:
    """Returns the model to place, out of its wrappers. Raises RooflineError for what is none, or has no layers to be seen."""
    if not isinstance(model, nn.Module):
        kind = model.__name__ if isinstance(model, type) else type(model).__name__
        raise cannot(
            f"place needs a model, an object of an nn.Module, and got {kind}. Write place(model, x), the model first.",
            f"place 需要模型，也就是 nn.Module 的对象，得到的却是 {kind}。请写成 place(model, x)，模型放在前面。",
        )
    if is_exported(model):
        return regrouped(model)
    for part in model.modules():
        if isinstance(part, torch.jit.ScriptModule) or is_exported(part):
            kind = type(part).__name__
            raise cannot(
                f"{kind} was made by torch.jit or torch.export: operators are left of it, no layers that could be watched one by "
                "one. Give the model as it was before.",
                f"{kind} 由 torch.jit 或 torch.export 生成：里面只剩算子，没有可以逐层观察的层。请传入转换之前的模型。",
            )
    return model


def where(held: list[torch.Tensor]) -> tuple[str, torch.dtype]:
    """The device and the floating type of a model's weights and inputs: those of the first floating ones."""
    floating = [x for x in held if x.is_floating_point()]
    device = str(held[0].device) if held else "cpu"
    if any(x.is_meta for x in held):
        raise cannot(
            "On the meta device there are shapes but no data, so nothing can be timed. "
            "Make the model and the inputs on a real device.",
            "meta 设备上只有形状，没有数据，无法计时。请在真实设备上创建模型和输入。",
        )
    return device, floating[0].dtype if floating else torch.float32

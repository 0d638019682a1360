"""The code task of lesson 10 that trains: a large batch in small pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from course.exercises.told import Told

# --- 10-pieces --------------------------------------------------------------------------------------------


def check_pieces(step: Callable[..., Any]) -> None:
    """Gradients as of the whole batch; no piece larger than asked for; the last piece may be smaller; the peak falls."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    from course.experiment.base import restored

    sizes: list[int] = []

    def counted(module: nn.Module, inputs: tuple) -> None:
        sizes.append(len(inputs[0]))

    with restored():
        torch.manual_seed(0)
        for total, micro in ((8, 8), (8, 4), (8, 2), (6, 4)):
            model = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3))
            x, y = torch.randn(total, 5), torch.randint(0, 3, (total,))
            F.cross_entropy(model(x), y).backward()
            wanted = [one.grad.clone() for one in model.parameters()]
            model.zero_grad()
            sizes.clear()
            handle = model.register_forward_pre_hook(counted)
            step(model, x, y, micro)
            handle.remove()
            if all(one.grad is None for one in model.parameters()):
                raise Told("placeholder")
            if max(sizes, default=0) > micro:
                raise Told("too-large", most=max(sizes), micro=micro)
            if sum(sizes) != total:
                raise Told("rows", rows=sum(sizes), total=total)
            got = [one.grad if one.grad is not None else torch.zeros_like(one) for one in model.parameters()]
            if not all(torch.allclose(a, b, rtol=1e-4, atol=1e-6) for a, b in zip(got, wanted, strict=True)):
                raise Told("gradients", total=total, micro=micro, factor=float(got[-1].norm() / wanted[-1].norm()))


CHECKS = {"10-pieces": check_pieces}

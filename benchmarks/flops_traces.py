"""What a counter leaves in the model or in torch after one count, also when the forward stops in the middle."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

SPACES = (torch, F, torch.Tensor)
"""Where counters patch functions."""


class Witness(nn.Module):
    """A model in training mode on which traces show; it may stop in the middle."""

    def __init__(self, stop: bool) -> None:
        super().__init__()
        self.conv, self.norm, self.drop, self.stop = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Dropout(), stop

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.norm(self.conv(x)))
        if self.stop:
            raise RuntimeError("in the middle")
        return self.drop(x)


def _hooks(model: nn.Module) -> list[int]:
    return [len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules()]


def traces(run: Callable[[nn.Module, tuple[Any, ...]], Any], stop: bool) -> list[str]:
    """What differs after one count. stop: whether the forward raises."""
    model, x = Witness(stop).train(), torch.randn(2, 3, 8, 8)
    state = {name: value.clone() for name, value in model.state_dict().items()}
    attributes = {name: set(vars(module)) for name, module in model.named_modules()}
    hooks, generator = _hooks(model), torch.get_rng_state()
    functions = [dict(vars(space)) for space in SPACES]
    with contextlib.suppress(Exception):
        run(model, (x,))
    after = model.state_dict()
    patched = sum(
        callable(value) and vars(space).get(name) is not value
        for space, names in zip(SPACES, functions, strict=True)
        for name, value in names.items()
    )
    patched += len(set(vars(torch.Tensor)) - set(functions[-1]))
    found = {
        "entries in state_dict": set(after) != set(state),
        "BatchNorm statistics": any(not torch.equal(after[k], v) for k, v in state.items() if k in after),
        "eval mode": not all(module.training for module in model.modules()),
        "attributes": any(set(vars(m)) != attributes[n] for n, m in model.named_modules()),
        "hooks": hooks != _hooks(model),
        "moved RNG": not torch.equal(generator, torch.get_rng_state()),
        f"{patched} patched torch functions": patched > 0,
    }
    return [what for what, is_so in found.items() if is_so]

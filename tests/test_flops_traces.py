"""A count leaves nothing on the model, on its inputs or in the process, also when the forward stops in the
middle.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from course.flops import CountError, count


class Untidy(nn.Module):
    """Writes to everything it can reach."""

    def __init__(self, data: bool, fail: bool = False) -> None:
        super().__init__()
        self.norm, self.drop, self.recurrent = nn.BatchNorm1d(8), nn.Dropout(0.5), nn.GRU(8, 8)
        self.attention = nn.MultiheadAttention(8, 2)
        self.register_buffer("seen", torch.zeros(()))
        self.plain, self.calls, self.log, self.table = torch.zeros(3), 0, [1], {"a": 1}
        self.data, self.fail = data, fail

    def forward(self, x: Tensor) -> Tensor:
        self.seen += 1
        self.plain.add_(1)
        self.calls += 1
        self.log.append(x)
        self.table["b"] = x
        self.extra = nn.Parameter(torch.zeros(2))
        self.register_buffer("late", torch.zeros(1))
        self.norm.register_forward_hook(lambda *_: None)
        self.norm.eval() if self.norm.training else self.norm.train()
        random.random()
        np.random.rand()
        x.mul_(2)
        y = self.drop(self.norm(x)) + torch.rand(8, device="cpu")
        if self.data and float(y.sum()) > 1e9:
            y = y * 2
        y = self.recurrent(y)[0]
        y = self.attention(y, y, y)[0]
        torch.set_grad_enabled(not torch.is_grad_enabled())
        torch.backends.mha.set_fastpath_enabled(False)
        if self.fail:
            raise KeyError("in the middle")
        return y


def _photograph(model: nn.Module, x: Tensor) -> dict[str, Any]:
    return {
        "state": {name: value.clone() for name, value in model.state_dict().items()},
        "order": [id(value) for value in (*model.parameters(), *model.buffers())],
        "attributes": {name: sorted(vars(module)) for name, module in model.named_modules()},
        "training": [module.training for module in model.modules()],
        "hooks": [
            len(m._forward_hooks) + len(m._forward_pre_hooks) + len(m._backward_hooks)
            for m in model.modules()
        ],
        "grads": [None if p.grad is None else p.grad.clone() for p in model.parameters()],
        "versions": [p._version for p in model.parameters()],
        "plain": (model.plain.clone(), model.calls, list(model.log), dict(model.table)),
        "flat": [id(w) for w in model.recurrent._flat_weights],
        "input": x.clone(),
        "rng": (torch.get_rng_state(), random.getstate(), np.random.get_state()[1].copy()),
        "modes": (
            torch.is_grad_enabled(),
            torch.backends.mha.get_fastpath_enabled(),
            torch.is_inference_mode_enabled(),
        ),
        "global hooks": (
            len(nn.modules.module._global_forward_hooks),
            len(nn.modules.module._global_forward_pre_hooks),
            len(nn.modules.module._global_forward_hooks_always_called),
        ),
    }


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, Tensor):
        return torch.equal(a, b)
    if isinstance(a, np.ndarray):
        return bool((a == b).all())
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    return a == b


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("fail", [False, True])
@pytest.mark.parametrize("data", [False, True])
def test_nothing_stays_behind(data: bool, fail: bool, training: bool) -> None:
    model, x = Untidy(data, fail), torch.randn(4, 8)
    model.attention.in_proj_weight.grad = torch.ones_like(model.attention.in_proj_weight)
    before = _photograph(model, x)
    if fail:
        with pytest.raises(CountError, match="in the middle"):
            count(model, x, training=training)
    else:
        assert count(model, x, training=training).macs > 0
    after = _photograph(model, x)
    for what in before:
        assert _same(before[what], after[what]), what


def test_interrupt_leaves_nothing() -> None:
    layer = nn.BatchNorm1d(4)

    def interrupted(x: Tensor) -> Tensor:
        layer(x)
        raise KeyboardInterrupt

    state = {name: value.clone() for name, value in layer.state_dict().items()}
    with pytest.raises(KeyboardInterrupt):
        count(interrupted, torch.randn(3, 4))
    assert _same(state, dict(layer.state_dict())) and not nn.modules.module._global_forward_hooks


def test_tensors_of_a_closure_are_put_back() -> None:
    total, weight = torch.zeros(3), torch.randn(3, requires_grad=True)

    def adds(x: Tensor) -> Tensor:
        total.add_(x)
        return (total * weight).sum() * (1.0 if x.max().item() > 0 else 2.0)

    count(adds, torch.ones(3), training=True)
    assert torch.equal(total, torch.zeros(3)) and weight.grad is None


def test_trained_weights_work_after_counting() -> None:
    model, x = nn.LSTM(4, 4), torch.randn(3, 2, 4)
    before = model(x)[0]
    count(model, x, training=True)
    assert torch.equal(model(x)[0], before)
    model(x)[0].sum().backward()
    assert all(p.grad is not None for p in model.parameters())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_torchscript_in_training_mode_keeps_its_statistics() -> None:
    scripted = torch.jit.script(nn.Sequential(nn.Linear(8, 4), nn.BatchNorm1d(4)).train())
    before = {name: value.clone() for name, value in scripted.state_dict().items()}
    assert count(scripted, torch.randn(4, 8)).macs == 128
    assert count(scripted, torch.randn(4, 8), training=True).macs == 256
    assert _same(before, dict(scripted.state_dict())) and all(p.grad is None for p in scripted.parameters())

"""Whatever stops a forward, on whichever ground and in whichever direction: all is as before, bit for bit."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor
from torch.nn.modules import module as global_hooks

from course import flags
from course.flops import CountError, count, cross_check


class Stop(BaseException):
    """Neither Exception nor KeyboardInterrupt: nobody between the model and the caller may catch it."""


def ground_of(x: Tensor) -> str:
    return "fake" if isinstance(x, FakeTensor) else "meta" if x.is_meta else "real"


class Vandal(nn.Module):
    """Changes all it can reach, then stops on one ground (and with an error on those before it)."""

    def __init__(self, ground: str, error: type[BaseException], backward: bool) -> None:
        super().__init__()
        self.layer, self.norm, self.drop = nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout()
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))
        self.layer.weight.grad = torch.ones(4, 4)
        self.ground, self.error, self.backward, self.table = ground, error, backward, {"a": [1]}

    def forward(self, x: Tensor) -> Tensor:
        where = ground_of(x)
        self.steps += 1
        self.table["b"] = x
        self.late = nn.Linear(2, 2)
        self.norm.eval()
        self.layer.register_forward_hook(lambda *_: None)
        self.layer.weight.register_hook(lambda grad: grad)
        with torch.no_grad():
            self.layer.bias.add_(1)
            x += 1
        y = self.drop(self.norm(self.layer(x)))
        torch.rand(3), random.random(), np.random.rand()
        self._process()
        if where == self.ground and self.backward:
            return Stopping.apply(y, self.error)
        raise self.error("in the middle") if where == self.ground else ValueError("not here")

    def _process(self) -> None:
        torch.set_default_dtype(torch.float64)
        torch.set_grad_enabled(not torch.is_grad_enabled()) if not self.backward else None
        torch.backends.cudnn.benchmark = not torch.backends.cudnn.benchmark
        torch.backends.mkldnn.enabled = False
        torch.backends.mha.set_fastpath_enabled(False)
        torch.set_float32_matmul_precision("medium")
        torch.use_deterministic_algorithms(True)
        torch.set_autocast_enabled("cpu", True)
        torch.autograd.set_detect_anomaly(True)
        torch.set_default_device("meta")
        F.relu = torch.relu = torch.Tensor.relu = lambda x: x
        torch.Tensor.brand_new = 1


class Stopping(torch.autograd.Function):
    """Stops in the backward."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, error: type[BaseException]) -> Tensor:
        ctx.error = error
        return x.clone()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        raise ctx.error("in the middle")


def picture_of(model: nn.Module) -> dict[str, Any]:
    """Everything of the model, in plain values; tensors by their bits."""
    return {
        "state": {name: (id(kept), kept.numpy(force=True).tobytes()) for name, kept in model.state_dict(keep_vars=True).items()},
        "parameters": [(name, id(p), p.requires_grad) for name, p in model.named_parameters()],
        "grads": [None if p.grad is None else (id(p.grad), p.grad.numpy().tobytes()) for p in model.parameters()],
        "training": [(name, module.training) for name, module in model.named_modules()],
        "hooks": [[len(value) for name, value in vars(module).items() if name.endswith("_hooks")]
                  for module in model.modules()],
        "tensor hooks": [len(p._backward_hooks or ()) for p in model.parameters()],
        "attributes": [(name, sorted(vars(module))) for name, module in model.named_modules()],
        "table": repr(model.table),
    }


def picture_of_process() -> dict[str, Any]:
    return {
        "generators": (torch.get_rng_state().numpy().tobytes(), random.getstate(), str(np.random.get_state())),
        "flags": flags.read(),
        "defaults": (torch.get_default_dtype(), str(torch.get_default_device()), torch.is_grad_enabled(),
                     torch.is_inference_mode_enabled(), torch.is_autocast_enabled("cpu"), torch.is_anomaly_enabled(),
                     torch.is_anomaly_check_nan_enabled()),
        "functions": {space.__name__: {name: id(value) for name, value in vars(space).items() if callable(value)}
                      for space in (torch, F, torch.Tensor, nn.Module)},
        "global hooks": [len(vars(global_hooks)[name]) for name in sorted(vars(global_hooks))
                         if name.startswith("_global_") and hasattr(vars(global_hooks)[name], "__len__")],
        "modes": torch._C._len_torch_dispatch_stack() + torch._C._len_torch_function_stack(),
    }


@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("ground", ["meta", "fake", "real"])
@pytest.mark.parametrize("error", [RuntimeError, MemoryError, KeyboardInterrupt, SystemExit, Stop])
def test_all_is_as_before(error: type[BaseException], ground: str, backward: bool) -> None:
    count(Vandal("nowhere", ValueError, False).layer, torch.zeros(1, 4))  # what torch imports late is there now
    model, x = Vandal(ground, error, backward), torch.randn(3, 4)
    before, process, bits = picture_of(model), picture_of_process(), x.clone()
    with pytest.raises(CountError if issubclass(error, Exception) else error):
        count(model, x, training=backward)
    assert torch.equal(x, bits) and picture_of(model) == before
    now = picture_of_process()
    for what, value in process.items():
        assert now[what] == value, what


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_cross_check_leaves_as_much(error: type[BaseException]) -> None:
    with contextlib.suppress(CountError):
        cross_check(nn.Linear(4, 4), torch.zeros(1, 4))  # the tools are imported now
    model, x = Vandal("real", error, False), torch.randn(3, 4)
    before, process, bits = picture_of(model), picture_of_process(), x.clone()
    with pytest.raises(CountError if error is RuntimeError else error):
        cross_check(model, x)
    assert torch.equal(x, bits) and picture_of(model) == before
    now = picture_of_process()
    for what, value in process.items():
        assert now[what] == value, what


@pytest.mark.parametrize("call", [lambda m, x: count(m, x), lambda m, x: count(m, x, training=True)])
def test_a_model_works_and_learns_as_before(call: Callable[..., Any]) -> None:
    torch.manual_seed(1)
    model, x = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(), nn.Linear(8, 2)), torch.randn(6, 4)

    def steps(between: bool) -> list[Tensor]:
        torch.manual_seed(2)
        copy = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(), nn.Linear(8, 2))
        copy.load_state_dict(model.state_dict())
        descent = torch.optim.SGD(copy.parameters(), 0.1, momentum=0.9)
        for _ in range(3):
            descent.zero_grad()
            copy(x).square().mean().backward()
            if between:
                call(copy, x)
            descent.step()
        return [value.clone() for value in copy.state_dict().values()]

    assert all(torch.equal(a, b) for a, b in zip(steps(False), steps(True), strict=True))

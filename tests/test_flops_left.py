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
from course.flops.disguise import is_meta


class Stop(BaseException):
    """Neither Exception nor KeyboardInterrupt: nobody between the model and the caller may catch it."""


def ground_of(x: Tensor) -> str:
    return "fake" if isinstance(x, FakeTensor) else "meta" if is_meta(x) else "real"


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


@pytest.mark.parametrize("needs_data", [False, True])
@pytest.mark.parametrize("make", [lambda p: torch.optim.SGD(p, 0.1, momentum=0.9), lambda p: torch.optim.AdamW(p, 0.1)])
def test_a_training_step_written_as_a_function_changes_nothing(make: Callable[..., Any], needs_data: bool) -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))
    descent = make(model.parameters())
    plan = torch.optim.lr_scheduler.StepLR(descent, 1)

    def step(x: Tensor) -> Tensor:
        descent.zero_grad()
        loss = model(x).square().mean()
        if needs_data and loss.item() < 0:
            return loss
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        with torch.profiler.record_function("update"):
            descent.step()
        plan.step()
        return loss.detach()

    def picture() -> list[Any]:
        grads = [p.grad for p in model.parameters()]
        return [str(model.state_dict()), [(id(g), str(g)) for g in grads], str(descent.state_dict()), str(plan.state_dict())]

    step(torch.randn(6, 4))
    before = picture()
    counted = count(step, torch.randn(6, 4))
    assert picture() == before
    assert counted.macs == 6 * (3 * (4 * 8 + 8 * 2) - 4 * 8) and counted.exact


def test_an_optimizer_that_multiplies_matrices_is_named() -> None:
    layer = nn.Linear(4, 4, bias=False)
    descent = torch.optim.Muon(layer.parameters()) if hasattr(torch.optim, "Muon") else torch.optim.LBFGS(layer.parameters())

    def step(x: Tensor) -> None:
        layer(x).sum().backward()
        descent.step(lambda: torch.zeros(()))

    counted = count(step, torch.randn(2, 4))
    assert f"{type(descent).__name__}.step" in counted.unknown


class Hidden(nn.Module):
    """Keeps a trainable tensor in a plain list, where no module knows of it."""

    def __init__(self, needs_data: bool) -> None:
        super().__init__()
        self.layer, self.loose, self.needs_data = nn.Linear(4, 4), [torch.randn(4, 4, requires_grad=True)], needs_data

    def forward(self, x: Tensor) -> Tensor:
        y = self.layer(x) @ self.loose[0]
        return x if self.needs_data and y.sum().item() > 1e9 else y


@pytest.mark.parametrize("needs_data", [False, True])
def test_gradients_that_were_there_stay(needs_data: bool) -> None:
    model, x = Hidden(needs_data), torch.randn(3, 4)
    model(x).sum().backward()
    leaves = [*model.parameters(), model.loose[0]]
    before = [(leaf.grad, leaf.grad.clone()) for leaf in leaves]

    def step(x: Tensor) -> Tensor:
        for leaf in leaves:
            if leaf.grad is not None:
                leaf.grad.zero_()
        model(x).sum().backward()
        return x

    assert count(model, x, training=True).macs == count(step, x).macs == 5 * 3 * 16
    assert all(leaf.grad is grad and torch.equal(grad, bits) for leaf, (grad, bits) in zip(leaves, before, strict=True))


def test_no_module_of_a_large_model_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    class Notes(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("last", torch.zeros(2))

        def forward(self, x: Tensor) -> Tensor:
            self.last = x
            return x

    monkeypatch.setattr("course.flops.restore.ENOUGH", 1)
    model = nn.Sequential(*(Notes() for _ in range(200)))
    before = [part.last for part in model]
    count(model, torch.ones(2))
    assert all(part.last is kept for part, kept in zip(model, before, strict=True))

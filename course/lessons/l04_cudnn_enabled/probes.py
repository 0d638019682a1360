"""Probes of lesson 04: which backend is chosen, how near the results are, what runs on a GPU.

torch alone is needed. What is meant for a GPU keeps its form on a CPU, so that it can be tried there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.nn import functional as F  # noqa: N812  (as everybody writes it)

from course import flags
from course.core import arguments
from course.experiment.probes import seen


def pretended_backend(depthwise: bool = False) -> str:
    """Who PyTorch would choose for a 3x3 convolution, were its tensors on an NVIDIA GPU: they have a shape and no memory.

    Uses a private function of torch; raises RuntimeError where torch cannot answer.
    """
    from torch._subclasses.fake_tensor import FakeTensorMode

    groups = 16 if depthwise else 1
    with FakeTensorMode():
        x, weight = (torch.empty(size, device="cuda") for size in ((8, 16, 56, 56), (16, 16 // groups, 3, 3)))
        choice = torch._C._select_conv_backend(x, weight, None, [1, 1], [1, 1], [1, 1], False, [0, 0], groups)
    return str(choice).rpartition(".")[2]


# --- operations: name -> a call without arguments -----------------------------------------------------------

LARGER = {"cuda": 4}
"""How much larger the operations are on a GPU, where small ones would time nothing but their launch."""


def _times(device: str) -> int:
    return LARGER.get(device, 1)


@contextlib.contextmanager
def sized(larger: int) -> Iterator[None]:
    """Operations made inside are so many times larger on a GPU than on a CPU."""
    before, LARGER["cuda"] = LARGER["cuda"], larger
    try:
        yield
    finally:
        LARGER["cuda"] = before


def _image(device: str) -> tuple[int, int, int, int]:
    """Batch, channels, height, width: on a CPU so small that the memory of the results is used again."""
    times = _times(device)
    return 4 * times, 32 * times, 16 * times, 16 * times


def _module_call(module: torch.nn.Module, shape: tuple[int, ...], device: str) -> Callable[[], Any]:
    module, x = module.to(device), torch.randn(shape, device=device)
    return lambda: module(x)


def _conv(device: str, depthwise: bool = False) -> Callable[[], Any]:
    channels = _image(device)[1]
    layer = torch.nn.Conv2d(channels, channels, 3, padding=1, groups=channels if depthwise else 1)
    return _module_call(layer, _image(device), device)


def _recurrent(kind: type[torch.nn.RNNBase], device: str) -> Callable[[], Any]:
    times = _times(device)
    width = 64 * times
    return _module_call(kind(width, width), (16 * times, 8 * times, width), device)


def _linear(device: str) -> Callable[[], Any]:
    width = 256 * _times(device)
    return _module_call(torch.nn.Linear(width, width), (64 * _times(device), width), device)


def _grid_sample(device: str) -> Callable[[], Any]:
    """In the one form that cuDNN accepts: 4-D, bilinear, zeros outside, corners aligned (not the default)."""
    x = torch.randn(_image(device), device=device)
    grid = torch.rand(x.shape[0], *x.shape[2:], 2, device=device) * 2 - 1
    return lambda: F.grid_sample(x, grid, align_corners=True)


def _ctc(device: str) -> Callable[[], Any]:
    """In the form that cuDNN takes from torch 2.9 on: blank 0, float32 scores, one row of targets shorter than 256, and the
    targets and both lengths as int32 on the device of the scores.
    """
    steps, batch, length = 64, 16, 12
    scores = torch.randn(steps, batch, 30, device=device).log_softmax(2)
    targets = torch.randint(1, 30, (batch * length,), dtype=torch.int32, device=device)
    whole, short = (torch.full((batch,), many, dtype=torch.int32, device=device) for many in (steps, length))
    return lambda: F.ctc_loss(scores, targets, whole, short)


def _attention(device: str) -> Callable[[], Any]:
    q, k, v = (torch.randn(4, 8, 256 * _times(device), 64, device=device) for _ in range(3))
    return lambda: F.scaled_dot_product_attention(q, k, v)


OPERATIONS: dict[str, Callable[[str], Callable[[], Any]]] = {
    "Conv2d": _conv,
    "Conv2d, depthwise": lambda d: _conv(d, depthwise=True),
    "LSTM": lambda d: _recurrent(torch.nn.LSTM, d),
    "GRU": lambda d: _recurrent(torch.nn.GRU, d),
    "Linear": _linear,
    "BatchNorm2d": lambda d: _module_call(torch.nn.BatchNorm2d(_image(d)[1]), _image(d), d),
    "MaxPool2d": lambda d: _module_call(torch.nn.MaxPool2d(2), _image(d), d),
    "grid_sample": _grid_sample,
    "ctc_loss": _ctc,
    "attention": _attention,
}


def switch_race(
    call: Callable[[], Any],
    switch: str = "mkldnn.enabled",
    max_time: float = 2.0,
    gate: float = 0.05,
    device: str = "cpu",
) -> Any:
    """`compare` of one call with a switch on and off, the switch set anew before every call.

    call: a function without arguments. device: where it computes. Returns a Comparison: ratio = time(off) /
    time(on), so that above 1 means that switching off costs. On the CPU one thread computes, which a busy
    machine disturbs least. Switch and threads are as before afterwards, no gradients are recorded.
    """
    from course.models.toy_search import one_thread
    from course.timing import compare

    def turned(value: bool) -> Callable[[], None]:
        def run() -> None:
            flags.assign(switch, value)
            call()

        return run

    alone = one_thread() if device == "cpu" else contextlib.nullcontext()
    with flags.using({switch: True}), alone, torch.no_grad():
        return compare(
            {"on": turned(True), "off": turned(False)}, baseline="on", max_time=max_time, gate=gate, device=device
        )


def on_and_off(call: Callable[[], Any], switch: str) -> tuple[torch.Tensor, torch.Tensor]:
    """The first tensor a call returns with the switch on, and with it off."""
    arguments.function("call", call)
    found = []
    with torch.no_grad():
        for value in (True, False):
            with flags.using({switch: value}):
                found.append(_first_tensor(call()).detach())
    return found[0], found[1]


def _first_tensor(result: Any) -> torch.Tensor:
    while isinstance(result, tuple):
        result = result[0]
    arguments.of_type("call()", result, torch.Tensor)
    return result


# --- numerics ---------------------------------------------------------------------------------------------


def against_float64(module: torch.nn.Module, x: torch.Tensor, switch: str) -> dict[str, Any]:
    """One layer with a switch on and off, both compared with the same layer in float64.

    Counts of output values: all, those whose bits differ, and of these how many each side has nearer to
    float64. Errors are the largest distance over the largest exact value (no unit).
    """
    import copy

    on, off = on_and_off(lambda: module(x), switch)
    with torch.no_grad(), flags.using({switch: False}):
        exact = _first_tensor(copy.deepcopy(module).double()(x.double()))
    scale = exact.abs().max()
    error_on, error_off = (on.double() - exact).abs(), (off.double() - exact).abs()
    differ = on != off
    return {
        "values": on.numel(),
        "differ": int(differ.sum()),
        "on_nearer": int((differ & (error_on < error_off)).sum()),
        "off_nearer": int((differ & (error_off < error_on)).sum()),
        "on_error": float(error_on.max() / scale),
        "off_error": float(error_off.max() / scale),
        "between": float((on.double() - off.double()).abs().max() / scale),
    }


# --- on a GPU: kernel names and memory ----------------------------------------------------------------------


def gpu() -> str:
    """The device "cuda"; without a GPU "cpu", where the form of an experiment can be tried."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def longest_kernels(call: Callable[[], Any], most: int = 3) -> list[str]:
    """Whole names of the kernels (on a CPU: operations) of a call, longest total first."""
    arguments.function("call", call)
    with torch.no_grad():
        return [row["kernel"] for row in seen(call, 2, 3)[:most]]

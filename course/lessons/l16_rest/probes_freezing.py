"""What lesson 16 compiles in a new process: a model with frozen weights, and which later changes still arrive.

torch and a C++ compiler are needed. Every function returns rows of plain data.
"""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from course.trace.onednn_log import log_of


def _net() -> nn.Sequential:
    torch.manual_seed(0)
    layers = (nn.Conv2d(32, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    return nn.Sequential(*layers, nn.Linear(32, 10)).eval()


def _doubled(model: nn.Module) -> dict[str, torch.Tensor]:
    return {name: 2 * one if one.is_floating_point() else one for name, one in model.state_dict().items()}


def _new_parameter(model: nn.Module) -> None:
    model[5].weight = nn.Parameter(model[5].weight.data * 2)


CHANGES: dict[str, Callable[[nn.Module], Any]] = {
    "conv.weight.mul_(2)": lambda model: model[0].weight.data.mul_(2),
    "bn.running_mean.add_(1)": lambda model: model[1].running_mean.add_(1),
    "linear.weight.mul_(2)": lambda model: model[5].weight.data.mul_(2),
    "linear.bias.add_(1)": lambda model: model[5].bias.data.add_(1),
    "load_state_dict(other)": lambda model: model.load_state_dict(_doubled(model)),
    "linear.weight = nn.Parameter(...)": _new_parameter,  # the last: it compiles anew
}


def changes(frozen: bool) -> list[dict[str, Any]]:
    """Compile once, frozen or not; then one change of the weights after the other, each taken back.

    answers: whether the compiled model then computes like the "new" model, the "old" one, or "neither".
    A further row where torch has oneDNN, change "mkldnn.enabled = False": "old" where oneDNN still computes the convolution. Bits would
    not tell: with AVX-512 oneDNN and torch's own kernel may give the same.
    """
    import torch._inductor.config as inductor

    warnings.simplefilter("ignore")
    inductor.freezing = frozen
    torch.set_num_threads(1)
    model, x = _net(), torch.randn(4, 32, 32, 32)
    before = copy.deepcopy(model.state_dict())
    rows = []
    with torch.no_grad():
        start = time.perf_counter()
        compiled = torch.compile(model)
        old = compiled(x).clone()
        first_s = time.perf_counter() - start
        if torch.backends.mkldnn.is_available():
            torch.backends.mkldnn.enabled = False
            kept = any(line.primitive == "convolution" for line in log_of(lambda: compiled(x)))
            torch.backends.mkldnn.enabled = True
            rows.append({"change": "mkldnn.enabled = False", "answers": "old" if kept else "new"})
        for change, make in CHANGES.items():
            make(model)
            new, got = model(x), compiled(x)
            like_new, like_old = torch.allclose(got, new, atol=1e-5), torch.allclose(got, old, atol=1e-5)
            answers = {(True, False): "new", (False, True): "old"}.get((like_new, like_old), "neither")
            rows.append({"change": change, "answers": answers})
            model.load_state_dict(before)
    return [{"frozen": int(frozen), **row, "first_s": first_s} for row in rows]

"""What lesson 16 runs in a new process about int8: engines raced, weights packed by one and run under another, sums that saturate.

torch alone is needed. Every function returns rows of plain data.
"""

from __future__ import annotations

import warnings
from typing import Any

import torch

SHAPE = (128, 512, 512)  # rows, inputs, outputs


def _engines() -> list[str]:
    return [
        name for name in ("x86", "fbgemm", "onednn", "qnnpack") if name in torch.backends.quantized.supported_engines
    ]


class Product:
    """One quantized product: `pack` under an engine, `run` a packed weight under an engine, the same product in float32."""

    def __init__(self) -> None:
        rows, inputs, outputs = SHAPE
        torch.manual_seed(0)
        self.x, self.weight = torch.randn(rows, inputs), torch.randn(outputs, inputs) * 0.05
        self.bias = torch.randn(outputs) * 0.1
        self.quantized_x = torch.quantize_per_tensor(self.x, 8 / 255, 128, torch.quint8)
        largest = self.weight.abs().max().item()
        self.quantized_weight = torch.quantize_per_tensor(self.weight, largest / 127, 0, torch.qint8)
        self.scale = self.float32().abs().max().item() / 127

    def float32(self) -> torch.Tensor:
        return torch.nn.functional.linear(self.x, self.weight, self.bias)

    def pack(self, engine: str) -> Any:
        torch.backends.quantized.engine = engine
        return torch.ops.quantized.linear_prepack(self.quantized_weight, self.bias)

    def run(self, packed: Any, engine: str) -> torch.Tensor:
        torch.backends.quantized.engine = engine
        return torch.ops.quantized.linear(self.quantized_x, packed, self.scale, 128)


def packed_and_run() -> list[dict[str, Any]]:
    """Weights packed under two engines, each run under both: whose bits come out, the maker's or the runner's.

    like: "maker" | "runner" | "both" (the two engines give the same bits) | "neither" | "error".
    """
    warnings.simplefilter("ignore")
    here, product = _engines(), Product()
    pair = [name for name in ("x86", "fbgemm", "onednn") if name in here][:1] + [
        name for name in ("qnnpack",) if name in here
    ]
    packed = {name: product.pack(name) for name in pair}
    own = {name: product.run(packed[name], name).int_repr() for name in pair}
    rows = []
    for maker in pair:
        for runner in pair:
            try:
                got = product.run(packed[maker], runner).int_repr()
            except RuntimeError:
                like = "error"
            else:
                as_maker, as_runner = torch.equal(got, own[maker]), torch.equal(got, own[runner])
                like = {(True, True): "both", (True, False): "maker", (False, True): "runner"}.get(
                    (as_maker, as_runner), "neither"
                )
            rows.append({"packed": maker, "engine": runner, "like": like})
    return rows

"""What lesson 16 runs in a new process about int8: engines raced, weights packed by one and run under another, sums that saturate.

torch alone is needed. Every function returns rows of plain data.
"""

from __future__ import annotations

import warnings
from typing import Any

import torch

from course.experiment.rows import race_row

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


def engines(seconds: float) -> list[dict[str, Any]]:
    """Each engine raced against float32 on one thread: ratio = time in int8 / time in float32; the error of the result."""
    from course.timing import compare

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    product = Product()
    packed = {name: product.pack(name) for name in _engines()}
    sides: dict[str, Any] = {"float32": product.float32}
    sides |= {name: (lambda name=name: product.run(packed[name], name)) for name in packed}
    race = compare(sides, baseline="float32", max_time=seconds, same=False)
    exact = product.float32()
    return [
        {
            "engine": name,
            **race_row(race.pairs[name]),
            "ms": race.medians_ms[name],
            "float32_ms": race.medians_ms["float32"],
            "error": (sides[name]().dequantize() - exact).abs().mean().item(),
            "rounds": race.rounds,
        }
        for name in packed
    ]


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


def shares() -> list[dict[str, Any]]:
    """64 products of the largest input and the largest weight, added up by each engine: the result / the true value.

    Inputs of 8 bits (255) and of 7 bits (127, reduce_range). said: warnings and errors that torch gave.
    """
    rows = []
    weight = torch.quantize_per_tensor(torch.full((8, 64), 127.0), 1.0, 0, torch.qint8)
    for engine in _engines():
        torch.backends.quantized.engine = engine
        for bits, scale in ((8, 1.0), (7, 255 / 127)):
            x = torch.quantize_per_tensor(torch.full((8, 64), 255.0), scale, 0, torch.quint8)
            true = 255.0 * 127 * 64
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                packed = torch.ops.quantized.linear_prepack(weight, None)
                got = torch.ops.quantized.linear(x, packed, true / 200, 0).dequantize()[0, 0].item()
            rows.append({"engine": engine, "bits": bits, "share": got / true, "said": len(said)})
    return rows

"""One linear layer in int8 against float32, raced: what the learner plays with, and how a race is looked through."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from course.core import arguments

if TYPE_CHECKING:
    from course.timing import Comparison


@dataclass(frozen=True)
class Side:
    """One side of a race: a call without arguments, of a linear layer of this shape by this engine ("" for float32)."""

    shape: tuple[int, int, int]
    engine: str
    run: Any

    def __call__(self) -> torch.Tensor:
        return self.run()


def sides(rows: int, inputs: int, outputs: int) -> dict[str, Side]:
    """The same layer in float32 and in int8, packed by the engine that is set now; inputs are quantized beforehand."""
    for name, value in (("rows", rows), ("inputs", inputs), ("outputs", outputs)):
        arguments.whole(name, value, 1)
    engine, shape = torch.backends.quantized.engine, (rows, inputs, outputs)
    x, weight = torch.randn(rows, inputs), torch.randn(outputs, inputs) * 0.05
    exact = torch.nn.functional.linear(x, weight)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        small_x = torch.quantize_per_tensor(x, 8 / 255, 128, torch.quint8)
        small = torch.quantize_per_tensor(weight, max(weight.abs().max().item(), 1e-6) / 127, 0, torch.qint8)
        packed = torch.ops.quantized.linear_prepack(small, None)
    scale = max(exact.abs().max().item(), 1e-6) / 127
    return {
        "float32": Side(shape, "", lambda: torch.nn.functional.linear(x, weight)),
        "int8": Side(shape, engine, lambda: torch.ops.quantized.linear(small_x, packed, scale, 128)),
    }


def int8_race(rows: int, inputs: int, outputs: int, max_time: float = 1.0) -> Comparison:
    """Race a linear layer in int8 against float32 on one thread: ratio = time in int8 / time in float32.

    rows, inputs, outputs: of the layer. Threads are as before afterwards; the engine stays as it is.
    """
    from course import flags
    from course.timing import compare

    with flags.using({"torch.num_threads": 1}), torch.inference_mode():
        return compare(sides(rows, inputs, outputs), baseline="float32", max_time=max_time, same=False)


def int8_layers(race: Comparison) -> str | None:
    """The engine of the int8 side; None where the two sides are not one layer in float32 and in int8."""
    float32, int8 = (race.functions.get(name) for name in ("float32", "int8"))
    if not isinstance(float32, Side) or not isinstance(int8, Side):
        return None
    return int8.engine if float32.shape == int8.shape and not float32.engine and int8.engine else None

"""Number formats of float32's family, and rounding to them on any device: the arithmetic of TF32 without a GPU.

TF32 keeps the exponent of float32 and 10 bits of its mantissa. The inputs of a product are rounded; products
and sums stay float32. Here values are rounded to the nearest, ties to even; whether a GPU rounds or cuts is
its own affair.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from course.core import arguments
from course.core.i18n import both, t


@dataclass(frozen=True)
class Format:
    """Bits of the exponent, of the stored mantissa, and of the cell in memory."""

    exponent: int
    mantissa: int
    memory: int


FORMATS = {
    "float32": Format(8, 23, 32),
    "tf32": Format(8, 10, 32),
    "float16": Format(5, 10, 16),
    "bfloat16": Format(8, 7, 16),
}
_TYPES = {"float16": torch.float16, "bfloat16": torch.bfloat16}


def round_bits(x: Tensor, bits: int) -> Tensor:
    """``x`` as float32 with its mantissa rounded to ``bits`` stored bits (1 to 23); the exponent keeps 8.

    Infinities and NaN stay. Raises ValueError for another number of bits.
    """
    x, dropped = _float32(x, bits), 23 - bits
    if not dropped:
        return x.clone()
    raw = x.view(torch.int32)
    half = (1 << (dropped - 1)) - 1 + ((raw >> dropped) & 1)
    cut = ((raw + half) & ~((1 << dropped) - 1)).view(torch.float32)
    return torch.where(torch.isfinite(x), cut, x)


def rounded(x: Tensor, name: str) -> Tensor:
    """``x`` as float32, after a visit to the format ``name`` of FORMATS (float16 may overflow to infinity)."""
    _known(name)
    arguments.of_type("x", x, Tensor)
    if name in _TYPES:
        return x.to(_TYPES[name]).to(torch.float32)
    return round_bits(x, FORMATS[name].mantissa)


def product(a: Tensor, b: Tensor, name: str) -> Tensor:
    """``a @ b`` with both inputs rounded to the format ``name``; multiplied and summed in float32."""
    return rounded(a, name) @ rounded(b, name)


def relative_error(result: Tensor, exact: Tensor) -> float:
    """|result - exact| / |exact|, both lengths taken over all entries, in float64."""
    arguments.of_type("result", result, Tensor)
    arguments.of_type("exact", exact, Tensor)
    exact = exact.double()
    return float((result.double() - exact).norm() / exact.norm())


def pattern(number: float, name: str) -> tuple[str, str, str]:
    """Sign, exponent and mantissa of ``number`` in the format ``name``, as strings of 0 and 1."""
    _known(name)
    number = arguments.number("number", number)
    shape = FORMATS[name]
    if name == "float16":
        raw = torch.tensor(number, dtype=torch.float16).view(torch.int16).item() & 0xFFFF
        text = f"{raw:016b}"
    else:
        raw = rounded(torch.tensor(number), name).view(torch.int32).item() & 0xFFFFFFFF
        text = f"{raw:032b}"
    end = 1 + shape.exponent
    return text[0], text[1:end], text[end : end + shape.mantissa]


def _float32(x: Tensor, bits: int) -> Tensor:
    arguments.of_type("x", x, Tensor)
    if not isinstance(bits, int) or not 1 <= bits <= 23:
        raise ValueError(
            t(
                f"a float32 mantissa can be cut to 1 to 23 bits, not to {bits!r}",
                f"float32 的尾数可以截到 1 至 23 位，不能是 {bits!r}",
            )
        )
    return x.to(torch.float32).contiguous()


def _known(name: str) -> None:
    arguments.one_of(both("format", "格式"), name, FORMATS)

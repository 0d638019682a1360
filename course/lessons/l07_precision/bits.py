"""The bits of one number in four formats: coloured boxes in a notebook, a plain table elsewhere."""

from __future__ import annotations

import html

from course import arguments
from course.i18n import t
from course.rounding import FORMATS, pattern, rounded

SIGN, EXPONENT, MANTISSA = "#A8437F", "#A34700", "#0072B2"
"""Backgrounds on which white digits have a contrast of at least 4.5, on a light page and on a dark one."""
NAMES = {"float32": "float32", "tf32": "TF32", "float16": "float16", "bfloat16": "bfloat16"}


class Bits:
    """One number as float32, TF32, float16 and bfloat16 store it. Displays itself; ``values`` holds what is kept."""

    def __init__(self, number: float) -> None:
        import torch

        self.number = arguments.number("number", number)
        cell = torch.tensor(self.number, dtype=torch.float64).to(torch.float32)
        self.values = {name: rounded(cell, name).item() for name in FORMATS}
        self.patterns = {name: pattern(cell.item(), name) for name in FORMATS}

    def error(self, name: str) -> float:
        """(what is kept - the number) / the number; 0 for the number 0."""
        return (self.values[name] - self.number) / self.number + 0.0 if self.number else 0.0

    def _repr_html_(self) -> str:
        rows = "".join(self._row(name) for name in FORMATS)
        legend = "".join(
            f'<span style="background:{colour};color:#fff;padding:1px 6px;margin-right:8px">{word}</span>'
            for colour, word in (
                (SIGN, t("sign", "符号")),
                (EXPONENT, t("exponent: how large", "指数：多大")),
                (MANTISSA, t("mantissa: how exact", "尾数：多精确")),
            )
        )
        head = "".join(
            f'<th scope="col" style="text-align:left">{word}</th>'
            for word in (
                t("format", "格式"),
                t("bits", "各位"),
                t("it keeps", "实际存下"),
                t("relative error", "相对误差"),
            )
        )
        return (
            f'<div style="overflow-x:auto"><p style="font-size:0.9em">{legend}</p><table><thead><tr>{head}'
            f"</tr></thead><tbody>{rows}</tbody></table></div>"
        )

    def _row(self, name: str) -> str:
        boxes = "".join(
            f'<span style="background:{colour};color:#fff;display:inline-block;width:0.75em;margin:0 0.5px;'
            f'text-align:center">{bit}</span>'
            for colour, part in zip((SIGN, EXPONENT, MANTISSA), self.patterns[name], strict=True)
            for bit in part
        )
        cells = (
            NAMES[name],
            f'<code style="white-space:nowrap;background:none">{boxes}</code>',
            html.escape(f"{self.values[name]:.9g}"),
            f"{self.error(name):+.1e}",
        )
        return (
            "<tr>" + "".join(f'<td style="text-align:left;white-space:nowrap">{cell}</td>' for cell in cells) + "</tr>"
        )

    def __str__(self) -> str:
        return "\n".join(
            f"{NAMES[name]:9s} {' '.join(self.patterns[name]):36s} {self.values[name]:<14.9g} {self.error(name):+.1e}"
            for name in FORMATS
        )

    __repr__ = __str__


def show_bits(number: float) -> Bits:
    """The bits of ``number`` in four formats, ready to be looked at."""
    return Bits(number)

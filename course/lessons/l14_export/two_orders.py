"""One sum, two orders: how far a running float32 sum is from the exact one, term by term."""

from __future__ import annotations

from typing import Any

import torch

from course.core import arguments
from course.core.i18n import both, pick, t
from course.figures.picture import Plot
from course.figures.shown import Block
from course.figures.style import colors, guide


class TwoOrders:
    """`terms` products, added in float32 from the first to the last and from the last to the first.

    ends: the two sums. errors: for both, the running sum minus the exact running sum after each term.
    Shows itself as a picture in a notebook, as a sentence elsewhere.
    """

    def __init__(self, terms: int = 256, seed: int = 0) -> None:
        arguments.whole("terms", terms, 1)
        arguments.whole("seed", seed)
        rng = torch.Generator().manual_seed(seed)
        products = torch.randn(terms, generator=rng) * torch.randn(terms, generator=rng)
        self.ends, self.errors = [], []
        for ordered in (products, products.flip(0)):
            running, exact, errors = torch.zeros(()), 0.0, []
            for product in ordered:
                running, exact = running + product, exact + product.item()
                errors.append(running.item() - exact)
            self.ends.append(running.item())
            self.errors.append(errors)
        forward, back = self.ends
        self.alt = both(
            f"The same {terms} products, added in float32. First to last: {forward:.9g}. Last to first: {back:.9g}.",
            f"同样的 {terms} 个乘积，用 float32 相加。从头到尾：{forward:.9g}。从尾到头：{back:.9g}。",
        )

    def _repr_html_(self) -> str:
        return Block(pick(self.alt), "", Plot(self.paint, pick(self.alt)), "")._repr_html_()

    def __str__(self) -> str:
        return pick(self.alt)

    __repr__ = __str__

    def paint(self, ax: Any) -> None:
        ax.axhline(0, color=guide(), linewidth=1)
        names = (t("first to last", "从头到尾"), t("last to first", "从尾到头"))
        for errors, name, colour, end in zip(self.errors, names, colors(), self.ends, strict=False):
            ax.plot(range(1, len(errors) + 1), [1e6 * one for one in errors], color=colour, label=f"{name}: {end:.9g}")
            ax.plot(len(errors), 1e6 * errors[-1], "o", color=colour)
        ax.set_xlabel(t("terms added so far", "已经加了几项"))
        ax.set_ylabel(t("running sum minus exact, 1e-6", "累加和减精确值（1e-6）"))
        ax.legend(loc="best")

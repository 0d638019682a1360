"""A small bar picture of where the work is. matplotlib is imported when it is drawn."""

from __future__ import annotations

from typing import Any

from course.flops.result import FlopCount, ModuleCount
from course.i18n import t


def busiest(count: FlopCount, top: int = 12) -> list[ModuleCount]:
    """The modules that do work in their own forward, most first, at most `top`."""
    working = [module for _, module in count.by_module.walk() if module.own]
    return sorted(working, key=lambda module: -module.own)[:top]


def draw(count: FlopCount, ax: Any = None, top: int = 12) -> Any:
    """Horizontal bars, one a module, with its share of all MACs written at the end. Returns the Axes."""
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(7, 0.5 + 0.3 * max(len(busiest(count, top)), 2)), layout="constrained")
    modules = busiest(count, top)
    labels = [f"{module.name or '(whole)'} {module.kind}" for module in modules]
    bars = ax.barh(range(len(modules)), [module.own / 1e6 for module in modules], color="#0072B2")
    ax.set_yticks(range(len(modules)), labels)
    ax.invert_yaxis()
    ax.bar_label(bars, [f"{module.own / max(count.macs, 1):.1%}" for module in modules], padding=3)
    ax.margins(x=0.15)
    ax.set_xlabel(t("million MACs", "百万 MAC"))
    shown = sum(module.own for module in modules) / max(count.macs, 1)
    ax.set_title(
        t(
            f"{len(modules)} modules hold {shown:.0%} of the work",
            f"{len(modules)} 个模块占工作量的 {shown:.0%}",
        )
    )
    return ax

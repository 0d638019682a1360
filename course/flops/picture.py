"""A small bar picture of where the work is. matplotlib is imported when it is drawn."""

from __future__ import annotations

from typing import Any

from course.flops.result import FlopCount, ModuleCount
from course.i18n import t


def parts(count: FlopCount, top: int = 20) -> list[ModuleCount]:
    """The modules that do all the work between them, in the model's order, at most `top` if that is possible.

    The one with the most work is replaced by the modules inside it, and all its likes with it, again and
    again, while there is room. A module that works in its own forward as well stays whole.
    """
    shown = [count.by_module]
    while True:
        for module in sorted(shown, key=lambda one: -one.macs):
            likes = [one for one in shown if (one.kind, one.macs) == (module.kind, module.macs)]
            opened = [_inside(one) if any(one is like for like in likes) else [one] for one in shown]
            finer = [part for group in opened for part in group]
            if any(group[0] is not one for group, one in zip(opened, shown, strict=True)) and len(finer) <= max(top, 1):
                shown = finer
                break
        else:
            return shown


def _inside(module: ModuleCount) -> list[ModuleCount]:
    """The working modules inside, or the module itself where it has none or works in its own forward too."""
    inside = [child for child in module.children if child.macs]
    return inside if inside and not module.own else [module]


def draw(count: FlopCount, ax: Any = None, top: int = 20) -> Any:
    """Horizontal bars, one a part of the model, with its share of all MACs at the end. Returns the Axes.

    Without `ax` a figure of its own, light or dark as matplotlib's settings are.
    """
    modules = parts(count, top)
    if ax is None:
        from course.figures.own import own_figure

        return own_figure(lambda axes: draw(count, axes, top), (7.0, 1.2 + 0.24 * max(len(modules), 3)))
    from course.figures.style import colors

    total = max(count.macs, 1)
    labels = [f"{module.name} {module.kind}".strip() for module in modules]
    bars = ax.barh(range(len(modules)), [module.macs / 1e6 for module in modules], color=colors()[0])
    ax.set_yticks(range(len(modules)), labels, fontsize=8)
    ax.grid(False, axis="y")
    ax.invert_yaxis()
    ax.bar_label(bars, [_share(module.macs / total) for module in modules], padding=3, fontsize=8)
    ax.margins(x=0.12)
    ax.set_xlabel(t("million MACs", "百万 MAC"))
    ax.set_title(_title(modules, total), loc="left")
    return ax


def _share(part: float) -> str:
    return "< 0.1%" if 0 < part < 0.0005 else f"{part:.1%}"


def _title(modules: list[ModuleCount], total: int) -> str:
    """How few of the parts hold at least half of the work."""
    held, few = 0, 0
    for module in sorted(modules, key=lambda one: -one.macs):
        held, few = held + module.macs, few + 1
        if 2 * held >= total:
            break
    if not held:
        return t("no multiply-accumulates at all", "没有任何乘加运算")
    if len(modules) == 1:
        return t("all the work is done in one place", "全部工作都在一处完成")
    return t(f"{few} of {len(modules)} parts hold {held / total:.0%} of the work",
             f"{len(modules)} 个部分中，{few} 个占了工作量的 {held / total:.0%}")

"""A picture of a count: where the work of a model is. matplotlib is imported when it is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from course.i18n import t

if TYPE_CHECKING:
    from course.flops.result import FlopCount, ModuleCount


def parts(count: FlopCount, top: int = 20) -> list[ModuleCount]:
    """Returns modules that together do all the work, in the model's order, at most `top` if that is possible.

    It starts with the whole model. While there is room, the module with the most work, and all modules like it, are
    replaced by the modules inside them. A module that works in its own forward as well stays whole.
    """
    shown = [count.by_module]
    while True:
        for module in sorted(shown, key=lambda one: -one.macs):
            inside = [
                [child for child in one.children if child.macs]
                if (one.kind, one.macs) == (module.kind, module.macs) and not one.own
                else []
                for one in shown
            ]
            finer = [part for one, within in zip(shown, inside, strict=True) for part in within or [one]]
            if any(inside) and len(finer) <= max(top, 1):
                shown = finer
                break
        else:
            return shown


def draw(count: FlopCount, ax: Any = None, top: int = 20) -> Any:
    """Horizontal bars, one a part of the model, with its share of all MACs at the end. Returns the Axes.

    Without `ax` a figure of its own, light or dark as matplotlib's settings are.
    """
    modules = parts(count, top)
    if ax is None:
        from course.figures.own import own_figure

        return own_figure(lambda axes: draw(count, axes, top), (7.0, 1.2 + 0.24 * max(len(modules), 3)))
    from course.figures.style import colors

    shares = [module.macs / max(count.macs, 1) for module in modules]
    bars = ax.barh(range(len(modules)), [module.macs / 1e6 for module in modules], color=colors()[0])
    ax.set_yticks(range(len(modules)), [f"{module.name} {module.kind}".strip() for module in modules], fontsize=8)
    ax.grid(False, axis="y")
    ax.invert_yaxis()
    ax.bar_label(bars, ["< 0.1%" if 0 < s < 0.0005 else f"{s:.1%}" for s in shares], padding=3, fontsize=8)
    ax.margins(x=0.12)
    ax.set_xlabel(t("million MACs", "百万 MAC"))
    ax.set_title(_title(shares), loc="left")
    return ax


def _title(shares: list[float]) -> str:
    """How few of the parts hold at least half of the work."""
    held, few = 0.0, 0
    while few < len(shares) and held < 0.5:
        held, few = held + sorted(shares, reverse=True)[few], few + 1
    if not held:
        return t("no multiply-accumulates at all", "没有任何乘加运算")
    if len(shares) == 1:
        return t("all the work is done in one place", "全部工作都在一处完成")
    return t(
        f"{few} of {len(shares)} parts hold {held:.0%} of the work",
        f"{len(shares)} 个部分中，{few} 个占了工作量的 {held:.0%}",
    )

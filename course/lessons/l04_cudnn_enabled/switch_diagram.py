"""A picture of switches on the way: operations at the left, the switch they ask, who computes at the right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from course.figures.style import colors, faint

LEFT, SWITCH, RIGHT, END = 0.0, 4.6, 6.7, 10.2
WIDE = 3.7


def switch_diagram(ax: Any, rows: Sequence[tuple[str, str, bool | None, str, str]]) -> None:
    """One line for each (operations, switch, open, who computes then, who else), top to bottom.

    open: True or False as the switch stands, None where there is no switch; then the first of the two
    computes in any case. Who computes now is drawn strong, the other one faint. Texts may hold line breaks.
    """
    blue, orange = colors()[0], colors()[1]
    for place, (operations, switch, is_open, through, otherwise) in enumerate(rows):
        y = -1.3 * place
        _box(ax, LEFT, WIDE, y, operations, faint())
        if is_open is None:
            _arrow(ax, LEFT + WIDE, y, RIGHT, y, blue)
            _box(ax, RIGHT, END - RIGHT, y, through, blue, strong=True)
            continue
        _arrow(ax, LEFT + WIDE, y, SWITCH - 0.55, y, colors()[5])
        ax.plot(
            [SWITCH - 0.5, SWITCH - 0.5 + (0.1 if is_open else 0.0)],
            [y - 0.34, y + 0.34],
            linewidth=4,
            color=blue if is_open else orange,
            solid_capstyle="round",
        )
        ax.text(SWITCH + 0.55, y - 0.58, switch, ha="center", va="center", fontsize=8, family="monospace")
        for step, (name, taken, colour) in enumerate(((through, is_open, blue), (otherwise, not is_open, orange))):
            height = y + (0.3 if step == 0 else -0.3)
            _arrow(ax, SWITCH - 0.35, y, RIGHT, height, colour if taken else faint())
            _box(ax, RIGHT, END - RIGHT, height, name, colour if taken else faint(), strong=taken, tall=0.5)
    ax.set_xlim(LEFT - 0.1, END + 0.1)
    ax.set_ylim(-1.3 * (len(rows) - 1) - 0.75, 0.7)
    ax.axis("off")


def _box(
    ax: Any, left: float, width: float, y: float, text: str, edge: str, strong: bool = False, tall: float = 0.78
) -> None:
    from matplotlib.patches import FancyBboxPatch

    ax.add_patch(
        FancyBboxPatch(
            (left, y - tall / 2),
            width,
            tall,
            boxstyle="round,pad=0,rounding_size=0.1",
            facecolor="none",
            edgecolor=edge,
            linewidth=2.0 if strong else 1.0,
        )
    )
    ax.text(
        left + width / 2, y, text, ha="center", va="center", fontsize=8.5, fontweight="bold" if strong else "normal"
    )


def _arrow(ax: Any, x: float, y: float, to_x: float, to_y: float, colour: str) -> None:
    ax.annotate(
        "",
        (to_x, to_y),
        (x, y),
        arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 1.4, "shrinkA": 0, "shrinkB": 0},
    )

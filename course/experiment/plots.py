"""Parts of pictures that the experiments of all lessons share."""

from __future__ import annotations

from typing import Any

from course.figures.kinds import Bet
from course.look import COLOURS

BLUE = "C0"  # of the theme: safe for colour-blind readers; a word stands beside


def bet_box(ax: Any, words: str, x: tuple[float, float], y: tuple[float, float]) -> None:
    """The learner's bet as a dashed box from x[0] to x[1] and y[0] to y[1], in the units of the axes."""
    from matplotlib.patches import Rectangle

    ink = _bet_ink(ax)
    ax.add_patch(
        Rectangle(
            (x[0], y[0]), x[1] - x[0], y[1] - y[0], fill=False, edgecolor=ink, linestyle=(0, (5, 3)), linewidth=1.8
        )
    )
    ax.annotate(
        Bet(words).full,
        (x[0], max(y)),
        xytext=(2, 3),
        textcoords="offset points",
        color=ink,
        fontweight="bold",
        va="bottom",
    )


def _bet_ink(ax: Any) -> str:
    """The colour of a bet on the ground in force, the same as in our own SVG."""
    from matplotlib.colors import to_rgb

    return COLOURS["bet"][sum(to_rgb(ax.get_facecolor())) < 1.5]

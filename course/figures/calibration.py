"""How sure somebody was against how often it came true: a point and its interval for each confidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from course.figures.picture import Picture
from course.figures.style import MARKERS, colors, guide
from course.i18n import t

SHIFT = 0.016
"""How far two series stand apart where they share a stated share."""


@dataclass(frozen=True)
class Point:
    """One confidence. All shares 0 to 1; right of total cases came true, low..high is the interval."""

    stated: float
    right: int
    total: int
    low: float
    high: float


class CalibrationPicture(Picture):
    """What `calibration` gives back. series: name -> points; alt: the picture in words."""

    size = (2.9, 2.9)  # it fits a phone

    def __init__(self, series: Mapping[str, Sequence[Point]], alt: str) -> None:
        self.series, self.alt = dict(series), alt

    def paint(self, ax: Any) -> None:
        _draw(ax, self.series)


def calibration(series: Mapping[str, Sequence[Point]], alt: str) -> CalibrationPicture:
    """The picture of one or two series. Raises ValueError without any point."""
    if not any(series.values()):
        raise ValueError("there is nothing to draw: every series is empty")
    return CalibrationPicture(series, alt)


def _draw(ax: Any, series: Mapping[str, Sequence[Point]]) -> None:
    ax.plot([0, 1], [0, 1], color=guide(), linestyle="--", linewidth=1.2, zorder=0.5)
    drawn = {name: points for name, points in series.items() if points}
    for place, (name, points) in enumerate(drawn.items()):
        shift = (place - (len(drawn) - 1) / 2) * 2 * SHIFT
        shade = colors()[place]
        xs = [point.stated + shift for point in points]
        for x, point in zip(xs, points, strict=True):
            ax.plot([x, x], [point.low, point.high], color=shade, linewidth=2.4, solid_capstyle="butt")
            ax.annotate(
                t(f"{point.right} of {point.total}", f"{point.right}/{point.total}"),
                (x, point.right / point.total),
                xytext=(8 if shift >= 0 else -8, 0),
                textcoords="offset points",
                fontsize=8.5,
                va="center",
                color=shade,
                ha="left" if shift >= 0 else "right",
            )
        ax.plot(
            xs,
            [point.right / point.total for point in points],
            linestyle="",
            marker=MARKERS[place],
            markersize=7,
            color=shade,
            label=name,
        )
    ax.set(xlim=(0, 1.2), ylim=(-0.04, 1.04))
    ticks = [0, 0.25, 0.5, 0.75, 1]
    ax.set_xticks(ticks, [f"{100 * tick:g} %" for tick in ticks])
    ax.set_yticks(ticks, [f"{100 * tick:g} %" for tick in ticks])
    ax.set_xlabel(t("how sure", "把握"))
    ax.set_ylabel(t("came true", "实际对的比例"))
    ax.set_title(t("dashed: as sure as right", "虚线：把握与结果相符"))
    if len(drawn) > 1:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2)

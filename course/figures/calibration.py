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

    size = (6.2, 3.9)

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
    ax.annotate(
        t("as sure as right", "把握与结果一致"),
        (0.44, 0.44),
        xytext=(6, -2),
        textcoords="offset points",
        fontsize=8.5,
        color=guide(),
        va="top",
    )
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
    ax.set(xlim=(0, 1.08), ylim=(-0.04, 1.04))
    ticks = [0, 0.25, 0.5, 0.75, 1]
    ax.set_xticks(ticks, [f"{100 * tick:g} %" for tick in ticks])
    ax.set_yticks(ticks, [f"{100 * tick:g} %" for tick in ticks])
    ax.set_xlabel(
        t(
            "how sure (a guess: chance; fairly sure: 75 %; certain: 95 %)",
            "把握（猜的：碰运气的概率；比较有把握：75%；很确定：95%）",
        )
    )
    ax.set_ylabel(t("came true", "实际对的比例"))
    ax.set_title(t("Below the line: surer than right. Bars: 95 % intervals.", "线以下：过于自信。竖线：95% 区间。"))
    if len(drawn) > 1:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2)

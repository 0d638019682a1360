"""The last choice of the toy convolution as a tree: a new key, its candidates, what the clock said, which one is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from course.core import arguments
from course.core.i18n import Text, both, t
from course.figures.picture import Diagram, box
from course.figures.style import colors, faint, guide

if TYPE_CHECKING:
    from course.models.toy_search import Choice, ToyConv

_NAMES, _BARS, _END = 2.45, 4.3, 6.0  # where the boxes of the candidates stand, where their bars start and end


class SearchTree(Diagram):
    """What `search_tree` gives back: the picture in a notebook, one sentence elsewhere."""

    def __init__(self, choice: Choice) -> None:
        self.choice = choice
        self.size = (7.0, 0.62 * len(choice.ranked) + 0.55)
        self.alt = self._said()

    def _said(self) -> Text:
        choice, times_ms = self.choice, self.choice.times_ms
        if not times_ms:
            return both(
                f"A new key, size {choice.size}: {choice.plan} is first in the ranked list and is kept; nothing was timed.",
                f"新 key，尺寸 {choice.size}：{choice.plan} 排在名单第一，直接留下；什么都没计时。",
            )
        listed = ", ".join(f"{name} {times_ms[name]:.3g} ms" for name in times_ms)
        return both(
            f"A new key, size {choice.size}. Timed once each: {listed}. Kept: {choice.plan}.",
            f"新 key，尺寸 {choice.size}。各计时一次：{listed.replace(', ', '、')}。留下：{choice.plan}。",
        )

    def paint(self, ax: Any) -> None:
        choice, times_ms = self.choice, self.choice.times_ms
        middle, blue = (0.45 + self.size[1]) / 2, colors()[0]
        ax.text(_NAMES + 0.8, 0.22, t("candidates", "候选"), ha="center", va="center", fontsize=11, color=guide())
        ax.text(
            _BARS,
            0.22,
            t("the clock says", "秒表的读数") if times_ms else t("no clock", "没有计时"),
            va="center",
            fontsize=11,
            color=guide(),
        )
        for place, name in enumerate(choice.ranked):
            y, kept = 0.75 + 0.62 * place, name == choice.plan
            ax.plot(
                [1.55, 1.9, 1.9, _NAMES],
                [middle, middle, y, y],
                color=blue if kept else guide(),
                linewidth=3 if kept else 1,
                linestyle="-" if kept or name in times_ms else ":",
                zorder=2 if kept else 1,
            )
            box(ax, _NAMES + 0.8, y, 1.6, name, kept)
            words = t("not tried", "没有试")
            if name in times_ms:
                longest = max(times_ms.values())
                ax.barh(
                    y,
                    (_END - _BARS - 0.9) * times_ms[name] / longest,
                    0.24,
                    left=_BARS,
                    color=blue if kept else faint(),
                )
                words = f"{times_ms[name]:.3g} ms"
            elif kept:
                words = t("first in the list", "名单第一")
            at = _BARS + (_END - _BARS - 0.9) * times_ms.get(name, 0.0) / max(times_ms.values(), default=1.0) + 0.08
            ax.text(
                at,
                y,
                words + (t(": kept", "：留下") if kept else ""),
                va="center",
                fontsize=11,
                fontweight="bold" if kept else "normal",
            )
        box(ax, 0.825, middle, 1.45, t(f"new key\nsize {choice.size}", f"新 key\n尺寸 {choice.size}"), True)


def search_tree(conv: ToyConv) -> SearchTree:
    """The last choice that `conv` made for a new key, as a picture. ValueError where it has not chosen yet."""
    from course.models.toy_search import ToyConv

    arguments.of_type("conv", conv, ToyConv)
    if conv.last is None:
        raise ValueError(
            t(
                "this toy has not met a new key yet: call it with an image first, conv(image(24), kernel())",
                "这个玩具还没遇到过新的 key：先用一张图调用它，conv(image(24), kernel())",
            )
        )
    return SearchTree(conv.last)

"""The last choice of the toy convolution as a picture: a new key, its candidates, what the clock said, which one is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.core import arguments
from course.core.i18n import t
from course.figures.block import Block
from course.figures.kinds import Bar, bars

if TYPE_CHECKING:
    from course.models.toy_search import ToyConv


def search_tree(conv: ToyConv) -> Block:
    """The last choice that `conv` made for a new key, as a picture. ValueError where it has not chosen yet."""
    from course.models.toy_search import ToyConv

    arguments.of_type("conv", conv, ToyConv)
    if (choice := conv.last) is None:
        raise ValueError(
            t(
                "this toy has not met a new key yet: call it with an image first, conv(image(24), kernel())",
                "这个玩具还没遇到过新的 key：先用一张图调用它，conv(image(24), kernel())",
            )
        )
    drawn = []
    for name in choice.ranked:
        kept, ms = name == choice.plan, choice.times_ms.get(name)
        words = f"{ms:.3g} ms" if ms else t("first in the list", "名单第一") if kept else t("not tried", "没有试")
        drawn.append(Bar(name, ms or 0, words + t(": kept", "：留下") * kept, not kept))
    english, chinese = "each candidate is timed once", "每个候选计时一次"
    if not choice.times_ms:
        english, chinese = "the first of the ranked list is kept; nothing was timed", "名单第一直接留下，什么都没计时"
    said = t(f"A new key, size {choice.size}: {english}.", f"新 key，尺寸 {choice.size}：{chinese}。")
    return Block(said, "", bars(drawn), "")

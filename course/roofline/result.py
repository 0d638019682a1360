"""What `place` gives back: the model and its layers against the measured roof: plain data."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from course.i18n import both, pick, t
from course.roofline.layer import TINY, Layer
from course.roofline.roof import Peaks
from course.roofline.words import bound_word, percent, scaled
from course.timing import format_ms

FOLDED = 12
"""Of a model with more layers than this, a notebook shows the longest ones and folds the rest away."""


@dataclass(frozen=True)
class Roofline:
    """A model placed under its machine's measured roof.

    whole: the model; its bytes are the sum over the layers, its time is measured in one piece. layers: in the
    order they ran (empty if the model is itself a single layer). cache: hot | cold, when timed.
    complete: False after an interrupt. notes: sentences in the learner's language.
    """

    whole: Layer
    layers: tuple[Layer, ...]
    peaks: Peaks
    cache: str = "hot"
    complete: bool = True
    notes: tuple[str, ...] = ()

    @property
    def points(self) -> tuple[Layer, ...]:
        """What is compared: the layers, or the model where it has none."""
        return self.layers or (self.whole,)

    def rows(self) -> list[dict[str, Any]]:
        """Tidy rows, the whole model first, then the layers in the order they ran."""
        return [layer.row() for layer in (self.whole, *self.layers)]

    def finding(self) -> dict[str, str]:
        """One sentence in both languages: the slowest layer, its share of the time and of its roof."""
        slowest = max(self.points, key=lambda layer: layer.time_ms)
        total = sum(layer.time_ms for layer in self.points)
        part, share = percent(slowest.time_ms / max(total, TINY)), slowest.share
        if share is None:
            return both(f"{slowest.label} takes {part} of the layers' time and has neither FLOPs nor "
                        "traffic.",
                        f"{slowest.label} 占各层耗时的 {part}，既没有 FLOPs，也没有访存。")
        word = {"compute": ("compute", "计算"), "memory": ("memory", "访存")}[slowest.bound]
        if not self.layers:
            return both(f"{slowest.label} reaches {percent(share)} of its {word[0]} roof.",
                        f"{slowest.label} 达到其{word[1]}屋顶的 {percent(share)}。")
        return both(
            f"{slowest.label} takes {part} of the layers' time and reaches {percent(share)} of its "
            f"{word[0]} roof.",
            f"{slowest.label} 占各层耗时的 {part}，达到其{word[1]}屋顶的 {percent(share)}。",
        )

    def picture(self, ax: Any = None) -> Any:
        """The log-log roofline with the layers as points, sized by time; returns the matplotlib Axes."""
        from course.roofline.picture import draw

        return draw(self.points, self.peaks, pick(self.finding()), ax)

    def remarks(self) -> tuple[str, ...]:
        """What to know when reading the shares: where the numbers come from, what is out of the ordinary."""
        state = t("overwritten before every call", "每次调用前都被覆盖") if self.cache == "cold" else t(
            "warm, so small layers find their data there", "热的，因此小的层会在其中命中数据")
        lines = [self.peaks.sentence(), *self.peaks.notes, t(
            "Bytes are the least there can be: inputs, weights and outputs of each layer, once. Each layer "
            f"is timed alone, repeated, the cache {state}.",
            f"字节数是最少需要的量：每层的输入、权重和输出各算一次。每层单独重复计时，缓存是{state}。"
            if self.cache == "hot" else
            f"字节数是最少需要的量：每层的输入、权重和输出各算一次。每层单独重复计时，缓存在{state}。",
        )]
        if self.layers:
            part = sum(layer.time_ms for layer in self.layers) / max(self.whole.time_ms, TINY)
            far = ("", "") if 0.5 <= part <= 1.5 else (
                " So far from 100 % the machine was probably busy or threads shared a core: run it again.",
                "与 100% 相差这么远，多半是因为测量期间机器正忙，或者线程挤在同一个核上：请再运行一次。")
            lines.append(t(f"The layers one by one take {part:.0%} of the time of the whole model.{far[0]}",
                           f"各层分别计时之和是整个模型耗时的 {part:.0%}。{far[1]}"))
        if any((layer.share or 0) > 1 for layer in (self.whole, *self.layers)):
            cold = (' (try cache="cold")', '（可试 cache="cold"）') if self.cache == "hot" else ("", "")
            lines.append(t(
                f"Over 100 %: the data came from a cache, which is faster than memory{cold[0]}; or the "
                "layer's algorithm does less work than counted, or its library is better than the one "
                "behind the matrix product; or the machine was busy when the peaks were measured (then call "
                "peaks(refresh=True)).",
                f"超过 100%：数据来自缓存，而缓存比内存快{cold[1]}；或者该层的算法实际运算比计数少，"
                "或者它用的库比矩阵乘法背后的库更好；或者测峰值时机器正忙（请调用 peaks(refresh=True)）。",
            ))
        return (*lines, *self.notes)

    def _cells(self) -> list[list[str]]:
        lines = []
        for layer in (self.whole, *self.layers):
            work = t("memory only", "仅访存") if layer.memory_only else scaled(layer.flops, "FLOP")
            rate = (scaled(layer.bytes_per_s, "B/s") if layer.memory_only
                    else scaled(layer.flops_per_s, "FLOP/s"))
            lines.append([
                t(f"whole model: {layer.kind}", f"整个模型：{layer.kind}") if layer is self.whole else layer.label,
                work, scaled(layer.moved, "B"), "–" if layer.memory_only else f"{layer.intensity:.3g}",
                format_ms(layer.time_ms), rate, bound_word(layer.bound),
                "–" if layer.share is None else percent(layer.share),
            ])
        return lines

    def _header(self) -> list[str]:
        return [t("layer", "层"), t("work", "工作量"), t("traffic", "访存量"), t("FLOPs a byte", "FLOPs/字节"),
                t("time", "耗时"), t("achieved", "达到"), t("limited by", "受限于"),
                t("share of the roof", "占屋顶")]

    def __str__(self) -> str:
        lines = [self._header(), *self._cells()]
        widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
        table = ["  ".join(cell.rjust(w) if at else cell.ljust(w)
                           for at, (cell, w) in enumerate(zip(line, widths, strict=True))) for line in lines]
        return "\n".join([pick(self.finding()), "", *table, "", *(f"  {line}" for line in self.remarks())])

    __repr__ = __str__

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        remarks = "".join(f"<div><small>{html.escape(line)}</small></div>" for line in self.remarks())
        return (f"<div><p><strong>{html.escape(pick(self.finding()))}</strong></p>"
                f'<div style="overflow-x:auto">{self._tables()}</div>{remarks}</div>')

    def _tables(self) -> str:
        """One table; of a long model the layers that take longest, and all of them folded away below."""
        lines, header = self._cells(), self._header()
        if len(self.layers) <= FOLDED:
            return _table(header, lines)
        longest = sorted(range(len(self.layers)), key=lambda place: -self.layers[place].time_ms)[:FOLDED]
        every = t(f"Above, the {FOLDED} layers that take longest; here all {len(self.layers)}, in their order",
                  f"上面是耗时最多的 {FOLDED} 层；这里按先后列出全部 {len(self.layers)} 层")
        return (_table(header, [lines[0], *(lines[1 + place] for place in longest)])
                + f"<details><summary>{every}</summary>{_table(header, lines)}</details>")


def _table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """An HTML table: words to the left, figures to the right, in the notebook's own colours."""
    right = 'style="text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums"'
    head = "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in header)
    body = "".join(
        f'<tr><th scope="row" style="text-align:left;font-weight:normal">{html.escape(line[0])}</th>'
        + "".join(f"<td {right}>{html.escape(cell)}</td>" for cell in line[1:]) + "</tr>"
        for line in lines
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

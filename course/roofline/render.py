"""A placed model as text and as HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence

from course.i18n import t
from course.roofline.layer import TINY, Layer
from course.roofline.result import Roofline
from course.roofline.words import between, bound_word, percent, scaled
from course.timing import format_ms
from course.timing.faults import LARGE_SHARE

FOLDED = 12
"""Of a model with more layers than this, a notebook shows the longest ones and folds the rest away."""


def remarks(found: Roofline) -> tuple[str, ...]:
    """What to know when reading the shares: where the numbers come from, what is out of the ordinary."""
    cold = found.cache == "cold"
    state = t("its data out of the cache", "数据都不在缓存里") if cold else t(
        "its data in the cache where they fit", "放得下的数据都在缓存里")
    lines = [found.peaks.sentence(), *found.peaks.notes, t(
        "Bytes are the least there can be: inputs, weights and outputs of each layer, once. Each layer is timed alone, "
        f"{state}, in {found.rounds} rounds of all layers; intervals (95 %) hold within this run.",
        f"字节数是最少需要的量：每层的输入、权重和输出各算一次。每层单独计时，{state}，所有层轮流测了 {found.rounds} 轮；"
        "区间（95%）只对这一次运行有效。",
    )]
    if found.layers:
        part = sum(layer.time_ms for layer in found.layers) / max(found.whole.time_ms, TINY)
        why = t(", where layers find data of the one before in the cache", "，因为在模型里后一层能在缓存里找到前一层的数据"
                ) if cold and part > 1 else ""
        far = "" if 0.5 <= part <= 2.5 else t(
            " So far from 100 % the machine was probably busy or threads shared a core: run it again.",
            "与 100% 相差这么远，多半是因为测量期间机器正忙，或者线程挤在同一个核上：请再运行一次。")
        lines.append(t(f"The layers one by one take {part:.0%} of the time of the whole model{why}.{far}",
                       f"各层分别计时之和是整个模型耗时的 {part:.0%}{why}。{far}"))
    slow = [layer for layer in found.points if layer.fault_share > LARGE_SHARE]
    if slow:
        names = ", ".join(layer.label for layer in slow[:3]) + ("" if len(slow) < 4 else t(" and others", " 等"))
        pages = sum(layer.faults for layer in slow)
        lines.append(t(
            f"Page faults, not work, fill over {LARGE_SHARE:.0%} of the time of {names}: the system hands out the memory "
            f"of their results anew in each forward ({pages:,.0f} pages).",
            f"{names} 的耗时有 {LARGE_SHARE:.0%} 以上花在缺页上，而不是运算：系统每次 forward 都要重新分配它们的结果所用的内存"
            f"（{pages:,.0f} 页）。"))
    if any((layer.share_interval or (0, 0))[0] > 1 for layer in (found.whole, *found.layers)):
        usual = "" if cold else t(' (usual with cache="hot")', '（cache="hot" 时很常见）')
        lines.append(t(
            f"Over 100 %: part of the data came from a cache, which is faster than memory{usual}; or the layer's "
            "algorithm does less work than counted; or the machine was busy when the peaks were measured (then call "
            "peaks(refresh=True)).",
            f"超过 100%：一部分数据来自缓存，而缓存比内存快{usual}；或者该层的算法实际运算比计数少；"
            "或者测峰值时机器正忙（请调用 peaks(refresh=True)）。",
        ))
    return (*lines, *found.notes)


def _limit(layer: Layer) -> str:
    """What limits it; page faults beside it where they fill much of the time."""
    word = bound_word(layer.bound)
    if layer.fault_share <= LARGE_SHARE:
        return word
    return t(f"{word}; page faults {percent(layer.fault_share)}", f"{word}；缺页 {percent(layer.fault_share)}")


def _cells(found: Roofline) -> list[list[str]]:
    lines = []
    for layer in (found.whole, *found.layers):
        work = t("memory only", "仅访存") if layer.memory_only else scaled(layer.flops, "FLOP")
        rate = scaled(layer.bytes_per_s, "B/s") if layer.memory_only else scaled(layer.flops_per_s, "FLOP/s")
        lines.append([
            t(f"whole model: {layer.kind}", f"整个模型：{layer.kind}") if layer is found.whole else layer.label,
            work, scaled(layer.moved, "B"), "–" if layer.memory_only else f"{layer.intensity:.3g}",
            format_ms(layer.time_ms), rate, _limit(layer),
            "–" if layer.share is None else percent(layer.share),
            between(*layer.share_interval) if layer.samples_ms and layer.share_interval else "–",
        ])
    return lines


def _header() -> list[str]:
    return [t("layer", "层"), t("work", "工作量"), t("traffic", "访存量"), t("FLOPs a byte", "FLOPs/字节"),
            t("time", "耗时"), t("achieved", "达到"), t("limited by", "受限于"), t("share of the roof", "占屋顶"),
            t("interval", "区间")]


def text(found: Roofline) -> str:
    """The sentence, the table, the remarks."""
    lines = [_header(), *_cells(found)]
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
    table = ["  ".join(cell.rjust(w) if at else cell.ljust(w)
                       for at, (cell, w) in enumerate(zip(line, widths, strict=True))) for line in lines]
    return "\n".join([found.sentence(), "", *table, "", *(f"  {line}" for line in remarks(found))])


def page(found: Roofline) -> str:
    """The same as HTML; of a long model the layers that take longest, and all of them folded away below."""
    notes = "".join(f"<div><small>{html.escape(line)}</small></div>" for line in remarks(found))
    return (f"<div><p><strong>{html.escape(found.sentence())}</strong></p>"
            f'<div style="overflow-x:auto">{_tables(found)}</div>{notes}</div>')


def _tables(found: Roofline) -> str:
    lines, header = _cells(found), _header()
    if len(found.layers) <= FOLDED:
        return _table(header, lines)
    longest = sorted(range(len(found.layers)), key=lambda place: -found.layers[place].time_ms)[:FOLDED]
    every = t(f"Above, the {FOLDED} layers that take longest; here all {len(found.layers)}, in their order",
              f"上面是耗时最多的 {FOLDED} 层；这里按先后列出全部 {len(found.layers)} 层")
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

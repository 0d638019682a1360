"""Layers under their roof as a text and as HTML: functions of the sentence, the whole model, its layers and remarks."""

from __future__ import annotations

import html
from collections.abc import Sequence

from course.i18n import t
from course.roofline.layer import Layer
from course.roofline.words import between, bound_word, percent, scaled
from course.tables import as_html, as_text
from course.timing import format_ms
from course.timing.faults import LARGE_SHARE

FOLDED = 12
"""Of a model with more layers than this, a notebook shows the longest ones and folds the rest away."""


def _limit(layer: Layer) -> str:
    """What limits it; page faults beside it where they fill much of the time."""
    word = bound_word(layer.bound)
    if layer.fault_share <= LARGE_SHARE:
        return word
    return t(f"{word}; page faults {percent(layer.fault_share)}", f"{word}；缺页 {percent(layer.fault_share)}")


def _cells(whole: Layer, layers: Sequence[Layer]) -> list[list[str]]:
    lines = []
    for layer in (whole, *layers):
        work = t("memory only", "仅访存") if layer.memory_only else scaled(layer.flops, "FLOP")
        rate = scaled(layer.bytes_per_s, "B/s") if layer.memory_only else scaled(layer.flops_per_s, "FLOP/s")
        lines.append(
            [
                t(f"whole model: {layer.kind}", f"整个模型：{layer.kind}") if layer is whole else layer.label,
                work,
                scaled(layer.moved, "B"),
                "–" if layer.memory_only else f"{layer.intensity:.3g}",
                format_ms(layer.time_ms),
                rate,
                _limit(layer),
                "–" if layer.share is None else percent(layer.share),
                between(*layer.share_interval) if layer.samples_ms and layer.share_interval else "–",
            ]
        )
    return lines


def _header() -> list[str]:
    return [
        t("layer", "层"),
        t("work", "工作量"),
        t("traffic", "访存量"),
        t("FLOPs a byte", "FLOPs/字节"),
        t("time", "耗时"),
        t("achieved", "达到"),
        t("limited by", "受限于"),
        t("share of the roof", "占屋顶"),
        t("interval", "区间"),
    ]


def text(sentence: str, whole: Layer, layers: Sequence[Layer], remarks: Sequence[str]) -> str:
    """The sentence, the table, the remarks."""
    table = as_text([_header(), *_cells(whole, layers)])
    return "\n".join([sentence, "", *table, "", *(f"  {line}" for line in remarks)])


def page(sentence: str, whole: Layer, layers: Sequence[Layer], remarks: Sequence[str]) -> str:
    """The same as HTML; of a long model the layers that take longest, and all of them folded away below."""
    notes = "".join(f"<div><small>{html.escape(line)}</small></div>" for line in remarks)
    return (
        f"<div><p><strong>{html.escape(sentence)}</strong></p>"
        f'<div style="overflow-x:auto">{_tables(whole, layers)}</div>{notes}</div>'
    )


def _tables(whole: Layer, layers: Sequence[Layer]) -> str:
    lines, header = _cells(whole, layers), _header()
    if len(layers) <= FOLDED:
        return as_html([header, *lines])
    longest = sorted(range(len(layers)), key=lambda place: -layers[place].time_ms)[:FOLDED]
    every = t(
        f"Above, the {FOLDED} layers that take longest; here all {len(layers)}, in their order",
        f"上面是耗时最多的 {FOLDED} 层；这里按先后列出全部 {len(layers)} 层",
    )
    return (
        as_html([header, lines[0], *(lines[1 + place] for place in longest)])
        + f"<details><summary>{every}</summary>{as_html([header, *lines])}</details>"
    )

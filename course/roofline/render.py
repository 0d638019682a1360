"""Where the time of a model goes, as a table in text and in HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence

from course.core.i18n import t
from course.core.tables import as_html, as_text
from course.core.units import format_ms, scaled
from course.roofline.layer import OUTSIDE, TINY, Layer
from course.roofline.words import between, bound_word, cannot, percent
from course.timing import enough

FOLDED = 12
"""Of a model with more layers than this, a notebook shows the longest ones and folds the rest away."""


def _header() -> list[str]:
    return t(
        "layer|output|parameters|FLOPs|bytes|time|of the time|likely range|limited by|of its roof|likely range",
        "层|输出|参数|FLOPs|字节|耗时|占耗时|可能范围|受限于|占屋顶|可能范围",
    ).split("|")


def _line(name: str, layer: Layer, every: Sequence[Layer]) -> list[str]:
    """A line of the table; `every`: those whose time is 100 %."""
    sure, known = enough(len(layer.samples_ms)), layer.name != OUTSIDE
    share, low, high = layer.part_of(every)
    return [
        name,
        layer.shape.rpartition(" -> ")[2],
        f"{layer.params:,}" if known else "–",
        scaled(layer.flops, "") if layer.flops else t("memory only", "仅访存") if known else "–",
        scaled(layer.moved, "B") if known else "–",
        format_ms(layer.time_ms),
        percent(share),
        between(low, high) if sure else "–",
        bound_word(layer.bound) if known else "–",
        percent(layer.least_ms / max(layer.time_ms, TINY)) if layer.least_ms else "–",
        between(*layer.share_interval) if sure and layer.least_ms else "–",
    ]


def _lines(whole: Layer, layers: Sequence[Layer], order: str) -> list[list[str]]:
    if order not in ("run", "time"):
        raise cannot(f'order is "run" or "time", not {order!r}.', f'order 只能是 "run" 或 "time"，而不是 {order!r}。')
    ordered = sorted(layers, key=lambda layer: -layer.time_ms) if order == "time" else layers
    first = _line(t(f"whole model: {whole.kind}", f"整个模型：{whole.kind}"), whole, [whole])
    return [_header(), first, *(_line(layer.label, layer, layers) for layer in ordered)]


def table(whole: Layer, layers: Sequence[Layer], order: str) -> str:
    """The table as text, as the layers ran ("run") or the longest first ("time")."""
    return "\n".join(as_text(_lines(whole, layers, order)))


def page(sentences: Sequence[str], whole: Layer, layers: Sequence[Layer], remarks: Sequence[str]) -> str:
    """Sentences, table and remarks as HTML; of a long model the rows that take longest, and all of them folded away."""
    first, *more = map(html.escape, sentences)
    notes = "".join(f"<div><small>{html.escape(line)}</small></div>" for line in remarks)
    shown = as_html(_lines(whole, layers, "run"))
    if len(layers) > FOLDED:
        every = t(f"All {len(layers)} rows, as they ran", f"全部 {len(layers)} 行，按运行顺序")
        longest = as_html(_lines(whole, layers, "time")[: FOLDED + 2])
        shown = f"{longest}<details><summary>{every}</summary>{shown}</details>"
    return (
        f"<div><p><strong>{first}</strong>{''.join(f'<br>{line}' for line in more)}</p>"
        f'<div style="overflow-x:auto">{shown}</div>{notes}</div>'
    )

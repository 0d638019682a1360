"""Where the time of a model goes, as a table in text and in HTML."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence

from course.i18n import t
from course.roofline.layer import ENOUGH, TINY, Alike, Layer
from course.roofline.words import RooflineError, between, bound_word, percent
from course.tables import as_html, as_text
from course.timing.faults import LARGE_SHARE
from course.units import format_ms, scaled

FOLDED = 12
"""Of a model with more layers than this, a notebook shows the longest ones and folds the rest away."""


def _limit(layer: Layer) -> str:
    """What limits it; page faults beside it where they fill much of the time."""
    word = bound_word(layer.bound)
    if layer.fault_share <= LARGE_SHARE:
        return word
    return t(f"{word}; page faults {percent(layer.fault_share)}", f"{word}；缺页 {percent(layer.fault_share)}")


def _header() -> list[str]:
    return [
        t("layer", "层"),
        t("output", "输出"),
        t("parameters", "参数"),
        "FLOPs",
        t("bytes", "字节"),
        t("time", "耗时"),
        t("of the time", "占耗时"),
        t("likely range", "可能范围"),
        t("limited by", "受限于"),
        t("of its roof", "占屋顶"),
        t("likely range", "可能范围"),
    ]


def _line(name: str, layers: Sequence[Layer], every: Sequence[Layer]) -> list[str]:
    """A line of the table for one layer, or for several taken together; `every`: those whose time is 100 %."""
    these = Alike(tuple(layers))
    share, low, high = these.part_of(Alike(tuple(every)))
    flops, sure = sum(layer.flops for layer in layers), all(len(layer.samples_ms) >= ENOUGH for layer in layers)
    return [
        name,
        layers[-1].output,
        f"{sum(layer.params for layer in layers):,}",
        t("memory only", "仅访存") if not flops else scaled(flops, ""),
        scaled(sum(layer.moved for layer in layers), "B"),
        format_ms(these.time_ms),
        percent(share),
        between(low, high) if sure else "–",
        _limit(max(layers, key=lambda layer: layer.time_ms)),
        percent(these.least_ms / max(these.time_ms, TINY)) if these.least_ms else "–",
        between(*these.share_interval) if sure and these.least_ms else "–",
    ]


def _tree(every: Sequence[Layer]) -> Iterator[tuple[str, list[Layer]]]:
    """Modules and the layers in them, indented, in the order of their first layer."""
    below: dict[str, list[Layer]] = {}
    for layer in every:
        parts = layer.name.split(".")
        for end in range(1, len(parts) + 1):
            below.setdefault(".".join(parts[:end]), []).append(layer)
    kinds = {layer.name: f" ({layer.kind})" for layer in every}

    def under(name: str, level: int) -> Iterator[tuple[str, list[Layer]]]:
        for path, layers in below.items():
            parent, _, child = path.rpartition(".")
            if parent == name:
                yield "  " * level + child + kinds.get(path, ""), layers
                yield from under(path, level + 1)

    yield from under("", 1)


def _lines(whole: Layer, layers: Sequence[Layer], order: str) -> list[list[str]]:
    if order not in ("run", "time", "tree"):
        raise RooflineError(
            t(
                f'order is "run", "time" or "tree", not {order!r}.',
                f'order 只能是 "run"、"time" 或 "tree"，而不是 {order!r}。',
            )
        )
    lines = [_header(), _line(t(f"whole model: {whole.kind}", f"整个模型：{whole.kind}"), [whole], [whole])]
    if order == "tree":
        return lines + [_line(name, below, layers) for name, below in _tree(layers)]
    ordered = sorted(layers, key=lambda layer: -layer.time_ms) if order == "time" else layers
    return lines + [_line(layer.label, [layer], layers) for layer in ordered]


def table(whole: Layer, layers: Sequence[Layer], order: str) -> str:
    """The table as text, as the layers ran ("run"), the longest first ("time") or as a tree of modules ("tree")."""
    return "\n".join(as_text(_lines(whole, layers, order)))


def page(sentences: Sequence[str], whole: Layer, layers: Sequence[Layer], remarks: Sequence[str]) -> str:
    """Sentences, table and remarks as HTML; of a long model the layers that take longest, and all of them as a tree folded away."""
    first, *more = map(html.escape, sentences)
    notes = "".join(f"<div><small>{html.escape(line)}</small></div>" for line in remarks)
    return (
        f"<div><p><strong>{first}</strong>{''.join(f'<br>{line}' for line in more)}</p>"
        f'<div style="overflow-x:auto">{_tables(whole, layers)}</div>{notes}</div>'
    )


def _tables(whole: Layer, layers: Sequence[Layer]) -> str:
    if len(layers) <= FOLDED:
        return as_html(_lines(whole, layers, "run"))
    every = t(
        f"Above, the {FOLDED} layers that take longest; here all {len(layers)}, as a tree of modules",
        f"上面是耗时最多的 {FOLDED} 层；这里按模块树列出全部 {len(layers)} 层",
    )
    longest, tree = _lines(whole, layers, "time")[: FOLDED + 2], _lines(whole, layers, "tree")
    return as_html(longest) + f"<details><summary>{every}</summary>{as_html(tree)}</details>"

"""The plots of a report as inline SVG in the page's colours, light or dark; black in print."""

from __future__ import annotations

import html
from collections.abc import Sequence

WIDTH, ROW, LEFT, RIGHT = 720, 26, 190, 20


def intervals(rows: Sequence[tuple[str, float, float, float]], label: str) -> str:
    """A dot with its interval for each (name, share, low, high), on an axis from 0 to 100 %."""
    height, wide = ROW * len(rows) + 34, WIDTH - LEFT - RIGHT

    def x(share: float) -> float:
        return round(LEFT + wide * share, 1)

    bottom = ROW * len(rows) + 6
    parts = [
        f'<line class="grid" x1="{x(s)}" y1="4" x2="{x(s)}" y2="{bottom}"/>'
        f'<text class="tick" x="{x(s)}" y="{bottom + 18}" text-anchor="middle">{s:.0%}</text>'.replace("%<", " %<")
        for s in (0, 0.25, 0.5, 0.75, 1)
    ]
    for place, (name, share, low, high) in enumerate(rows):
        y = ROW * place + 18
        parts.append(
            f'<text x="{LEFT - 10}" y="{y + 4}" text-anchor="end">{html.escape(_short(name))}</text>'
            f'<line class="bar" x1="{x(low)}" y1="{y}" x2="{x(high)}" y2="{y}"/>'
            f'<circle class="dot" cx="{x(share)}" cy="{y}" r="5"><title>{html.escape(name)}: {100 * share:.0f} % '
            f"({100 * low:.0f} to {100 * high:.0f} %)</title></circle>"
        )
    return _svg(height, label, parts)


def histogram(shares: Sequence[float], label: str, bins: int = 10) -> str:
    """A bar for each of ``bins`` equal steps: how many of ``shares`` (0..1) are in it; 1 is in the last."""
    counts = [0] * bins
    for share in shares:
        counts[min(bins - 1, int(share * bins + 1e-9))] += 1
    wide, tall, most = (WIDTH - 2 * RIGHT) / bins, 110, max([1, *counts])
    parts = []
    for place, count in enumerate(counts):
        left, height = RIGHT + place * wide, tall * count / most
        parts.append(
            f'<rect class="fill" x="{left + 2:.1f}" y="{20 + tall - height:.1f}" width="{wide - 4:.1f}" height="{height:.1f}"/>'
        )
        if count:
            parts.append(
                f'<text x="{left + wide / 2:.1f}" y="{15 + tall - height:.1f}" text-anchor="middle">{count}</text>'
            )
        parts.append(
            f'<text class="tick" x="{left:.1f}" y="{tall + 38}" text-anchor="middle">{100 * place // bins} %</text>'
        )
    parts.append(
        f'<text class="tick" x="{RIGHT + bins * wide:.1f}" y="{tall + 38}" text-anchor="middle">100 %</text>'
        f'<line class="axis" x1="{RIGHT}" y1="{tall + 20}" x2="{WIDTH - RIGHT}" y2="{tall + 20}"/>'
    )
    return _svg(tall + 46, label, parts)


def _svg(height: float, label: str, parts: list[str]) -> str:
    return (
        f'<div class="wide"><svg viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{html.escape(label, quote=True)}">{"".join(parts)}</svg></div>'
    )


def _short(name: str) -> str:
    return name if len(name) <= 26 else name[:25] + "…"

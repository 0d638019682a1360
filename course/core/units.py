"""How figures are written: times and quantities with a unit, ratios with as many decimals as their interval deserves, points."""

from __future__ import annotations


def format_ms(ms: float) -> str:
    """A time with three significant figures and a unit that suits: 812 ms, 3.10 ms, 41.2 µs, 85.0 ns."""
    for limit, scale, unit in ((1e-3, 1e6, "ns"), (1.0, 1e3, "µs"), (1e3, 1.0, "ms")):
        if ms < limit * 0.9995:
            return f"{_three(ms * scale)} {unit}"
    return f"{_three(ms / 1e3)} s"


def _three(value: float) -> str:
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{digits}f}"


def scaled(value: float, unit: str) -> str:
    """A quantity with three significant figures and a decimal prefix: 1.20 GFLOP/s, 25.1 GB/s."""
    for limit, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= limit * 0.9995:
            return f"{_three(value / limit)} {prefix}{unit}"
    return f"{value:.0f} {unit}" if value == int(value) else f"{_three(value)} {unit}"


def format_points(points: float) -> str:
    """Points as a mark shows them, in either language: to the hundredth, no zeros at the end: 6.25, 0.67, 13, 100.5."""
    return f"{round(points, 2) + 0.0:.2f}".rstrip("0").rstrip(".")


def format_ratio(ratio: float, low: float, high: float) -> tuple[str, str, str]:
    """A ratio and the ends of its interval, all with the same number of digits."""
    digits = 4 if high - low < 0.004 else 3
    if high < 0.1 or high >= 10:
        return f"{ratio:.3g}", f"{low:.3g}", f"{high:.3g}"
    return f"{ratio:.{digits}f}", f"{low:.{digits}f}", f"{high:.{digits}f}"

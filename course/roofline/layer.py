"""One layer under its roof: work, traffic, time, and what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from course.core.i18n import t
from course.roofline.roof import Peaks
from course.timing import enough, interval_or_none

TINY = 1e-12
"""Stands in for a time of 0, so that nothing is divided by it."""
NEAR = 4
"""A layer is limited by overhead if that exceeds what its roof asks for and is 1 / NEAR of its time at least."""
OUTSIDE = "(outside the layers)"
"""The name of what runs in no layer: functions called in a forward, Python between the layers."""


@dataclass(frozen=True)
class Layer:
    """One layer (or the whole model, or what runs outside the layers) and its roof.

    name: dotted path, "" for the model itself, OUTSIDE for what runs in no layer. kind: class name. flops: work of all its calls in
    one forward. moved: bytes of ideal traffic: inputs + weights + outputs, each once a call. time_ms: median time of all its calls
    in one forward. calls: how often it ran. peaks: what the roof is made of. samples_ms: the times behind the median, one a round
    (none: a time without an interval). overhead_ms: what these calls take at least however little they do: on a CPU the time of an
    operator on a single number, on an accelerator that of the Python thread that issues them.
    """

    name: str
    kind: str
    flops: int
    moved: int
    time_ms: float
    calls: int
    peaks: Peaks
    samples_ms: tuple[float, ...] = ()
    overhead_ms: float = 0.0

    @property
    def intensity(self) -> float:
        """FLOPs a byte; infinite where nothing is moved."""
        if not self.moved:
            return float("inf") if self.flops else 0.0
        return self.flops / self.moved

    @property
    def least_ms(self) -> float:
        """The shortest time the roof allows, in ms; 0 outside the layers, whose traffic is not known."""
        return 0.0 if self.name == OUTSIDE else self.peaks.least_s(self.flops, self.moved) * 1e3

    @property
    def bound(self) -> str:
        """What limits it: `compute`, `memory`, or neither of them: `overhead`; of what runs in no layer `outside`."""
        if self.name == OUTSIDE:
            return "outside"
        if self.overhead_ms > self.least_ms and NEAR * self.overhead_ms >= self.time_ms:
            return "overhead"
        return "compute" if self.flops and self.intensity >= self.peaks.ridge else "memory"

    @property
    def flops_per_s(self) -> float:
        """Achieved FLOP/s."""
        return self.flops / max(self.time_ms * 1e-3, TINY)

    @property
    def label(self) -> str:
        """Name and class, for people."""
        if self.name == OUTSIDE:
            return t("outside the layers", "各层之外")
        return f"{self.name} ({self.kind})" if self.name else self.kind

    @property
    def interval_ms(self) -> tuple[float, float]:
        """95 % interval of its median; twice the time where the rounds carry none."""
        return _ends(self.samples_ms, self.time_ms)

    @property
    def share_interval(self) -> tuple[float, float]:
        """Least time / time at both ends of the interval."""
        low, high = self.interval_ms
        return self.least_ms / max(high, TINY), self.least_ms / max(low, TINY)

    def part_of(self, layers: Sequence[Layer]) -> tuple[float, float, float]:
        """Its time / that of `layers`, and the 95 % interval of it round by round: what slows down a whole round cancels out."""
        part = self.time_ms / max(sum(layer.time_ms for layer in layers), TINY)
        rounds_ms = map(sum, zip(*(layer.samples_ms for layer in layers), strict=False))
        low, high = _ends(
            [mine / max(every, TINY) for mine, every in zip(self.samples_ms, rounds_ms, strict=False)], part
        )
        return part, min(low, part), max(high, part)

    def row(self) -> dict[str, Any]:
        """The layer as plain data."""
        sure, seconds = enough(len(self.samples_ms)), max(self.time_ms * 1e-3, TINY)
        low, high = self.interval_ms if sure else (None, None)
        share_low, share_high = self.share_interval if sure and self.least_ms else (None, None)
        return {
            "layer": self.name,
            "kind": self.kind,
            "calls": self.calls,
            "flops": self.flops,
            "bytes": self.moved,
            "flops_per_byte": self.intensity,
            "time_ms": self.time_ms,
            "low_ms": low,
            "high_ms": high,
            "flops_per_s": self.flops_per_s,
            "roof_flops_per_s": self.peaks.roof(self.intensity),
            "share_of_roof": self.least_ms * 1e-3 / seconds if self.least_ms else None,
            "share_low": share_low,
            "share_high": share_high,
            "bound": self.bound,
            "overhead_ms": self.overhead_ms,
        }


def _ends(values: Sequence[float], value: float) -> tuple[float, float]:
    """The ends of the 95 % interval of the median of `values`; twice `value` where they carry none."""
    found = interval_or_none(values)
    return (found.low, found.high) if found else (value, value)


def by_bound(layers: Sequence[Layer]) -> dict[str, float]:
    """The part of the time that each limit has, largest first; limits without a layer are left out."""
    total, parts = max(sum(layer.time_ms for layer in layers), TINY), dict[str, float]()
    for layer in layers:
        parts[layer.bound] = parts.get(layer.bound, 0.0) + layer.time_ms / total
    return dict(sorted(parts.items(), key=lambda item: -item[1]))

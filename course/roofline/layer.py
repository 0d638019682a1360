"""The roof of one device, and one layer under it, as plain data: work, traffic, time, and what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Any

from course.core.i18n import t
from course.core.units import scaled
from course.timing import enough, interval_or_none

ROW = "flops_per_s bytes_per_s ridge dtype device threads precision created".split()
TINY = 1e-12
"""Stands in for a time of 0, so that nothing is divided by it."""
NEAR = 4
"""A layer is limited by overhead if that exceeds what its roof asks for and is 1 / NEAR of its time at least."""
OUTSIDE = "(outside the layers)"
"""The name of what runs in no layer: functions called in a forward, Python between the layers."""


@dataclass(frozen=True)
class Peaks:
    """The measured peaks of one device.

    flops_per_s: FLOP/s of the best matrix product or convolution. bytes_per_s: bytes/s of the best memory stream.
    dtype: "float32" and the like. threads: CPU threads in force. created: UTC, ISO 8601. precision: that of float32 in force, for products
    and for convolutions (a float32 peak depends on it). notes: sentences.
    """

    flops_per_s: float
    bytes_per_s: float
    dtype: str
    device: str
    threads: int
    created: str
    precision: str = ""
    notes: tuple[str, ...] = ()

    @property
    def ridge(self) -> float:
        """FLOPs a byte above which arithmetic, not memory, is the limit."""
        return self.flops_per_s / self.bytes_per_s

    def roof(self, intensity: float) -> float:
        """The roof in FLOP/s at `intensity` FLOPs a byte: the lower of arithmetic and memory."""
        return min(self.flops_per_s, intensity * self.bytes_per_s)

    def least_s(self, flops: float, moved: float) -> float:
        """The shortest time in seconds the roof allows for this much work and this many bytes."""
        return max(flops / self.flops_per_s, moved / self.bytes_per_s)

    def rows(self) -> list[dict[str, Any]]:
        """One tidy row of plain data."""
        return [{key: getattr(self, key) for key in ROW}]

    def sentence(self) -> str:
        """Both peaks, the ridge and where and when they were measured."""
        work, traffic = scaled(self.flops_per_s, "FLOP/s"), scaled(self.bytes_per_s, "B/s")
        threads = t(f", {self.threads} CPU thread{'s' * (self.threads != 1)}", f"，{self.threads} 个 CPU 线程")
        where, day = self.device + (threads if self.device == "cpu" else ""), self.created[:10]
        return t(
            f"Measured peak on {where}: {work} in {self.dtype}, {traffic}; "
            f"the ridge is at {self.ridge:.1f} FLOPs a byte (measured {day}).",
            f"实测峰值（{where}）：{self.dtype} 为 {work}，访存为 {traffic}；"
            f"拐点在每字节 {self.ridge:.1f} FLOPs（测于 {day}）。",
        )

    def __str__(self) -> str:
        return "\n".join([self.sentence(), *(f"  ! {note}" for note in self.notes)])

    __repr__ = __str__


@dataclass(frozen=True)
class Layer:
    """One layer (or the whole model, or what runs outside the layers) and its roof.

    name: dotted path, "" for the model itself, OUTSIDE for what runs in no layer. kind: class name. flops: work of all its calls in
    one forward. moved: bytes of ideal traffic: inputs + weights + outputs, each once a call. calls: how often it ran. peaks: what the
    roof is made of. samples_ms: the times of all its calls in one forward, one a round. overhead_ms: what these calls take at least however
    little they do: on a CPU the time of an operator on a single number, on an accelerator that of the Python thread that issues them.
    """

    name: str
    kind: str
    flops: int
    moved: int
    calls: int
    peaks: Peaks
    samples_ms: tuple[float, ...]
    overhead_ms: float = 0.0

    @cached_property
    def time_ms(self) -> float:
        """The median time of all its calls in one forward."""
        return median(self.samples_ms)

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

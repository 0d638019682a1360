"""One layer under its roof: work, traffic, time, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from course.roofline.roof import Peaks

TINY = 1e-12
"""Stands in for a time of 0, so that nothing is divided by it."""


@dataclass(frozen=True)
class Layer:
    """One layer (or the whole model) and its roof.

    name: dotted path, "" for the model itself. kind: class name. flops: work of all its calls in one forward.
    moved: bytes of ideal traffic: inputs + weights + outputs, each once a call. time_ms: median time of
    all its calls in one forward. calls: how often it ran. peaks: what the roof is made of.
    """

    name: str
    kind: str
    flops: int
    moved: int
    time_ms: float
    calls: int
    peaks: Peaks

    @property
    def intensity(self) -> float:
        """FLOPs a byte; infinite where nothing is moved."""
        if not self.moved:
            return float("inf") if self.flops else 0.0
        return self.flops / self.moved

    @property
    def bound(self) -> str:
        """Which roof is the lower one here: `compute` or `memory`."""
        return "compute" if self.flops and self.intensity >= self.peaks.ridge else "memory"

    @property
    def memory_only(self) -> bool:
        """Whether the layer only moves data: no FLOPs by the convention of course.flops."""
        return self.flops == 0

    @property
    def flops_per_s(self) -> float:
        """Achieved FLOP/s."""
        return self.flops / max(self.time_ms * 1e-3, TINY)

    @property
    def bytes_per_s(self) -> float:
        """Achieved bytes/s of ideal traffic."""
        return self.moved / max(self.time_ms * 1e-3, TINY)

    @property
    def roof(self) -> float:
        """The most FLOP/s the machine's measured peaks allow at this intensity."""
        return self.peaks.roof(self.intensity)

    @property
    def share(self) -> float | None:
        """Shortest time the roof allows / time taken; None where there is neither work nor traffic."""
        least = self.peaks.least_s(self.flops, self.moved)
        return least / max(self.time_ms * 1e-3, TINY) if least else None

    @property
    def label(self) -> str:
        """Name and class, for people."""
        return f"{self.name} ({self.kind})" if self.name else self.kind

    def row(self) -> dict[str, Any]:
        """The layer as plain data."""
        return {
            "layer": self.name, "kind": self.kind, "calls": self.calls, "flops": self.flops,
            "bytes": self.moved, "flops_per_byte": self.intensity, "time_ms": self.time_ms,
            "flops_per_s": self.flops_per_s, "bytes_per_s": self.bytes_per_s, "roof_flops_per_s": self.roof,
            "share_of_roof": self.share, "bound": self.bound, "memory_only": self.memory_only,
        }

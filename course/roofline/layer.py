"""One layer under its roof: work, traffic, time, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from course.roofline.roof import Peaks
from course.timing import stats

TINY = 1e-12
"""Stands in for a time of 0, so that nothing is divided by it."""
NEAR = 4
"""A layer is limited by overhead if that exceeds what its roof asks for and is 1 / NEAR of its time at least."""
ENOUGH = stats.FEWEST_ROUNDS
"""Samples from which on a median has an interval: with fewer no range is shown, no layer named, no roof raised."""
BOUNDS = ("compute", "memory", "overhead")


def ends(values: Sequence[float], value: float) -> tuple[float, float]:
    """The ends of the 95 % interval of the median of `values`; twice `value` where they carry none."""
    found = stats.interval_or_none(values)
    return (found.low, found.high) if found else (value, value)


@dataclass(frozen=True)
class Layer:
    """One layer (or the whole model) and its roof.

    name: dotted path, "" for the model itself. kind: class name. flops: work of all its calls in one forward.
    moved: bytes of ideal traffic: inputs + weights + outputs, each once a call. time_ms: median time of
    all its calls in one forward. calls: how often it ran. peaks: what the roof is made of. samples_ms: the times
    behind the median, one a round (none: a time without an interval). overhead_ms: what these calls take at
    least however little they do: on a CPU the time of an operator on a single number, on an accelerator the time
    of the Python thread that issues them. faults: minor page faults in one forward. fault_share: the part of the
    time (0 to 1) they take. shape: input and output of its first call, as "1x64x56x56 -> 1x64x56x56".
    params: numbers in its parameters (a tied one counts in the layer that has it first).
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
    faults: float = 0.0
    fault_share: float = 0.0
    shape: str = ""
    params: int = 0

    @cached_property
    def _own(self) -> Peaks:
        """The peaks that this class of layer is held against."""
        return self.peaks.of(self.kind)

    @cached_property
    def interval_ms(self) -> tuple[float, float]:
        """95 % interval of the median within this run; twice the median where the samples carry none."""
        return ends(self.samples_ms, self.time_ms)

    @property
    def intensity(self) -> float:
        """FLOPs a byte; infinite where nothing is moved."""
        if not self.moved:
            return float("inf") if self.flops else 0.0
        return self.flops / self.moved

    @property
    def least_ms(self) -> float:
        """The shortest time the roof allows, in ms."""
        return self._own.least_s(self.flops, self.moved) * 1e3

    @property
    def bound(self) -> str:
        """What limits it: `compute`, `memory`, or neither of them: `overhead`."""
        if self.overhead_ms > self.least_ms and NEAR * self.overhead_ms >= self.time_ms:
            return "overhead"
        return "compute" if self.flops and self.intensity >= self._own.ridge else "memory"

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
        return self._own.roof(self.intensity)

    @property
    def share(self) -> float | None:
        """Shortest time the roof allows / time taken; None where there is neither work nor traffic."""
        return self.least_ms / max(self.time_ms, TINY) if self.least_ms else None

    @property
    def from_roof(self) -> float | None:
        """How many times the shortest time the roof allows it takes; None where there is neither work nor traffic."""
        return None if self.share is None else 1 / max(self.share, TINY)

    @property
    def output(self) -> str:
        """The shapes of what its first call gave back, as "1x64x56x56"."""
        return self.shape.rpartition(" -> ")[2]

    @property
    def label(self) -> str:
        """Name and class, for people."""
        return f"{self.name} ({self.kind})" if self.name else self.kind

    def row(self) -> dict[str, Any]:
        """The layer as plain data."""
        (low, high), sure = self.interval_ms, len(self.samples_ms) >= ENOUGH
        shares = Alike((self,)).share_interval if sure and self.least_ms else (None, None)
        return {
            "layer": self.name,
            "kind": self.kind,
            "shape": self.shape,
            "output": self.output,
            "params": self.params,
            "calls": self.calls,
            "flops": self.flops,
            "bytes": self.moved,
            "flops_per_byte": self.intensity,
            "time_ms": self.time_ms,
            "low_ms": low if sure else None,
            "high_ms": high if sure else None,
            "flops_per_s": self.flops_per_s,
            "bytes_per_s": self.bytes_per_s,
            "roof_flops_per_s": self.roof,
            "times_from_roof": self.from_roof,
            "share_of_roof": self.share,
            "share_low": shares[0],
            "share_high": shares[1],
            "bound": self.bound,
            "memory_only": self.memory_only,
            "overhead_ms": self.overhead_ms,
            "page_faults": self.faults,
            "fault_share": self.fault_share,
        }


@dataclass(frozen=True)
class Alike:
    """Layers taken together, in the order they ran; those of `alike` have one class, shape and amount of work."""

    layers: tuple[Layer, ...]

    @property
    def first(self) -> Layer:
        return self.layers[0]

    @cached_property
    def time_ms(self) -> float:
        """Time of all of them in one forward: the median over the rounds."""
        if len(self.layers) == 1 or not self.rounds_ms:
            return sum(layer.time_ms for layer in self.layers)
        return stats.median(self.rounds_ms)

    @cached_property
    def rounds_ms(self) -> tuple[float, ...]:
        """The time of all of them in each round, in ms."""
        return tuple(sum(times) for times in zip(*(layer.samples_ms for layer in self.layers), strict=False))

    @property
    def interval_ms(self) -> tuple[float, float]:
        """95 % interval of its median; twice the median where the rounds carry none."""
        return ends(self.rounds_ms, self.time_ms)

    def part_of(self, other: Alike) -> tuple[float, float, float]:
        """Its time / the other's: the median over the rounds, in which what slows down a whole round cancels out, and its 95 %
        interval."""
        ratios = [mine / max(its, TINY) for mine, its in zip(self.rounds_ms, other.rounds_ms, strict=False)]
        middle = stats.median(ratios or [self.time_ms / max(other.time_ms, TINY)])
        return middle, *ends(ratios, middle)

    @property
    def least_ms(self) -> float:
        """The shortest time the roof allows all of them, in ms."""
        return sum(layer.least_ms for layer in self.layers)

    @property
    def share_interval(self) -> tuple[float, float]:
        """Least time / time at both ends of the interval."""
        low, high = self.interval_ms
        return self.least_ms / max(high, TINY), self.least_ms / max(low, TINY)

    @property
    def fault_share(self) -> float:
        """Part of the time that page faults take."""
        return sum(layer.fault_share * layer.time_ms for layer in self.layers) / max(self.time_ms, TINY)


def alike(layers: Iterable[Layer]) -> list[Alike]:
    """The layers in groups of equal class, shape, work, traffic and calls, those that take longest first."""
    groups: dict[tuple[Any, ...], list[Layer]] = {}
    for layer in layers:
        own = layer.name if not layer.shape else ""  # of unknown shape: alike with none
        key = (layer.kind, layer.shape, layer.flops, layer.moved, layer.calls, layer.bound, own)
        groups.setdefault(key, []).append(layer)
    return sorted((Alike(tuple(group)) for group in groups.values()), key=lambda group: -group.time_ms)


def by_bound(layers: Sequence[Layer]) -> dict[str, float]:
    """The part of the layers' time that each limit has, largest first; limits without a layer are left out."""
    total = max(sum(layer.time_ms for layer in layers), TINY)
    parts = {bound: sum(layer.time_ms for layer in layers if layer.bound == bound) / total for bound in BOUNDS}
    return {bound: part for bound, part in sorted(parts.items(), key=lambda item: -item[1]) if part}

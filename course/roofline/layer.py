"""The roof of one device, and the row of one layer under it, as plain data: work, traffic, time, and what follows from them; and the words
for it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from course.core.i18n import t
from course.core.units import scaled
from course.timing.stats import interval_or_none

QUIET = 0.85
"""Least share of the processor time it could use that this process must get for its times to be believed."""
TINY = 1e-12
"""Stands in for a time of 0, so that nothing is divided by it."""
NEAR = 4
"""A layer is limited by overhead if that exceeds what its roof asks for and is 1 / NEAR of its time at least."""
OUTSIDE = "(outside the layers)"
"""The name of what runs in no layer: functions called in a forward, Python between the layers."""

Row = Mapping[str, Any]


class RooflineError(ValueError):
    """Something that cannot be placed as given. A notebook shows its sentence alone, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def disturbed(got: float) -> list[str]:
    """What to say where this process got so much of the processor time it could use."""
    said = t(
        f"Disturbed: this process got only {got:.0%} of the processor time it could use. Other programs, or threads that share a core, "
        "make times too long and peaks too low, and take the caches; run it again when the machine is quieter.",
        f"受到干扰：本进程只拿到了可用处理器时间的 {got:.0%}。其他程序，或者挤在同一个核上的线程，会拉长耗时、压低峰值、占用缓存；"
        "请在机器空闲时再运行一次。",
    )
    return [said] * (got < QUIET)


@dataclass(frozen=True, repr=False)
class Peaks:
    """The measured peaks of one device.

    flops_per_s: FLOP/s of the best matrix product or convolution. bytes_per_s: bytes/s of the best memory stream.
    dtype: "float32" and the like. threads: CPU threads in force. machine: its passport (course.core.machine). created: UTC, ISO 8601.
    precision: that of float32 in force, for products and convolutions (a float32 peak depends on it). got: share of the processor time it
    could use that this process got then.
    """

    flops_per_s: float
    bytes_per_s: float
    dtype: str
    device: str
    threads: int
    machine: Mapping[str, Any]
    created: str
    precision: str = ""
    got: float = 1.0

    @property
    def ridge(self) -> float:
        """FLOPs a byte above which arithmetic, not memory, is the limit."""
        return self.flops_per_s / self.bytes_per_s

    def roof(self, intensity: float) -> float:
        """The roof in FLOP/s at `intensity` FLOPs a byte: the lower of arithmetic and memory."""
        return min(self.flops_per_s, intensity * self.bytes_per_s)

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

    def __repr__(self) -> str:
        return "\n".join([self.sentence(), *(f"  ! {note}" for note in disturbed(self.got))])


def row_of(
    name: str,
    kind: str,
    calls: int,
    work: tuple[int, int],
    samples_s: Sequence[float],
    peaks: Peaks,
    overhead_s: float = 0.0,
    every: tuple[float, Sequence[float]] | None = None,
) -> dict[str, Any]:
    """One layer (or the whole model, or what runs outside the layers) under the roof.

    name: dotted path, "" for the model itself, OUTSIDE for what runs in no layer. kind: class name. calls: how often it ran in one forward.
    work: FLOPs of all its calls, and bytes of ideal traffic: inputs + weights + outputs, each once a call. samples_s: the times of all its
    calls, one a round; too few of them carry no range (95 %). overhead_s: what these calls take at least however little they do: on a CPU
    the time of an operator on a single number, on an accelerator that of the Python thread that issues them. every: the time of which its
    own is a part, and the same of each round: the range of the part goes by rounds, because what slows down a whole round cancels out.

    bound says what limits it: `compute`, `memory`, or neither of them: `overhead`; of what runs in no layer `outside`.
    """
    (flops, moved), seconds = work, max(median(samples_s), TINY)
    intensity = flops / moved if moved else math.inf if flops else 0.0
    least_s = 0.0 if name == OUTSIDE else max(flops / peaks.flops_per_s, moved / peaks.bytes_per_s)
    low, high = _ends(samples_s)
    total_s, rounds_s = every or (seconds, samples_s)
    part = seconds / max(total_s, TINY)
    part_low, part_high = _ends([one / max(all_s, TINY) for one, all_s in zip(samples_s, rounds_s, strict=True)])
    bound = "compute" if flops and intensity >= peaks.ridge else "memory"
    if overhead_s > least_s and NEAR * overhead_s >= seconds:
        bound = "overhead"
    return {
        "layer": name,
        "kind": kind,
        "calls": calls,
        "flops": flops,
        "bytes": moved,
        "flops_per_byte": intensity,
        "time_ms": 1e3 * seconds,
        "low_ms": low and 1e3 * low,
        "high_ms": high and 1e3 * high,
        "share_of_time": part,
        "share_of_time_low": part_low and min(part_low, part),
        "share_of_time_high": part_high and max(part_high, part),
        "flops_per_s": flops / seconds,
        "roof_flops_per_s": peaks.roof(intensity),
        "share_of_roof": least_s / seconds if least_s else None,
        "share_of_roof_low": least_s / max(high, TINY) if least_s and high else None,
        "share_of_roof_high": least_s / max(low, TINY) if least_s and low else None,
        "bound": "outside" if name == OUTSIDE else bound,
        "overhead_ms": 1e3 * overhead_s,
    }


def _ends(values: Sequence[float]) -> tuple[float, float] | tuple[None, None]:
    """The ends of the 95 % interval of the median of `values`; None where they carry none."""
    found = interval_or_none(values)
    return (found.low, found.high) if found else (None, None)


def by_bound(rows: Sequence[Row]) -> dict[str, float]:
    """The part of the time that each limit has, largest first; limits without a layer are left out."""
    total, parts = max(sum(row["time_ms"] for row in rows), TINY), dict[str, float]()
    for row in rows:
        parts[row["bound"]] = parts.get(row["bound"], 0.0) + row["time_ms"] / total
    return dict(sorted(parts.items(), key=lambda item: -item[1]))


def percent(share: float) -> str:
    """A share as a percentage with two significant figures or whole per cents."""
    return f"{share:.0%}" if share >= 0.0995 else f"{share:.1%}"


def between(low: float, high: float) -> str:
    """An interval of shares: 52 % where both ends read the same, else 48% to 55%."""
    ends = percent(low), percent(high)
    return ends[0] if ends[0] == ends[1] else t(f"{ends[0]} to {ends[1]}", f"{ends[0]} 至 {ends[1]}")


def bound_word(bound: str) -> str:
    """`compute`, `memory`, `overhead` or `outside` in the learner's language."""
    words = {"compute": t("compute", "计算"), "memory": t("memory", "访存"), "overhead": t("overhead", "调用开销")}
    return words.get(bound, t("code outside the layers", "各层之外的代码"))

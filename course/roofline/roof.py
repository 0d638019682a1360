"""The measured peaks of one device, as plain data: the roof that layers are placed under."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from course.core.i18n import t
from course.core.units import scaled

ROW = "flops_per_s bytes_per_s ridge dtype device threads precision created".split()


@dataclass(frozen=True)
class Peaks:
    """The measured peaks of one device.

    flops_per_s: FLOP/s of the best matrix product or convolution. bytes_per_s: bytes/s of the best memory stream.
    dtype: "float32" and the like. threads: CPU threads in force. machine: the passport (course.core.machine). created: UTC, ISO 8601.
    precision: that of float32 in force, for products and for convolutions (a float32 peak depends on it). notes: sentences.
    """

    flops_per_s: float
    bytes_per_s: float
    dtype: str
    device: str
    threads: int
    machine: dict[str, Any]
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

    def raised(self, flops_per_s: float, bytes_per_s: float) -> Peaks:
        """These peaks, or the rates that a layer reached where they are higher."""
        work, traffic = max(self.flops_per_s, flops_per_s), max(self.bytes_per_s, bytes_per_s)
        return replace(self, flops_per_s=work, bytes_per_s=traffic)

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

"""The measured peaks of one device, as plain data: the roof that layers are placed under."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from course.core.i18n import t
from course.core.units import scaled

PRODUCTS = ("Linear", "Bilinear", "MultiheadAttention", "RNN", "LSTM", "GRU")
"""Classes of layers whose work is matrix products."""
ROW = "flops_per_s bytes_per_s ridge dtype device threads precision created".split()


@dataclass(frozen=True)
class Peaks:
    """The measured peaks of one device.

    flops_per_s: FLOP/s of the best probe. products_per_s, convolutions_per_s: of the best matrix product and the best convolution,
    which may differ widely (0.0 where unknown); a layer is held against its own. bytes_per_s: bytes/s of the best memory stream.
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
    products_per_s: float = 0.0
    convolutions_per_s: float = 0.0

    @property
    def ridge(self) -> float:
        """FLOPs a byte above which arithmetic, not memory, is the limit."""
        return self.flops_per_s / self.bytes_per_s

    def of(self, kind: str) -> Peaks:
        """The same with the arithmetic peak that a layer of this class is held against."""
        own = getattr(self, _own(kind))
        return replace(self, flops_per_s=own) if own else self

    def roof(self, intensity: float) -> float:
        """The roof in FLOP/s at `intensity` FLOPs a byte: the lower of arithmetic and memory."""
        return min(self.flops_per_s, intensity * self.bytes_per_s)

    def least_s(self, flops: float, moved: float) -> float:
        """The shortest time in seconds the roof allows for this much work and this many bytes."""
        return max(flops / self.flops_per_s, moved / self.bytes_per_s)

    def raised(self, flops_per_s: float, bytes_per_s: float, kind: str) -> Peaks:
        """These peaks, those raised that are below the rates which a layer of class `kind` reached."""
        own = {_own(kind): flops_per_s} if 0.0 < getattr(self, _own(kind)) < flops_per_s else {}
        rates = {"flops_per_s": flops_per_s, "bytes_per_s": bytes_per_s}
        return replace(self, **own | {name: rate for name, rate in rates.items() if rate > getattr(self, name)})

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


def _own(kind: str) -> str:
    """The peak of its own that a layer of this class has, as a field of Peaks."""
    return "convolutions_per_s" if "Conv" in kind else "products_per_s" if kind in PRODUCTS else "flops_per_s"

"""The measured peaks of one device, as plain data: the roof that layers are placed under."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from course.i18n import t
from course.roofline.words import RooflineError, scaled

PRODUCTS = ("Linear", "Bilinear", "MultiheadAttention", "RNN", "LSTM", "GRU")
"""Classes of layers whose work is matrix products."""


@dataclass(frozen=True)
class Peaks:
    """The measured peaks of one device.

    flops_per_s: FLOP/s of the best probe. products_per_s, convolutions_per_s: of the best matrix product and the best convolution,
    which may differ widely (0.0 where unknown); a layer is held against its own. bytes_per_s: bytes/s of the best memory stream.
    ridge: FLOPs a byte above which arithmetic, not memory, is the limit. dtype: "float32" and the like. threads: CPU threads in
    force. machine: the passport (course.machine). created: UTC, ISO 8601. precision, convolution_precision: those of float32 in
    force for products and for convolutions (a float32 peak depends on them). work_by, traffic_by: which probe, or layer, showed the
    two peaks ("" where unknown). notes: sentences.
    """

    flops_per_s: float
    bytes_per_s: float
    ridge: float
    dtype: str
    device: str
    threads: int
    machine: dict[str, Any]
    created: str
    precision: str = ""
    work_by: str = ""
    traffic_by: str = ""
    notes: tuple[str, ...] = ()
    products_per_s: float = 0.0
    convolutions_per_s: float = 0.0
    convolution_precision: str = ""

    def of(self, kind: str) -> Peaks:
        """The same with the arithmetic peak that a layer of this class is held against."""
        own = self.convolutions_per_s if "Conv" in kind else self.products_per_s if kind in PRODUCTS else 0.0
        return replace(self, flops_per_s=own, ridge=own / self.bytes_per_s) if own else self

    def roof(self, intensity: float) -> float:
        """The roof in FLOP/s at `intensity` FLOPs a byte: the lower of arithmetic and memory."""
        return min(self.flops_per_s, intensity * self.bytes_per_s)

    def least_s(self, flops: float, moved: float) -> float:
        """The shortest time in seconds the roof allows for this much work and this many bytes."""
        return max(flops / self.flops_per_s, moved / self.bytes_per_s)

    def raised(self, *, flops_per_s: float = 0.0, bytes_per_s: float = 0.0, by: str, kind: str = "") -> Peaks:
        """Returns these peaks with one raised to the rate that `by` reached; unchanged where the peak is not lower.

        kind: the class of the layer, whose own peak is raised with it.
        """
        own = "convolutions_per_s" if "Conv" in kind else "products_per_s" if kind in PRODUCTS else ""
        if own and 0.0 < getattr(self, own) < flops_per_s:
            return replace(self, **{own: flops_per_s}).raised(flops_per_s=flops_per_s, by=by)
        if flops_per_s > self.flops_per_s:
            return replace(self, flops_per_s=flops_per_s, ridge=flops_per_s / self.bytes_per_s, work_by=by)
        if bytes_per_s > self.bytes_per_s:
            return replace(self, bytes_per_s=bytes_per_s, ridge=self.flops_per_s / bytes_per_s, traffic_by=by)
        return self

    def rows(self) -> list[dict[str, Any]]:
        """One tidy row of plain data."""
        keys = (
            "flops_per_s",
            "bytes_per_s",
            "ridge",
            "dtype",
            "device",
            "threads",
            "precision",
            "created",
            "work_by",
            "traffic_by",
        )
        return [{key: getattr(self, key) for key in keys}]

    def sentence(self) -> str:
        """Both peaks, what showed them, the ridge and where and when they were measured."""
        work, traffic = scaled(self.flops_per_s, "FLOP/s"), scaled(self.bytes_per_s, "B/s")
        day = self.created[:10]
        threads = t(f", {self.threads} CPU thread{'s' * (self.threads != 1)}", f"，{self.threads} 个 CPU 线程")
        where = self.device + (threads if self.device == "cpu" else "")
        apart = ""
        if self.products_per_s and self.convolutions_per_s:
            apart = t(
                f" Products reach {scaled(self.products_per_s, 'FLOP/s')}, convolutions {scaled(self.convolutions_per_s, 'FLOP/s')}.",
                f"矩阵乘法达到 {scaled(self.products_per_s, 'FLOP/s')}，卷积达到 {scaled(self.convolutions_per_s, 'FLOP/s')}。",
            )
        by_work, by_traffic = (t(f" ({by})", f"（{by}）") if by else "" for by in (self.work_by, self.traffic_by))
        return t(
            f"Measured peak on {where}: {work} in {self.dtype}{by_work}, {traffic}{by_traffic}; "
            f"the ridge is at {self.ridge:.1f} FLOPs a byte (measured {day}).{apart}",
            f"实测峰值（{where}）：{self.dtype} 为 {work}{by_work}，访存为 {traffic}{by_traffic}；"
            f"拐点在每字节 {self.ridge:.1f} FLOPs（测于 {day}）。{apart}",
        )

    def __str__(self) -> str:
        return "\n".join([self.sentence(), *(f"  ! {note}" for note in self.notes)])

    __repr__ = __str__


def from_rates(flops_per_s: float, bytes_per_s: float, **more: Any) -> Peaks:
    """Peaks from two given rates, the ridge worked out; RooflineError unless both are positive."""
    if not (flops_per_s > 0 and bytes_per_s > 0):
        raise RooflineError(t("Both peaks must be greater than 0.", "两个峰值都必须大于 0。"))
    return Peaks(flops_per_s, bytes_per_s, flops_per_s / bytes_per_s, **more)

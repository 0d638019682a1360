"""The roofline of some GPUs by their data sheets, and of a machine that the reader describes.

Peaks are TFLOP/s without the doubling for sparse matrices, bandwidth is GB/s. None: the card has no unit for the format.
Sources: T4: NVIDIA T4 data sheet, 2019 (float32 8.1, float16 65, 320 GB/s). RTX 4090: NVIDIA Ada GPU architecture, V2.01, table of
the RTX 4090 (float32 82.6, TF32 82.6, 16 bits with float32 sums 165.2, 1008 GB/s). H100 SXM: NVIDIA H100 data sheet (float32 67,
TF32 989 and 16 bits 1979, both with sparsity, so half of them here; 3.35 TB/s).
"""

from __future__ import annotations

from collections.abc import Mapping

from course.experiment.explorables.page import Start

CARDS: dict[str, dict[str, float | None]] = {
    "t4": {"float32": 8.1, "tf32": None, "half": 65.0, "bandwidth": 320.0},
    "rtx4090": {"float32": 82.6, "tf32": 82.6, "half": 165.2, "bandwidth": 1008.0},
    "h100": {"float32": 67.0, "tf32": 494.5, "half": 989.5, "bandwidth": 3350.0},
}
FORMATS = ("float32", "tf32", "half")
WORK = {"relu": 1 / 8, "row": 1 / 2, "rows": 32.0, "product": 170.0}
"""Typical work in float32: a ReLU reads and writes 4 bytes; a linear layer reads 4 bytes of weight for 2 FLOPs a row: 1 and 64 rows;
a product of 1024x1024 matrices: 2 x 1024^3 FLOPs for 3 x 1024^2 numbers of 4 bytes.
"""


def start(words: Mapping[str, str]) -> Start:
    """A line a card: the peak of each format, the bandwidth, the bend."""
    lines = [["", *(words[one] for one in FORMATS), words["bandwidth"], words["bend"]]]
    for name, card in CARDS.items():
        peaks = [f"{card[one]:g} TFLOP/s" if card[one] else words["none"] for one in FORMATS]
        bend = 1e3 * card["float32"] / card["bandwidth"]
        lines.append(
            [words[name], *peaks, f"{card['bandwidth']:g} GB/s", words["bend_said"].format(bend=f"{bend:.0f}")]
        )
    return Start(lines, {"cards": CARDS, "formats": FORMATS, "work": WORK})

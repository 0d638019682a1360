"""Where each explorable starts: a table of words, and the numbers that its script needs.

The roofline's peaks are TFLOP/s without the doubling for sparse matrices, bandwidth is GB/s. None: the card has no unit for the format.
Sources: T4: NVIDIA T4 data sheet, 2019 (float32 8.1, float16 65, 320 GB/s). RTX 4090: NVIDIA Ada GPU architecture, V2.01, table of
the RTX 4090 (float32 82.6, TF32 82.6, 16 bits with float32 sums 165.2, 1008 GB/s). H100 SXM: NVIDIA H100 data sheet (float32 67,
TF32 989 and 16 bits 1979, both with sparsity, so half of them here; 3.35 TB/s). The shelf's prices are those of 05-sizes-cuda.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from statistics import median
from typing import Any

import torch

from course.experiment import base
from course.models.rounding import FORMATS, pattern, rounded


@dataclass(frozen=True)
class Start:
    """Where an explorable starts. lines: header and lines of words; numbers: what its script knows from Python."""

    lines: Sequence[Sequence[str]]
    numbers: Mapping[str, Any] = field(default_factory=dict)


NUMBER = 1000.7


def floats(words: Mapping[str, str]) -> Start:
    """The bits of a number in four formats: those of `course.models.rounding` with the first number in each of them."""
    cell = torch.tensor(NUMBER)
    lines = [[words[key] for key in ("format", "bits", "holds", "error")]]
    for name in FORMATS:
        held = rounded(cell, name).item()
        bits = " ".join(pattern(cell.item(), name))
        lines.append([words[name], bits, f"{held:.9g}", f"{abs(held / NUMBER - 1):.1e}"])
    shapes = {name: [shape.exponent, shape.mantissa] for name, shape in FORMATS.items()}
    return Start(lines, {"first": NUMBER, "formats": shapes})


SMALL = (3.14159, 1000.7, -0.7, 2.71828, 7.0, 0.9)
"""They are rounded to float32 before they are added: then float64 holds every sum of them exactly."""
LARGE = 8
"""The power of ten at which the pair that cancels starts."""


def order_numbers(power: int) -> list[float]:
    """The float32 values in the first order: a large one, the small ones, and the large one with the other sign."""
    return torch.tensor([10.0**power, *SMALL, -(10.0**power)]).tolist()


def order(words: Mapping[str, str]) -> Start:
    """The same numbers added in another order: number by number the sum so far, in both formats."""
    found = order_numbers(LARGE)
    single = accumulate(torch.tensor(found), lambda a, b: a + b)
    lines = [[words["number"], words["float32"], words["float64"]]]
    for number, one, other in zip(found, single, accumulate(found), strict=True):
        lines.append([f"{number:.9g}", f"{one.item():.9g}", f"{other:.9g}"])
    return Start(lines, {"small": order_numbers(0)[1:-1], "power": LARGE})


CARDS: dict[str, dict[str, float | None]] = {
    "t4": {"float32": 8.1, "tf32": None, "half": 65.0, "bandwidth": 320.0},
    "rtx4090": {"float32": 82.6, "tf32": 82.6, "half": 165.2, "bandwidth": 1008.0},
    "h100": {"float32": 67.0, "tf32": 494.5, "half": 989.5, "bandwidth": 3350.0},
}
KINDS = ("float32", "tf32", "half")
WORK = {"relu": 1 / 8, "row": 1 / 2, "rows": 32.0, "product": 170.0}
"""Typical work in float32: a ReLU reads and writes 4 bytes; a linear layer reads 4 bytes of weight for 2 FLOPs a row: 1 and 64 rows;
a product of 1024x1024 matrices: 2 x 1024^3 FLOPs for 3 x 1024^2 numbers of 4 bytes.
"""


def roofline(words: Mapping[str, str]) -> Start:
    """A line a card: the peak of each format, the bandwidth, the bend."""
    lines = [["", *(words[one] for one in KINDS), words["bandwidth"], words["bend"]]]
    for name, card in CARDS.items():
        peaks = [f"{card[one]:g} TFLOP/s" if card[one] else words["none"] for one in KINDS]
        bend = 1e3 * card["float32"] / card["bandwidth"]
        lines.append(
            [words[name], *peaks, f"{card['bandwidth']:g} GB/s", words["bend_said"].format(bend=f"{bend:.0f}")]
        )
    return Start(lines, {"cards": CARDS, "formats": KINDS, "work": WORK})


EXPERIMENT = "05-sizes-cuda"
SIZES = (64, 96, 128)
FIRST = (64, 64, 96, 64)


def prices() -> tuple[float, float, str]:
    """(ms that a search adds to the first call of a size, ms of a later call, device) by the recording."""
    record = base.recording(base.get(EXPERIMENT))
    first: dict[str, list[float]] = {"on": [], "off": []}
    later, seen = [], set()
    for row in record.rows:
        key = (row["story"], row["process"], row["size"])
        if key in seen:
            later.append(row["call_ms"])
        elif any(one[:2] == key[:2] for one in seen):  # the first size pays for starting up, too
            first[row["story"]].append(row["call_ms"])
        seen.add(key)
    return median(first["on"]) - median(first["off"]), median(later), str(record.machine["device_name"])


def shelf(words: Mapping[str, str]) -> Start:
    """The shelf of plans: of the first batches, which find one, and what the searches cost."""
    search_ms, call_ms, device = prices()
    lines, held = [[words["batch"], words["found"], words["bill"]]], set()
    for size in FIRST:
        hit = size in held
        held.add(size)
        lines.append([str(size), words["hit" if hit else "miss"], f"{call_ms + (not hit) * search_ms:.2g} ms"])
    return Start(lines, {"search": search_ms, "call": call_ms, "device": device, "sizes": SIZES, "first": FIRST})


OLD_MS, KERNEL_MS, LAUNCH_MS = 30, 20, 0.1
BEFORE_START, BEFORE_LAUNCH, BEFORE_STOP = 1, 2, 3
"""Where a fence changes what is read; 0 is nowhere, 4 after the stop."""


def reading_ms(fences: Sequence[int], old_ms: float, kernel_ms: float) -> float:
    """What the stopwatch reads; when its first line runs, ``old_ms`` of work wait in the queue."""
    now = start = 0.0
    done = old_ms
    for place in (BEFORE_START, BEFORE_LAUNCH, BEFORE_STOP):
        if place in fences:
            now = max(now, done)
        if place == BEFORE_START:
            start = now
        elif place == BEFORE_LAUNCH:
            now += LAUNCH_MS
            done = max(now, done) + kernel_ms
    return now - start


def stopwatch(words: Mapping[str, str]) -> Start:
    """A stopwatch over a queue: without a fence, with one after the kernel, with two."""
    lines = [[words["fences"], words["reads"]]]
    for key, fences in (("none", ()), ("one", (BEFORE_STOP,)), ("two", (BEFORE_START, BEFORE_STOP))):
        lines.append([words[key], f"{reading_ms(fences, OLD_MS, KERNEL_MS):.1f} ms"])
    return Start(lines, {"old": OLD_MS, "kernel": KERNEL_MS, "launch": LAUNCH_MS})

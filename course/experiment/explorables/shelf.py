"""The shelf of plans: which batches find one, what the searches cost, and when they are paid back.

Both prices come from the recording of 05-sizes-cuda: its first and its later calls, search on and off.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

from course.experiment import base
from course.experiment.explorables.page import Start

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


def start(words: Mapping[str, str]) -> Start:
    """The first batches: what is found, what is searched."""
    search_ms, call_ms, device = prices()
    lines, shelf = [[words["batch"], words["found"], words["bill"]]], set()
    for size in FIRST:
        hit = size in shelf
        shelf.add(size)
        lines.append([str(size), words["hit" if hit else "miss"], f"{call_ms + (not hit) * search_ms:.2g} ms"])
    return Start(lines, {"search": search_ms, "call": call_ms, "device": device, "sizes": SIZES, "first": FIRST})

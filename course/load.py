"""How busy the machine is with other programs."""

from __future__ import annotations

import os
import time

LOOK_S = 0.3
BUSY = 0.5
"""From this part of all processors on, taken by other programs, the machine counts as busy."""


def others(look_s: float = LOOK_S) -> float:
    """The part of all processors (0 to 1) that other programs use right now, watched for so many seconds.

    Without psutil the average load of the last minute, this program's own in it; 0 where the system tells neither.
    """
    count = os.cpu_count() or 1
    try:
        import psutil
    except ImportError:
        return min(1.0, os.getloadavg()[0] / count) if hasattr(os, "getloadavg") else 0.0

    def taken() -> tuple[float, float]:
        """Seconds of all processors so far, by all programs and by this one with its children."""
        every, own = psutil.cpu_times(), psutil.Process().cpu_times()
        idle = every.idle + getattr(every, "iowait", 0.0)
        guests = getattr(every, "guest", 0.0) + getattr(every, "guest_nice", 0.0)  # they are in user and nice already
        return sum(every) - guests - idle, sum(own[:4])

    before, began = taken(), time.monotonic()
    time.sleep(look_s)
    after, seconds = taken(), time.monotonic() - began
    used = (after[0] - before[0]) - (after[1] - before[1])
    return min(1.0, max(0.0, used / (seconds * count)))


def busy() -> bool:
    """Whether other programs take so much of the machine that a measurement suffers."""
    return others() >= BUSY

"""How busy the machine is with other programs."""

from __future__ import annotations

import os
import time

LOOK_S = 0.3
BUSY = 0.5
"""From this part of all processors on, taken by other programs, the machine counts as busy."""


class Since:
    """Watches other programs from now on."""

    def __init__(self) -> None:
        self.before, self.began = _taken(), time.monotonic()

    def others(self) -> float:
        """The part of all processors (0 to 1) that other programs have used.

        Without psutil the average load of the last minute, this program's own in it; 0 where the system tells neither.
        """
        count, after = os.cpu_count() or 1, _taken()
        if after is None or self.before is None:
            return min(1.0, os.getloadavg()[0] / count) if hasattr(os, "getloadavg") else 0.0
        used = (after[0] - self.before[0]) - (after[1] - self.before[1])
        return min(1.0, max(0.0, used / ((time.monotonic() - self.began) * count)))


def _taken() -> tuple[float, float] | None:
    """Seconds of all processors so far, by all programs and by this one with its children; None without psutil."""
    try:
        import psutil
    except ImportError:
        return None
    every, own = psutil.cpu_times(), psutil.Process().cpu_times()
    idle = every.idle + getattr(every, "iowait", 0.0)
    guests = getattr(every, "guest", 0.0) + getattr(every, "guest_nice", 0.0)  # they are in user and nice already
    return sum(every) - guests - idle, sum(own[:4])


def others(look_s: float = LOOK_S) -> float:
    """The part of all processors (0 to 1) that other programs use right now, watched for so many seconds."""
    since = Since()
    time.sleep(look_s)
    return since.others()


def busy() -> bool:
    """Whether other programs take so much of the machine that a measurement suffers."""
    return others() >= BUSY

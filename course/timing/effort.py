"""What else happens while something is timed: threads at work, other programs."""

from __future__ import annotations

import sys
import time

from course.core.cpu_load import BUSY, Since
from course.core.i18n import t

PARALLEL = 1.1
"""If fewer CPU threads than this work on average, one thread did everything."""
UNEVEN = 10
"""On a busy machine the slow tenth of a function in one thread took up to 5 times as long as its fastest block, that of one in
several threads 40 to 1,400 times (load 15 on two cores).
"""


def threads() -> int:
    """Threads torch uses inside one operator on the CPU, in this process; 1 without torch."""
    torch = sys.modules.get("torch")  # a process that never loaded it has no threads of it
    return int(torch.get_num_threads()) if torch else 1


class Effort:
    """Watches the threads of this process, and other programs, from now on."""

    def __init__(self) -> None:
        self._all, self._own, self._load = time.process_time(), time.thread_time(), Since()

    def busy(self) -> float:
        """How many CPU threads worked, on average, while this one did; 1.0 after less than 1 ms of CPU time, too little to tell.

        Threads of OpenMP that wait by spinning count as working; other programs do not.
        """
        own = time.thread_time() - self._own
        return max(1.0, (time.process_time() - self._all) / own) if own >= 1e-3 else 1.0

    def note(self, starved: bool = False) -> list[str]:
        """The remark on times that jump: that other programs keep the machine busy, if they do. starved: threads wait for a core."""
        share, threads, said = (self._load.others() if self._load.before else 0.0), self.busy(), []
        if share >= BUSY:
            said.append(
                t(
                    f"Other programs take {share:.0%} of this machine, so times jump: close them, or measure when it is quiet.",
                    f"其他程序占了这台机器的 {share:.0%}，所以耗时忽快忽慢：请关掉它们，或等机器空闲时再测。",
                )
            )
        if threads > (PARALLEL if said or starved else 1.3):
            said.append(
                t(
                    f"It keeps {threads:.1f} CPU threads at work, and each call waits for the slowest of them: where other programs "
                    "hold the cores, call torch.set_num_threads(1) first.",
                    f"它平均占用 {threads:.1f} 个 CPU 线程，每次调用都要等最慢的那个：如果核被其他程序"
                    "占着，请先调用 torch.set_num_threads(1)。",
                )
            )
        return said

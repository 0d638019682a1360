"""The limits of one submission: all numbers stand here.

``inside/isolate.py`` (resource limits, sizes of folders), ``groups.py`` (control groups), ``kernel.py`` with ``meter.py`` (time
of a cell, output) and ``grader/marking/running.py`` (time of the whole notebook) enforce them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

MOST_BYTES, MOST_FILES = 20 << 20, 1000  # of one submission are read
OWN_MB = 128  # memory that a fork needs for its copies of the warm process's pages
PATIENCE = 10  # a submission may take so many times its limit in wall time while other programs use the processors


@dataclass(frozen=True)
class Limits:
    """What one submission may use.

    cell_s, total_s: seconds for one cell and for the whole notebook. Only the submission's own time counts: the processor time
    of all its processes together, or the wall time less the time it waited for a processor, whichever is more.
    memory_mb: for one process and for all together, on top of what the warm process takes. disk_mb: for each private folder
    and for each file. processes: how many at once, threads included; 0 allows threads only. output_chars: how much output
    of a cell is stored; notebook_chars: of all cells.
    """

    cell_s: float = 30
    total_s: int = 300
    memory_mb: int = 4096
    disk_mb: int = 128
    processes: int = 32
    open_files: int = 512
    output_chars: int = 1_000_000
    notebook_chars: int = 10_000_000

    @property
    def tree_bytes(self) -> int:
        """Bytes that all processes of a submission may take together: a little more than one process may take, so that a
        single process gets a MemoryError before the system ends it.
        """
        return self.memory_mb + self.disk_mb + OWN_MB << 20

    @property
    def longest_s(self) -> float:
        """Seconds of wall time after which a submission is stopped in any case."""
        return PATIENCE * self.total_s

    @property
    def cpu_limit_s(self) -> int:
        """Seconds of processor time after which the system itself ends a process, in case the grader does not."""
        return self.total_s + 60

    def plain(self) -> dict[str, Any]:
        """The limits as a JSON object, to be sent into the sandbox."""
        return {**asdict(self), "cpu_limit_s": self.cpu_limit_s}

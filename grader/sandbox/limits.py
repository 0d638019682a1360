"""What one submission may use, in all."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

OWN_MB = 128  # pages a fork copies from the warm process
PATIENCE = 10  # times its limit a submission may take while it waits for a processor that others use


@dataclass(frozen=True)
class Limits:
    """cell_s, total_s: for one cell and for the whole notebook, seconds of the submission's own: processor time of all its
    processes together, or wall time less the time it waited for a processor, whichever is more. memory_mb: beyond what the
    warm process takes anyway, of one process and of all together. disk_mb: each private folder and each file. processes: at
    once, threads included, 0 for none but threads. output_chars: kept for one cell; notebook_chars: for all. threads: of
    torch.
    """

    cell_s: float = 30
    total_s: int = 300
    memory_mb: int = 4096
    disk_mb: int = 128
    processes: int = 32
    open_files: int = 512
    output_chars: int = 1_000_000
    notebook_chars: int = 10_000_000
    threads: int = 1

    @property
    def tree_bytes(self) -> int:
        """What all processes of a submission may take together; one process meets its own limit first, and kindly."""
        return self.memory_mb + self.disk_mb + OWN_MB << 20

    @property
    def longest_s(self) -> float:
        """Seconds of wall time after which a submission has ended, whatever else the machine does."""
        return PATIENCE * self.total_s

    @property
    def cpu_limit_s(self) -> int:
        """Seconds of processor time after which the system ends one process, whatever watches it."""
        return self.total_s * max(1, self.threads) + 60

    def plain(self) -> dict[str, Any]:
        """As a JSON object, for the other side."""
        return {**asdict(self), "cpu_limit_s": self.cpu_limit_s}

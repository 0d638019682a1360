"""What one submission may use, in all."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Limits:
    """cell_s, total_s: seconds of wall time for one cell and for the whole notebook. memory_mb: beyond what the
    warm process takes anyway. disk_mb: each private folder and each file. processes: at once, 0 for none but
    threads. output_chars: kept for one cell; notebook_chars: for all. threads: of torch.
    """

    cell_s: float = 30
    total_s: int = 300
    memory_mb: int = 4096
    disk_mb: int = 128
    processes: int = 64
    open_files: int = 512
    output_chars: int = 1_000_000
    notebook_chars: int = 10_000_000
    threads: int = 1

    def plain(self) -> dict[str, Any]:
        """As a JSON object, for the other side."""
        return asdict(self)

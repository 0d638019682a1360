"""Writing a file so that a crash leaves the old one or the new one, never half of one."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

WAITS_S = (0.01, 0.05, 0.2, 0.5)
"""On Windows a file that something else reads cannot be replaced; a virus scanner or a cloud folder is done after a moment."""


def replace_file(path: Path, content: bytes) -> None:
    """Write ``content`` to ``path`` atomically.

    Raises OSError when the folder cannot be written; nothing is left.
    """
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        _put(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _put(name: str, path: Path) -> None:
    """`os.replace`, tried again while the file at `path` is held by somebody else."""
    for wait in WAITS_S:
        try:
            return os.replace(name, path)
        except PermissionError:
            time.sleep(wait)
    os.replace(name, path)

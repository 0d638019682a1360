"""Write files completely or not at all, take a lock, and get back the right to read what an archive has unpacked without it."""

from __future__ import annotations

import os
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grader.project import ProjectError

UNFINISHED = ".unfinished"  # folder of the course directory, for its owner alone


def unlock(path: Path) -> None:
    """Make a file or folder readable for its owner again; unpacking an archive can remove that right."""
    try:
        kind = path.lstat()
        wanted = stat.S_IRWXU if stat.S_ISDIR(kind.st_mode) else stat.S_IRUSR | stat.S_IWUSR
        if kind.st_uid == os.geteuid() and kind.st_mode & wanted != wanted and not stat.S_ISLNK(kind.st_mode):
            path.chmod(stat.S_IMODE(kind.st_mode) | wanted)
    except OSError:
        pass  # whoever reads it then says why that is not possible


def replace(course: Path, path: Path, data: bytes) -> None:
    """Write a file in one step: after a crash it has the old content or the new one. Raises OSError."""
    place = course / UNFINISHED
    place.mkdir(mode=0o700, exist_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = place / uuid.uuid4().hex
    try:
        fresh.write_bytes(data)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


@contextmanager
def locked(path: Path, taken: str) -> Iterator[None]:
    """Hold a lock in this block; only one process can have it. Raises ProjectError(taken) where another process has it."""
    import fcntl  # Windows has none, and no command that needs a lock runs there

    with path.open("w", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ProjectError(taken) from None
        yield

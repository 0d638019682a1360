"""Read files that students sent, without following links or waiting for pipes."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path, PurePosixPath

from grader.project.files import unlock
from grader.sandbox.limits import MOST_BYTES


def inside(folder: Path, most: int) -> dict[str, os.stat_result]:
    """The files in a folder and its subfolders, at most ``most``: path from there -> what ``lstat`` says. No link is followed."""
    found: dict[str, os.stat_result] = {}
    unlock(folder)
    if not stat.S_ISDIR(folder.lstat().st_mode):  # opening a pipe would wait for ever
        return found
    for place, below, names, descriptor in os.fwalk(folder):
        for name in sorted([*below, *names]):
            path = Path(place) / name
            unlock(path)
            with suppress(OSError):
                kind = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
                if not stat.S_ISDIR(kind.st_mode):
                    found[path.relative_to(folder).as_posix()] = kind
        if len(found) >= most:
            break
    return found


def read_inside(folder: Path, name: str, most: int = MOST_BYTES) -> bytes:
    """Read at most ``most`` bytes of a regular file below a folder. Raises OSError, also for a pipe, and for a link that a student puts
    in place of a file or a folder meanwhile.
    """
    *above, last = PurePosixPath(name).parts
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in above:
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
        with open(os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=descriptor), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError(errno.EINVAL, "not a regular file", name)
            return file.read(most)
    finally:
        os.close(descriptor)


def read_regular(path: Path, most: int = MOST_BYTES) -> bytes:
    """Read at most ``most`` bytes of a regular file. Raises OSError, also for a link or a pipe."""
    return read_inside(path.parent, path.name, most)

"""Read files that students sent, without following links or waiting for pipes; write files completely or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from grader.project import ProjectError
from grader.sandbox.limits import MOST_BYTES

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


def replace(course: Path, path: Path, data: bytes) -> None:
    """Write a file in one step: after a crash it has the old content or the new one. Raises OSError."""
    place = course / UNFINISHED
    place.mkdir(mode=0o700, exist_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = place / uuid.uuid4().hex
    try:
        with fresh.open("xb") as file:
            file.write(data)
        try:
            os.replace(fresh, path)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            shutil.copyfile(fresh, path)  # submitted/ lies on another disk
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

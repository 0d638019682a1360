"""Put a hand-in into ``submitted/STUDENT/LESSON/``, completely or not at all.

The new folder is written completely, the old one is copied to ``earlier/``, and then the two are exchanged in one step. If that is
stopped at any moment, also by a full disk, either the old hand-in or the new one is in place.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grader.handin.files import inside, locked
from grader.handin.handin import STAMP, Files, digest
from grader.sandbox.limits import MOST_BYTES

INCOMING = ".import"  # in submitted/: on the same disk, and no student's name begins with a dot
AT_FDCWD, EXCHANGE = -100, 2  # of renameat2(2)


@contextmanager
def importing(course: Path) -> Iterator[None]:
    """Hold the lock for imports in this block, and remove half-written folders of an import that was stopped. Raises
    ProjectError while another import runs.
    """
    with locked(
        course / "import.lock", f"another import into {course} is under way; wait until it is done, or stop it"
    ):
        shutil.rmtree(course / "submitted" / INCOMING, ignore_errors=True)
        try:
            yield
        finally:
            shutil.rmtree(course / "submitted" / INCOMING, ignore_errors=True)


def put(course: Path, student: str, lesson: str, files: Files) -> None:
    """Put a hand-in in place; what was there goes to ``earlier/``. Raises OSError."""
    folder = course / "submitted" / student / lesson
    if folder.parent.is_symlink():
        raise OSError(f"{folder.parent} is a link; put a folder there, or remove it")
    fresh = course / "submitted" / INCOMING / student / lesson
    shutil.rmtree(fresh.parent, ignore_errors=True)
    write(files, fresh)
    if (folder / STAMP).is_file() and STAMP not in files.there:  # written by hand, or by the exchange
        _write(fresh / STAMP, (folder / STAMP).read_bytes())
    folder.parent.mkdir(parents=True, exist_ok=True)
    if os.path.lexists(folder):
        _copy_earlier(course, student, lesson, folder)
        _swap(fresh, folder)
        shutil.rmtree(fresh.parent, ignore_errors=True)
    else:
        fresh.rename(folder)


def write(files: Files, folder: Path) -> None:
    """Write files into a folder. One that was too large gets a size by which whoever reads the folder sees that. Raises OSError."""
    for name, data in files.there.items():
        _write(folder / name, data)
    for name in files.large:
        _write(folder / name, b"")
        os.truncate(folder / name, MOST_BYTES + 1)


def lying(folder: Path) -> str:
    """The digest of the files in a folder that are not too large; "" where there is no folder."""
    return (
        digest({name: data for name, data in _files(folder).items() if len(data) <= MOST_BYTES})
        if folder.is_dir() and not folder.is_symlink()
        else ""
    )


def _copy_earlier(course: Path, student: str, lesson: str, folder: Path) -> None:
    """Copy what lies in a folder to ``earlier/`` under the next number, unless the last copy is the same."""
    place = course / "earlier" / student / lesson
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    last = max((int(one.name) for one in place.iterdir() if one.name.isdigit()), default=0)
    if last and lying(place / str(last)) == (lying(folder) or digest({})):
        return
    half = place / ".half"
    shutil.rmtree(half, ignore_errors=True)
    half.mkdir()
    for name, data in _files(folder).items():
        _write(half / name, data)
    half.rename(place / str(last + 1))


def _files(folder: Path) -> dict[str, bytes]:
    """The regular files of a folder: path -> bytes. A file in place of the folder is one of its own name."""
    if folder.is_file():
        return {folder.name: folder.read_bytes()}
    found = inside(folder, sys.maxsize) if folder.is_dir() and not folder.is_symlink() else {}
    return {name: (folder / name).read_bytes() for name, kind in found.items() if stat.S_ISREG(kind.st_mode)}


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _swap(first: Path, second: Path) -> None:
    """Exchange two paths in one step. Where the system cannot do that: in two steps, and rolled back if the second fails."""
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is not None and not call(AT_FDCWD, os.fsencode(first), AT_FDCWD, os.fsencode(second), EXCHANGE):
        return
    aside = first.with_name(f"{first.name}.old")
    second.rename(aside)
    try:
        first.rename(second)
    except BaseException:
        aside.rename(second)
        raise

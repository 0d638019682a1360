"""Put a hand-in into ``submitted/STUDENT/LESSON/``, completely or not at all.

The new folder is written completely; then the old one is renamed into ``earlier/``, and the new one takes its place. A full disk leaves
the old one where it is; an import that is killed between the two is run again, and has the old one in ``earlier/``.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grader.handin.files import inside, read_inside
from grader.handin.handin import STAMP, Files, digest
from grader.project.files import locked
from grader.sandbox.limits import MOST_BYTES

INCOMING = ".import"  # in submitted/: on the same disk, and no student's name begins with a dot


@contextmanager
def importing(course: Path) -> Iterator[None]:
    """Hold the lock for imports in this block, and remove half-written folders of an import that was stopped. Raises
    ProjectError while another import runs.
    """
    taken = f"another import into {course} is under way; wait until it is done, or stop it"
    with locked(course / "import.lock", taken):
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
    write(files, fresh)
    if (folder / STAMP).is_file() and STAMP not in files.there:  # written by hand, or by the exchange
        _write(fresh / STAMP, (folder / STAMP).read_bytes())
    folder.parent.mkdir(parents=True, exist_ok=True)
    if not os.path.lexists(folder):
        fresh.rename(folder)
        return
    place = course / "earlier" / student / lesson
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    aside = place / str(1 + max((int(one.name) for one in place.iterdir() if one.name.isdigit()), default=0))
    shutil.move(folder, aside)
    try:
        fresh.rename(folder)
    except BaseException:
        shutil.move(aside, folder)
        raise


def write(files: Files, folder: Path) -> None:
    """Write files into a folder. One that was too large gets a size by which whoever reads the folder sees that. Raises OSError."""
    for name, data in files.there.items():
        _write(folder / name, data)
    for name in files.large:
        _write(folder / name, b"")
        os.truncate(folder / name, MOST_BYTES + 1)


def lying(folder: Path) -> str:
    """The digest of the files in a folder that are not too large; "" where there is no folder."""
    if folder.is_symlink() or not folder.is_dir():
        return ""
    small = {name for name, kind in inside(folder, sys.maxsize).items() if kind.st_size <= MOST_BYTES}
    return digest({name: read_inside(folder, name) for name in small})


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())

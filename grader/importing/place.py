"""Put a submission into ``submitted/STUDENT/LESSON/`` and a line about it into ``imported/LESSON/``, one student at a time.

The new folder is written completely, the old one is copied to ``earlier/``, and then the two are exchanged in one step. If the
import is stopped at any moment, also by a full disk, either the old submission or the new one is in place.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grader.files import locked, replace, unlock
from grader.handin import STAMP, digest

INCOMING = ".import"  # in submitted/: on the same disk, and no student's name begins with a dot
AT_FDCWD, EXCHANGE = -100, 2  # of renameat2(2)
BUSY = "another import into {} is under way; wait until it is done, or stop it"


@contextmanager
def importing(course: Path) -> Iterator[None]:
    """Hold the lock for imports in this block, and remove half-written folders of an import that was stopped. Raises
    ProjectError while another import runs.
    """
    with locked(course / "import.lock", BUSY.format(course)):
        shutil.rmtree(course / "submitted" / INCOMING, ignore_errors=True)
        try:
            yield
        finally:
            shutil.rmtree(course / "submitted" / INCOMING, ignore_errors=True)


def put(course: Path, student: str, lesson: str, files: dict[str, bytes]) -> None:
    """Put a submission in place; moves an older one to ``earlier/``. Raises OSError."""
    folder = course / "submitted" / student / lesson
    if folder.parent.is_symlink():
        raise OSError(f"{folder.parent} is a link; put a folder there, or remove it")
    fresh = course / "submitted" / INCOMING / student / lesson
    shutil.rmtree(fresh.parent, ignore_errors=True)
    fresh.mkdir(parents=True)
    for name, data in files.items():
        _write(fresh / name, data)
    folder.parent.mkdir(parents=True, exist_ok=True)
    if os.path.lexists(folder):
        _copy_earlier(course, student, lesson, folder)
        _swap(fresh, folder)
        shutil.rmtree(fresh.parent, ignore_errors=True)
    else:
        fresh.rename(folder)


def stamp(course: Path, student: str, lesson: str, when: str | None, before: str) -> str | None:
    """Write the time stamp of a submission. One that was changed by hand stays, and is returned instead of None.

    when: None where the time is not known, so nothing is written; "" for none. before: the text that an earlier import has written.
    """
    path = course / "submitted" / student / lesson / STAMP
    there = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    if there.strip() and there not in (before, when):
        return there.strip()
    if when:
        replace(course, path, when.encode())
    elif when is not None:
        path.unlink(missing_ok=True)
    return None


def in_place(course: Path, student: str, lesson: str, now: str, known: str | None) -> bool:
    """Whether the submission with the digest ``now`` is in place already. known: the digest in the record of imports, which may be
    older than the folder if an import was stopped.
    """
    folder = course / "submitted" / student / lesson
    if not folder.is_dir() or folder.is_symlink():
        return False
    return known == now or digest(_files(folder)) == now


def remember(course: Path, student: str, lesson: str, facts: dict[str, str]) -> None:
    """Write the record of one import, which ``give-back`` and the next import read."""
    path = _record(course, lesson) / f"{student}.json"
    data = (json.dumps(facts, ensure_ascii=False, indent=1) + "\n").encode()
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace(course, path, data)


def record(course: Path, lesson: str) -> dict[str, dict[str, str]]:
    """The record of imports: student -> {"lms", "head", "name", "number", "digest"}. head: see ``names.Sender``."""
    return {
        path.stem: json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(_record(course, lesson).glob("*.json"))
    }


def _record(course: Path, lesson: str) -> Path:
    return course / "imported" / lesson


def _copy_earlier(course: Path, student: str, lesson: str, folder: Path) -> None:
    """Copy the old submission to ``earlier/`` under the next number, unless the last copy is the same."""
    place = course / "earlier" / student / lesson
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    last = max((int(one.name) for one in place.iterdir() if one.name.isdigit()), default=0)
    if last and digest(_files(place / str(last))) == digest(_files(folder)):
        return
    half = place / ".half"
    shutil.rmtree(half, ignore_errors=True)
    _copy(folder, half)
    half.rename(place / str(last + 1))


def _copy(path: Path, to: Path) -> None:
    """Copy a file, a link or a folder; anything else, such as a pipe, is left out."""
    unlock(path)
    if path.is_symlink():
        to.symlink_to(os.readlink(path))
    elif path.is_dir():
        to.mkdir()
        for one in path.iterdir():
            _copy(one, to / one.name)
    elif path.is_file():
        shutil.copy2(path, to)


def _files(folder: Path) -> dict[str, bytes]:
    """The regular files of a folder: path -> bytes."""
    return {
        str(one.relative_to(folder)): one.read_bytes()
        for one in sorted(folder.rglob("*"))
        if one.is_file() and not one.is_symlink()
    }


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

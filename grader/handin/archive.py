"""Read the files of a ZIP or of a folder, one at a time.

The content comes from students and is not trusted: links are not followed, no pipe is waited for, a path cannot lead out of the
archive, and never more bytes are read than asked for.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import unicodedata
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath

from course.core.i18n import Text
from grader.handin.sentences import said
from grader.project import ProjectError
from grader.project.files import unlock
from grader.sandbox.limits import MOST_BYTES

JUNK = ("__MACOSX", "Thumbs.db", "desktop.ini", ".DS_Store")
CHUNK = 1 << 20  # bytes unpacked at a time
HEAD = b"PK\x01\x02"  # begins every entry of a ZIP's directory
# With other methods Python unpacks gigabytes before it can be stopped.
UNPACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class Unreadable(Exception):
    """A file cannot be unpacked. why: the cause, in words that stand behind its name."""

    def __init__(self, why: Text) -> None:
        super().__init__(why["en"])
        self.why = why


@dataclass(frozen=True)
class Entry:
    """One file. inside: its path in the archive; packed: its compressed size in bytes; ``read(most)``: returns at most ``most``
    of its bytes; when: 14 digits, the time that the archive says, or "". ``read`` raises Unreadable, or any other exception
    where the archive is damaged.
    """

    inside: PurePosixPath
    packed: int
    read: Callable[[int], bytes]
    when: str = ""


@contextmanager
def opened(path: Path) -> Iterator[list[Entry]]:
    """The files of a ZIP or a folder on this machine, in order. Raises ProjectError for a file that is no ZIP."""
    if path.is_dir():
        yield list(_of_folder(path))
        return
    try:
        archive = zipfile.ZipFile(path)
    except Exception as error:  # a damaged directory can raise nearly anything
        raise ProjectError(
            f"{path} is no ZIP that can be read ({error}); download it again, or unpack it and name the folder"
        ) from error
    with archive:
        yield _of_zip(archive)


def inner(data: bytes, most: int) -> list[Entry]:
    """The files of a ZIP that a student has packed, at most ``most``. Raises Unreadable."""
    if data.count(HEAD) > most:
        raise Unreadable(said("zip_too_many", most=most))
    try:
        return _of_zip(zipfile.ZipFile(io.BytesIO(data)))
    except Exception as error:
        raise Unreadable(said("zip_broken")) from error


def _of_zip(archive: zipfile.ZipFile) -> list[Entry]:
    found = []
    for entry in archive.infolist():
        inside = _inside(_name(entry))
        if inside is not None and not entry.is_dir():
            found.append(
                Entry(
                    inside, entry.compress_size, _reader(archive, entry), "".join(f"{n:02d}" for n in entry.date_time)
                )
            )
    return sorted(found, key=lambda one: str(one.inside))


def _reader(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Callable[[int], bytes]:
    def read(most: int) -> bytes:
        if entry.flag_bits & 0x1:
            raise Unreadable(said("zip_locked"))
        if entry.compress_type not in UNPACKED:
            how = zipfile.compressor_names.get(entry.compress_type, entry.compress_type)
            raise Unreadable(said("zip_packing", how=how))
        parts, left = [], most
        with archive.open(entry) as file:
            while left > 0 and (part := file.read(min(CHUNK, left))):
                parts.append(part)
                left -= len(part)
        return b"".join(parts)

    return read


def _of_folder(path: Path) -> Iterator[Entry]:
    for folder, below, names in os.walk(path):
        below.sort()
        for name in sorted(names):
            one = Path(folder) / name
            inside = _inside(one.relative_to(path).as_posix())
            if inside is not None and not one.is_symlink():
                when = datetime.fromtimestamp(one.stat().st_mtime).strftime("%Y%m%d%H%M%S")
                yield Entry(inside, 0, lambda most, one=one: read_regular(one, most), when)


def _name(entry: zipfile.ZipInfo) -> str:
    """The name of an entry. Where the ZIP does not name the encoding: UTF-8 if it is that; the one of the ZIP standard, in which
    Windows writes umlauts, if that gives Latin letters alone; else GBK.
    """
    if entry.flag_bits & 0x800:
        return entry.filename
    raw = entry.filename.encode("cp437", "replace")
    western = all("LATIN" in unicodedata.name(sign, "") for sign in entry.filename if not sign.isascii())
    for code in ("utf-8", *(() if western else ("gbk",))):
        with suppress(UnicodeDecodeError):
            return raw.decode(code)
    return entry.filename


def _inside(name: str) -> PurePosixPath | None:
    """The path that a name stands for, always inside the archive; None for the files of systems."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    if not parts or any(part in JUNK for part in parts):
        return None
    return PurePosixPath(*parts)


# --- files of a folder, which a student may change while it is read ---


def files_in(folder: Path, most: int) -> dict[str, os.stat_result]:
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

"""What one student handed in, as files: limited in size, ZIPs unpacked, each with a path that is valid here.

Files that belong together stay together: each keeps its path, those in a ZIP below a folder of the ZIP's name. Notebooks and
answers files are read first, then ZIPs, then all other files. Each file that is not read is named with the cause, the same at every
step.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath

from course.core.i18n import Text
from grader.handin.archive import Entry, Unreadable, files_in, inner, read_inside
from grader.handin.guard import everybodys, reason
from grader.handin.sentences import printed, said
from grader.sandbox.limits import MOST_BYTES, MOST_FILES

OURS = re.compile(r"\.ipynb|\.answers.*\.json$", re.IGNORECASE)  # in a file's name: what marking looks for
STAMP = "timestamp.txt"  # the time of handing in; a student's own file of this name is left out
LONGEST_PART, LONGEST_PATH, DEEPEST = 240, 800, 12  # bytes of a name and of a path, folders within each other
ZIPS = 3  # ZIPs within each other
MOST_LOOKED_AT = 20 * MOST_FILES
MEGABYTE = 1 << 20
MOST_NAMED = 5
LARGE = said("large", megabytes=MOST_BYTES // MEGABYTE)
LINK, TOO_MANY = said("link"), said("too_many", most=MOST_FILES)


@dataclass(frozen=True)
class Files:
    """The files of a hand-in: path -> bytes. unread: name -> why it was not read; large: those that are too large."""

    there: dict[str, bytes] = field(default_factory=dict)
    unread: dict[str, Text] = field(default_factory=dict)
    large: tuple[str, ...] = ()

    @property
    def left_out(self) -> list[str]:
        """A sentence for each file that was not read, at most ``MOST_NAMED``."""
        listed = [f"{printed(name)}: {why['en']}" for name, why in self.unread.items()]
        more = len(listed) - MOST_NAMED
        return [*listed[:MOST_NAMED], f"and {more} more files"] if more > 0 else listed


def stored(own: Iterable[tuple[str, Entry]]) -> Files:
    """The files of one student as they came: at most ``MOST_FILES`` with ``MOST_BYTES`` together."""
    return _Reading(0).of(own)


def on_disk(folder: Path) -> Files:
    """The files of a folder as they lie there, within the same limits. No link is followed. A file in place of the folder is read, too."""
    alone = folder.is_file()
    place, listed = (
        (folder.parent, {folder.name: folder.lstat()}) if alone else (folder, files_in(folder, MOST_LOOKED_AT))
    )
    regular = [name for name, kind in listed.items() if stat.S_ISREG(kind.st_mode)]
    found = stored(
        (name, Entry(PurePosixPath(name), listed[name].st_size, partial(read_inside, place, name)))
        for name in regular
        if name != STAMP
    )
    stamp = {STAMP: read_inside(place, STAMP)} if STAMP in regular and listed[STAMP].st_size <= MOST_BYTES else {}
    links = {name: LINK for name, kind in listed.items() if stat.S_ISLNK(kind.st_mode)}
    return Files({**stamp, **found.there}, {**links, **found.unread}, found.large)


def unpacked(files: Files) -> Files:
    """The same files, with what is in their ZIPs in place of these."""
    made = _Reading(ZIPS).of(
        (name, Entry(PurePosixPath(name), 0, lambda most, data=data: data[:most]))
        for name, data in files.there.items()
        if name != STAMP
    )
    stamp = {STAMP: files.there[STAMP]} if STAMP in files.there else {}
    return Files({**stamp, **made.there}, {**files.unread, **made.unread}, (*files.large, *made.large))


def write(files: Files, folder: Path) -> None:
    """Write files into a folder. One that was too large gets a size by which whoever reads the folder sees that. Raises OSError."""
    for name, data in files.there.items():
        write_new(folder / name, data)
    for name in files.large:
        write_new(folder / name, b"")
        os.truncate(folder / name, MOST_BYTES + 1)


def write_new(path: Path, data: bytes) -> None:
    """Write a file that is not there yet, and wait until it is on the disk. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


class _Reading:
    """The files read so far, and how many bytes may still be added and read. zips: how many ZIPs within each other are unpacked."""

    def __init__(self, zips: int) -> None:
        self.there: dict[str, bytes] = {}
        self.unread: dict[str, Text] = {}
        self.large: list[str] = []
        self._zips, self._left, self._work = zips, MOST_BYTES, 4 * MOST_BYTES
        self._folders: set[str] = set()

    def of(self, own: Iterable[tuple[str, Entry]]) -> Files:
        self._take_all([*own], 0)
        return Files(self.there, self.unread, tuple(self.large))

    def _take_all(self, own: list[tuple[str, Entry]], depth: int) -> None:
        listed = sorted(own, key=lambda one: (_rank(one[0]), one[0]))
        for name, entry in listed[:MOST_LOOKED_AT]:
            self._take(name, entry, depth)
        self.unread |= {name: TOO_MANY for name, _ in listed[MOST_LOOKED_AT:]}

    def _take(self, name: str, entry: Entry, depth: int) -> None:
        """Read one file and add it. A ZIP is unpacked into a folder of its own name, or added as it is where that fails. depth: how many
        ZIPs it lies in.
        """
        packed = name.lower().endswith(".zip") and depth < self._zips
        try:
            data = self._bytes(entry, MOST_BYTES if packed else self._left)
            why = self._unpack(name, data, depth) if packed else self._add(name, data)
        except Unreadable as error:
            why = error.why
        except Exception as error:  # zlib, struct, Unicode: Python names no common base
            if everybodys(error):
                raise
            why = said("damaged", why=reason(error))
        if why is not None:
            self.unread[name] = why
        if why is LARGE and not depth and (place := self._place(name)) is not None:
            self.large.append(place)

    def _bytes(self, entry: Entry, most: int) -> bytes:
        """All bytes of a file. Raises Unreadable where they are more than ``most``, or too many were read already."""
        most = min(most, self._work)
        if entry.packed > most:
            raise Unreadable(LARGE)
        data = entry.read(most + 1)
        self._work -= len(data)
        if len(data) > most:
            raise Unreadable(LARGE)
        return data

    def _unpack(self, name: str, data: bytes, depth: int) -> Text | None:
        """Take the files of a ZIP; returns why that is not possible, or None."""
        try:
            entries = inner(data, MOST_LOOKED_AT)
            self._take_all([(f"{name}/{one.inside}", one) for one in entries], depth + 1)
        except Unreadable as error:
            self._add(name, data)  # for whoever looks into it by hand
            return error.why
        return None

    def _add(self, name: str, data: bytes) -> Text | None:
        """Add a file; returns why that is not possible, or None."""
        if name == STAMP:
            return said("not_theirs")
        if len(data) > self._left:
            return LARGE
        if len(self.there) >= MOST_FILES:
            return TOO_MANY
        if (place := self._place(name)) is None:
            return said("no_path")
        self.there[place] = data
        self._folders |= {str(one) for one in PurePosixPath(place).parents}
        self._left -= len(data)
        return None

    def _place(self, name: str) -> str | None:
        """The path for a file; None where it is taken, or not valid here."""
        whole = name.encode("utf-8", "replace").decode("utf-8").replace("\0", "?")
        parts = PurePosixPath(whole).parts
        longest = max(len(part.encode()) for part in parts)
        if len(parts) > DEEPEST or len(whole.encode()) > LONGEST_PATH or longest > LONGEST_PART:
            return None
        above = (str(one) for one in PurePosixPath(whole).parents)
        free = whole not in self.there and whole not in self._folders and not any(one in self.there for one in above)
        return whole if free else None


def without_zips(name: str) -> str:
    """The path of a file without the folders that stand for the ZIPs it lay in."""
    *above, own = PurePosixPath(name).parts
    return "/".join([*(part for part in above if not part.lower().endswith(".zip")), own])


def is_ours(name: str) -> bool:
    """Whether a file has a name that marking looks for."""
    return bool(OURS.search(PurePosixPath(name).name))


def _rank(name: str) -> int:
    return 0 if is_ours(name) else 1 if name.lower().endswith(".zip") else 2

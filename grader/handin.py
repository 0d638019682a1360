"""Turn what one student handed in into files: unpacked, limited in size, each with a path that is valid here.

Files that belong together stay together: each keeps its path, those in a ZIP the path there, beside the ZIP. Notebooks and
answers files are read first, then the content of ZIPs, then all other files. Each file that is left out is named in a sentence.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from grader.archive import Entry, Unreadable, inner
from grader.guard import everybodys, reason
from grader.sandbox.limits import MOST_BYTES, MOST_FILES

OURS = re.compile(r"\.ipynb|\.answers.*\.json$", re.IGNORECASE)  # in a file's name: what marking looks for
STAMP = "timestamp.txt"  # the time of handing in; a student's own file of this name is left out
LONGEST_PART, LONGEST_PATH, DEEPEST = 180, 800, 12  # bytes of a name and of a path, folders within each other
ZIPS = 3  # ZIPs within each other
MOST_LOOKED_AT = 20 * MOST_FILES
MEGABYTE = 1 << 20


@dataclass
class HandIn:
    """The result. files: path -> bytes; left_out: a sentence for each file that was left out."""

    files: dict[str, bytes] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


def read(own: Iterable[tuple[str, Entry]]) -> HandIn:
    """Read the files of one student: at most ``MOST_FILES`` files with ``MOST_BYTES`` bytes together."""
    made = _Unpacking()
    listed = sorted(own, key=lambda one: (_rank(one[0]), one[0]))
    for name, entry in listed[:MOST_LOOKED_AT]:
        made.take(name, entry)
    if len(listed) > MOST_LOOKED_AT:
        made.done.left_out.append(f"{len(listed) - MOST_LOOKED_AT} more files: there are too many")
    made.done.left_out = _few(made.done.left_out)
    return made.done


def digest(files: Mapping[str, bytes]) -> str:
    """A hash of all names and bytes of a hand-in, without its time stamp."""
    whole = hashlib.sha256()
    for name, data in sorted(files.items()):
        if name != STAMP:
            whole.update(f"{name}\0{len(data)}\0".encode("utf-8", "surrogateescape") + data)
    return whole.hexdigest()


class _Unpacking:
    """The files read so far, and how many bytes may still be read."""

    def __init__(self) -> None:
        self.done = HandIn()
        self._bytes_left, self._work = (
            MOST_BYTES,
            4 * MOST_BYTES,
        )  # bytes that may still be added, and that may still be read
        self._folders: set[str] = set()

    def take(self, name: str, entry: Entry, packed_in: tuple[str, ...] = ()) -> None:
        """Read one file and add it. A ZIP is unpacked, or added as it is where that fails. packed_in: the ZIPs it lies in."""
        shown = ", ".join([*packed_in, name])
        try:
            packed = name.lower().endswith(".zip") and len(packed_in) < ZIPS
            data = self._bytes(entry, MOST_BYTES if packed else self._bytes_left)
            if packed:
                self._unpack(name, data, packed_in)
                return
        except Unreadable as error:
            self._leave_out(shown, str(error))
        except Exception as error:  # zlib, struct, Unicode: Python names no common base
            if everybodys(error):
                raise
            self._leave_out(shown, f"it is damaged ({reason(error)})")
        else:
            self._add(name, data, shown, packed_in)

    def _bytes(self, entry: Entry, most: int) -> bytes:
        """All bytes of a file. Raises Unreadable where they are more than ``most``, or too many were read already."""
        most = min(most, self._work)
        if entry.packed > most:
            raise Unreadable(TOO_LARGE)
        try:
            data = entry.read(most + 1)
        except Exception:
            self._work -= max(entry.packed, MEGABYTE)
            raise
        self._work -= len(data)
        if len(data) > most:
            raise Unreadable(TOO_LARGE)
        return data

    def _unpack(self, name: str, data: bytes, packed_in: tuple[str, ...]) -> None:
        folder = PurePosixPath(name).parent
        try:
            with inner(data, MOST_LOOKED_AT) as entries:
                for one in sorted(entries, key=lambda one: (_rank(str(one.inside)), str(one.inside))):
                    self.take(str(folder / one.inside), one, (*packed_in, name))
        except Unreadable as error:
            self._leave_out(name, str(error))
            self._add(name, data, name)  # for whoever looks into it by hand

    def _add(self, name: str, data: bytes, shown: str, packed_in: tuple[str, ...] = ()) -> None:
        if name == STAMP:
            self._leave_out(shown, "students do not set the time of handing in")
        elif len(data) > self._bytes_left:
            self._leave_out(shown, TOO_LARGE)
        elif len(self.done.files) >= MOST_FILES:
            self._leave_out(shown, f"there are more than {MOST_FILES} files")
        elif (place := self._place(name, packed_in)) is None:
            self._leave_out(shown, "its path cannot be a path here, or is taken")
        else:
            self.done.files[place] = data
            self._folders |= {str(one) for one in PurePosixPath(place).parents}
            self._bytes_left -= len(data)

    def _place(self, name: str, packed_in: tuple[str, ...]) -> str | None:
        """The path for a file: its own or, where that is taken by one out of another ZIP, the same in a folder named like this
        ZIP. None where the path is not valid here.
        """
        path = PurePosixPath(name)
        aside = [path.parent / PurePosixPath(one).stem / path.name for one in reversed(packed_in)]
        for one in (path, *aside):
            parts = [_short(part) for part in one.parts]
            whole = "/".join(parts)
            fits = len(parts) <= DEEPEST and len(whole.encode("utf-8", "replace")) <= LONGEST_PATH
            if not fits and OURS.search(name):  # too deep: a notebook goes to the top
                whole, fits = parts[-1], True
            if fits and self._free(whole):
                return whole
        return None

    def _free(self, path: str) -> bool:
        above = (str(one) for one in PurePosixPath(path).parents)
        return (
            path not in self.done.files
            and path not in self._folders
            and not any(one in self.done.files for one in above)
        )

    def _leave_out(self, name: str, why: str) -> None:
        self.done.left_out.append(f"{_printed(name)}: {why}")


TOO_LARGE = f"it is too large: of one student's files {MOST_BYTES // MEGABYTE} MB are taken"
MOST_NAMED = 5


def _few(sentences: list[str]) -> list[str]:
    more = len(sentences) - MOST_NAMED
    return [*sentences[:MOST_NAMED], f"and {more} more files"] if more > 0 else sentences


def _rank(name: str) -> int:
    return 0 if OURS.search(name) else 1 if name.lower().endswith(".zip") else 2


def _short(part: str) -> str:
    """The name in a form that is valid here: a long one is cut in its middle, and a broken character is replaced."""
    part = part.encode("utf-8", "replace").decode("utf-8").replace("\0", "?")
    if len(part.encode()) <= LONGEST_PART:
        return part
    ending = next((one for one in (".ipynb", ".answers.json") if part.endswith(one)), "")
    mark = hashlib.sha256(part.encode()).hexdigest()[:8]
    head = part.encode()[: LONGEST_PART - len(ending) - len(mark) - 1].decode("utf-8", "ignore")
    return f"{head}~{mark}{ending}"


def _printed(name: str) -> str:
    name = "".join(sign if sign.isprintable() else "?" for sign in name)
    return name if len(name) <= 80 else f"{name[:60]} ... {name[-15:]}"

"""One hand-in as the files it becomes: unpacked, bounded, each under a path that a file system can hold.

Notebooks and answers files come first, then what is packed in ZIPs, then the rest. What is left out is named.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from grader.files import MOST_BYTES
from grader.guard import everybodys, reason
from grader.importing.archive import Entry, Unreadable, inner
from grader.ingest import MOST_FILES

OURS = (".ipynb", ".answers.json")  # what marking looks for at the top of the folder
STAMP = "timestamp.txt"  # says when something was handed in: not for the student to say
LONGEST_PART, LONGEST_PATH, DEEPEST = 180, 800, 12  # bytes of a name and of a path, folders within each other
MOST_LOOKED_AT = 20 * MOST_FILES
MEGABYTE = 1 << 20


@dataclass
class HandIn:
    """files: path -> bytes; left_out: a sentence for each file that is not among them."""

    files: dict[str, bytes] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    @property
    def has_notebook(self) -> bool:
        """Whether there is a notebook file with something in it."""
        return any(name.endswith(".ipynb") and data.strip() for name, data in self.files.items())


def read(own: Iterable[tuple[str, Entry]]) -> HandIn:
    """The files of one student. Never more than ``MOST_BYTES`` and ``MOST_FILES``, whatever the archive says of itself."""
    made = _Unpacking()
    listed = sorted(own, key=lambda one: (_rank(one[0]), one[0]))
    for name, entry in listed[:MOST_LOOKED_AT]:
        made.take(name, entry)
    if len(listed) > MOST_LOOKED_AT:
        made.done.left_out.append(f"{len(listed) - MOST_LOOKED_AT} more files: there are too many")
    made.done.left_out = _few(made.done.left_out)
    return made.done


def digest(files: Mapping[str, bytes]) -> str:
    """Changes with any name or byte of a hand-in, but not with when it was handed in."""
    whole = hashlib.sha256()
    for name, data in sorted(files.items()):
        if name != STAMP:
            whole.update(f"{name}\0{len(data)}\0".encode("utf-8", "surrogateescape") + data)
    return whole.hexdigest()


class _Unpacking:
    """The room that is left, and what has become of the files so far."""

    def __init__(self) -> None:
        self.done = HandIn()
        self._room, self._work = MOST_BYTES, 4 * MOST_BYTES  # bytes that may still be kept, and be read at all
        self._folders: set[str] = set()

    def take(self, name: str, entry: Entry, packed_in: str = "") -> None:
        """Read one file and keep it; one that a student packed is unpacked, and kept as it came where that is impossible."""
        shown = f"{packed_in}, {name}" if packed_in else name
        try:
            packed = name.lower().endswith(".zip") and not packed_in
            data = self._bytes(entry, MOST_BYTES if packed else self._room)
            if packed:
                self._unpack(name, data)
                return
        except Unreadable as error:
            self._leave_out(shown, str(error))
        except Exception as error:  # zlib, struct, Unicode: Python names no common base
            if everybodys(error):
                raise
            self._leave_out(shown, f"it is damaged ({reason(error)})")
        else:
            self._keep(name, data, shown)

    def _bytes(self, entry: Entry, room: int) -> bytes:
        """All bytes of a file. Raises Unreadable where they are more than ``room``, or too many were read already."""
        most = min(room, self._work)
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

    def _unpack(self, name: str, data: bytes) -> None:
        try:
            with inner(data, MOST_LOOKED_AT) as entries:
                for one in sorted(entries, key=lambda one: (_rank(str(one.inside)), str(one.inside))):
                    self.take(str(one.inside), one, packed_in=name)
        except Unreadable as error:
            self._leave_out(name, str(error))
            self._keep(name, data, name)  # for whoever looks into it by hand

    def _keep(self, name: str, data: bytes, shown: str) -> None:
        if name == STAMP:
            self._leave_out(shown, "when something was handed in is not for the student to say")
        elif len(data) > self._room:
            self._leave_out(shown, TOO_LARGE)
        elif len(self.done.files) >= MOST_FILES:
            self._leave_out(shown, f"there are more than {MOST_FILES} files")
        elif (place := self._place(name)) is None:
            self._leave_out(shown, "its path cannot be a path here, or is taken")
        else:
            self.done.files[place] = data
            self._folders |= {str(one) for one in PurePosixPath(place).parents}
            self._room -= len(data)

    def _place(self, name: str) -> str | None:
        """Where a file goes: a notebook or an answers file that lies deeper to the top, unless its name is taken there; None
        for a path that no file system holds, and for one that is another's folder or file already.
        """
        parts = [_short(part) for part in PurePosixPath(name).parts]
        if name.endswith(OURS) and self._free(parts[-1]):
            return parts[-1]
        whole = "/".join(parts)
        fits = len(parts) <= DEEPEST and len(whole.encode("utf-8", "replace")) <= LONGEST_PATH
        return whole if fits and self._free(whole) else None

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
    return 0 if name.endswith(OURS) else 1 if name.lower().endswith(".zip") else 2


def _short(part: str) -> str:
    """A name that a file system holds: what is too long is cut in its middle, and half a character is written as a sign."""
    part = part.encode("utf-8", "replace").decode("utf-8").replace("\0", "?")
    if len(part.encode()) <= LONGEST_PART:
        return part
    ending = next((one for one in OURS if part.endswith(one)), "")
    mark = hashlib.sha256(part.encode()).hexdigest()[:8]
    head = part.encode()[: LONGEST_PART - len(ending) - len(mark) - 1].decode("utf-8", "ignore")
    return f"{head}~{mark}{ending}"


def _printed(name: str) -> str:
    name = "".join(sign if sign.isprintable() else "?" for sign in name)
    return name if len(name) <= 80 else f"{name[:60]} ... {name[-15:]}"

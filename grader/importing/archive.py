"""The files of a ZIP, or of a folder, by the path they have in it. Whoever handed in chose what is in there: sizes are limited
before anything is unpacked, links are not followed, and a path can only lie inside.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from grader.files import MOST_BYTES
from grader.ingest import MOST_FILES
from grader.project import ProjectError

MOST_PEOPLE = 5000
JUNK = ("__MACOSX", "Thumbs.db", "desktop.ini")


def files(path: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    """(path inside, bytes) of everything a ZIP or folder holds, in order; what is too large comes back empty. Raises ProjectError."""
    if path.is_dir():
        for one in sorted(path.rglob("*"))[: MOST_PEOPLE * 10]:
            if (
                one.is_file()
                and not one.is_symlink()
                and not _junk(inside := PurePosixPath(one.relative_to(path).as_posix()))
            ):
                yield inside, one.read_bytes() if one.stat().st_size <= MOST_BYTES else b""
        return
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ProjectError(f"{path} cannot be read: {error.strerror}") from error
    yield from unzipped(data, str(path))


def unzipped(data: bytes, name: str) -> Iterator[tuple[PurePosixPath, bytes]]:
    """The same of a ZIP in memory. Raises ProjectError for what is none."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for entry in sorted(archive.infolist(), key=lambda entry: entry.filename)[: MOST_PEOPLE * 10]:
                parts = [part for part in _name(entry).replace("\\", "/").split("/") if part not in ("", ".", "..")]
                if not entry.is_dir() and parts and not _junk(inside := PurePosixPath(*parts)):
                    with archive.open(entry) as file:
                        found = file.read(MOST_BYTES + 1)  # its head may lie about the size
                    yield inside, found if len(found) <= MOST_BYTES else b""
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, OSError) as error:  # also encrypted ones
        raise ProjectError(f"{name} is no ZIP that can be read: {error}") from error


def _name(entry: zipfile.ZipInfo) -> str:
    """The name of an entry; one that says nothing of its encoding is read as UTF-8, else as GBK, before the ZIP's own."""
    if entry.flag_bits & 0x800:
        return entry.filename
    raw = entry.filename.encode("cp437", "replace")
    for code in ("utf-8", "gbk"):
        try:
            return raw.decode(code)
        except UnicodeDecodeError:
            continue
    return entry.filename


def _junk(path: PurePosixPath) -> bool:
    return any(part in JUNK or part.startswith((".", "~")) for part in path.parts)


def modest(found: dict[str, bytes]) -> dict[str, bytes]:
    """As many files of one student as a submission may have: notebooks and answers first."""
    kept, left = {}, MOST_BYTES
    for name in sorted(found, key=lambda name: (not name.endswith((".ipynb", ".answers.json")), name))[:MOST_FILES]:
        if len(found[name]) <= left:
            kept[name], left = found[name], left - len(found[name])
    return kept

"""The answer log: what a learner did, one JSON object a line, only ever appended to.

A line is written with one ``write`` to a file opened for appending and then synced, so several kernels can
share a log and a crash costs at most the line being written. Lines that cannot be read are copied to
``<file>.damaged`` and reported; the log itself is never rewritten. Lines of a newer format stay and are not
used. If the file cannot be written, entries stay in memory, are used as usual, and are written with the next
one that succeeds. Reading again parses only what was added since.
"""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from course.core import home
from course.core.i18n import t
from course.learning.entry import EVENTS, Entry, after, counted, now, parse, stamp, to_line

CANNOT_SYNC = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)
"""What some network drives say; the line is written all the same."""


def default_path() -> Path:
    """The path of the log in the learner's folder (``course.core.home``)."""
    return home.folder() / "answers.jsonl"


def home_path() -> Path:
    """The path of the log in the home folder."""
    return home.own_folder() / "answers.jsonl"


class AnswerLog:
    """The log in one file.

    ``notices`` collects sentences for the learner; ``take_notices()`` returns each of them once.
    """

    def __init__(self, path: Path | str | None = None) -> None:
        self.path = Path(path) if path is not None else default_path()
        self.pending: list[Entry] = []
        self.notices: list[str] = []
        self._stamp: tuple[int, ...] | None = None
        self._found: dict[str, Entry] = {}
        self._sorted: list[Entry] = []
        self._read_to, self._last = 0, b""

    def append(
        self, event: str, item: str, *, options: Iterable[str] = (), at: datetime | None = None, **fields: Any
    ) -> Entry:
        """Write one entry and return it; never raises for a full disk or a read-only folder (see
        ``notices``). at: when it happened, by default now. fields: those of `Entry`; an empty text counts as none.

        Raises ValueError for an event that is not one of EVENTS.
        """
        if event not in EVENTS:
            raise ValueError(f"unknown event {event!r}; the events are {', '.join(EVENTS)}")
        said = {name: value for name, value in fields.items() if value != ""}
        time = stamp(at or after(now(), self._last_time(item)))
        entry = Entry(str(uuid.uuid4()), time, event, item, tuple(options), **said)
        self.pending.append(entry)
        try:
            self.write_lines(b"".join(map(to_line, self.pending)))
            self.pending.clear()
        except OSError as error:
            why = error.strerror or error
            self.notices.append(
                t(
                    f"This answer could not be saved to {self.path} ({why}). It stays in memory until "
                    "the kernel stops. Free some space, or set COURSE_HOME to a folder you can write to; "
                    'the next answer saves both. `export_progress("FILE")` writes all you have elsewhere.',
                    f"这次作答没能保存到 {self.path}（{why}），在内核停止之前会留在内存里。请腾出空间，"
                    "或把 COURSE_HOME 设为可写的文件夹；下次作答时会一并保存。"
                    '也可以用 `export_progress("文件")` 把全部记录写到别处。',
                )
            )
        return entry

    def _last_time(self, item: str) -> str:
        """The stamp of the newest entry on an item; "" where there is none."""
        try:
            self._read()
        except OSError:  # ``entries`` says so
            pass
        return max((one.time for one in (*self._sorted, *self.pending) if one.item == item), default="")

    def write_lines(self, lines: bytes) -> None:
        """Append whole lines with one write and sync them; after half a line, start with a line break.

        Raises OSError where the file cannot be written.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        file = os.open(self.path, flags, 0o600)
        try:
            size = os.fstat(file).st_size
            if size:
                os.lseek(file, size - 1, os.SEEK_SET)
                if os.read(file, 1) != b"\n":
                    lines = b"\n" + lines
            if os.write(file, lines) != len(lines):
                raise OSError(28, "No space left on device")
            _sync(file)
        finally:
            os.close(file)
        if not size:
            _sync_folder(self.path.parent)

    def entries(self) -> list[Entry]:
        """Every entry that counts, oldest first, with those still waiting to be written.

        Answers that were taken back by an earlier version are left out (``entry.counted``).
        """
        try:
            self._read()
        except FileNotFoundError:
            self._forget()
        except OSError as error:
            self._forget()
            self.notices.append(
                t(
                    f"{self.path} cannot be read ({error.strerror}); earlier answers are not shown.",
                    f"无法读取 {self.path}（{error.strerror}），暂时看不到之前的作答。",
                )
            )
        if not self.pending:
            return counted(self._sorted)
        return counted([*self._sorted, *(entry for entry in self.pending if entry.id not in self._found)])

    def _forget(self) -> None:
        self._stamp, self._found, self._sorted, self._read_to, self._last = None, {}, [], 0, b""

    def _read(self) -> None:
        """Parse what was added since the last time, or everything where the file is another one by now."""
        info = os.stat(self.path)
        stamp = (info.st_size, info.st_mtime_ns, info.st_ino)
        if stamp == self._stamp:
            return
        with open(self.path, "rb") as file:
            file.seek(max(0, self._read_to - len(self._last)))
            grown = self._stamp and self._stamp[2] == info.st_ino and self._stamp[0] < info.st_size
            if not grown or file.read(len(self._last)) != self._last:
                self._forget()
                file.seek(0)
            data = file.read()
        whole = data.rfind(b"\n") + 1
        found, lines, damaged = parse(data)
        if newer := len(lines) - len(found):
            self.notices.append(
                t(
                    f"{self.path.name} has lines of a newer version of the course: {newer}. "
                    "They are kept, and count once the course here is updated.",
                    f"{self.path.name} 中有 {newer} 条来自更新版本的课程：已经保留，更新本机的课程后才会计入。",
                )
            )
        if found or not self._stamp:
            self._found = {**found, **self._found}
            self._sorted = sorted(self._found.values(), key=lambda entry: entry.time)
        self._stamp, self._read_to = stamp, self._read_to + whole
        self._last = (self._last + data[:whole])[-64:]
        if damaged and damaged[-1] == data[whole:]:  # perhaps another kernel is still writing it
            damaged.pop()
        if damaged:
            self.set_aside(damaged)

    def set_aside(self, damaged: list[bytes]) -> None:
        """Copy damaged lines to <file>.damaged, each once; adds a notice for new ones."""
        aside = self.path.with_name(self.path.name + ".damaged")
        try:
            known = set(aside.read_bytes().split(b"\n")) if aside.exists() else set()
            fresh = [raw for raw in damaged if raw not in known]
            if not fresh:
                return
            with open(aside, "ab") as file:
                file.write(b"".join(raw + b"\n" for raw in fresh))
        except OSError:
            fresh = damaged
        self.notices.append(
            t(
                f"Damaged lines in {self.path.name}: {len(fresh)}, set aside in {aside.name}; all others are there. "
                "Nothing needs to be done.",
                f"{self.path.name} 中有 {len(fresh)} 行损坏，已另存到 {aside.name}；其余作答都在，无需处理。",
            )
        )

    def take_notices(self) -> list[str]:
        """The notices collected since the last call."""
        taken, self.notices = list(dict.fromkeys(self.notices)), []
        return taken


_logs: dict[Path, AnswerLog] = {}


def answer_log() -> AnswerLog:
    """The log of this learner on this machine. When COURSE_HOME changes, answers not written yet go into the new file."""
    log = _logs.setdefault(default_path(), AnswerLog(default_path()))
    for other in _logs.values():
        if other is not log and other.pending:
            log.pending, other.pending = [*log.pending, *other.pending], []
    return log


def _sync(file: int) -> None:
    """Wait until the bytes are on the disk. Raises OSError where that fails: a full disk or quota, a broken disk."""
    try:
        os.fsync(file)
    except OSError as error:
        if error.errno not in CANNOT_SYNC:
            raise


def _sync_folder(folder: Path) -> None:
    """Write the folder's entry of a new file to the disk (where the system can), so that it survives a power cut."""
    try:
        file = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows opens no folders
        return
    try:
        _sync(file)
    finally:
        os.close(file)

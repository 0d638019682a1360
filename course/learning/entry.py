"""One line of the answer log: its fields, how it is written, how a whole log is read.

Lines are never removed from a log. An ``undo`` entry takes an answer back: its ``options`` hold the id of the
answer entry, its ``item`` the same question. ``counted`` leaves out answers that were taken back.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from course.core.version import __version__

SCHEMA = 1
EVENTS = ("answer", "bet", "settled", "check", "hint", "solution", "observe", "finish", "undo", "reason", "move")
LONGEST_REASON = 300
LATEST = datetime(8999, 12, 31, tzinfo=timezone.utc)  # lines from the year 9000 on are read as damaged
_REQUIRED = ("id", "time", "event", "item")
_TEXTS, _NUMBERS = ("verdict", "lesson", "record", "because", "variant"), ("number", "points")
"""Fields that an entry may have; a value of another kind, or a number that is not finite, counts as none."""


@dataclass(frozen=True)
class Entry:
    """One thing a learner did.

    time: ISO 8601 UTC with microseconds, so it sorts as text. item: the id of a question, an exercise, an
    experiment or a lesson, depending on the event. verdict: a state of course.core.verdict, or None. record: for
    ``settled``, the record that settled the bet, such as "live 2026-03-01T09:30:00Z Xeon". because: the learner's own
    reason for an answer or a bet, one line. variant: the seed that the numbers of the question were drawn with, None for the
    standard ones. A ``reason`` entry rates that reason: its ``options`` hold one of ``session.REASONS``. A ``move`` entry is a
    move in a game (``course.game.moves``).
    """

    id: str
    time: str
    event: str
    item: str
    options: tuple[str, ...] = ()
    number: float | None = None
    confidence: int | None = None
    verdict: str | None = None
    points: float | None = None
    lesson: str | None = None
    version: str = __version__
    record: str | None = None
    because: str | None = None
    variant: str | None = None

    @property
    def when(self) -> datetime:
        """The time as an aware datetime."""
        return datetime.fromisoformat(self.time.replace("Z", "+00:00"))


def now() -> datetime:
    """The present time in UTC, at most LATEST (a clock may be set thousands of years ahead)."""
    try:
        return min(datetime.now(timezone.utc), LATEST)
    except (ValueError, OverflowError, OSError):
        return LATEST


def stamp(moment: datetime) -> str:
    """A time as text in the form of the log, such as 2026-03-01T09:30:00.000000Z."""
    return moment.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def after(moment: datetime, last: str) -> datetime:
    """The moment, or the microsecond after ``last`` (a stamp, or "" for none) if that is later because the clock was set back.

    A later answer must have a later stamp, or the earlier one would count as the newest.
    """
    if stamp(moment) > last or last > "9":
        return moment
    return datetime.fromisoformat(last.replace("Z", "+00:00")) + timedelta(microseconds=1)


def counted(entries: Sequence[Entry]) -> list[Entry]:
    """The entries that count: without ``undo`` entries and without the answers they take back.

    Only an ``answer`` can be taken back, and only by an entry on the same question: bets stay locked. The order
    of the two lines does not matter.
    """
    undone = {(entry.item, entry.options[:1]) for entry in entries if entry.event == "undo"}
    if not undone:
        return list(entries)
    return [
        entry
        for entry in entries
        if entry.event != "undo" and not (entry.event == "answer" and (entry.item, (entry.id,)) in undone)
    ]


def to_line(entry: Entry) -> bytes:
    """One line, without the fields that are None."""
    data: dict[str, Any] = {k: v for k, v in vars(entry).items() if v is not None and v != ()}
    return json.dumps({**data, "schema": SCHEMA}, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def _entry(data: Any) -> Entry | None:
    """The Entry of a decoded line; None where the line is of a newer format.

    Raises ValueError for anything else.
    """
    if not isinstance(data, dict):
        raise ValueError("not an object")
    if isinstance(data.get("schema"), int) and data["schema"] > SCHEMA:
        return None
    texts = [data.get(name) for name in _REQUIRED]
    options = data.get("options", ())
    if not all(isinstance(one, str) for one in texts) or not isinstance(options, (list, tuple)):
        raise ValueError("a required field is missing")
    if data["event"] not in EVENTS:
        return None
    time = data["time"]
    if len(time) == 27 and time[-1] == "Z":
        if datetime.fromisoformat(time[:-1]).tzinfo:  # raises where it is no time at all
            raise ValueError("two time zones")
    else:
        time = stamp(datetime.fromisoformat(time.replace("Z", "+00:00")))
    if time > "9":
        raise ValueError("a time after the year 9000")
    told = {name: data[name] for name in _TEXTS if isinstance(data.get(name), str)}
    counted = {
        name: data[name] for name in _NUMBERS if type(data.get(name)) in (int, float) and data[name] - data[name] == 0
    }
    level, version = data.get("confidence"), str(data.get("version", ""))
    sure = level if type(level) is int and 1 <= level <= 3 else None
    fixed = data["id"], time, data["event"], data["item"], tuple(map(str, options))
    return Entry(*fixed, confidence=sure, version=version, **told, **counted)


def parse(data: bytes) -> tuple[dict[str, Entry], dict[str, bytes], list[bytes]]:
    """Parse the bytes of a log: (entries by id, raw lines by id including those of a newer format, damaged lines).

    Where a crash left half a line and the next entry follows on the same line, that entry is recovered.
    """
    entries: dict[str, Entry] = {}
    raws: dict[str, bytes] = {}
    damaged: list[bytes] = []
    for raw in data.split(b"\n"):
        if not raw.strip():
            continue
        try:
            _take(raw, entries, raws)
        except (ValueError, OverflowError, RecursionError):
            damaged.append(raw)
            start = raw.rfind(b'{"id"')
            if start > 0:
                try:
                    _take(raw[start:], entries, raws)
                except (ValueError, OverflowError, RecursionError):
                    pass
    return entries, raws, damaged


def _take(raw: bytes, entries: dict[str, Entry], raws: dict[str, bytes]) -> None:
    data = json.loads(raw)
    entry = _entry(data)
    identity = str(data.get("id", raw))
    if entry is not None:
        entries.setdefault(identity, entry)
    raws.setdefault(identity, raw)

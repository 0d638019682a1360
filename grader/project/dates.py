"""Read and show dates as instructors write them, always with a time zone: ``2026-12-01 23:59 Europe/Berlin``.

Where the clocks are put back, an hour comes twice: the second one is meant, so that nobody is late by a misunderstanding. An
hour that is skipped in spring means the one after it.
"""

from __future__ import annotations

import os
import re
from datetime import date, datetime, time, timezone, tzinfo

from dateutil import tz
from nbgrader.utils import parse_utc

from grader.project import ProjectError

LONGEST_STAMP = 100  # characters; the parser takes minutes over megabytes
CLOCK = re.compile(r"(\d{1,2})[:.：](\d{2})(?:[:.：](\d{2}))?")
FORM = "write it like 2026-12-01 23:59 Europe/Berlin"


def utc(said: object, zone: str | None = None) -> datetime:
    """Parse a date; returns it in UTC without a zone, as nbgrader stores it. A date without a time means the end of that day.

    zone: used where ``said`` names none. Raises ProjectError with a sentence.
    """
    day, clock, named = _parts(said)
    place = tz.gettz(named or zone) if named or zone else None
    if place is None:
        what = f"the time zone {named or zone!r} is not known" if named or zone else "it names no time zone"
        raise ProjectError(f"{said!r}: {what}; {FORM}")
    return _utc(datetime.combine(day, clock), place)


def _utc(clock: datetime, place: tzinfo) -> datetime:
    """The moment at which a clock there shows this."""
    local = tz.resolve_imaginary(tz.enfold(clock, fold=1).replace(tzinfo=place))
    return local.astimezone(timezone.utc).replace(tzinfo=None)


def shown(moment: datetime, zone: str) -> str:
    """A moment (UTC, without a zone) by the clocks of a time zone, which is named."""
    return f"{moment.replace(tzinfo=timezone.utc).astimezone(tz.gettz(zone)):%Y-%m-%d %H:%M} {zone}"


def known(zone: str) -> str:
    """The name of a time zone. Raises ProjectError where there is no such zone."""
    if tz.gettz(zone) is None:
        raise ProjectError(f"the time zone {zone!r} is not known; write a name such as Europe/Berlin")
    return zone


def of_machine() -> str:
    """The name of this machine's time zone, such as Europe/Berlin; UTC where it is not known."""
    said = os.environ.get("TZ") or os.path.realpath("/etc/localtime").partition("zoneinfo/")[2].removeprefix("Etc/")
    return said if said and tz.gettz(said) else "UTC"


def _parts(said: object) -> tuple[date, time, str | None]:
    if isinstance(said, datetime):  # YAML has read it already
        return said.date(), said.time().replace(tzinfo=None), "UTC" if said.tzinfo else None
    if isinstance(said, date):
        return said, time(23, 59, 59), None
    words = str(said).split()
    try:
        day = date.fromisoformat(words[0])
        has_clock = len(words) > 1 and words[1][:1].isdigit()
        found = CLOCK.fullmatch(words[1]) if has_clock else None
        rest = words[1 + has_clock :]
        if len(rest) > 1 or (has_clock and found is None):
            raise ValueError
        clock = time(*(int(part or 0) for part in found.groups())) if found else time(23, 59, 59)
    except (ValueError, IndexError):
        raise ProjectError(f"{said!r} is no date with a time; {FORM}") from None
    return day, clock, rest[0] if rest else None


def timestamp_of(stamp: bytes | str) -> datetime | None:
    """Parse a time stamp; returns it as nbgrader stores it (UTC without a zone), None where it is missing or damaged."""
    text = (stamp.decode("utf-8", "replace") if isinstance(stamp, bytes) else stamp).strip()
    try:
        return parse_utc(text) if 0 < len(text) <= LONGEST_STAMP else None
    except Exception:  # it comes from the student's side, and the parser fails in many ways: OverflowError, TypeError
        return None

"""Read and show dates as instructors write them, ``2026-12-01 23:59``, in the time zone of the course.

Where the clocks are put back, an hour comes twice: the second one is meant, so that nobody is late by a misunderstanding. An
hour that is skipped in spring means the one after it.
"""

from __future__ import annotations

from datetime import datetime, timezone

from dateutil import tz
from nbgrader.utils import parse_utc

from grader.project import ProjectError

LONGEST_STAMP = 100  # characters; the parser takes minutes over megabytes


def utc(said: str, zone: str) -> datetime:
    """Parse a date by the clocks of a time zone; returns it in UTC without a zone, as nbgrader stores it. Raises ProjectError with a
    sentence.
    """
    try:
        moment = datetime.strptime(said.strip(), "%Y-%m-%d %H:%M")
    except ValueError:
        raise ProjectError(f"{said!r} is no date with a time; write it like 2026-12-01 23:59") from None
    local = tz.resolve_imaginary(tz.enfold(moment, fold=1).replace(tzinfo=tz.gettz(known(zone))))
    return local.astimezone(timezone.utc).replace(tzinfo=None)


def shown(moment: datetime, zone: str) -> str:
    """A moment (UTC, without a zone) by the clocks of a time zone, which is named. Raises ProjectError for one that is not known."""
    return f"{moment.replace(tzinfo=timezone.utc).astimezone(tz.gettz(known(zone))):%Y-%m-%d %H:%M} {zone}"


def known(zone: str) -> str:
    """The name of a time zone. Raises ProjectError where there is no such zone."""
    if tz.gettz(zone) is None:
        raise ProjectError(f"the time zone {zone!r} is not known; write a name such as Europe/Berlin")
    return zone


def timestamp_of(stamp: bytes | str) -> datetime | None:
    """Parse a time stamp; returns it as nbgrader stores it (UTC without a zone), None where it is missing or damaged."""
    text = (stamp.decode("utf-8", "replace") if isinstance(stamp, bytes) else stamp).strip()
    try:
        return parse_utc(text) if 0 < len(text) <= LONGEST_STAMP else None
    except Exception:  # it comes from the student's side, and the parser fails in many ways: OverflowError, TypeError
        return None

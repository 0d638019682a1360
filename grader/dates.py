"""Read and show dates as instructors write them, always with a time zone: ``2026-12-01 23:59 Europe/Berlin``."""

from __future__ import annotations

from datetime import date, datetime, time, timezone

from dateutil import tz

from grader.project import ProjectError

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
    return datetime.combine(day, clock, place).astimezone(timezone.utc).replace(tzinfo=None)


def shown(moment: datetime, zone: str | None) -> str:
    """A moment (UTC, without a zone) in the time zone ``zone``, which is named; None for the zone of this machine, named by its
    distance from UTC.
    """
    local = moment.replace(tzinfo=timezone.utc).astimezone(tz.gettz(zone) if zone else tz.tzlocal())
    away = local.isoformat()[-6:]
    return f"{local:%Y-%m-%d %H:%M} {zone or ('UTC' if away == '+00:00' else f'UTC{away}')}"


def _parts(said: object) -> tuple[date, time, str | None]:
    if isinstance(said, datetime):  # YAML has read it already
        return said.date(), said.time().replace(tzinfo=None), "UTC" if said.tzinfo else None
    if isinstance(said, date):
        return said, time(23, 59, 59), None
    words = str(said).split()
    try:
        day = date.fromisoformat(words[0])
        has_clock = len(words) > 1 and words[1][:1].isdigit()
        clock = time.fromisoformat(words[1]) if has_clock else time(23, 59, 59)
        rest = words[1 + has_clock :]
        if clock.tzinfo is not None or len(rest) > 1:
            raise ValueError
    except (ValueError, IndexError):
        raise ProjectError(f"{said!r} is no date with a time; {FORM}") from None
    return day, clock, rest[0] if rest else None

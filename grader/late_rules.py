"""The rules for late submissions in ``late.yaml`` of the course directory. Pure functions, no gradebook. An example:

timezone: Europe/Berlin          # for dates below that name none
grace_minutes: 15                # up to here nothing is taken
per_day_percent: 10              # for each day begun after the due date
of: earned                       # percent of the points earned, or `maximum`: of the most points
cap_percent: 50                  # never more than this,
zero_after_days: 7               # but no points at all when later than this
checkpoints:
  05_cudnn_benchmark: {per_day_percent: 20}      # what differs for one checkpoint
extensions:
  - {student: ada, days: 3, checkpoint: 05_cudnn_benchmark}   # without `checkpoint`: for all
  - {student: bob, until: 2026-12-08 12:00 Europe/Berlin, checkpoint: 05_cudnn_benchmark}
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from grader import dates
from grader.project import ProjectError, read_yaml

FILE = "late.yaml"
DAY_S = 86_400
TOP = ("timezone", "checkpoints", "extensions")
EXTENSION = ("student", "checkpoint", "days", "until")


@dataclass(frozen=True)
class Table:
    """The rules for one checkpoint. Percents are of the points earned, or of the most points (``of``: maximum)."""

    grace_minutes: float = 0
    per_day_percent: float = 0
    cap_percent: float = 100
    zero_after_days: float | None = None
    of: str = "earned"


@dataclass(frozen=True)
class Extension:
    """More time for one student: ``days`` after the due date, or ``until`` a time (UTC). checkpoint: None for all."""

    student: str
    checkpoint: str | None = None
    days: float = 0
    until: datetime | None = None


@dataclass(frozen=True)
class Rules:
    """All rules of a course."""

    usual: Table = Table()
    tables: dict[str, Table] = field(default_factory=dict)
    extensions: tuple[Extension, ...] = ()
    timezone: str | None = None  # of times that name none

    def table(self, checkpoint: str) -> Table:
        """The rules of one checkpoint."""
        return self.tables.get(checkpoint, self.usual)

    def due(self, checkpoint: str, student: str, due: datetime) -> datetime:
        """The due date of one student: the latest date of all extensions."""
        own = [one for one in self.extensions if one.student == student and one.checkpoint in (None, checkpoint)]
        return max([due, *(one.until or dates.later(due, one.days, self.timezone) for one in own)])

    def penalty(self, checkpoint: str, due: datetime, handed_in: datetime, score: float, top: float) -> float:
        """The points that lateness takes from ``score`` of ``top``. due: this student's."""
        days = dates.days_between(due, handed_in, self.timezone)
        return penalty(self.table(checkpoint), (handed_in - due).total_seconds(), score, top, days)


def penalty(table: Table, seconds_late: float, score: float, top: float, days: float | None = None) -> float:
    """The points that lateness takes from ``score`` of ``top``: 0 <= penalty <= score.

    days: how late by the clocks of the course, where that differs from 24 hours a day.
    """
    if seconds_late <= table.grace_minutes * 60:
        return 0.0
    days = seconds_late / DAY_S if days is None else days
    if table.zero_after_days is not None and days > table.zero_after_days:
        return float(score)
    percent = min(table.cap_percent, table.per_day_percent * max(1, math.ceil(days)))
    base = score if table.of == "earned" else top
    return round(min(score, base * percent / 100), 4)


def read_rules(root: Path, checkpoints: Collection[str] | None = None) -> Rules:
    """Read ``late.yaml``; without the file no points are taken. Raises ProjectError with every fault, also with every checkpoint
    that is not in ``checkpoints``.
    """
    path = root / FILE
    data = read_yaml(path)
    if data is None:
        return Rules()
    faults = [f"{path}: {fault}" for fault in _faults(data)]
    if not faults and checkpoints is not None:
        faults = [f"{path}: {fault}" for fault in _unknown(data, checkpoints)]
    if faults:
        raise ProjectError("\n".join(faults))
    usual = Table(**{name: value for name, value in data.items() if name not in TOP})
    tables = {name: replace(usual, **(said or {})) for name, said in (data.get("checkpoints") or {}).items()}
    zone = data.get("timezone")
    extensions = [
        Extension(
            str(one["student"]),
            one.get("checkpoint"),
            one.get("days", 0),
            dates.utc(one["until"], zone) if "until" in one else None,
        )
        for one in data.get("extensions") or ()
    ]
    return Rules(usual, tables, tuple(extensions), zone)


def course_rules(root: Path, config: Any, checkpoints: Collection[str] | None = None) -> Rules:
    """``read_rules`` with the time zone of the course: ``timezone`` in ``late.yaml``, else ``c.Exchange.timezone`` in nbgrader's
    settings; None where neither names one. Raises ProjectError.
    """
    rules = read_rules(root, checkpoints)
    zone = rules.timezone or (str(config.Exchange.timezone) if "timezone" in config.Exchange else None)
    if zone is not None and dates.tz.gettz(zone) is None:
        raise ProjectError(f"the time zone {zone!r} is not known; write a name such as Europe/Berlin")
    return replace(rules, timezone=zone)


def course_zone(root: Path, config: Any) -> str | None:
    """The time zone of the course, or None. Raises ProjectError."""
    return course_rules(root, config).timezone


def _faults(data: Any) -> Iterator[str]:
    if not isinstance(data, dict):
        yield "expected a table of rules, such as `per_day_percent: 10`"
        return
    yield from _table_faults({name: value for name, value in data.items() if name not in TOP}, "")
    zone = data.get("timezone")
    if zone is not None and dates.tz.gettz(str(zone)) is None:
        yield f"timezone: {zone!r} is not known; write a name such as Europe/Berlin"
    own = data.get("checkpoints") or {}
    if isinstance(own, dict):
        for name, said in own.items():
            if isinstance(said, dict):
                yield from _table_faults(said, f"checkpoints, {name}, ")
            elif said is not None:
                yield f"checkpoints, {name}: expected rules, such as {{per_day_percent: 20}}"
    else:
        yield "checkpoints: expected a table, such as `05_cudnn_benchmark: {per_day_percent: 20}`"
    listed = data.get("extensions") or []
    if not isinstance(listed, list):
        yield "extensions: expected a list, such as `- {student: ada, days: 3}`"
        return
    for number, one in enumerate(listed, start=1):
        yield from _extension_faults(one, f"extensions, number {number}", zone)


def _unknown(data: dict, checkpoints: Collection[str]) -> Iterator[str]:
    """The checkpoints named in the file that do not exist, so that their rules would have no effect."""
    named = [(name, "checkpoints") for name in data.get("checkpoints") or {}]
    named += [
        (one["checkpoint"], f"extensions, number {number} ({one['student']})")
        for number, one in enumerate(data.get("extensions") or (), start=1)
        if one.get("checkpoint") is not None
    ]
    for name, where in named:
        if name not in checkpoints:
            yield f"{where}: there is no checkpoint {name!r}; there are {', '.join(sorted(checkpoints))}"


def _table_faults(said: dict, where: str) -> Iterator[str]:
    known = [one.name for one in fields(Table)]
    for name, value in said.items():
        if name not in known:
            yield f"{where}{name}: there is no such rule; there are {', '.join([*known, *TOP] if not where else known)}"
        elif name == "of":
            if value not in ("earned", "maximum"):
                yield f"{where}of: {value!r} should be `earned` (percent of the points earned) or `maximum`"
        elif name == "zero_after_days" and value is None:
            continue
        elif not _number(value) or value < 0:
            yield f"{where}{name}: {value!r} should be a number, 0 or more"
        elif name.endswith("percent") and value > 100:
            yield f"{where}{name}: {value:g} is more than 100 percent"


def _extension_faults(one: Any, where: str, zone: object) -> Iterator[str]:
    if not isinstance(one, dict) or not one.get("student"):
        yield f"{where}: expected a student, such as {{student: ada, days: 3}}"
        return
    where = f"{where} ({one['student']})"
    for name in one:
        if name not in EXTENSION:
            yield f"{where}: there is no {name!r} here; there are {', '.join(EXTENSION)}"
    if ("days" in one) == ("until" in one):
        yield f"{where}: give either `days: 3` or `until: 2026-12-08 12:00 Europe/Berlin`"
    if "days" in one and (not _number(one["days"]) or one["days"] < 0):
        yield f"{where}: days: {one['days']!r} should be a number, 0 or more"
    if "until" in one:
        try:
            dates.utc(one["until"], None if zone is None else str(zone))
        except ProjectError as error:
            yield f"{where}: until: {error}"


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)

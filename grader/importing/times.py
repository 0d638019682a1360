"""When something was handed in. Moodle's grading worksheet names the minute, other platforms write the time into the names of
folders; Canvas says only who was late.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from dateutil import parser, tz

from grader.course import Course

MODIFIED = "Last modified (submission)"  # column of Moodle's grading worksheet
NOT_YET = ("", "-")
CHINESE = re.compile(r"(\d{4})年(\d{1,2})月(\d{1,2})日.*?(上午|下午|AM|PM)?\s*(\d{1,2})[:：](\d{2})", re.DOTALL)
DIGITS = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)-?(\d\d)-?(\d\d)-?(\d\d)\d*(?:$|[_.])")  # Blackboard, ILIAS, Sakai
DOTTED = re.compile(r"\b(\d{1,2})\.(\d{1,2})\.(\d{4})\b")  # the day first, as wherever dots are written
SLASHED = re.compile(r"\b(\d{1,2})/(\d{1,2})/\d{4}\b")  # the day first, or the month, as the country has it
ZONED = re.compile(r"(?:Z|UTC|GMT|[+-]\d\d:?\d\d)$")
NO_ZONE = (
    "the platform says when each was handed in, but not in which time zone: give it to "
    "`configure` in nbgrader_config.py and import again; until then nobody counts as late"
)
LEAST = (
    "Canvas does not say by how much somebody is late: counted as {minutes:g} minutes, the least that can cost points. Where it "
    "was more, write the time into submitted/STUDENT/{lesson}/timestamp.txt (2026-12-01 22:59:00 UTC) and run autograde"
)
NO_DUE = "Canvas calls them late, and there is no due date here: set it with `release --due` and import again"


@dataclass
class Times:
    """Finds the time stamps of one checkpoint's submissions with ``of``. said: sentences for the instructor."""

    lesson: str
    due: datetime | None
    zone: str | None
    grace_minutes: float = 0
    extended: dict[str, datetime] = field(default_factory=dict)  # student -> due date
    said: dict[str, None] = field(default_factory=dict)

    def of(self, row: dict[str, str], late: bool | None, before: str, named: str = "") -> str | None:
        """The text for ``timestamp.txt``; "" to remove the file, None to leave it as it is.

        row: the student's row of the roster; late: what Canvas says, None for other platforms; before: the text that an earlier
        import has written; named: the time that the platform's file says, "" for none.
        """
        if (said := named or row.get(MODIFIED, "").strip()) not in NOT_YET:
            if self.zone is None and not ZONED.search(said):
                self.said[NO_ZONE] = None
                return None
            moment = moment_of(said, self.zone)
            if moment is None:
                self.said[f"{said!r} is no time that can be read, so whoever has it counts as in time"] = None
                return None
            return _text(moment)
        if late and self.due is not None:
            minutes = self.grace_minutes + 1
            self.said[LEAST.format(minutes=minutes, lesson=self.lesson)] = None
            return _text(self.due + timedelta(minutes=minutes))
        if late:
            self.said[NO_DUE] = None
        return "" if before and late is False else None

    def extension(self, student: str) -> datetime | None:
        """The due date of a student with an extension; None for the others."""
        until = self.extended.get(student)
        return until if until and self.due and until > self.due else None

    def is_late(self, student: str, stamp: str) -> bool:
        """Whether a time stamp is after this student's own due date."""
        moment = parser.parse(stamp).replace(tzinfo=None) if stamp else None
        return bool(moment and self.due and moment > self.extended.get(student, self.due))


def times(course: Course, lesson: str) -> Times:
    """The ``Times`` of one checkpoint."""
    with course.gradebook as gradebook:
        due = gradebook.find_assignment(lesson).duedate
        there = gradebook.assignment_submissions(lesson) if due else ()
        extended = {one.student_id: one.duedate for one in there if one.extension}
    return Times(lesson, due, course.timezone, course.config.LatePoints.get("grace_minutes", 0), extended)


GERMAN_MONTHS = (
    "januar februar märz/mär/mrz april mai juni juli august september oktober/okt november dezember/dez".split()
)
GERMAN_DAYS = "montag dienstag mittwoch donnerstag freitag samstag sonntag".split()


class Months(parser.parserinfo):
    """Dates in English and in German."""

    MONTHS = [
        (*english, *german.split("/")) for english, german in zip(parser.parserinfo.MONTHS, GERMAN_MONTHS, strict=True)
    ]
    WEEKDAYS = [(*english, german) for english, german in zip(parser.parserinfo.WEEKDAYS, GERMAN_DAYS, strict=True)]
    JUMP = [*parser.parserinfo.JUMP, "uhr", "um"]


def moment_of(said: str, zone: str | None) -> datetime | None:
    """Parse a time as platforms write it (Monday, 23 November 2026, 11:59 PM; Montag, 23. November 2026, 23:59; 2026年11月23日
    星期一 23:59; 23.11.2026 23:59; 2026-11-23-23-59-00; 20261123235900; Nov 23, 2026 1159 PM); naive, in UTC. zone: where it names
    none. None for no time, and for 11/12/2026, which is another day in another country.
    """
    if (found := SLASHED.search(said)) and found[1] != found[2] and max(int(found[1]), int(found[2])) <= 12:
        return None
    said = DOTTED.sub(r"\3-\2-\1", said)
    if found := CHINESE.search(said):
        year, month, day, half, hour, minute = found.groups()
        said = f"{year}-{month}-{day} {int(hour) % 12 + 12 if half in ('下午', 'PM') else hour}:{minute}"
    elif found := DIGITS.match(said):
        said = "{}-{}-{} {}:{}:{}".format(*found.groups())
    said = re.sub(r"\b(\d{1,2})(\d\d) ?([AaPp][Mm])", r"\1:\2 \3", said)
    said = re.sub(r"\b(\d\d)\.(\d\d)(?= ?(?:Uhr)?$)", r"\1:\2", said)
    try:
        moment = parser.parse(said, Months(), default=datetime(1, 1, 1))
    except (ValueError, OverflowError, TypeError):
        return None
    if moment.year == 1:
        return None
    local = moment if moment.tzinfo else moment.replace(tzinfo=tz.gettz(zone))
    return local.astimezone(tz.UTC).replace(tzinfo=None)


def _text(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"

"""Marks in the files that Canvas and Moodle import, and the roster that says who is who there. Pure functions.

Canvas (How do I import grades in the Gradebook?, https://community.canvaslms.com/t5/Instructor-Guide/ta-p/807; read by
``lib/gradebook_importer.rb`` of instructure/canvas-lms): the header starts Student, ID, SIS User ID, SIS Login ID,
Section; a row whose first cell has "Points Possible" gives the most points; then a student a row, found by ID, else by
SIS User ID, SIS Login ID or name. A column "Name (4711)" is the assignment with that id; an unknown name makes a new
one. An empty cell is no grade.

Moodle (Grade import, https://docs.moodle.org/en/Grade_import; read by ``grade/import/csv/classes/load_data.php`` of
moodle/moodle): a header of any names, mapped by hand while importing; each student is found by id number, e-mail
address or username, and **one who is not found stops the import**, so nobody unmatched is written. ``-`` is no grade.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.marks import Totals
from grader.names import inert
from grader.project import ProjectError

CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
MOODLE = ("Username", "First name", "Last name", "ID number", "Email address")
TEST_STUDENT = ("Student, Test", "Test Student")  # Canvas's own, in every course
SPELLINGS = {
    "username": "Username",
    "first name": "First name",
    "firstname": "First name",
    "last name": "Last name",
    "lastname": "Last name",
    "surname": "Last name",
    "id number": "ID number",
    "idnumber": "ID number",
    "email address": "Email address",
    "email": "Email address",
    "student_id": "student_id",
    "identifier": "Identifier",
    "full name": "Full name",
    "last modified (submission)": "Last modified (submission)",
    **{name.lower(): name for name in CANVAS},
}
KEYS = {"canvas": ("SIS Login ID", "SIS User ID", "ID"), "moodle": ("Username", "ID number", "Email address")}
Row = dict[str, str]


@dataclass(frozen=True)
class Matched:
    """rows: student -> roster row. strangers: students whom the roster does not have; idle: rows of nobody here."""

    rows: dict[str, Row]
    strangers: list[str]
    idle: list[Row]


def read_roster(path: Path) -> list[Row]:
    """The rows of a roster: the gradebook that Canvas exports, Moodle's participants or grades, or one with a column
    ``student_id`` beside theirs. Raises ProjectError.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ProjectError(f"the roster {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ProjectError(f"the roster {path} is not in UTF-8; save it as CSV in UTF-8") from error
    separator = ";" if text.split("\n", 1)[0].count(";") > text.split("\n", 1)[0].count(",") else ","
    reader = csv.DictReader(io.StringIO(text), delimiter=separator)
    names = {name: SPELLINGS.get(name.strip().lower()) for name in reader.fieldnames or ()}
    if not set(names.values()) & {"student_id", *KEYS["canvas"], *KEYS["moodle"]}:
        raise ProjectError(
            f"the roster {path} has no column that names students: expected student_id, "
            f"{', '.join(KEYS['canvas'])} (Canvas) or {', '.join(KEYS['moodle'])} (Moodle), "
            "separated by commas or semicolons; change the heading, or add a column student_id"
        )
    rows = [{new: (row.get(old) or "").strip() for old, new in names.items() if new} for row in reader]
    return [row for row in rows if any(row.values()) and "Points Possible" not in row.get("Student", "")]


def match(students: Iterable[str], roster: list[Row] | None, lms: str) -> Matched:
    """Who is who. Without a roster our names are taken for login names. Raises ProjectError for one name twice."""
    if roster is None:
        column = KEYS[lms][0]
        return Matched({student: {column: student, "Student": student} for student in students}, [], [])
    columns = ("student_id",) if any("student_id" in row for row in roster) else KEYS[lms]
    found: dict[str, Row] = {}
    for column in columns:
        named: dict[str, list[Row]] = {}
        for row in roster:
            if row.get(column):
                named.setdefault(row[column], []).append(row)
        for student in students:
            if student in named and student not in found:
                if len(named[student]) > 1:
                    raise ProjectError(f"the roster has {student!r} twice in its column {column}; keep one of the rows")
                found[student] = named[student][0]
    taken = [id(row) for row in found.values()]
    return Matched(
        found,
        [student for student in students if student not in found],
        [row for row in roster if id(row) not in taken],
    )


def called(row: Row) -> str:
    """Whom a row of a roster stands for: the first that it has of id, the platform's own columns, name."""
    return next(
        (row[name] for name in ("student_id", *KEYS["moodle"], *KEYS["canvas"], "Student") if row.get(name)), "?"
    )


def canvas(matched: Matched, all_totals: list[Totals], names: Mapping[str, str]) -> list[list[str]]:
    """The rows of Canvas's file. names: lesson -> the assignment's name there, where it differs."""
    head = [*CANVAS, *(names.get(totals.lesson, totals.lesson) for totals in all_totals)]
    most = ["    Points Possible", "", "", "", "", *(_points(totals.top) for totals in all_totals)]
    return [head, most, *(_row(CANVAS, student, row, all_totals, "") for student, row in _everyone(matched))]


def moodle(matched: Matched, all_totals: list[Totals], names: Mapping[str, str]) -> list[list[str]]:
    """The rows of Moodle's file; its columns are mapped by hand while importing."""
    head = [*MOODLE, *(names.get(totals.lesson, totals.lesson) for totals in all_totals)]
    return [head, *(_row(MOODLE, student, row, all_totals, "-") for student, row in _everyone(matched))]


def text_of(rows: list[list[str]]) -> str:
    """Rows as CSV: commas, quotes where needed, one row a line."""
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([inert(cell) for cell in row] for row in rows)
    return file.getvalue()


def _everyone(matched: Matched) -> list[tuple[str | None, Row]]:
    """Also those of the roster who handed in nothing, without a grade; Canvas's test student stays out."""
    idle = [(None, row) for row in matched.idle if row.get("Student") not in TEST_STUDENT]
    return [*matched.rows.items(), *idle]


def _row(columns: tuple[str, ...], student: str | None, row: Row, all_totals: list[Totals], none: str) -> list[str]:
    points = [totals.points.get(student) if student is not None else None for totals in all_totals]
    return [*(row.get(column, "") for column in columns), *(none if p is None else _points(p) for p in points)]


def _points(points: float) -> str:
    return f"{points:.2f}"

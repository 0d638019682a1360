"""Write marks into files that Canvas and Moodle import, and read the rosters that they export. Pure functions.

Canvas (``lib/gradebook_importer.rb`` and ``gradebook_exporter.rb`` of instructure/canvas-lms): the header starts Student, ID,
SIS User ID, SIS Login ID, Section; a row whose first cell has "Points Possible" gives the most points, and **sets** them; then
a student a row, found by ID, else by SIS User ID, SIS Login ID or name. A column "Name (4711)" is the assignment with that id;
an unknown name makes a new one. An empty cell **clears** the mark that is there, so nobody without a mark here is written.

Moodle's grading worksheet (``mod/assign/feedback/offline`` of moodle/moodle) is the platform's own file for one assignment:
columns Identifier ("Participant 4711"), Grade, Maximum grade, Last modified (grade) must be there; an empty Grade is passed
over, and "-" would be read as 0. It goes back with its Grade column filled in. Moodle writes and reads the names of its columns
in the language of whoever downloads the file: here they are known in English, German and, as of Moodle 4.5, Simplified Chinese.
In German the column Identifier is called ID, as is one of Canvas's; its cells tell them apart ("Teilnehmer/in4711").

Moodle's grade import (``grade/import/csv/classes/load_data.php``): a header of any names, mapped by hand while importing; each
student is found by id number, e-mail address or username, and **one who is not found stops the import**, so nobody unmatched is
written. An empty cell or "-" **clears** a mark.
"""

from __future__ import annotations

import csv
import io
import re
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
    "grade": "Grade",
    "maximum grade": "Maximum grade",
    "last modified (submission)": "Last modified (submission)",
    "vollständiger name": "Full name",
    "anmeldename": "Username",
    "vorname": "First name",
    "nachname": "Last name",
    "id-nummer": "ID number",
    "matrikelnummer": "ID number",
    "e-mail-adresse": "Email address",
    "e-mail": "Email address",
    "bewertung": "Grade",
    "bestwertung": "Maximum grade",
    "zuletzt geändert (abgabe)": "Last modified (submission)",
    "标识符": "Identifier",
    "用户名": "Username",
    "名": "First name",
    "姓": "Last name",
    "全名": "Full name",
    "学号": "ID number",
    "电子邮件地址": "Email address",
    "成绩": "Grade",
    "最高分": "Maximum grade",
    "上次修改（作业）": "Last modified (submission)",
    **{name.lower(): name for name in CANVAS},
}
KEYS = {"canvas": ("SIS Login ID", "SIS User ID", "ID"), "moodle": ("Username", "ID number", "Email address")}
PARTICIPANT = re.compile(r"\D+ ?\d+")  # in Moodle's column Identifier, or ID in German: "Teilnehmer/in4711"
LINE = "line"  # of a row: the number of its line in the file
RESERVED = ("LastName", "FirstName", "Integration ID", "Root Account", *CANVAS)  # columns that are not assignments
ASSIGNMENT = re.compile(r"(?P<title>.+) \((?P<id>\d+)\)")
CHECKPOINT = ("checkpoint", "测验")
Row = dict[str, str]


@dataclass(frozen=True)
class Table:
    """A table of the platform: the names of its columns, and its rows."""

    head: list[str]
    lines: list[list[str]]

    def column(self, name: str) -> int | None:
        """The index of a column; upper and lower case and spaces in its name make no difference."""
        return next((place for place, one in enumerate(self.names) if one == name), None)

    @property
    def names(self) -> list[str | None]:
        """The names of the columns, as they are known here; None for an unknown one."""
        known = [SPELLINGS.get(name.strip().lower()) for name in self.head]
        return [
            "Identifier"
            if name == "ID" and self.lines and all(PARTICIPANT.fullmatch(line[place].strip()) for line in self.lines)
            else name
            for place, name in enumerate(known)
        ]

    @property
    def is_worksheet(self) -> bool:
        """Whether this is Moodle's grading worksheet for one assignment."""
        return self.column("Identifier") is not None and self.column("Grade") is not None

    @property
    def is_gradebook(self) -> bool:
        """Whether this is a gradebook that Canvas has exported."""
        return all(self.column(name) is not None for name in ("Student", "ID", "Section"))

    @property
    def assignments(self) -> dict[int, str]:
        """The assignments in Canvas's gradebook: index of the column -> name."""
        found = {place: ASSIGNMENT.fullmatch(name.strip()) for place, name in enumerate(self.head)}
        return {place: one["title"] for place, one in found.items() if one}

    @property
    def most(self) -> list[str]:
        """Canvas's row "Points Possible"; empty where there is none."""
        return next((line for line in self.lines if line and "Points Possible" in line[0]), [])


@dataclass(frozen=True)
class Matched:
    """Students matched with a roster. rows: student -> row. strangers: students who are not in the roster; idle: rows without a
    student.
    """

    rows: dict[str, Row]
    strangers: list[str]
    idle: list[Row]


def read_table(path: Path) -> Table:
    """A CSV file of the platform, in UTF-8, separated by commas or semicolons. Raises ProjectError."""
    try:
        data = path.read_bytes()
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except OSError as error:
        raise ProjectError(f"the roster {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ProjectError(f"the roster {path} is not in UTF-8; save it as CSV in UTF-8") from error
    separator = ";" if text.split("\n", 1)[0].count(";") > text.split("\n", 1)[0].count(",") else ","
    head, *lines = [*csv.reader(io.StringIO(text), delimiter=separator)] or [[]]
    lines = [[*line, *[""] * (len(head) - len(line))] for line in lines]
    return Table(head, lines)


def read_roster(path: Path) -> list[Row]:
    """The rows of a roster: the gradebook that Canvas exports, Moodle's participants or grades, or one with a column
    ``student_id`` beside theirs. Raises ProjectError.
    """
    return rows_of(read_table(path), path)


def rows_of(table: Table, path: Path) -> list[Row]:
    """The rows of students in a table, each with its line number under ``LINE``. Raises ProjectError."""
    names = table.names
    if not {*names} & {"student_id", "Identifier", *KEYS["canvas"], *KEYS["moodle"]}:
        raise ProjectError(
            f"the roster {path} has no column that names students: expected student_id, "
            f"{', '.join(KEYS['canvas'])} (Canvas) or {', '.join(KEYS['moodle'])} (Moodle), "
            "separated by commas or semicolons; change the heading, or add a column student_id"
        )
    rows = []
    for number, line in enumerate(table.lines):
        row = {name: cell.strip() for name, cell in zip(names, line, strict=False) if name}
        known = any(row.get(name) for name in ("student_id", "Student", "Identifier", *KEYS["canvas"], *KEYS["moodle"]))
        if known and "Points Possible" not in row.get("Student", ""):
            rows.append({**row, LINE: str(number)})
    return rows


def called(row: Row) -> str:
    """The name for a row of a roster: its id, else a column of the platform, else the person's name."""
    columns = ("student_id", *KEYS["moodle"], *KEYS["canvas"], "Student", "Full name")
    return next((row[name] for name in columns if row.get(name)), "?")


def columns(table: Table, lessons: Iterable[str], names: Mapping[str, str]) -> dict[str, int | None]:
    """Checkpoint -> the index of its assignment's column in Canvas's gradebook. None: a new assignment, which must be named in
    ``names`` (``--column``). Raises ProjectError where it is not clear which assignment is meant.
    """
    found, faults = {}, []
    there = ", ".join(table.head[place] for place in table.assignments) or "none"
    for lesson in lessons:
        if lesson in names:
            same = [place for place, title in table.assignments.items() if names[lesson] in (title, table.head[place])]
            found[lesson] = same[0] if same else None
            continue
        fits = [place for place, title in table.assignments.items() if _means(title, lesson)]
        if len(fits) == 1:
            found[lesson] = fits[0]
        else:
            what = (
                "no assignment of this file is clearly" if not fits else f"{len(fits)} assignments of this file can be"
            )
            faults.append(
                f'{lesson}: {what} this checkpoint (there are: {there}); say it with --column "{lesson}=NAME"'
            )
    if faults:
        raise ProjectError("\n".join([*faults, "Nothing was written."]))
    return found


def _means(title: str, lesson: str) -> bool:
    """Whether the title of an assignment names a checkpoint: by its id, or as "Checkpoint 11"."""
    title = title.casefold()
    numbers = {int(one) for one in re.findall(r"\d+", title)}
    return lesson in title or any(word in title for word in CHECKPOINT) and numbers == {int(lesson.split("_")[0])}


def factor(lesson: str, top: float, there: str, scale: bool) -> float:
    """The factor for the points, where the platform's assignment has other maximum points than the checkpoint.

    there: the platform's maximum points as text. Raises ProjectError where they differ and ``scale`` is False.
    """
    try:
        most = float(there.strip().replace(",", "."))
    except ValueError:
        return 1.0
    if most == top:
        return 1.0
    if not scale:
        raise ProjectError(
            f"{lesson}: {top:g} points here, {most:g} there. Set the assignment to {top:g} points there and download the file "
            f"again, or say --scale: then every mark is multiplied by {most:g}/{top:g}. Nothing was written."
        )
    return most / top


def into_canvas(
    table: Table, matched: Matched, all_totals: list[Totals], names: Mapping[str, str], scale: bool = False
) -> list[list[str]]:
    """The rows of Canvas's own gradebook with the marks filled in: only these assignments, and only students with a mark. Other
    cells stay as they are. Raises ProjectError.
    """
    places = columns(table, [totals.lesson for totals in all_totals], names)
    own = [place for place, name in enumerate(table.head) if name.strip() in RESERVED]
    most = table.most or [""] * len(table.head)
    tops, factors = [], {}
    for totals in all_totals:
        place = places[totals.lesson]
        there = most[place] if place is not None else ""
        factors[totals.lesson] = factor(totals.lesson, totals.top, there, scale)
        tops.append(there if there.strip() else _points(totals.top))
    heads = [table.head[p] if (p := places[one.lesson]) is not None else names[one.lesson] for one in all_totals]
    rows = [[*(table.head[place] for place in own), *heads]]
    rows.append([*("    Points Possible" if not n else "" for n in range(len(own))), *tops])
    for student, row in matched.rows.items():
        line = table.lines[int(row[LINE])]
        cells = []
        for totals in all_totals:
            place, points = places[totals.lesson], totals.points.get(student)
            old = line[place] if place is not None else ""
            cells.append(old if points is None else _points(points * factors[totals.lesson]))
        if any(totals.points.get(student) is not None for totals in all_totals):
            rows.append([*(line[place] for place in own), *cells])
    return rows


def into_worksheet(table: Table, matched: Matched, totals: Totals, scale: bool = False) -> list[list[str]]:
    """The rows of Moodle's grading worksheet with the marks filled in; other cells stay as they are. Raises ProjectError."""
    grade, most = table.column("Grade"), table.column("Maximum grade")
    lines = [[*line] for line in table.lines]
    for line in lines:
        line[grade] = "" if line[grade].strip() == "-" else line[grade]
    for student, row in matched.rows.items():
        line, points = lines[int(row[LINE])], totals.points.get(student)
        if points is not None:
            line[grade] = _points(
                points * factor(totals.lesson, totals.top, line[most] if most is not None else "", scale)
            )
    return [table.head, *lines]


def moodle(matched: Matched, all_totals: list[Totals], names: Mapping[str, str]) -> list[list[str]]:
    """The rows of a file for Moodle's import, where a person maps the columns. Only students with a mark for every checkpoint,
    since an empty cell clears one. names: lesson -> the assignment's name there, where it differs.
    """
    rows = [[*MOODLE, *(names.get(totals.lesson, totals.lesson) for totals in all_totals)]]
    for student, row in matched.rows.items():
        points = [totals.points.get(student) for totals in all_totals]
        if None not in points:
            rows.append([*(row.get(column, "") for column in MOODLE), *map(_points, points)])
    return rows


def text_of(rows: list[list[str]], as_it_is: bool = False) -> str:
    """Rows as CSV text. as_it_is: the cells are from the platform's own file and are written unchanged, without ``inert``."""
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(row if as_it_is else [inert(cell) for cell in row] for row in rows)
    return file.getvalue()


def _points(points: float) -> str:
    return f"{points:.2f}"

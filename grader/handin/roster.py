"""Who is who: the students of the gradebook and of ``roster.csv`` in the course folder, and whom a name in a file means.

``roster.csv`` is a table that any platform exports, or one made by hand, with a column ``student_id`` (or a login, a number, a mail
address). Every cell that no other student has is a name of this student; so is what stands behind the last column::

    student_id,First name,Last name,Email address
    ada,Ada,Lovelace,ada@example.edu
    ada,,,,adalovelace42

The last line says one more name of ada's: her login on another platform.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from grader.course import Course
from grader.handin.guard import guarded
from grader.project import ProjectError
from grader.project.files import replace
from grader.project.names import fault, printable

FILE = "roster.csv"
IDS = (  # headings of a student's id, the most important first: of any table, of Canvas and of Moodle in three languages
    *("student_id", "username", "sis login id", "anmeldename", "用户名", "login"),
    *("sis user id", "id number", "idnumber", "id-nummer", "matrikelnummer", "学号"),
    *("email address", "email", "e-mail", "e-mail-adresse", "电子邮件地址", "id"),
)
FIRST, LAST = (
    ("first name", "firstname", "first_name", "vorname", "名"),
    ("last name", "lastname", "last_name", "surname", "nachname", "姓"),
)
MAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
TWO_LETTERS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "æ": "ae"})
CODES = ("utf-8", "cp1252", "cp437", "cp850", "mac_roman", "gbk")
SHORTEST, SHORTEST_MANGLED, SHORTEST_NUMBER, MOST_WORDS = 2, 4, 4, 8
NOT_A_NAME = re.compile(r"[\d\s.,:;%/()+-]*")  # a mark, a time; a number is one where it has nothing beside digits
Row = list[str]


def joined(text: str) -> str:
    """A text without case, spaces and punctuation, for comparison."""
    return "".join(_words(text))


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).casefold())


def spellings(name: str) -> set[str]:
    """A name in all forms in which programs write it, ``joined``: either part first, ä as ae or a, and as it looks where a program has
    taken its bytes for another code.
    """
    words = name.replace(",", " ").split()
    turned = [" ".join(words[n:] + words[:n]) for n in range(min(len(words), MOST_WORDS))]
    found = set()
    for one in turned:
        plain = unicodedata.normalize("NFKC", one).casefold()
        bare = "".join(sign for sign in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(sign))
        found |= {joined(plain), joined(plain.translate(TWO_LETTERS)), joined(bare)}
        if not one.isascii():
            found |= {mangled for mangled in map(joined, _mangled(one)) if len(mangled) >= SHORTEST_MANGLED}
    return found - {""}


def _mangled(text: str) -> Iterator[str]:
    for form, written, read in itertools.product(("NFC", "NFD"), CODES, CODES):
        yield unicodedata.normalize(form, text).encode(written, "ignore").decode(read, "ignore")


@dataclass(frozen=True)
class Named:
    """The students whom a text can mean. whole: the text holds nothing else."""

    students: frozenset[str] = frozenset()
    whole: bool = False


@dataclass
class Roster:
    """The students. details: student -> fields of the gradebook; listed: those of ``roster.csv``; head: its columns, with
    ``separator`` between them; more: the lines with one more name. texts, numbers: name -> whose it is. nameless: rows without an id.
    """

    details: dict[str, dict[str, str]] = field(default_factory=dict)
    listed: set[str] = field(default_factory=set)
    head: Row = field(default_factory=lambda: ["student_id"])
    separator: str = ","
    more: list[tuple[str, str]] = field(default_factory=list)
    texts: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    numbers: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    nameless: list[str] = field(default_factory=list)

    def enter(self, student: str, said: dict[str, str]) -> None:
        """Add a student with fields of the gradebook, by all names that follow from them. A field that is there stays."""
        said = self.details[student] = {**said, **self.details.get(student, {})}
        mail = said.get("email", "")
        self.add(student, filter(None, (student, mail, mail.split("@")[0], _full_name(said))))

    def add(self, student: str, names: Iterable[str]) -> None:
        for name in names:
            if (digits := joined(name)).isdigit():
                self.numbers[digits].add(student)
            else:
                for one in spellings(name):
                    self.texts[one].add(student)

    def named(self, text: str) -> Named:
        """Whom a text names, such as a part of a path: by the longest names in it; where several have a name, by a number beside it."""
        words = _words(unquote(text))
        whole = "".join(words)
        if found := self.texts.get(whole) or self.numbers.get(whole):
            return Named(frozenset(found), True)
        runs = sorted(itertools.combinations(range(len(words) + 1), 2), key=lambda run: (run[0] - run[1], run))
        longest, free = [], set(range(len(words)))
        for start, end in (run for run in runs if run[1] - run[0] <= MOST_WORDS and free.issuperset(range(*run))):
            if len(name := "".join(words[start:end])) >= SHORTEST and name in self.texts:
                longest.append(self.texts[name])
                free -= set(range(start, end))
        by_number = {
            student
            for word in [*words, *re.findall(r"\d{6,}", text)]  # s1234567
            if len(word) >= SHORTEST_NUMBER or longest
            for student in self.numbers.get(word, ())
        }
        students = set.intersection(*longest) or set.union(*longest) if longest else by_number
        if len(students) > 1 and len(students & by_number) == 1:
            students &= by_number
        return Named(frozenset(students))

    def line(self, student: str, name: str) -> str:
        """The line for ``roster.csv`` that says that this name is this student's."""
        place, file = _column(self.head, IDS), io.StringIO()
        row = [student if n == place else "" for n in range(len(self.head))]
        csv.writer(file, delimiter=self.separator, lineterminator="").writerow([*row, name])
        return file.getvalue()


def read_table(path: Path) -> tuple[list[Row], str]:
    """(the rows of a table in UTF-8 or UTF-16, the first with the headings; the comma, semicolon or tab between its cells). Raises
    ProjectError.
    """
    try:
        data = path.read_bytes()
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except OSError as error:
        raise ProjectError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ProjectError(f"{path} is not in UTF-8; save it as CSV in UTF-8") from error
    separator = max(",;\t", key=text.split("\n", 1)[0].count)
    return [row for row in csv.reader(io.StringIO(text), delimiter=separator) if any(map(str.strip, row))], separator


def roster(course: Course, path: Path | None = None) -> Roster:
    """Everybody in the gradebook and in ``path``, by default ``roster.csv``, each once. Raises ProjectError."""
    made = Roster()
    with course.gradebook as gradebook:
        for one in gradebook.students:
            said = {"first_name": one.first_name, "last_name": one.last_name, "email": one.email}
            made.enter(one.id, {name: value for name, value in said.items() if value})
    if path is not None or (course.root / FILE).exists():
        path = path or course.root / FILE
        rows, made.separator = read_table(path)
        _read(made, rows, path)
    return made


def _read(made: Roster, rows: list[Row], path: Path) -> None:
    """Add the rows of a table. Raises ProjectError."""
    made.head, *rows = rows or [[]]
    wide, place = len(made.head), _column(made.head, IDS)
    if place is None:
        raise ProjectError(
            f"{path} has no column with a student's id, login, number or mail address; add a column student_id"
        )
    rows = [[cell.strip() for cell in row] + [""] * (wide - len(row)) for row in rows if not _is_canvas_own(row)]
    more = [row for row in rows if any(row[wide:]) and not any(row[:place] + row[place + 1 : wide])]
    made.more = [(row[place], cell) for row in more for cell in row[wide:] if cell]
    by_mail = {said["email"].casefold(): one for one, said in made.details.items() if "email" in said}
    counts = Counter((n, joined(cell)) for row in rows for n, cell in enumerate(row))
    names = {"first_name": _column(made.head, FIRST), "last_name": _column(made.head, LAST)}
    for row in (row for row in rows if row not in more):
        said = {name: row[n] for name, n in names.items() if n is not None}
        said["email"] = next(filter(MAIL.fullmatch, row), "")
        student = row[place]
        if student not in made.details:
            student = by_mail.get(said["email"].casefold(), student)
        if not student:
            made.nameless.append(" ".join(filter(None, row)))
            continue
        if student in made.listed:
            raise ProjectError(f"{path} has {student!r} twice; keep one of the rows")
        made.listed.add(student)
        made.enter(student, {name: value for name, value in said.items() if value})
        cells = [(n, cell) for n, cell in enumerate(row) if n not in names.values()]
        own = [cell for n, cell in cells if n >= wide or n == place or _is_name(cell, counts[n, joined(cell)])]
        made.add(student, filter(joined, own))
    for student, name in made.more:
        made.listed.add(student)
        made.enter(student, {})
        made.add(student, [name])


def _column(head: Row, headings: Iterable[str]) -> int | None:
    """The column with one of these headings, the most important first."""
    plain = [cell.strip().casefold() for cell in head]
    return next((plain.index(one) for one in headings if one in plain), None)


def _full_name(said: dict[str, str]) -> str:
    return f"{said.get('first_name', '')} {said.get('last_name', '')}".strip()


def _is_canvas_own(row: Row) -> bool:
    own = row[0].strip() or ("Manual Posting" if "Manual Posting" in row else "")
    return own.startswith(("Points Possible", "Manual Posting")) or own in ("Student, Test", "Test Student")


def _is_name(cell: str, count: int) -> bool:
    """Whether a cell is a name of the student's: what only one has, or a full name that two may have."""
    number = cell.isdigit() and len(cell) >= SHORTEST
    text = not NOT_A_NAME.fullmatch(cell) and len(joined(cell)) >= SHORTEST
    return (number or text) and count <= (3 if text and " " in cell else 1)


def take(course: Course, path: Path) -> tuple[list[str], bool]:
    """Keep a table as ``roster.csv``, with the lines of more names that the last one had, and add its students to the gradebook, where what
    is there stays. Returns (sentences: everybody with the id to type, and who has none; whether somebody could not be added). Raises
    ProjectError.
    """
    new = roster(course, path)  # a fault in it is said before it is kept
    more = roster(course).more if (course.root / FILE).exists() else []
    rows = read_table(path)[0]
    file = io.StringIO()
    csv.writer(file, delimiter=new.separator, lineterminator="\n").writerows(rows)
    kept = file.getvalue() + "".join(f"{new.line(*one)}\n" for one in more if one not in new.more)
    replace(course.root, course.root / FILE, kept.encode())
    known, left = roster(course), []
    with course.gradebook as gradebook:
        there = {one.id: one for one in gradebook.students}
        for student in sorted(known.listed):
            if wrong := fault(student):
                left.append(f"{student!r} of the roster cannot be a student's folder: {wrong}")
                continue
            with guarded(student, lambda name, why: left.append(f"{name} is not added to the gradebook: {why}")):
                own = known.details[student].items()
                empty = {name: said for name, said in own if not getattr(there.get(student), name, None)}
                gradebook.update_or_create_student(student, **empty)
    names = {student: _full_name(known.details[student]) for student in known.listed}
    wide = max([len(name) for name in names.values()] + [7])
    said = [f"{'student':<{wide}}  id to type"]
    for student, name in sorted(names.items(), key=lambda one: (one[1].casefold(), one[0])):
        said.append(f"{printable(name):<{wide}}  {printable(student)}")
    said.append(f"{len(names)} students, {len(names.keys() - there)} new; kept as {FILE} for import and export")
    said += [*left, *(f"NO ID: {name}: add a column student_id to the file" for name in known.nameless)]
    return said, bool(left or known.nameless)

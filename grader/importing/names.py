"""How each platform names the files of submissions, and which student a name belongs to. Pure functions.

Moodle ("Download all submissions", mod/assign/locallib.php): ``Full name_4711_assignsubmission_file[_]/FILE`` or, without
folders, ``Full name_4711_assignsubmission_file_FILE``; 4711 is the participant of this assignment, "Participant 4711" in
the grading worksheet. Feedback files go back under the same head (mod/assign/feedback/file/importziplib.php).

Canvas ("Download Submissions"): ``lastfirst_[LATE_]USER_ATTACHMENT_FILE``. A file goes back as a comment if it begins with
the same head (``infer_comment_context_from_filename`` of instructure/canvas-lms).

Plain: a folder for each student, or a file, named by id, mail or full name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from grader.lms import KEYS, TEST_STUDENT, Row

MOODLE = re.compile(r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_(?P<kind>file|onlinetext)_?(?P<rest>.*)", re.DOTALL)
CANVAS = re.compile(
    r"(?P<name>[^_]*(?:_[^_\d][^_]*)*?)_(?P<late>LATE_)?(?P<id>\d+)_(?P<attachment>\d+)_(?P<rest>.+)", re.DOTALL
)


@dataclass(frozen=True)
class Sender:
    """The sender of a file as the platform names it. head: the beginning of the name that the feedback file must have."""

    name: str
    number: str = ""
    head: str = ""
    late: bool = False

    @property
    def shown(self) -> str:
        """The sender's name as it is printed and as ``--as`` expects it."""
        return f"{self.name} ({self.number})" if self.number else self.name


@dataclass(frozen=True)
class Person:
    """A student of the roster: the id (the name of the folder) and the other names that a platform may use. details: the fields
    of the gradebook (first_name, last_name, email, lms_user_id) that the roster has. row: the row of the roster.
    """

    student: str
    numbers: frozenset[str] = frozenset()
    names: frozenset[str] = field(default_factory=frozenset)
    details: dict[str, str] = field(default_factory=dict, hash=False)
    row: Row = field(default_factory=dict, hash=False)

    @property
    def ids(self) -> list[str]:
        """Every id in the row, the most important first; where there is a column student_id, that one alone."""
        columns = ("student_id",) if "student_id" in self.row else (*KEYS["canvas"], *KEYS["moodle"])
        return [self.row[column] for column in columns if self.row.get(column)]

    @property
    def called(self) -> str:
        """The full name, or ""."""
        first, last = self.details.get("first_name", ""), self.details.get("last_name", "")
        return self.row.get("Full name", "") or self.row.get("Student", "") or f"{first} {last}".strip()


def sender(path: PurePosixPath, lms: str, lesson: str) -> tuple[Sender, str] | None:
    """(sender, path of the file itself) for a file of the platform's ZIP; None for a file that is no submission."""
    if lms == "moodle":
        for place, part in enumerate(path.parts):
            if found := MOODLE.fullmatch(part):
                if found["kind"] != "file":
                    return None
                rest = "/".join([*([found["rest"]] if found["rest"] else []), *path.parts[place + 1 :]])
                return (
                    (Sender(found["name"], found["id"], f"{found['name']}_{found['id']}_assignsubmission_file_"), rest)
                    if rest
                    else None
                )
        return None
    if lms == "canvas":
        found = CANVAS.fullmatch(path.name)
        if found is None:
            return None
        head = f"{found['name']}_{found['late'] or ''}{found['id']}_{found['attachment']}_"
        return Sender(found["name"], found["id"], head, bool(found["late"])), found["rest"]
    if len(path.parts) > 1:
        return Sender(path.parts[0], head=path.parts[0]), "/".join(path.parts[1:])
    stem = path.name.split(".answers.json")[0] if path.name.endswith(".answers.json") else path.stem
    said = re.sub(rf"[\s_\-.()]*{re.escape(lesson)}[\s_\-.()]*", " ", stem).strip(" _-.()") if lesson else stem
    own = f"{lesson}.answers.json" if path.name.endswith(".answers.json") else path.name
    return (Sender(said, head=said), own) if said else None


def people(rows: Iterable[Row]) -> list[Person]:
    """All students of a roster with all their names and numbers. A row without an id gets the student "". Canvas's test student
    is left out.
    """
    return [_person(row) for row in rows if row.get("Student") not in TEST_STUDENT]


def _person(row: Row) -> Person:
    ids = [row.get(column, "") for column in ("student_id", *KEYS["canvas"], *KEYS["moodle"])]
    first, last = row.get("First name", ""), row.get("Last name", "")
    names = [*ids, row.get("Student", ""), row.get("Full name", ""), f"{first} {last}", f"{last} {first}"]
    if "," in (listed := row.get("Student", "")):  # Canvas: "Lovelace, Ada"
        last, first = (part.strip() for part in listed.split(",", 1))
        names.append(f"{first} {last}")
    numbers = {row.get("ID", ""), *re.findall(r"\d+", row.get("Identifier", ""))}
    mails = [one for one in ids if "@" in one]
    details = {
        "first_name": first,
        "last_name": last,
        "email": row.get("Email address", "") or next(iter(mails), ""),
        "lms_user_id": row.get("ID", ""),
    }
    return Person(
        next((one for one in ids if one), ""),
        frozenset(numbers - {""}),
        frozenset(filter(None, map(plain, [*names, *(mail.split("@")[0] for mail in mails)]))),
        {name: said for name, said in details.items() if said},
        row,
    )


def candidates(one: Sender, everybody: Iterable[Person], lms: str) -> list[Person]:
    """The students who can be this sender: by the number, where the platform gives one that the roster has, else by the same
    full name.
    """
    everybody = list(everybody)
    if lms != "plain" and (by_number := [person for person in everybody if one.number in person.numbers]):
        return by_number
    return [person for person in everybody if plain(one.name) in person.names]


def plain(name: str) -> str:
    """A name for comparison: lower case, normalised accents, no spaces or punctuation."""
    return "".join(sign for sign in unicodedata.normalize("NFKC", name).casefold() if sign.isalnum())

"""How each platform names the files of submissions, and which student a name belongs to. Pure functions.

Moodle ("Download all submissions", mod/assign/locallib.php): ``Full name_4711_assignsubmission_file[_]/FILE`` or, without
folders, ``Full name_4711_assignsubmission_file_FILE``; 4711 is the participant of this assignment, "Participant 4711" in
the grading worksheet. Feedback files go back under the same head (mod/assign/feedback/file/importziplib.php).

Canvas ("Download Submissions"): ``lastfirst_[LATE_]USER_ATTACHMENT_FILE``. A file goes back as a comment if it begins with
the same head (``infer_comment_context_from_filename`` of instructure/canvas-lms).

Sakai: ``Title/Last, First(login)/Submission attachment(s)/FILE``. ILIAS: ``.../Last_First_login_4711/FILE``. Blackboard:
``Title_login_attempt_2026-12-01-22-59-00_FILE``. Brightspace: ``12-34 - Full name - Dec 1, 2026 1059 PM/FILE``. Teams:
``.../Full name/Title/Version 2/FILE``. Gradescope: ``.../submission_4711/FILE``; ``submission_metadata.yml`` says whose that is.

Plain: a folder for each student, or a file, named by id, mail or full name; one folder around everything does not count.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from grader.lms import KEYS, TEST_STUDENT, Row

FORMS = {
    "moodle": r"(?P<head>(?P<name>[^/]+?)_(?P<number>\d+)_assignsubmission_)(?P<kind>file|onlinetext)_?/?(?P<rest>.*)",
    "canvas": r"(?P<head>(?P<name>[^_/]*(?:_[^_/\d][^_/]*)*?)_(?P<late>LATE_)?(?P<number>\d+)_\d+_)(?P<rest>[^/]+)",
    "blackboard": r"(?P<head>[^/]+?_(?P<login>[^_/]+)_attempt_(?P<when>\d{4}(?:-\d\d){5}))(?:_(?P<rest>[^/]+)|\.txt)",
    "brightspace": r"(?P<head>\d+-\d+ - (?P<name>[^/]+?) - (?P<when>[^/]*\d{4}[^/]*))/(?P<rest>.+)",
    "gradescope": r"(?P<head>submission_(?P<number>\d+))/(?P<rest>.+)",
    "teams": r"(?P<head>(?P<name>[^/]+)/[^/]+)/Version (?P<version>\d+)/(?P<rest>.+)",
    "sakai": r"^[^/]+/(?P<head>(?P<name>[^/]+)\((?P<login>[^()/]+)\))/(?:(?P<of>[^/]*\(s\))/)?(?P<rest>.+)",
    "ilias": r"(?P<head>(?P<name>[^_/]+_[^_/]+)_(?P<login>[^/]+)_\d+)/(?:(?P<when>\d{14})_)?(?P<rest>.+)",
}
PATTERNS = {lms: re.compile(f"(?:.*?/)??{form}", re.DOTALL) for lms, form in FORMS.items()}
# The first folder that fits counts: those below it are the student's own, and might be named like somebody else's.
PLATFORMS = (*FORMS, "plain")
STAMP = "timestamp.txt"  # Sakai's own, beside the student's files
NOTHING = re.compile(
    r"feedback|comments\.txt|.*submissionText\.\w+", re.IGNORECASE
)  # Sakai: what the instructor wrote, or nobody


@dataclass(frozen=True)
class Sender:
    """The sender of a file as the platform names it. number: of the platform; login: the student's own, where the file says it. head:
    the beginning of the name that the feedback file must have.
    """

    name: str
    number: str = ""
    head: str = field(default="", compare=False)
    late: bool = field(default=False, compare=False)
    login: str = ""

    @property
    def shown(self) -> str:
        """The sender's name as it is printed and as ``--as`` expects it."""
        mark = self.number or self.login
        return f"{self.name} ({mark})" if mark and self.name else self.name or mark


@dataclass(frozen=True)
class Sent:
    """One file of the platform's: who sent it, its own path, the number of its version, and the time in its name, as the platform
    writes it. stamp: whether it only holds the time.
    """

    sender: Sender
    path: str
    version: int = 0
    when: str = ""
    stamp: bool = False


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


def platform(paths: Iterable[PurePosixPath]) -> str:
    """The platform that files came from, told by their names; "plain" where no other fits more than half of them."""
    texts = [str(path) for path in paths]
    fits = {lms: sum(pattern.fullmatch(text) is not None for text in texts) for lms, pattern in PATTERNS.items()}
    return next((lms for lms, count in fits.items() if 2 * count > len(texts)), "plain")


def sent(path: PurePosixPath, lms: str, lesson: str) -> Sent | None:
    """Whose a file of the platform's is; None for a file that is no submission."""
    if lms == "plain":
        return _plain(path, lesson)
    found = PATTERNS[lms].fullmatch(str(path))
    part = found.groupdict() if found else {}
    if not part.get("rest") or part.get("kind") == "onlinetext" or NOTHING.match(part.get("of") or part["rest"]):
        return None
    name = (part.get("name") or "").replace("_", " ") if lms == "ilias" else part.get("name") or ""
    head = f"{part['head']}file_" if lms == "moodle" else part["head"]
    when = part.get("when") or ""
    one = Sender(name, part.get("number") or "", head, bool(part.get("late")), part.get("login") or "")
    return Sent(
        one,
        part["rest"],
        int(part.get("version") or 0),
        when,
        lms == "sakai" and part["rest"] == STAMP and not part["of"],
    )


def _plain(path: PurePosixPath, lesson: str) -> Sent | None:
    if len(path.parts) > 1:
        return Sent(Sender(path.parts[0], head=path.parts[0]), "/".join(path.parts[1:]))
    answers = re.match(r"(.*)\.answers.*\.json$", path.name)
    stem = answers[1] if answers else path.name.split(".ipynb")[0] if ".ipynb" in path.name else path.stem
    said = re.sub(rf"[\s_\-.()]*{re.escape(lesson)}[\s_\-.()]*", " ", stem).strip(" _-.()") if lesson else stem
    own = f"{lesson}.answers.json" if answers else path.name
    return Sent(Sender(said, head=said), own) if said else None


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
    """The students who can be this sender: by the login, or the number where the platform gives one that the roster has, else by the
    same full name.
    """
    everybody = list(everybody)
    if one.login and (by_login := [person for person in everybody if plain(one.login) in map(plain, person.ids)]):
        return by_login
    if one.number and (by_number := [person for person in everybody if one.number in person.numbers]):
        return by_number
    last, comma, first = one.name.partition(",")
    names = {plain(one.name), plain(f"{first} {last}")} if comma else {plain(one.name)}
    return [person for person in everybody if names & person.names] if any(names) else []


def plain(name: str) -> str:
    """A name for comparison: lower case, normalised accents, no spaces or punctuation."""
    return "".join(sign for sign in unicodedata.normalize("NFKC", name).casefold() if sign.isalnum())

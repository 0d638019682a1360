"""Match the names of a platform and the rows of a roster with the students of the course, for import, export and
give-back. A student is never guessed.

Names given with ``import --as`` are saved in ``who.yaml`` of the course folder and used from then on::

    moodle:
      Kim Lee (4715): kim      # the name as import prints it, with the number where two have the name
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import yaml

from course.questions.variants import same_student
from grader.course import Course
from grader.files import replace as replace_file
from grader.importing.names import Person, Sender, candidates, people, plain
from grader.importing.place import record
from grader.lms import Matched, read_roster
from grader.names import fault
from grader.project import ProjectError, read_yaml

FILE = "who.yaml"
Said = Mapping[str, str]  # the platform's name, as it is printed -> student


@dataclass
class Everybody:
    """All students. listed: those of the roster; known: these and those who are in the gradebook only; renamed: id in
    the roster -> id in the gradebook; without_id: names in rows of the roster that have no id and match no student.
    """

    listed: list[Person] = field(default_factory=list)
    known: list[Person] = field(default_factory=list)
    renamed: dict[str, str] = field(default_factory=dict)
    without_id: list[str] = field(default_factory=list)

    @property
    def ids(self) -> set[str]:
        return {person.student for person in self.known}


def everybody(course: Course, roster: Path | None, lms: str, lesson: str | None = None) -> Everybody:
    """The students of the roster (by default ``roster.csv`` of the course folder) and of the gradebook, each once.

    lesson: the checkpoint whose record of imports is used too, if any. Raises ProjectError.
    """
    roster = roster or next(filter(Path.exists, [course.root / "roster.csv"]), None)
    said = dict(remembered(course).get(lms, {}))
    for student, facts in record(course.root, lesson).items() if lesson else ():
        if facts.get("lms") == lms:
            said.setdefault(Sender(facts.get("name", ""), facts.get("number", "")).shown, student)
    return joined(people(read_roster(roster)) if roster else [], in_gradebook(course), said)


def in_gradebook(course: Course) -> list[Person]:
    """The students of the gradebook as ``Person``."""
    with course.gradebook as gradebook:
        rows = [
            {
                "student_id": one.id,
                "First name": one.first_name or "",
                "Last name": one.last_name or "",
                "Email address": one.email or "",
            }
            for one in gradebook.students
        ]
    return people(rows)


def matched(students: Iterable[str], known: Everybody) -> Matched:
    """Match students of the course with the rows of a roster."""
    rows = {person.student: person.row for person in known.listed}
    there = {*students}
    return Matched(
        {student: rows[student] for student in sorted(there) if student in rows},
        sorted(there - {*rows}),
        [row for student, row in rows.items() if student not in there],
    )


def alike(known: Everybody) -> list[str]:
    """A sentence for each name that several students have, so that the name alone does not identify one."""
    names = Counter(_full_name(person) for person in known.listed if _full_name(person))
    return [
        f"{count} students are called {next(one.called for one in known.listed if _full_name(one) == name)}: their hand-ins "
        "are told apart by the platform's number, or by --as"
        for name, count in names.items()
        if count > 1
    ]


def joined(roster: Iterable[Person], there: Iterable[Person], said: Said) -> Everybody:
    """Match the roster with the gradebook; each student comes out once, with the id of the gradebook.

    A row belongs to the student named with ``--as``; else to the one with the same id; else to the only one with the same mail
    address; else to the only one with the same full name, where one of the two has no address. Raises ProjectError where two
    rows belong to one student.
    """
    roster, gradebook = list(roster), {person.student: person for person in there}
    found, made = [], Everybody()
    by_mail, by_name = _pairs(roster, gradebook.values(), _mail), _pairs(roster, gradebook.values(), _full_name)
    for person in roster:
        student = _told(person, roster, said) or next((one for one in person.ids if one in gradebook), "")
        student = student or by_mail.get(_mail(person), "")
        if (
            not student
            and (name := by_name.get(_full_name(person), ""))
            and not (_mail(person) and _mail(gradebook[name]))
        ):
            student = name
        student = student or person.student
        if not student:
            made.without_id.append(person.called)
        elif student in {one.student for one in found}:
            raise ProjectError(
                f"the roster has {student!r} twice ({person.called or 'a row without a name'}); keep one of the rows"
            )
        else:
            found.append(replace(person, student=student))
            if person.student not in ("", student):
                made.renamed[person.student] = student
    made.listed = found
    listed = {person.student for person in found}
    made.known = [*found, *(person for name, person in gradebook.items() if name not in listed)]
    return made


def _pairs(roster: Iterable[Person], there: Iterable[Person], what) -> dict[str, str]:
    """Values of ``what`` that exactly one person has on each side -> the student of the gradebook."""
    counts, once = Counter(map(what, roster)), Counter(map(what, there))
    return {
        what(person): person.student
        for person in there
        if what(person) and counts[what(person)] == once[what(person)] == 1
    }


def _mail(person: Person) -> str:
    return person.details.get("email", "").casefold()


def _full_name(person: Person) -> str:
    words = f"{person.details.get('first_name', '')} {person.details.get('last_name', '')}".strip()
    return plain(person.row.get("Full name", "") or words or person.row.get("Student", ""))


def _told(person: Person, roster: Iterable[Person], said: Said) -> str:
    """The student named with ``--as`` for this row of the roster; "" for none, and where two rows have the same name."""
    for left, student in said.items():
        name, number = _parts(left)
        if plain(name) in person.names and (not number or not person.numbers or number in person.numbers):
            if number in person.numbers or sum(plain(name) in other.names for other in roster) == 1:
                return student
    return ""


def _parts(left: str) -> tuple[str, str]:
    """Split a printed name into (name, number)."""
    head, _, rest = left.strip().rpartition(" (")
    return (head, rest[:-1]) if head and rest.endswith(")") and rest[:-1].isdigit() else (left.strip(), "")


@dataclass
class Told:
    """What ``--as`` and ``who.yaml`` say about the senders in one file. students: sender -> student; unmatched: names that no
    sender has; to_save: what to write into ``who.yaml``.
    """

    students: dict[Sender, str] = field(default_factory=dict)
    unmatched: list[str] = field(default_factory=list)
    to_save: dict[str, str] = field(default_factory=dict)


def told(said: Said, before: Said, senders: Iterable[Sender], known: Everybody) -> Told:
    """Check the names given with ``--as``: each student must be known and each name must fit exactly one sender.

    before: names saved by earlier imports, used where they fit one sender. Raises ProjectError with the next step.
    """
    senders, made, faults = list(senders), Told(), []
    for left, student in before.items():
        if len(fits := _meant(left, senders)) == 1 and student in known.ids:
            made.students[fits[0]] = student
    for left, right in said.items():
        student = _known(right, known.ids)
        fits = _meant(left, senders)
        if student is None:
            near = difflib.get_close_matches(right, sorted(known.ids), n=3, cutoff=0.6)
            faults.append(
                f"--as {left}={right}: there is no student {right!r}"
                + (f"; did you mean {' or '.join(near)}?" if near else "")
                + " Whoever is new goes into the roster first."
            )
        elif len(fits) > 1:
            faults.append(
                f"--as {left}: {len(fits)} hand-ins are called so; say which: {', '.join(one.shown for one in fits)}"
            )
        elif not fits:
            made.unmatched.append(left)
        else:
            made.students[fits[0]] = student
            alone = sum(plain(one.name) == plain(fits[0].name) for one in senders) == 1
            made.to_save[fits[0].name if alone else fits[0].shown] = student
    if faults:
        raise ProjectError("\n".join([*faults, "Nothing was imported."]))
    return made


def _known(right: str, ids: set[str]) -> str | None:
    """The student with this id, upper and lower case being the same; None for no student or for several."""
    same = [one for one in ids if same_student(one) == same_student(right)]
    return right if right in ids else same[0] if len(same) == 1 else None


def _meant(left: str, senders: Iterable[Sender]) -> list[Sender]:
    name, number = _parts(left)
    return [
        one
        for one in senders
        if left.strip() in {one.shown, one.number, one.login} - {""}
        or plain(name) == plain(one.name)
        and (not number or number == one.number)
    ]


def student_of(one: Sender, known: Everybody, lms: str) -> tuple[str | None, str, list[str]]:
    """(the student for a sender or None, why there is none, the students it may be)."""
    can_be = sorted({person.student for person in candidates(one, known.known, lms)})
    if len(can_be) != 1:
        return None, f"can be {' or '.join(can_be)}" if can_be else "nobody of this name is known", can_be
    wrong = fault(can_be[0])
    return (None, f"{can_be[0]!r} cannot be a student's folder: {wrong}", can_be) if wrong else (can_be[0], "", can_be)


def remembered(course: Course) -> dict[str, dict[str, str]]:
    """Read ``who.yaml``: platform -> the platform's name -> student. Raises ProjectError."""
    path = course.root / FILE
    said = read_yaml(path) or {}
    if not isinstance(said, dict) or not all(isinstance(one, dict) for one in said.values()):
        raise ProjectError(f"{path}: write a line `moodle:` and below it `the platform's name: student`")
    return {str(lms): {str(left): str(student) for left, student in one.items()} for lms, one in said.items()}


def remember(course: Course, lms: str, names: Mapping[str, str]) -> None:
    """Write names given with ``--as`` into ``who.yaml``. names: the platform's name -> student."""
    said = remembered(course)
    if names and said.get(lms, {}) != (more := {**said.get(lms, {}), **names}):
        text = yaml.safe_dump({**said, lms: more}, allow_unicode=True, sort_keys=False)
        replace_file(course.root, course.root / FILE, text.encode())

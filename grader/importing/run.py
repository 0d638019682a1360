"""From a platform's ZIP to ``submitted/STUDENT/LESSON/``, and the feedback back into a ZIP for the same platform."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from grader.choosing import is_copy
from grader.course import Course, command
from grader.importing.archive import files, modest, unzipped
from grader.importing.names import Person, Sender, known_as, people, sender, whose
from grader.lms import TEST_STUDENT, read_roster
from grader.marks import released, require
from grader.names import fault
from grader.project import ProjectError

Known = dict[
    str, dict[str, str]
]  # student -> {"head": what the name of the feedback begins with, "digest": of what came}


@dataclass
class Brought:
    """What became of a ZIP. unclear: the platform's name -> why nobody was taken for it; strange: files that are no submission;
    enrolled: who is new in the gradebook, by the roster; differing: sentences where the two do not agree; idle: whom the roster
    has, and who handed in nothing.
    """

    lesson: str
    new: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    unclear: dict[str, str] = field(default_factory=dict)
    strange: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    enrolled: list[str] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)
    idle: list[str] = field(default_factory=list)


def bring(
    course: Course,
    path: Path,
    lms: str,
    lesson: str | None = None,
    roster: Path | None = None,
    said: Mapping[str, str] | None = None,
) -> Brought:
    """Put each submission of ``path`` where marking looks for it. Raises ProjectError.

    lesson: found out from the notebooks where it is not said. said: the platform's name -> student, where the roster does not
    tell. Nobody is guessed: who is not clear is left out and named. What was there before moves to ``earlier/``. Everybody on the
    roster is put into the gradebook, so that who hands in nothing is named from then on.
    """
    require(course, *([lesson] if lesson else ()))
    found, strange = _by_sender(list(files(path)), lms, lesson or "")
    lesson = lesson or _lesson(course, found, path)
    if lms == "plain":  # names there hold the lesson's
        found, strange = _by_sender(list(files(path)), lms, lesson)
    brought, known = Brought(lesson, strange=strange), _record(course, lesson).get("students", {})
    listed, everybody, renamed = _everybody(course, roster)
    taken: dict[str, tuple[Sender, dict[str, bytes]]] = {}
    for one, own in found.items():
        student, why = _student(one, everybody, lms, said or {})
        if student is None:
            brought.unclear[_shown(one)] = why
        elif student in taken and taken[student][0] != one and lms != "canvas":
            brought.unclear[_shown(one)] = f"{student} has another submission in this file, {_shown(taken[student][0])}"
        else:
            before = taken.get(student, (one, {}))[1]
            taken[student] = (one, {**before, **own})
    for student, (one, own) in sorted(taken.items()):
        own = modest(own)
        digest = _digest(own)
        if known.get(student, {}).get("digest") == digest and (course.root / "submitted" / student / lesson).exists():
            brought.same.append(student)
        else:
            (brought.replaced if _put(course, student, lesson, own) else brought.new).append(student)
        known[student] = {"head": one.head, "digest": digest}
        if one.late:
            brought.late.append(student)
        if not any(is_copy(data, lesson) for name, data in own.items() if name.endswith(".ipynb")):
            brought.other.append(student)
    _keep(course, lesson, lms, known)
    _enrol(course, listed, brought)
    brought.differing += [f"{name} is {here} there, who has the same mail address" for name, here in renamed.items()]
    there = set(course.submitted(lesson))
    brought.idle = sorted({person.student for person in listed if not fault(person.student)} - there)
    return brought


def report(course: Course, brought: Brought, path: Path, lms: str) -> str:
    """What happened, for the instructor, with the next step."""
    said = [
        f"{brought.lesson}: {len(brought.new)} new, {len(brought.replaced)} replaced (what was there is in earlier/), "
        f"{len(brought.same)} as before"
    ]
    for words, names in (
        ("late, says the platform", brought.late),
        ("without a notebook of this checkpoint", brought.other),
        ("files of nobody, left out", brought.strange),
        ("new in the gradebook, from the roster", brought.enrolled),
        ("on the roster, and handed in nothing", brought.idle),
    ):
        if names:
            said.append(f"{words}: {len(names)} ({', '.join(names[:20])}{', ...' if len(names) > 20 else ''})")
    said += [f"the gradebook stays as it is: {sentence}" for sentence in brought.differing]
    if brought.enrolled:
        remove = "nbgrader db student remove NAME"
        said.append(f"who is no student: take the row out of the roster, and run `{remove}` in the course folder")
    for name, why in brought.unclear.items():
        said.append(f"NOT TAKEN: {name}: {why}")
    if brought.unclear:
        said.append(
            f'say whose they are with --as "NAME=STUDENT", or add them to the roster, and run it again: '
            f"{command(f'import {path} --lms {lms} --as ...', course.root)}"
        )
    return "\n".join(said)


def give_back(course: Course, lesson: str, to: Path | None = None) -> tuple[Path, list[str], list[str]]:
    """Write the feedback of everybody who came by ``bring`` into one ZIP for the same platform; (where, who has no feedback
    yet, who handed in nothing). Raises ProjectError where nobody came that way.
    """
    require(course, lesson)
    record = _record(course, lesson)
    if not record:
        raise ProjectError(f"{lesson}: nothing came by import, so there is no platform to give feedback back to")
    to, lacking = to or course.root / f"feedback-{lesson}-{record['lms']}.zip", []
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as archive:
        for student, head in sorted((student, one["head"]) for student, one in record["students"].items()):
            page = course.root / "feedback" / student / lesson / f"{lesson}.html"
            if not page.exists():
                lacking.append(student)
                continue
            name = f"{head}{lesson}.html" if record["lms"] == "canvas" else f"{head}/{lesson}.html"
            archive.write(page, name)
    with course.gradebook as gradebook:
        idle = {one.id for one in gradebook.students} - {*course.submitted(lesson), *record["students"]}
    return to, lacking, sorted(idle)


def _by_sender(found: Iterable, lms: str, lesson: str) -> tuple[dict[Sender, dict[str, bytes]], list[str]]:
    whose_file: dict[Sender, dict[str, bytes]] = {}
    strange = []
    for inside, data in found:
        known = sender(inside, lms, lesson)
        if known is None:
            strange.append(str(inside))
            continue
        one, name = known
        own = {name: data}
        if name.endswith(".zip"):  # one that the student packed
            try:
                own = {str(path): inner for path, inner in unzipped(data, name)}
            except ProjectError:
                own = {name: data}
        whose_file.setdefault(one, {}).update({_flat(name, own): inner for name, inner in own.items()})
    return whose_file, strange


def _flat(name: str, own: dict[str, bytes]) -> str:
    """A notebook or an answers file that lies deeper goes to the top, where it is looked for, unless its name is taken there."""
    top = name.rsplit("/", 1)[-1]
    return top if name.endswith((".ipynb", ".answers.json")) and top not in own else name


def _lesson(course: Course, found: Mapping[Sender, dict[str, bytes]], path: Path) -> str:
    """The checkpoint that most notebooks are of."""
    votes = Counter(
        lesson
        for own in found.values()
        for name, data in own.items()
        if name.endswith(".ipynb")
        for lesson in released(course)
        if is_copy(data, lesson)
    )
    if not votes:
        raise ProjectError(
            f"{path}: no notebook in it is one of {', '.join(released(course)) or 'a released checkpoint'}; "
            "say which one with --lesson, and look whether --lms fits"
        )
    return votes.most_common(1)[0][0]


def _everybody(course: Course, roster: Path | None) -> tuple[list[Person], list[Person], dict[str, str]]:
    """(the students of the roster; they, and whoever the gradebook knows and the roster does not; student of the roster ->
    who that is in the gradebook already).
    """
    roster = roster or next(filter(Path.exists, [course.root / "roster.csv"]), None)
    said = read_roster(roster) if roster else []
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
    everybody, renamed = known_as(people(said), people(rows))
    students = {person.student for person in people(row for row in said if row.get("Student") not in TEST_STUDENT)}
    students = {renamed.get(student, student) for student in students}
    return [person for person in everybody if person.student in students], everybody, renamed


def _enrol(course: Course, listed: Iterable[Person], brought: Brought) -> None:
    """Put the students of a roster into the gradebook. Names that are there already stay, and nobody goes."""
    with course.gradebook as gradebook:
        there = {one.id: one for one in gradebook.students}
        for person in listed:
            if wrong := fault(person.student):
                brought.differing.append(f"{person.student!r} of the roster cannot be a student's folder: {wrong}")
                continue
            known = there.get(person.student)
            new = {name: said for name, said in person.details.items() if not getattr(known, name, None)}
            other = [
                f"{name} {getattr(known, name)!r}, in the roster {said!r}"
                for name, said in person.details.items()
                if name not in new and getattr(known, name) != said
            ]
            if other:
                brought.differing.append(f"{person.student} has {', '.join(other)}")
            if known is None or new:
                there[person.student] = gradebook.update_or_create_student(person.student, **new)
            if known is None:
                brought.enrolled.append(person.student)


def _student(one: Sender, everybody: list[Person], lms: str, said: Mapping[str, str]) -> tuple[str | None, str]:
    told = said.get(one.name) or (said.get(one.number) if one.number else None)
    if told is None:
        can_be = sorted({person.student for person in whose(one, everybody, lms)})
        if len(can_be) != 1:
            return None, f"can be {' or '.join(can_be)}" if can_be else "nobody of this name is known"
        told = can_be[0]
    wrong = fault(told)
    return (None, f"{told!r} cannot be a student's folder: {wrong}") if wrong else (told, "")


def _shown(one: Sender) -> str:
    return f"{one.name} ({one.number})" if one.number else one.name


def _put(course: Course, student: str, lesson: str, own: dict[str, bytes]) -> bool:
    """Put the files in place; whether there was a submission before, which lies under ``earlier/`` now."""
    folder, place, number = course.root / "submitted" / student / lesson, course.root / "earlier" / student / lesson, 1
    there = folder.exists()
    if there:
        while (place / str(number)).exists():
            number += 1
        place.mkdir(parents=True, mode=0o700, exist_ok=True)
        shutil.move(folder, place / str(number))
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=course.root, prefix=".import-") as room:
        fresh = Path(room) / lesson
        fresh.mkdir()
        for name, data in own.items():
            path = fresh / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        fresh.rename(folder)
    return there


def _digest(own: dict[str, bytes]) -> str:
    whole = hashlib.sha256()
    for name, data in sorted(own.items()):
        whole.update(f"{name}\0{len(data)}\0".encode("utf-8", "surrogateescape") + data)
    return whole.hexdigest()


def _record(course: Course, lesson: str) -> dict:
    path = course.root / "imported" / f"{lesson}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def _keep(course: Course, lesson: str, lms: str, known: Known) -> None:
    path = course.root / "imported" / f"{lesson}.json"
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.write_text(json.dumps({"lms": lms, "students": known}, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")

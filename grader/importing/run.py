"""Import submissions from a platform's ZIP into ``submitted/STUDENT/LESSON/``, and write feedback into a ZIP for that platform.

Submissions are imported one after the other. A fault in one becomes a sentence about that one, and the others go on.
"""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from grader.archive import opened
from grader.course import Course, command
from grader.dates import shown
from grader.guard import guarded
from grader.handin import digest
from grader.handin import read as unpacked
from grader.importing import place, who
from grader.importing.names import Sender, platform
from grader.importing.parcels import Parcel, parcels, several
from grader.importing.times import MODIFIED, Times, times
from grader.marking.step import printable
from grader.marking.whole import released as released_text
from grader.marks import released, require
from grader.names import fault
from grader.notebook_name import name_of
from grader.project import ProjectError
from grader.reading import Files, files_of, lesson_of, read

VOTERS = 30  # submissions that are read to find out which checkpoint the file contains
UNKNOWN = "Canvas does not say by how much"
BY_HAND = "or put what can be read into {} by hand"


@dataclass
class Imported:
    """The result of an import.

    new, same, replaced: students. late: student -> how late, by the platform. unclear: the platform's name -> why no student
    was found for it. failed: student -> why the submission could not be imported. partly: student -> which files were left
    out. strange: files that are no submission. other: students whose hand-in will be held back. enrolled: students
    added to the gradebook. differing: where roster and gradebook do not agree. idle: students of the roster who handed
    in nothing. unmatched: names given with ``--as`` that no sender has. said: other sentences for the instructor.
    """

    lesson: str
    lms: str
    new: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    late: dict[str, str] = field(default_factory=dict)
    unclear: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    partly: dict[str, list[str]] = field(default_factory=dict)
    strange: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    enrolled: list[str] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)
    idle: list[str] = field(default_factory=list)
    unmatched: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether every submission of the file is in place."""
        return not (self.unclear or self.failed or self.unmatched)


def import_submissions(
    course: Course,
    path: Path,
    lms: str | None,
    lesson: str | None = None,
    roster: Path | None = None,
    said: Mapping[str, str] | None = None,
) -> Imported:
    """Put each submission of the file ``path`` where marking looks for it. Returns what was done with each.

    lms, lesson: None to find them out from the names and the notebooks. said: the platform's name -> student, for senders whom the
    roster does not identify; saved for the next import. A sender who is not identified with certainty is left out and named. Older
    submissions are moved to ``earlier/``. All students of the roster are added to the gradebook, so that reports also name those
    who handed in nothing. Raises ProjectError before anything is changed.
    """
    require(course, *([lesson] if lesson else ()))
    with place.importing(course.root), opened(path) as entries:
        lms = lms or platform(entry.inside for entry in entries)
        people = who.everybody(course, roster, lms)
        found, strange = parcels(entries, lms, lesson or "", people.known)
        if lesson is None:
            lesson = _lesson(course, found, path)
            if lms == "plain":  # names there hold the lesson's
                found, strange = parcels(entries, lms, lesson, people.known)
        told = who.told(said or {}, who.remembered(course).get(lms, {}), found, people)
        _one_person_each(told.students, found, lesson, people)
        who.remember(course, lms, told.to_save)
        imported = Imported(lesson, lms, strange=strange, unmatched=told.unmatched)
        senders, doubtful = _senders_by_student(found, people, told, lms, imported)
        known, when = place.record(course.root, lesson), times(course, lesson)
        for student, one in sorted(senders.items()):
            with guarded(student, imported.failed.__setitem__):
                _take(course, lesson, lms, student, one, found[one], known.get(student, {}), people, when, imported)
    imported.enrolled, imported.differing = enrol(course, people)
    imported.said += [*when.said]
    imported.differing += [f"{name} of the roster is {here} there" for name, here in people.renamed.items()]
    imported.differing += [
        f"{name or 'a row'} of the roster has no id, and nobody has that name" for name in people.without_id
    ]
    there = {*course.submitted(lesson), *doubtful, *imported.failed}
    imported.idle = sorted({person.student for person in people.listed if not fault(person.student)} - there)
    return imported


def _senders_by_student(
    found: Iterable[Sender], people: who.Everybody, told: who.Told, lms: str, imported: Imported
) -> tuple[dict[str, Sender], set[str]]:
    """(student -> sender, students who may be a sender that is not clear)."""
    senders, doubtful = {}, set()
    for one in found:
        student, why, can_be = who.student_of(one, people, lms)
        student = told.students.get(one, student)
        if student is None:
            imported.unclear[one.shown] = why
            doubtful |= {*can_be}
        elif student in senders:
            imported.unclear[one.shown] = f"{student} has another submission in this file, {senders[student].shown}"
        else:
            senders[student] = one
    return senders, doubtful


def _take(
    course: Course,
    lesson: str,
    lms: str,
    student: str,
    one: Sender,
    parcel: Parcel,
    known: Mapping[str, str],
    people: who.Everybody,
    when: Times,
    imported: Imported,
) -> None:
    """Import one submission, completely or not at all, and record it."""
    released, folder = released_text(course.root, lesson), course.root / "submitted" / student / lesson
    tried = []
    for files, said in parcel.newest:  # a later attempt that holds no work does not replace an earlier one
        handed_in = unpacked(files)
        new = read(Files(handed_in.files), lesson, released)
        tried.append((handed_in, new, said))
        if new.works:
            break
    handed_in, new, said = tried[-1] if tried[-1][1].works else tried[0]
    if len(tried) > 1 and new.works:
        imported.said.append(f"{student}: the last attempt holds no work of this checkpoint; an earlier one is taken")
    now = digest(handed_in.files)
    if handed_in.left_out:
        imported.partly[student] = handed_in.left_out
    if place.in_place(course.root, student, lesson, now, known.get("digest")):
        imported.same.append(student)
    elif folder.exists() and not new.works and read(files_of(folder, lesson), lesson, released).works:
        what = new.held[1]["en"].split(". ", 1)[0] if new.held else "the checkpoint with no work in it"
        imported.failed[student] = f"what came now holds no work, so what was there before stays and is marked ({what})"
        return
    elif not handed_in.files:
        imported.failed[student] = "there is no file in it that can be read"
        return
    else:
        of_them = imported.replaced if folder.exists() else imported.new
        place.put(course.root, student, lesson, handed_in.files)
        of_them.append(student)
    row = next((person.row for person in people.listed if person.student == student), {})
    stamp = when.of(row, one.late if lms == "canvas" else None, known.get("when", ""), said)
    by_hand = place.stamp(course.root, student, lesson, stamp, known.get("when", ""))
    if by_hand is not None:
        imported.said.append(f"{student}: the time written into timestamp.txt by hand stays: {printable(by_hand[:60])}")
    elif stamp and when.is_late(student, stamp):
        imported.late[student] = UNKNOWN if one.late and not row.get(MODIFIED) else stamp
    elif one.late and (until := when.extension(student)):
        imported.late[student] = f"has time until {shown(until, when.zone)}"
    elif one.late:
        imported.late[student] = UNKNOWN
    facts = {"lms": lms, "name": one.name, "number": one.number, "head": one.head, "digest": now}
    place.remember(course.root, student, lesson, {**facts, "when": known.get("when", "") if stamp is None else stamp})
    if new.held is not None:
        imported.other.append(student)


def _one_person_each(
    students: Mapping[Sender, str], found: Mapping[Sender, Parcel], lesson: str, people: who.Everybody
) -> None:
    """Raises ProjectError where somebody is named for a folder in which several people's work lies."""
    for one, student in students.items():
        if names := several(found[one], lesson, people.known):
            raise ProjectError(
                f"{one.shown} is not {student}'s alone: it holds work of {', '.join(names)}. Import that folder by itself, so that "
                "each of them is found. Nothing was imported."
            )


def report(course: Course, imported: Imported, path: Path) -> str:
    """What was imported, as text for the instructor, with the next step."""
    lesson, lms = imported.lesson, imported.lms
    said = [
        f"{lesson}: {len(imported.new)} new, {len(imported.replaced)} replaced (what was there is in earlier/), "
        f"{len(imported.same)} as before"
    ]
    for words, names in (
        ("to be held back when marked (autograde says why)", imported.other),
        ("files of nobody, left out", imported.strange),
        ("new in the gradebook, from the roster", imported.enrolled),
    ):
        if names:
            said.append(f"{words}: {len(names)} ({', '.join(names[:20])}{', ...' if len(names) > 20 else ''})")
    said += [f"late, says the platform: {student} ({words})" for student, words in sorted(imported.late.items())]
    if imported.idle:
        perhaps = f", unless one of the {len(imported.unclear)} below is theirs" if imported.unclear else ""
        said.append(f"on the roster, and handed in nothing{perhaps}: {len(imported.idle)} ({', '.join(imported.idle)})")
    said += [f"the gradebook stays as it is: {sentence}" for sentence in imported.differing]
    said += imported.said
    if imported.enrolled:
        remove = "nbgrader db student remove NAME"
        said.append(f"who is no student: take the row out of the roster, and run `{remove}` in the course folder")
    for student, left_out in sorted(imported.partly.items()):
        said += [f"left out of {student}: {sentence}" for sentence in left_out]
    for student, why in sorted(imported.failed.items()):
        by_hand = BY_HAND.format(f"submitted/{student}/{lesson}/")
        said.append(f"NOT BROUGHT IN: {student}: {why}. Ask for the notebook again, as a plain .ipynb file, {by_hand}.")
    said += [f"NOT TAKEN: {name}: {why}" for name, why in imported.unclear.items()]
    said += [f'--as "{name}=...": no hand-in of this file is called so' for name in imported.unmatched]
    if imported.unclear:
        lines = "".join(f"\n  {json.dumps(name, ensure_ascii=False)}: STUDENT" for name in imported.unclear)
        said.append(f"lines to add to {course.root / who.FILE}, each with the student's id:\n{lms}:{lines}")
        said.append(
            f'say whose they are with --as "NAME=STUDENT", NAME as it is printed here, or add them to the roster, and run it '
            f"again: {command(f'import {path} --lms {lms} --as ...', course.root)}"
        )
    return "\n".join(said)


def give_back(course: Course, lesson: str, to: Path | None = None) -> tuple[Path, list[str], list[str]]:
    """Write the feedback of all imported submissions into one ZIP for their platform.

    Returns (path, students without feedback since they were last marked, students who handed in nothing). Raises
    ProjectError where nothing was imported.
    """
    require(course, lesson)
    known = place.record(course.root, lesson)
    if not known:
        raise ProjectError(f"{lesson}: nothing came by import, so there is no platform to give feedback back to")
    lms = Counter(facts["lms"] for facts in known.values()).most_common(1)[0][0]
    to, lacking = to or course.root / f"feedback-{lesson}-{lms}.zip", []
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as archive:
        for student, facts in sorted(known.items()):
            page = course.root / "feedback" / student / lesson / f"{name_of(course.root, lesson)}.html"
            marked = course.autograded(student, lesson)
            if not page.exists() or not marked.exists() or page.stat().st_mtime_ns < marked.stat().st_mtime_ns:
                lacking.append(student)  # a page of before the last marking may say "held back", or show other marks
                continue
            name = f"{facts['head']}{page.name}" if lms == "canvas" else f"{facts['head']}/{page.name}"
            archive.write(page, name)
    with course.gradebook as gradebook:
        idle = {one.id for one in gradebook.students} - {*course.submitted(lesson), *known}
    return to, lacking, sorted(idle)


def _lesson(course: Course, found: Mapping[Sender, Parcel], path: Path) -> str:
    """The checkpoint that most of the notebooks belong to."""
    votes, there = Counter(), released(course)
    for parcel in found.values():
        with guarded("", lambda *_: None):  # a fault is reported when the submission is imported
            files, _ = next(parcel.newest)
            votes.update({lesson_of(Files(unpacked(files).files))} & {*there})
        if sum(votes.values()) >= VOTERS:
            break
    if not votes:
        raise ProjectError(
            f"{path}: no notebook in it is one of {', '.join(there) or 'a released checkpoint'}; "
            "say which one with --lesson, and look whether --lms fits"
        )
    return votes.most_common(1)[0][0]


def enrol(course: Course, people: who.Everybody) -> tuple[list[str], list[str]]:
    """Add the students of a roster to the gradebook; names there stay, and nobody is removed. Returns (the new ones, sentences where
    roster and gradebook do not agree).
    """
    enrolled: list[str] = []
    differing: list[str] = []
    with course.gradebook as gradebook:
        there = {one.id: one for one in gradebook.students}
        for person in people.listed:
            if wrong := fault(person.student):
                differing.append(f"{person.student!r} of the roster cannot be a student's folder: {wrong}")
                continue
            with guarded(person.student, lambda student, why: differing.append(f"{student} is not taken in: {why}")):
                known = there.get(person.student)
                new = {name: said for name, said in person.details.items() if not getattr(known, name, None)}
                other = [
                    f"{name} {getattr(known, name)!r}, in the roster {said!r}"
                    for name, said in person.details.items()
                    if name not in new and getattr(known, name) != said
                ]
                if other:
                    differing.append(f"{person.student} has {', '.join(other)}")
                if known is None or new:
                    there[person.student] = gradebook.update_or_create_student(person.student, **new)
                if known is None:
                    enrolled.append(person.student)
    return enrolled, differing

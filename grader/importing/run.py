"""From a platform's ZIP to ``submitted/STUDENT/LESSON/``, and the feedback back into a ZIP for the same platform.

One hand-in after the other: read, put in place, written down. Whatever is wrong with one is a sentence about that one.
"""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from grader.choosing import is_copy
from grader.course import Course, command
from grader.guard import guarded
from grader.importing import place, who
from grader.importing.archive import Entry, opened
from grader.importing.handin import digest, read
from grader.importing.names import Sender, plain, sender
from grader.importing.times import Times, times
from grader.marks import released, require
from grader.names import fault
from grader.project import ProjectError

VOTERS = 30  # hand-ins that are looked into to find out which checkpoint they are of
BY_HAND = "or put what can be read into {} by hand"
Own = list[tuple[str, Entry]]  # the files of one hand-in


@dataclass
class Brought:
    """What became of a file of hand-ins. new, same, replaced: students; late: student -> what the platform says of it; unclear:
    the platform's name -> why nobody was taken for it; failed: student -> why the hand-in could not be brought in; partly:
    student -> what was left out of it; strange: files that are no submission; other: without a notebook of this checkpoint;
    enrolled: new in the gradebook; differing: where roster and gradebook do not agree; idle: whom the roster has and nobody
    handed in for; unmatched: names of ``--as`` that no hand-in has; said: what else the instructor has to know.
    """

    lesson: str
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
        """Whether every hand-in of the file is in place."""
        return not (self.unclear or self.failed or self.unmatched)


def bring(
    course: Course,
    path: Path,
    lms: str,
    lesson: str | None = None,
    roster: Path | None = None,
    said: Mapping[str, str] | None = None,
) -> Brought:
    """Put each submission of ``path`` where marking looks for it. Raises ProjectError before anything is changed.

    lesson: found out from the notebooks where it is not said. said: the platform's name -> student, where the roster does not
    tell; kept for the next import. Nobody is guessed: who is not clear is left out and named. What was there before is
    under ``earlier/`` then. Everybody on the roster is put into the gradebook, so that who hands in nothing is named.
    """
    require(course, *([lesson] if lesson else ()))
    with place.importing(course.root), opened(path) as entries:
        found, strange = _by_sender(entries, lms, lesson or "")
        lesson = lesson or _lesson(course, found, path)
        if lms == "plain":  # names there hold the lesson's
            found, strange = _by_sender(entries, lms, lesson)
        people = who.everybody(course, roster, lms)
        told = who.told(said or {}, who.remembered(course).get(lms, {}), found, people)
        who.remember(course, lms, told.keep)
        brought = Brought(lesson, strange=strange, unmatched=told.unmatched)
        whose, doubtful = _whose(found, people, told, lms, brought)
        known, when = place.record(course.root, lesson), times(course, lesson)
        for student, one in sorted(whose.items()):
            with guarded(student, brought.failed.__setitem__):
                _take(course, lesson, lms, student, one, found[one], known.get(student, {}), people, when, brought)
    _enrol(course, people, brought)
    brought.said += [*when.said]
    brought.differing += [f"{name} of the roster is {here} there" for name, here in people.renamed.items()]
    brought.differing += [
        f"{name or 'a row'} of the roster has no id, and nobody has that name" for name in people.without_id
    ]
    there = {*course.submitted(lesson), *doubtful, *brought.failed}
    brought.idle = sorted({person.student for person in people.listed if not fault(person.student)} - there)
    return brought


def _whose(
    found: Iterable[Sender], people: who.Everybody, told: who.Told, lms: str, brought: Brought
) -> tuple[dict[str, Sender], set[str]]:
    """(student -> hand-in, whoever may be the sender of one that is not clear)."""
    whose, doubtful = {}, set()
    for one in found:
        student, why, can_be = who.student_of(one, people, lms)
        student = told.students.get(one, student)
        if student is None:
            brought.unclear[one.shown] = why
            doubtful |= {*can_be}
        elif student in whose:
            brought.unclear[one.shown] = f"{student} has another submission in this file, {whose[student].shown}"
        else:
            whose[student] = one
    return whose, doubtful


def _take(
    course: Course,
    lesson: str,
    lms: str,
    student: str,
    one: Sender,
    own: Own,
    known: Mapping[str, str],
    people: who.Everybody,
    when: Times,
    brought: Brought,
) -> None:
    """Bring in one hand-in, whole or not at all, and write that down."""
    handed_in = read(own)
    now, folder = digest(handed_in.files), course.root / "submitted" / student / lesson
    if handed_in.left_out:
        brought.partly[student] = handed_in.left_out
    if place.in_place(course.root, student, lesson, now, known.get("digest")):
        brought.same.append(student)
    elif folder.exists() and not handed_in.has_notebook:
        brought.failed[student] = "there is no notebook in it that can be read; what was there before stays"
        return
    elif not handed_in.files:
        brought.failed[student] = "there is no file in it that can be read"
        return
    else:
        of_them = brought.replaced if folder.exists() else brought.new
        place.put(course.root, student, lesson, handed_in.files)
        of_them.append(student)
    row = next((person.row for person in people.listed if person.student == student), {})
    stamp = when.of(row, one.late if lms == "canvas" else None, known.get("when", ""))
    place.stamp(course.root, student, lesson, stamp)
    if stamp and when.is_late(student, stamp):
        brought.late[student] = stamp
    elif one.late and (until := when.extension(student)):
        brought.late[student] = f"has time until {until:%Y-%m-%d %H:%M} UTC"
    elif one.late:
        brought.late[student] = "Canvas does not say by how much"
    facts = {"lms": lms, "name": one.name, "number": one.number, "head": one.head, "digest": now}
    place.remember(course.root, student, lesson, {**facts, "when": known.get("when", "") if stamp is None else stamp})
    if not any(is_copy(data, lesson) for name, data in handed_in.files.items() if name.endswith(".ipynb")):
        brought.other.append(student)


def report(course: Course, brought: Brought, path: Path, lms: str) -> str:
    """What happened, for the instructor, with the next step."""
    lesson = brought.lesson
    said = [
        f"{lesson}: {len(brought.new)} new, {len(brought.replaced)} replaced (what was there is in earlier/), "
        f"{len(brought.same)} as before"
    ]
    for words, names in (
        ("without a notebook of this checkpoint", brought.other),
        ("files of nobody, left out", brought.strange),
        ("new in the gradebook, from the roster", brought.enrolled),
    ):
        if names:
            said.append(f"{words}: {len(names)} ({', '.join(names[:20])}{', ...' if len(names) > 20 else ''})")
    said += [f"late, says the platform: {student} ({words})" for student, words in sorted(brought.late.items())]
    if brought.idle:
        perhaps = f", unless one of the {len(brought.unclear)} below is theirs" if brought.unclear else ""
        said.append(f"on the roster, and handed in nothing{perhaps}: {len(brought.idle)} ({', '.join(brought.idle)})")
    said += [f"the gradebook stays as it is: {sentence}" for sentence in brought.differing]
    said += brought.said
    if brought.enrolled:
        remove = "nbgrader db student remove NAME"
        said.append(f"who is no student: take the row out of the roster, and run `{remove}` in the course folder")
    for student, left_out in sorted(brought.partly.items()):
        said += [f"left out of {student}: {sentence}" for sentence in left_out]
    for student, why in sorted(brought.failed.items()):
        by_hand = BY_HAND.format(f"submitted/{student}/{lesson}/")
        said.append(f"NOT BROUGHT IN: {student}: {why}. Ask for the notebook again, as a plain .ipynb file, {by_hand}.")
    said += [f"NOT TAKEN: {name}: {why}" for name, why in brought.unclear.items()]
    said += [f'--as "{name}=...": no hand-in of this file is called so' for name in brought.unmatched]
    if brought.unclear:
        said.append(
            f'say whose they are with --as "NAME=STUDENT", NAME as it is printed here, or add them to the roster, and run it '
            f"again: {command(f'import {path} --lms {lms} --as ...', course.root)}"
        )
    return "\n".join(said)


def give_back(course: Course, lesson: str, to: Path | None = None) -> tuple[Path, list[str], list[str]]:
    """Write the feedback of everybody who came by ``bring`` into one ZIP for the same platform; (where, who has no feedback
    yet, who handed in nothing). Raises ProjectError where nobody came that way.
    """
    require(course, lesson)
    known = place.record(course.root, lesson)
    if not known:
        raise ProjectError(f"{lesson}: nothing came by import, so there is no platform to give feedback back to")
    lms = Counter(facts["lms"] for facts in known.values()).most_common(1)[0][0]
    to, lacking = to or course.root / f"feedback-{lesson}-{lms}.zip", []
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as archive:
        for student, facts in sorted(known.items()):
            page = course.root / "feedback" / student / lesson / f"{lesson}.html"
            if not page.exists():
                lacking.append(student)
                continue
            name = f"{facts['head']}{lesson}.html" if lms == "canvas" else f"{facts['head']}/{lesson}.html"
            archive.write(page, name)
    with course.gradebook as gradebook:
        idle = {one.id for one in gradebook.students} - {*course.submitted(lesson), *known}
    return to, lacking, sorted(idle)


def _by_sender(entries: Iterable[Entry], lms: str, lesson: str) -> tuple[dict[Sender, Own], list[str]]:
    """(hand-in -> its files, the files of nobody). Two heads of one number are one student's."""
    found: dict[tuple[str, str], tuple[Sender, Own]] = {}
    strange = []
    for entry in entries:
        known = sender(entry.inside, lms, lesson)
        if known is None:
            strange.append(str(entry.inside))
            continue
        one, name = known
        first, own = found.setdefault((one.number, "" if one.number else plain(one.name)), (one, []))
        own.append((name, entry))
        if one.late and not first.late:
            found[one.number, ""] = one, own
    return dict(found.values()), strange


def _lesson(course: Course, found: Mapping[Sender, Own], path: Path) -> str:
    """The checkpoint that most notebooks are of."""
    votes, there = Counter(), released(course)
    for own in found.values():
        with guarded("", lambda *_: None):  # what is wrong with it is said when it is brought in
            notebooks = [data for name, data in read(own).files.items() if name.endswith(".ipynb")]
            votes.update({lesson for data in notebooks for lesson in there if is_copy(data, lesson)})
        if sum(votes.values()) >= VOTERS:
            break
    if not votes:
        raise ProjectError(
            f"{path}: no notebook in it is one of {', '.join(there) or 'a released checkpoint'}; "
            "say which one with --lesson, and look whether --lms fits"
        )
    return votes.most_common(1)[0][0]


def _enrol(course: Course, people: who.Everybody, brought: Brought) -> None:
    """Put the students of a roster into the gradebook. Names that are there already stay, and nobody goes."""
    brought.enrolled, differing = enrol(course, people)
    brought.differing += differing


def enrol(course: Course, people: who.Everybody) -> tuple[list[str], list[str]]:
    """(who is new in the gradebook, sentences where roster and gradebook do not agree)."""
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

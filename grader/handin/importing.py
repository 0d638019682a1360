"""Bring the hand-ins of an archive or a folder into ``submitted/STUDENT/LESSON/``.

Whose a file is follows from its path (``grader.handin.owners``). What means nobody or several is not taken, and named with the line
for ``roster.csv`` that settles it. Of several hand-ins of one person the last one with work counts.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from grader.course import Course, command, released_text
from grader.course.marks import require
from grader.handin.archive import Entry, opened
from grader.handin.files import OURS, STAMP, Files, on_disk, stored, unpacked, write, write_new
from grader.handin.guard import guarded
from grader.handin.owners import Owners, can_be_hand_in, unwrapped
from grader.handin.reading import Reading, as_handed_in, files_of, is_name, read
from grader.handin.roster import FILE, roster
from grader.project.files import locked, replace, unlock
from grader.project.names import groups, printable

INCOMING = "submitted/.import"  # no student's name begins with a dot
FOLDER = "imported"  # of the course directory: where each hand-in lay in its archive, for give-back
HAND_IN = re.compile(r"\.ipynb|(?<!^index)\.(zip|rar|7z|tar|gz|html?|pdf)$", re.IGNORECASE)  # may be work
TIME = re.compile(r"(?<!\d)(20\d\d)[-_]?(\d\d)[-_]?(\d\d)[-_T ]?(\d\d)[-_:]?(\d\d)[-_:]?(\d\d)")
DIGITS = re.compile(r"\d+")
Group = tuple[PurePosixPath, list[tuple[str, Entry]]]  # where a hand-in lies, and its files by their own paths


@dataclass
class Imported:
    """The result. new, same, replaced: students. kept: student -> why what was there before stays, or nothing is there. unclear: what
    belongs to nobody that is known -> the students whom it can mean; alike: those of it whose name stands in other paths, too. held:
    student -> why the hand-in will be held back. said: other sentences for the instructor.
    """

    lesson: str
    new: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    kept: dict[str, str] = field(default_factory=dict)
    unclear: dict[str, frozenset[str]] = field(default_factory=dict)
    alike: set[str] = field(default_factory=set)
    held: dict[str, str] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)


def import_submissions(course: Course, path: Path, lesson: str) -> Imported:
    """Put each hand-in of the archive or folder ``path`` where marking looks for it, completely or not at all.

    What holds no work never replaces what does; what is replaced lies in ``earlier/``. Raises ProjectError before anything is changed.
    """
    require(course, lesson)
    taken = f"another import into {course.root} is under way; wait until it is done, or stop it"
    with locked(course.root / "import.lock", taken), opened(path) as entries:
        shutil.rmtree(course.root / INCOMING, ignore_errors=True)  # of one that was killed
        known, imported = roster(course), Imported(lesson)
        text = released_text(course.root, lesson)
        entries = [*unwrapped(entries, known)]
        owners = Owners(entries, known, groups(course.root, lesson), lambda one: can_be_hand_in(one, lesson, text))
        mine: dict[str, list[tuple[PurePosixPath, Entry]]] = defaultdict(list)
        others: dict[PurePosixPath, frozenset[str]] = {}
        for entry in entries:
            found, place = owners.of(entry.inside)
            if len(found) == 1:
                mine[min(found)].append((place, entry))
            elif entry.inside not in owners.lists:
                others[entry.inside] = found
        _unclear(others, [entry.inside for files in mine.values() for _, entry in files], owners, imported)
        before = record(course.root, lesson)
        for student, files in sorted(mine.items()):
            with guarded(student, imported.kept.__setitem__):
                flat = {entry.inside for _, entry in files}
                place = _take(course, student, _hand_ins(files), imported)
                before[student] = str(place) if place in flat else f"{place}/"
        data = json.dumps(before, ensure_ascii=False, indent=1, sort_keys=True).encode()
        replace(course.root, course.root / FOLDER / f"{lesson}.json", data)
        shutil.rmtree(course.root / INCOMING, ignore_errors=True)
    return imported


def _unclear(
    others: dict[PurePosixPath, frozenset[str]], owned: list[PurePosixPath], owners: Owners, imported: Imported
) -> None:
    """Name what belongs to nobody that is known, in as few words as tell it: the outermost folder that holds nothing of anybody's, and
    not several hand-ins, else the file. others: path -> the students whom it can mean.
    """
    taken = {place for inside in owned for place in inside.parents}
    everything = {place for inside in [*others, *owned] for place in (inside, *inside.parents)}
    counts = Counter(place.name for place in everything)
    for inside, can_be in others.items():
        above = [place for place in reversed(inside.parents) if place.parts]
        place = next((one for one in above if one not in taken and len(owners.hand_ins(one)) < 2), inside)
        if place == inside and not can_be and not (OURS.search(inside.name) or HAND_IN.search(inside.name)):
            imported.said.append(f"of nobody, left out: {printable(str(inside))}")
            continue
        name = str(place)
        imported.unclear[name] = imported.unclear.get(name, frozenset()) | can_be
        if counts[place.name] > 1 or is_name(place.name, imported.lesson):
            imported.alike.add(name)


def _hand_ins(files: list[tuple[PurePosixPath, Entry]]) -> list[Group]:
    """The hand-ins of one person, the last one first. A folder that names the person is one, also a folder below it that differs from
    one beside it by its number alone (Version 2), or what has the same time in its name. files: (what names the person, file).
    """
    alike: dict[tuple[PurePosixPath, str], set[PurePosixPath]] = defaultdict(set)
    for place, entry in files:
        for folder in _below(place, entry) if OURS.search(entry.inside.name) else ():
            alike[folder.parent, DIGITS.sub("#", folder.name)].add(folder)
    made: dict[tuple[str, str], Group] = {}
    times: dict[tuple[str, str], str] = defaultdict(str)
    for place, entry in files:
        flat, said = place == entry.inside, TIME.search(str(entry.inside))
        versions = (one for one in _below(place, entry) if len(alike[one.parent, DIGITS.sub("#", one.name)]) > 1)
        where = place.parent if flat else next(versions, place)
        when = "".join(said.groups()) if said else ""
        key = str(where), when if flat else ""
        made.setdefault(key, (place if flat else where, []))[1].append((str(entry.inside.relative_to(where)), entry))
        times[key] = max(times[key], when or entry.when)
    order = sorted(made, key=lambda key: (times[key], [int(one) for one in DIGITS.findall(key[0])]))
    return [_with_own_names(*made[key]) for key in reversed(order)]


def _below(place: PurePosixPath, entry: Entry) -> list[PurePosixPath]:
    """The folders between what names a person and a file, the outermost first."""
    return [one for one in reversed(entry.inside.parents) if len(one.parts) > len(place.parts)]


def _with_own_names(place: PurePosixPath, files: list[tuple[str, Entry]]) -> Group:
    """The files by their own names, without what a platform without folders has put before all of them."""
    if len(files) < 2 or place != files[0][1].inside:
        return place, files
    ahead = re.sub(r"[^_\s-]*$", "", os.path.commonprefix([name for name, _ in files]))
    return place, [(re.sub(r"^\d+_", "", name[len(ahead) :]) or name, entry) for name, entry in files]


def _take(course: Course, student: str, hand_ins: list[Group], imported: Imported) -> PurePosixPath:
    """Bring in the last hand-in with work; returns where it lay in the archive."""
    lesson, text = imported.lesson, released_text(course.root, imported.lesson)
    folder = course.root / "submitted" / student / lesson
    place, files, new = _with_work(hand_ins, lesson, text)
    if len(hand_ins) > 1:
        imported.said.append(
            f"{student}: {len(hand_ins)} hand-ins; taken is the last one with work in it, {printable(str(place))}"
        )
    if new.held is not None:
        imported.held[student] = new.held[1]["en"]
    imported.said += [f"left out of {student}: {one}" for one in files.left_out]
    if folder.exists() and files.there == lying(folder):
        imported.same.append(student)
    elif not (files.there or files.large):
        imported.kept[student] = "there is no file in it that can be read"
    elif folder.exists() and not new.works and read(files_of(folder, lesson), lesson, text).works:
        what = new.held[1]["en"].split(". ", 1)[0] if new.held else "the checkpoint with no work in it"
        imported.kept[student] = f"what came now holds no work, so what was there before stays and is marked ({what})"
        imported.held.pop(student, None)
    else:
        (imported.replaced if folder.exists() else imported.new).append(student)
        put(course.root, student, lesson, files)
    return place


def lying(folder: Path) -> dict[str, bytes]:
    """The files in a folder of ``submitted/`` by the names that they came with, without the time stamp; none of a link's."""
    files = on_disk(folder).there if folder.is_dir() and not folder.is_symlink() else {}
    return {name: data for name, data in as_handed_in(files).items() if name != STAMP}


def _with_work(hand_ins: list[Group], lesson: str, text: str) -> tuple[PurePosixPath, Files, Reading]:
    """(where it lay, its files, what is read of them) of the first of these hand-ins with work in it, else of the first."""
    first = None
    for place, entries in hand_ins:
        files = stored(entries)
        found = place, files, read(unpacked(files), lesson, text)
        if found[2].works:
            return found
        first = first or found
    return first


def put(course: Path, student: str, lesson: str, files: Files) -> None:
    """Put a hand-in in place, completely or not at all; what was there goes to ``earlier/``. Whenever this is killed, the old hand-in
    or the new one stands there, or the old one in ``earlier/`` alone until it is done again. Raises OSError.
    """
    folder, place, fresh = (course / name / student / lesson for name in ("submitted", "earlier", INCOMING))
    if folder.parent.is_symlink():
        raise OSError(f"{folder.parent} is a link; put a folder there, or remove it")
    write(files, fresh)
    if (folder / STAMP).is_file() and STAMP not in files.there:  # written by hand, or by the exchange
        write_new(fresh / STAMP, (folder / STAMP).read_bytes())
    folder.parent.mkdir(exist_ok=True)
    if os.path.lexists(folder):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        number = 1 + max((int(one.name) for one in place.iterdir() if one.name.isdigit()), default=0)
        unlock(folder)
        folder.rename(place / str(number))
    fresh.rename(folder)


def report(course: Course, imported: Imported, path: Path) -> str:
    """What was imported, as text for the instructor, with the next step."""
    lesson, known = imported.lesson, roster(course)
    said = [
        f"{lesson}: {len(imported.new)} new, {len(imported.replaced)} replaced (what was there is in earlier/), "
        f"{len(imported.same)} as before"
    ]
    said += imported.said
    said += [f"will be held back: {student}: {why}" for student, why in sorted(imported.held.items())]
    said += [f"NOT BROUGHT IN: {student}: {why}" for student, why in sorted(imported.kept.items())]
    lines = []
    for name, can_be in sorted(imported.unclear.items()):
        means = (
            f"it can be {' or '.join(sorted(can_be))} (if they worked together, name the group in groups.yaml)"
            if can_be
            else "neither it nor a folder of one person's names anybody of the roster"
        )
        apart = (
            "; others have that name too: put it into a folder with the student's id" if name in imported.alike else ""
        )
        said.append(f"NOT TAKEN: {printable(name)}: {means}{apart}")
        if not apart:
            lines.append(known.line(" or ".join(sorted(can_be)) or "STUDENT", PurePosixPath(name).name))
    if lines:
        said += [
            f"Add to {course.root / FILE}, each with the one student's id, and run "
            f"{command(f'import {shlex.quote(str(path))} --lesson {lesson}', course.root)} again:"
        ]
        said += [printable(line) for line in lines]
    return "\n".join(said)


def record(course: Path, lesson: str) -> dict[str, str]:
    """Student -> where the hand-in lay in its archive: a folder, or a file that is named after the student."""
    path = course / FOLDER / f"{lesson}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

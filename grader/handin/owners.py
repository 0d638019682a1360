"""Whose a file of an archive is.

No platform is recognised. Whoever is named by a folder of a path owns what lies below it, else whoever the file's own name means
(``grader.handin.roster``); a list beside folders without a name (``submission_metadata.yml``) counts, too.
"""

from __future__ import annotations

import functools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from grader.handin.archive import Entry, inner
from grader.handin.files import MOST_LOOKED_AT, OURS
from grader.handin.guard import guarded
from grader.handin.reading import of_checkpoint
from grader.handin.roster import Roster
from grader.sandbox.limits import MOST_BYTES

LIST = re.compile(r"\.(ya?ml|csv|tsv|txt|json)$", re.IGNORECASE)  # what may say whose folders are
LARGEST_LIST, LARGEST_ZIP = 4 << 20, 1 << 30  # bytes
NOTEBOOK_OR_ZIP = re.compile(r"\.ipynb|\.zip$", re.IGNORECASE)


class Owners:
    """Finds whose the paths of an archive are with ``of``. of_checkpoint(entry): whether a file is a notebook of the checkpoint."""

    def __init__(
        self,
        entries: list[Entry],
        known: Roster,
        together: dict[str, tuple[str, ...]],
        of_checkpoint: Callable[[Entry], bool],
    ) -> None:
        self.known, self.together, self.of_checkpoint = known, together, of_checkpoint
        self.files = {one.inside for one in entries}
        self._inside: dict[PurePosixPath, list[Entry]] = defaultdict(list)  # folder -> all files below it
        for entry in entries:
            for place in entry.inside.parents:
                self._inside[place].append(entry)
        self._named, self._around = functools.cache(known.named), functools.cache(self._holds_several)
        self.hand_ins = functools.cache(self._hand_ins)
        self.lists: set[PurePosixPath] = set()  # files that say whose folders are
        self._listed = {place: frozenset(found) for place, found in self._lists(entries).items()}

    def of(self, inside: PurePosixPath) -> tuple[frozenset[str], PurePosixPath]:
        """(the students whom a path means, the folder or file that says so): one owns it; none or several own nothing."""
        found, place = self._named_on(inside)
        if len(found) > 1:
            group = self.together.get(min(found), ())
            found = frozenset(group[:1]) if found <= {*group} else found
        return found, place

    def _hand_ins(self, folder: PurePosixPath) -> set[PurePosixPath]:
        """The files and folders directly in a folder that hold a notebook of the checkpoint, or a ZIP; the one that may, if it is one."""
        may = defaultdict(list)
        for entry in self._inside[folder]:
            if NOTEBOOK_OR_ZIP.search(entry.inside.name):
                may[folder / entry.inside.parts[len(folder.parts)]].append(entry)
        if len(may) < 2:
            return {*may}
        return {one for one, found in may.items() if one.name[0] != "." and any(map(self.of_checkpoint, found))}

    def _named_on(self, inside: PurePosixPath) -> tuple[frozenset[str], PurePosixPath]:
        above = [place for place in reversed(inside.parents) if place.parts]
        named = [(place, self._named(place.name)) for place in above if not self._around(place)]
        named = [(place, one) for place, one in named if one.students]
        if not named:
            own = self._named(inside.name)
            listed = next(((self._listed[place], place) for place in above if place in self._listed), None)
            return (own.students, inside) if own.students or listed is None else listed
        place, first = named[0]
        for deeper, one in named[1:]:
            if len(first.students) > 1 and len(first.students & one.students) == 1:
                return first.students & one.students, deeper  # Kim Lee/kim.lee2
            if not first.whole and not first.students & one.students:
                return first.students | one.students, place
        return first.students, place

    def _holds_several(self, place: PurePosixPath) -> bool:
        """Whether a folder holds the hand-ins of several people, so that it is not the hand-in of whom it names: several others are
        named in it; or it says more than a name, and one is in several of its folders, or several notebooks or ZIPs are all there is in it.
        """
        here, below = self._named(place.name), set()
        for one in self._inside[place]:
            parts = one.inside.parts[len(place.parts) : None if OURS.search(one.inside.name) else -1]
            below |= {min(found) for found in (self._named(part).students for part in parts) if len(found) == 1}
        if here.whole or not here.students or len(below - here.students) > 1:
            return len(below - here.students) > 1
        found = self.hand_ins(place)
        alone = all(place in one.parents for one in self.files if OURS.search(one.name))
        kinds = Counter(one.suffix.lower() for one in found & self.files) if alone else Counter()
        return len(found - self.files) + max(kinds.values(), default=0) > 1  # a notebook beside a ZIP is one hand-in

    def _lists(self, entries: list[Entry]) -> dict[PurePosixPath, set[str]]:
        """Folder -> the students whom a list beside it names with it."""
        found: dict[PurePosixPath, set[str]] = defaultdict(set)
        for entry in entries:
            if not LIST.search(entry.inside.name) or OURS.search(entry.inside.name):
                continue
            if any(self._named(part).students for part in entry.inside.parts):
                continue  # it is in somebody's hand-in
            above = entry.inside.parent
            beside = {place.name: place for place in self._inside if place.parent == above and place.parts}
            with guarded("", lambda *_: None):  # a list that cannot be read says nothing
                about = None
                for line in entry.read(LARGEST_LIST).decode("utf-8-sig", "replace").splitlines() if beside else ():
                    about = next((beside[word] for word in re.split(r"[^\w.-]+", line) if word in beside), about)
                    if about is not None and not self._named(about.name).students:
                        found[about] |= self.known.named(line).students
                        self.lists.add(entry.inside)
        return found


def unwrapped(entries: list[Entry], known: Roster) -> Iterator[Entry]:
    """The files of an archive; in place of a ZIP of nobody's the files in it, where their paths name several people."""
    for entry in entries:
        within: list[Entry] = []
        if entry.inside.suffix.lower() == ".zip" and not any(known.named(part).students for part in entry.inside.parts):
            with guarded("", lambda *_: None):  # one that cannot be read stays a file
                found = inner(entry.read(LARGEST_ZIP), MOST_LOOKED_AT)
                within = [replace(one, inside=entry.inside / one.inside) for one in found]
        named = {one for file in within for part in file.inside.parts if len(one := known.named(part).students) == 1}
        yield from within if len(named) > 1 else [entry]


def can_be_hand_in(entry: Entry, lesson: str, released: str) -> bool:
    """Whether a file can be a hand-in: a ZIP, or a notebook of the checkpoint."""
    can = entry.inside.suffix.lower() == ".zip"
    with guarded("", lambda *_: None):  # what cannot be read is none
        can = can or of_checkpoint(entry.read(MOST_BYTES), lesson, released)
    return can

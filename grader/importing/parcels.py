"""Sort the files of a platform by sender: one parcel for each, with all the attempts that the platform kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

import yaml

from grader.archive import Entry
from grader.importing.names import PATTERNS, Person, Sender, candidates, plain, sent
from grader.importing.times import moment_of
from grader.project import LOADER
from grader.sandbox.limits import MOST_BYTES

ATTEMPTS = ("blackboard", "brightspace", "teams")  # these keep every attempt of a student, with a time or a number
METADATA = "submission_metadata.yml"  # Gradescope's list of who sent what
Files = list[tuple[str, Entry]]
Attempt = tuple[int, datetime]


@dataclass
class Parcel:
    """What one sender handed in. attempts: number and time -> (own path, file); when: the time of each, as the platform writes it."""

    attempts: dict[Attempt, Files] = field(default_factory=dict)
    when: dict[Attempt, str] = field(default_factory=dict)

    @property
    def newest(self) -> Iterator[tuple[Files, str]]:
        """(files, time) of the attempts, the newest first."""
        for attempt in sorted(self.attempts, reverse=True):
            yield self.attempts[attempt], self.when.get(attempt, "")


def parcels(
    entries: list[Entry], lms: str, lesson: str, known: Iterable[Person] = ()
) -> tuple[dict[Sender, Parcel], list[str]]:
    """(sender -> parcel, files without a sender). Two senders with the same number are the same student. known: whoever a folder
    may be named after; one folder around those of several students is passed over.
    """
    named = _gradescope(entries) if lms == "gradescope" else {}
    if lms == "plain":
        entries = _unwrapped(entries, lesson, [*known])
    found: dict[tuple[str, ...], tuple[Sender, Parcel]] = {}
    strange = []
    for entry in entries:
        one = sent(entry.inside, lms, lesson)
        if one is None:
            if lms == "plain" or PATTERNS[lms].fullmatch(str(entry.inside)) is None and entry.inside.name != METADATA:
                strange.append(str(entry.inside))
            continue
        sender, said = named.get(one.sender.number, (one.sender, one.when))
        key = (sender.number, sender.login) if sender.number or sender.login else (plain(sender.name),)
        first, parcel = found.setdefault(key, (sender, Parcel()))
        if sender.late and not first.late:
            found[key] = sender, parcel
        moment = (said and lms in ATTEMPTS and moment_of(said, "UTC")) or datetime.min
        attempt = (one.version, moment)
        files = parcel.attempts.setdefault(attempt, [])
        if one.stamp:
            said = entry.read(100).decode("utf-8", "replace").strip()
        else:
            files.append((one.path, entry))
        parcel.when[attempt] = max(parcel.when.get(attempt, ""), said)
    return dict(found.values()), strange


def several(parcel: Parcel, lesson: str, known: Iterable[Person]) -> list[str]:
    """The students after whom the folders and files inside a parcel are named, where there are several: it is not one person's."""
    known = [*known]
    paths = {PurePosixPath(path) for files in parcel.attempts.values() for path, _ in files}
    senders = {one.sender for path in paths if (one := sent(path, "plain", lesson))}
    found = {person.student for one in senders for person in candidates(one, known, "plain")}
    return sorted(found) if len(found) > 1 else []


def _unwrapped(entries: list[Entry], lesson: str, known: list[Person]) -> list[Entry]:
    """The entries without the folders around everything, as long as those are named after nobody and hold more than files."""
    while len({entry.inside.parts[0] for entry in entries}) == 1 and not any(
        len(entry.inside.parts) < 2 for entry in entries
    ):
        top = entries[0].inside.parts[0]
        inside = [replace(entry, inside=PurePosixPath(*entry.inside.parts[1:])) for entry in entries]
        senders = {one.sender for entry in inside if (one := sent(entry.inside, "plain", lesson))}
        if candidates(Sender(top), known, "plain") or not any(candidates(one, known, "plain") for one in senders):
            break
        entries = inside
    return entries


def _gradescope(entries: Iterable[Entry]) -> dict[str, tuple[Sender, str]]:
    """Number of a submission -> (its first submitter, when it came), out of Gradescope's list."""
    found: dict[str, tuple[Sender, str]] = {}
    for entry in entries:
        if entry.inside.name != METADATA:
            continue
        try:
            said = yaml.load(entry.read(MOST_BYTES).decode("utf-8"), Loader=LOADER)
        except (yaml.YAMLError, UnicodeDecodeError):
            continue
        for name, facts in said.items() if isinstance(said, dict) else ():
            people = _of(facts, "submitters")
            first = people[0] if isinstance(people, list) and people else {}
            number = str(name).removeprefix("submission_")
            login = _of(first, "email") or _of(first, "sid") or ""
            sender = Sender(str(_of(first, "name") or ""), number, f"submission_{number}", login=str(login))
            found[number] = sender, str(_of(facts, "created_at") or "")
    return found


def _of(facts: Any, name: str) -> Any:
    """The value of a key in Gradescope's list, where keys begin with a colon."""
    return facts.get(f":{name}", facts.get(name)) if isinstance(facts, dict) else None

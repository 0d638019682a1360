"""Random files of hand-ins, as a platform gives them out, and what must hold after each of them was brought in."""

from __future__ import annotations

import hashlib
import io
import json
import random
import struct
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from grader.course import Course
from grader.handin.importing import Imported, import_submissions, report
from grader.project import ProjectError
from grader.sandbox.limits import MOST_BYTES, MOST_FILES
from tests.support.grading_fixtures import LESSON, NOTEBOOK

STUDENTS = ("ada", "bob", "cyd", "dee", "eve")
KEPT = ("submitted", "earlier", "imported")
NAMES = (
    "a",
    "a/b",
    "a/b/c.txt",
    "x" * 300 + ".ipynb",
    "名" * 120,
    "../../up.txt",
    "/top.txt",
    "c:\\win\\n.txt",
    "d/" * 40 + "deep.txt",
    "e" * 200 + "/" + "f" * 200 + "/" + "g" * 200 + "/" + "h" * 200 + "/" + "i" * 200,
    "timestamp.txt",
    "other.ipynb",
    "sub/again.ipynb",
    f"sub/{LESSON}.answers.json",
    "new\nline.txt",
    "\udce4.txt",
    "con",
    ".hidden",
    "a.zip",
)


def notebook(text: str = "") -> bytes:
    """A copy of the checkpoint; the text tells it from others."""
    told = {"course": {"lesson": LESSON, "kind": "checkpoint"}, "note": text}
    return json.dumps({"cells": [], "metadata": told, "nbformat": 4, "nbformat_minor": 5}).encode()


@dataclass
class Sent:
    """One hand-in: path -> bytes in the platform's file; sound: nothing is wrong with it."""

    files: dict[str, bytes] = field(default_factory=dict)
    sound: bool = False


def packed(files: dict[str, bytes], how: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", how) as archive:
        for name, data in files.items():
            try:
                archive.writestr(name, data)
            except UnicodeEncodeError:
                archive.writestr(name.encode("utf-8", "replace").decode(), data)
    return made.getvalue()


def hand_in(rng: random.Random) -> Sent:
    """A hand-in of a random kind: sound, with odd names, truncated, packed, packed in another way, packed and damaged."""
    kind, own = rng.randrange(10), notebook(str(rng.random()))
    name = f"{NOTEBOOK}.ipynb"
    if kind < 3:
        return Sent({name: own}, sound=True)
    odd = {one: rng.randbytes(rng.randrange(50)) for one in rng.sample(NAMES, rng.randrange(1, 6))}
    if kind == 3:
        return Sent({name: own, **odd})
    if kind == 4:
        return Sent({name: own[: rng.randrange(len(own))]})
    if kind == 5:
        return Sent(dict(rng.sample([*{name: own, **odd}.items()], rng.randrange(len(odd) + 1))))
    inside = {name: own, **odd}
    if kind == 6 and rng.random() < 0.2:  # far more than fits
        inside |= {f"zeros{n}": bytes(MOST_BYTES - 1) for n in range(3)} | {
            f"many{n}": b"x" for n in range(MOST_FILES + 9)
        }
    how = rng.choice(
        [zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2]
    )
    data = packed(inside, how)
    if kind == 7:
        data = data[: rng.randrange(len(data))]
    if kind == 8:
        data = damaged(rng, data, rng.randrange(1, 4))
    if kind == 9:
        data = said_otherwise(rng, data)
    beside = {"notes.txt": b"x"} if rng.random() < 0.5 else {}
    return Sent({"work.zip": data, **beside})


def damaged(rng: random.Random, data: bytes, times: int) -> bytes:
    """Some bytes are others."""
    made = bytearray(data)
    for _ in range(times if data else 0):
        made[rng.randrange(len(made))] = rng.randrange(256)
    return bytes(made)


def said_otherwise(rng: random.Random, data: bytes) -> bytes:
    """The directory of a ZIP says something else of one of its files: name in UTF-8, a password, the packing, the size."""
    made, places, at = bytearray(data), [], -1
    while (at := data.find(b"PK\x01\x02", at + 1)) >= 0:
        places.append(at)
    for at in rng.sample(places, min(2, len(places))):
        what = rng.randrange(5)
        if what == 0:  # a name flagged UTF-8 that is none
            struct.pack_into("<H", made, at + 8, 0x800)
            made[at + 46] = 0xFF
        elif what == 1:
            struct.pack_into("<H", made, at + 8, 1)
        elif what == 2:
            struct.pack_into("<H", made, at + 10, rng.choice([0, 1, 8, 9, 12, 14, 93, 99]))
        elif what == 3:
            struct.pack_into("<II", made, at + 20, rng.randrange(2**32), rng.randrange(2**32))
        else:
            struct.pack_into("<I", made, at + 42, rng.randrange(2**32))
    return bytes(made)


def platform_file(path: Path, sent: dict[str, Sent]) -> None:
    """The file as Moodle gives it out."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, (student, one) in enumerate(sent.items(), start=1):
            for name, data in one.files.items():
                inside = f"{student}_{number}_assignsubmission_file_/{name}"
                archive.writestr(inside.encode("utf-8", "replace").decode(), data)


def tree(root: Path) -> dict[str, str]:
    """Path -> digest of every file of a course folder that an import may change."""
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for name in KEPT
        for path in sorted((root / name).rglob("*"))
        if path.is_file()
    }


def works(root: Path) -> dict[str, dict[str, str]]:
    """Student -> the files that lie there as handed in."""
    found: dict[str, dict[str, str]] = {}
    for name, told in tree(root).items():
        top, student, *rest = name.split("/")
        if top == "submitted":
            found.setdefault(student, {})["/".join(rest)] = told
    return found


def imported(course: Course, path: Path) -> Imported | None:
    """What became of a file; None where it cannot be read at all, which is one sentence and changes nothing."""
    before = tree(course.root)
    try:
        done = import_submissions(course, path, LESSON)
    except ProjectError as error:
        assert str(error) and tree(course.root) == before
        return None
    assert report(course, done, path)
    return done


def check(course: Course, path: Path, sent: dict[str, Sent]) -> None:
    """Bring a file in, twice, and hold what lies there against what lay there before."""
    root = course.root
    there, earlier = works(root), {name: told for name, told in tree(root).items() if name.startswith("earlier/")}
    done = imported(course, path)
    if done is None:
        return
    now, after = works(root), tree(root)
    assert set(there) <= set(now), "somebody's submission is gone"
    assert earlier.items() <= after.items()
    named = {*done.new, *done.same, *done.replaced, *done.kept}
    visible = {student for student, one in sent.items() if one.files}
    assert visible <= named and not done.unclear, "a hand-in is not named"
    for student, before in there.items():
        if now[student] != before:
            assert student in done.replaced
            kept = [told for told in _folders(after, student) if told == before]
            assert kept, f"the earlier submission of {student} is not in earlier/"
    for student in {*done.new, *done.replaced}:
        files = [path for path in (root / "submitted" / student).rglob("*") if path.is_file()]
        sizes = [path.stat().st_size for path in files]  # a larger one is empty: it says that it was too large
        assert 0 < len(files) <= MOST_FILES and sum(size for size in sizes if size <= MOST_BYTES) <= MOST_BYTES
    for student, one in sent.items():
        if one.sound:
            assert student in {*done.new, *done.same, *done.replaced}
            for name, data in one.files.items():
                assert (root / "submitted" / student / LESSON / name).read_bytes() == data
    again = imported(course, path)
    assert tree(root) == after and not (again.new or again.replaced), "running it again is not the same"
    assert {*again.same, *again.kept} == named and again.unclear == done.unclear


def _folders(after: dict[str, str], student: str) -> list[dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for name, told in after.items():
        top, whose, *rest = name.split("/")
        if top == "earlier" and whose == student:
            found.setdefault(rest[1], {})["/".join([rest[0], *rest[2:]])] = told
    return [*found.values()]

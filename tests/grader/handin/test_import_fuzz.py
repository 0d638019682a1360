"""Import never stops for one person and never takes a submission away: random files, and a kill at every step."""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import os
import random
import shutil
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.course import Course, init
from grader.handin.files import Files
from grader.handin.importing import INCOMING, import_submissions, lying, put, report
from grader.project import ProjectError
from grader.release.run import release
from grader.sandbox.limits import MOST_BYTES, MOST_FILES
from tests.support.grading_fixtures import LESSON, NOTEBOOK, make_project

SEED = 20261123
STUDENTS = ("ada", "bob", "cyd", "dee", "eve")
KEPT = ("submitted", "earlier", "imported")
NAMES = (  # each is odd in its own way
    "a",
    "a/b",
    "x" * 300 + ".ipynb",
    "../../up.txt",
    "/top.txt",
    "c:\\win\\n.txt",
    "d/" * 40 + "名" * 120,
    "/".join(letter * 200 for letter in "efghi"),
    "timestamp.txt",
    "other.ipynb",
    f"sub/{LESSON}.answers.json",
    "new\nline.txt",
    "\udce4.txt",
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

    files: dict[str, bytes]
    sound: bool = False


def packed(files: dict[str, bytes], how: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", how) as archive:
        for name, data in files.items():
            archive.writestr(name.encode("utf-8", "replace").decode(), data)
    return made.getvalue()


def hand_in(rng: random.Random) -> Sent:
    """A hand-in of a random kind: sound, with odd names, truncated, packed, packed in another way, packed and damaged."""
    kind, own, name = rng.randrange(10), notebook(str(rng.random())), f"{NOTEBOOK}.ipynb"
    if kind < 3:
        return Sent({name: own}, sound=True)
    files = {name: own} | {one: rng.randbytes(rng.randrange(50)) for one in rng.sample(NAMES, rng.randrange(1, 6))}
    if kind == 3:
        return Sent(files)
    if kind == 4:
        return Sent({name: own[: rng.randrange(len(own))]})
    if kind == 5:
        return Sent(dict(rng.sample([*files.items()], rng.randrange(len(files)))))
    if kind == 6 and rng.random() < 0.2:  # far more than fits
        files |= {f"zeros{n}": bytes(MOST_BYTES - 1) for n in range(3)}
        files |= {f"many{n}": b"x" for n in range(MOST_FILES + 9)}
    data = packed(files, rng.choice([zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2]))
    if kind == 7:
        data = data[: rng.randrange(len(data))]
    if kind > 7:
        data = damaged(rng, data, rng.randrange(1, 4))
    return Sent({"work.zip": data, **({"notes.txt": b"x"} if rng.random() < 0.5 else {})})


def damaged(rng: random.Random, data: bytes, times: int) -> bytes:
    """Some bytes are others."""
    made = bytearray(data)
    for _ in range(times if data else 0):
        made[rng.randrange(len(made))] = rng.randrange(256)
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


def check(course: Course, path: Path, sent: dict[str, Sent]) -> None:
    """Bring a file in, twice, and hold what lies there against what lay there before."""
    root = course.root
    there, before = works(root), tree(root)
    try:
        done = import_submissions(course, path, LESSON)
    except ProjectError as error:  # it cannot be read at all, which is one sentence and changes nothing
        assert str(error) and tree(root) == before
        return
    assert report(course, done, path)
    now, after = works(root), tree(root)
    assert {*there} <= {*now}, "somebody's submission is gone"
    assert {name: told for name, told in before.items() if name.startswith("earlier/")}.items() <= after.items()
    named = {*done.new, *done.same, *done.replaced, *done.kept}
    # of one alone: damage in the platform's own file may have changed a name, or one person sent several things
    if len(sent) > 1:
        assert {name for name, one in sent.items() if one.files} <= named and not done.unclear, "a hand-in is not named"
    for student, files in there.items():
        if now[student] != files:
            assert student in done.replaced
            kept: dict[str, dict[str, str]] = {}
            for name, told in after.items():
                top, whose, *rest = name.split("/")
                if (top, whose) == ("earlier", student):
                    kept.setdefault(rest[1], {})["/".join([rest[0], *rest[2:]])] = told
            assert files in kept.values(), f"the earlier submission of {student} is not in earlier/"
    for student in {*done.new, *done.replaced}:
        files = [path for path in (root / "submitted" / student).rglob("*") if path.is_file()]
        sizes = [path.stat().st_size for path in files]  # a larger one is empty: it says that it was too large
        assert 0 < len(files) <= MOST_FILES and sum(size for size in sizes if size <= MOST_BYTES) <= MOST_BYTES
    for student, one in sent.items():
        if one.sound:
            assert student in {*done.new, *done.same, *done.replaced}
            for name, data in one.files.items():
                assert (root / "submitted" / student / LESSON / name).read_bytes() == data
    again = import_submissions(course, path, LESSON)
    assert tree(root) == after and not (again.new or again.replaced), "running it again is not the same"
    assert {*again.same, *again.kept} == named and again.unclear == done.unclear


@pytest.fixture(scope="module")
def released(tmp_path_factory) -> Path:
    """A course folder with a released checkpoint and five students who have handed in nothing."""
    root = tmp_path_factory.mktemp("fuzz") / "class"
    init(root, "en", "fuzz", project=make_project(root.parent / "project"))
    course = Course(root)
    release(course, LESSON)
    with course.gradebook as gradebook:
        for name in STUDENTS:
            gradebook.update_or_create_student(name)
    return root


@pytest.mark.slow
@pytest.mark.parametrize("archives", [20, pytest.param(4000, marks=pytest.mark.long)])
def test_whatever_a_file_of_hand_ins_holds_nobody_loses_anything(released, tmp_path, archives):
    rng, course = random.Random(SEED), Course(released)
    for number in range(archives):
        if number % 10 == 0:
            emptied(released)
        sent = {student: hand_in(rng) for student in rng.sample(STUDENTS, rng.randrange(1, len(STUDENTS) + 1))}
        path = tmp_path / f"{number}.zip"
        platform_file(path, sent)
        if rng.random() < 0.1:  # the platform's own file is damaged
            path.write_bytes(damaged(rng, path.read_bytes(), 3))
            sent = {}
        check(course, path, sent)  # the one that fails is kept
        path.unlink()


def emptied(root: Path) -> Path:
    for name in KEPT:
        shutil.rmtree(root / name, ignore_errors=True)
        (root / name).mkdir()
    return root


STEPS = ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate")  # what Python tells before it does it


def dies_before(step: int) -> None:
    """End this process before what it does next on the disk, the time with this number."""
    left = iter(range(step - 1))
    sys.addaudithook(lambda event, _: event in STEPS and next(left, None) is None and os._exit(9))


def test_killed_before_any_step_no_hand_in_is_lost_or_half_there_and_running_it_again_brings_it(tmp_path):
    old, new = (Files({"L.ipynb": data, "data/a.csv": data}, large=("big.bin",)) for data in (b"old", b"new"))
    for killed in itertools.count(1):
        root = tmp_path / str(killed)
        (root / "submitted").mkdir(parents=True)
        put(root, "ada", LESSON, old)
        child = os.fork()
        if child == 0:
            dies_before(killed)
            try:
                put(root, "ada", LESSON, new)
            finally:
                os._exit(0)
        cut = os.waitpid(child, 0)[1]
        folder = root / "submitted" / "ada" / LESSON
        there, *before = (lying(one) for one in (folder, *root.glob(f"earlier/ada/{LESSON}/*")))
        assert (there, before) in [(old.there, []), ({}, [old.there]), (new.there, [old.there])], killed
        shutil.rmtree(root / INCOMING, ignore_errors=True)
        if there != new.there:
            put(root, "ada", LESSON, new)
        assert lying(folder) == new.there and [*map(lying, root.glob(f"earlier/ada/{LESSON}/*"))] == [old.there]
        if not cut:
            break
    assert killed > 12

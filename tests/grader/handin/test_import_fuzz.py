"""Import never stops for one person and never takes a submission away: random files, a kill and a full disk at any moment."""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest

from grader.autograde.run import How, autograde
from grader.cli import main
from grader.course import Course, init
from grader.handin import placing
from grader.handin.importing import import_submissions
from grader.release.run import release
from tests.support.grading_class import copy_of, rows
from tests.support.grading_fixtures import LESSON, NOTEBOOK, make_project
from tests.support.import_fuzz import KEPT, STUDENTS, Sent, check, damaged, hand_in, platform_file, tree, works

SEED = 20261123


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
            for name in KEPT:
                shutil.rmtree(released / name, ignore_errors=True)
                (released / name).mkdir()
        sent = {student: hand_in(rng) for student in rng.sample(STUDENTS, rng.randrange(1, len(STUDENTS) + 1))}
        path = tmp_path / f"{number}.zip"
        platform_file(path, sent)
        if rng.random() < 0.1:  # the platform's own file is damaged
            path.write_bytes(damaged(rng, path.read_bytes(), 3))
            sent = {}
        try:
            check(course, path, sent)
        except BaseException:
            print(f"archive number {number} of seed {SEED} is kept as {path}")
            raise
        path.unlink()


@pytest.fixture(scope="module")
def twice(released, tmp_path_factory) -> dict[str, Path]:
    """Everybody has handed in, and hands in anew. before: the first is in place; file: the second; quiet: it was brought in
    undisturbed.
    """
    place = tmp_path_factory.mktemp("twice")
    found = {"before": place / "before", "file": place / "second.zip", "quiet": place / "quiet"}
    sound = (released / "release" / LESSON / f"{NOTEBOOK}.ipynb").read_bytes()
    for number in (1, 2):
        own = {name: sound.replace(b"# YOUR CODE HERE", f"# {name} {number}".encode()) for name in STUDENTS}
        sent = {name: Sent({f"{NOTEBOOK}.ipynb": data, "data.bin": os.urandom(200_000)}) for name, data in own.items()}
        platform_file(found["file"] if number == 2 else place / "first.zip", sent)
    for name in KEPT:
        shutil.rmtree(released / name, ignore_errors=True)
        (released / name).mkdir()
    import_submissions(Course(copy_of(released, found["before"])), place / "first.zip", LESSON)
    import_submissions(Course(copy_of(found["before"], found["quiet"])), found["file"], LESSON)
    return found


def nothing_is_lost(there: dict, twice: dict[str, Path]) -> bool:
    """Whether each student has the first submission or the second one, whole."""
    old, new = works(twice["before"]), works(twice["quiet"])
    return {*there} == {*old} and all(there[name] in (old[name], new[name]) for name in old)


@pytest.mark.slow
@pytest.mark.parametrize("kills", [4, pytest.param(30, marks=pytest.mark.long)])
def test_killed_at_any_moment_everybody_has_a_submission_and_the_next_run_completes_it(twice, tmp_path, kills):
    rng, cut = random.Random(SEED), 0
    seconds, number = None, 0
    while cut < kills:
        root = copy_of(twice["before"], tmp_path / f"{number}")
        number += 1
        begun, child = time.monotonic(), os.fork()
        if child == 0:
            try:
                import_submissions(Course(root), twice["file"], LESSON)
            finally:
                os._exit(0)
        if seconds is not None:
            time.sleep(rng.random() * seconds)
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        seconds = seconds or time.monotonic() - begun
        cut += os.WIFSIGNALED(status)
        there = {name: files for name, files in works(root).items() if name != ".import"}
        assert nothing_is_lost(there, twice), (number, there)
        import_submissions(Course(root), twice["file"], LESSON)
        assert tree(root) == tree(twice["quiet"]), number
        assert not (root / "submitted" / ".import").exists()
    marks = []
    for place in (twice["quiet"], root):
        autograde(Course(place), LESSON, how=How(jobs=1), say=lambda line: None)
        marks.append(rows(place))
    assert marks[0] == marks[1] and len(marks[0]) == len(STUDENTS) * 6


@pytest.mark.slow
def test_a_full_disk_takes_nobodys_submission_and_with_room_the_next_run_completes_it(
    twice, tmp_path, monkeypatch, capsys
):
    write, left = placing._write, []

    def failing(path: Path, data: bytes) -> None:
        if not left:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        left.pop()
        write(path, data)

    for room in range(2 * len(STUDENTS) + 1):  # files that fit
        root, left = copy_of(twice["before"], tmp_path / str(room)), [None] * room
        words = ["import", str(twice["file"]), "--lesson", LESSON, "--dir", str(root)]
        monkeypatch.setattr(placing, "_write", failing)
        assert main(words) == (room < 2 * len(STUDENTS)), room
        assert room == 2 * len(STUDENTS) or "run the same command again" in capsys.readouterr().out
        assert nothing_is_lost({name: files for name, files in works(root).items() if name != ".import"}, twice), room
        monkeypatch.undo()
        assert main(words) == 0 and tree(root) == tree(twice["quiet"]), room

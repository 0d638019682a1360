"""A class of damaged and hostile submissions through the grader: each gets what it deserves, nobody else is harmed."""

from __future__ import annotations

import copy
import dataclasses
import json
import os
import socket
import sqlite3
import tempfile
import threading
import uuid
from pathlib import Path

import nbformat
import psutil
import pytest

from grader.course import Course, init
from grader.handin.reading import handed_in as read_hand_in
from grader.marking import mark_submission
from grader.project import HERE
from grader.release.run import release
from grader.reporting.summary import summary
from grader.sandbox.kernel import DISTURBED
from grader.sandbox.launch import unenforced
from grader.sandbox.limits import Limits
from tests.support.grading_corpus import CLASS, hand_in
from tests.support.grading_corpus.base import CANARY
from tests.support.grading_fixtures import LESSON, NOTEBOOK, make_project

SMALL = Limits(cell_s=1, total_s=60, memory_mb=400, output_chars=250_000)


class Listener:
    """Sockets on this machine that nobody should reach: TCP, UDP and an abstract name."""

    def __init__(self, name: str) -> None:
        self.reached: list[str] = []
        self.tcp, self.udp = socket.socket(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.tcp.bind(("127.0.0.1", 0))
        self.port = self.tcp.getsockname()[1]
        self.udp.bind(("127.0.0.1", self.port))
        self.name = socket.socket(socket.AF_UNIX)
        self.name.bind(f"\0{name}")
        for one in (self.tcp, self.name):
            one.listen()
        for one in (self.tcp, self.udp, self.name):
            threading.Thread(target=self._wait, args=(one,), daemon=True).start()

    def _wait(self, one: socket.socket) -> None:
        try:
            self.reached.append(str(one.recv(100) if one is self.udp else one.accept()))
        except OSError:
            pass


def outputs_of(notebook) -> str:
    return json.dumps([cell.get("outputs", []) for cell in notebook.cells], ensure_ascii=False)


def differences(case, outcome, notebook) -> list[str]:
    """How what a submission got differs from what it deserves."""
    problems, found = " ".join(outcome.problems), []
    if (outcome.points is None) != (case.points is None) or abs((outcome.points or 0) - (case.points or 0)) > 0.01:
        found.append(f"{outcome.points} points, not {case.points}")
    if case.verdict != "ANY" and outcome.verdict not in case.verdict.split("|"):
        found.append(f"verdict {outcome.verdict!r}, not {case.verdict!r}")
    if case.says not in problems:
        found.append(f"{case.says!r} is not said")
    if notebook is None:
        return [*found, f"no graded notebook: {problems[:300]}"]
    nbformat.validate(notebook)
    shown = outputs_of(notebook)
    if case.shows not in shown:
        found.append(f"{case.shows!r} is not shown")
    if case.hides and case.hides in shown:
        found.append(f"{case.hides!r} is shown")
    if "ESCAPED" in shown:
        found.append("ESCAPED: " + shown[max(0, shown.index("ESCAPED") - 20) :][:200])
    if found:
        found.append(f"said: {problems[:300]}; shown: {shown[:600]}")
    return found


def make_course(tmp_path_factory) -> Course:
    project = make_project(tmp_path_factory.mktemp("project"))
    root = tmp_path_factory.mktemp("course") / "class"
    init(root, "en", "corpus", project=project)
    course = Course(root)
    release(course, LESSON)
    return course


@pytest.mark.slow
def test_every_submission_gets_the_verdict_it_deserves_and_harms_nothing_outside(
    tmp_path_factory, monkeypatch, tmp_path
):
    from grader.marking.autograde import How, autograde
    from grader.marking.pool import prepare

    course, exam = make_course(tmp_path_factory), mark_submission.exam
    monkeypatch.setattr(mark_submission, "exam", lambda *given: dataclasses.replace(exam(*given), limits=SMALL))
    canary = f"{CANARY}_{uuid.uuid4().hex[:8]}"
    listener = Listener(canary)
    released = nbformat.read(course.root / "release" / LESSON / f"{NOTEBOOK}.ipynb", as_version=4)
    words = {
        CANARY: canary,
        "LISTENER_PORT": str(listener.port),
        "COURSE_ROOT": str(course.root),
        "CHECKOUT_ROOT": str(HERE),
    }
    for case in CLASS:
        hand_in(case, copy.deepcopy(released), course.root / "submitted" / case.name / LESSON, words)
    prepare(2)  # what our own processes keep in a temporary folder until they end is not looked at below
    place = tmp_path / "place"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setenv("INSTRUCTOR_SECRET", canary)
    monkeypatch.setattr(tempfile, "tempdir", None)
    before = psutil.Process().memory_info().rss
    said: list[str] = []
    found = {outcome.student: outcome for outcome in autograde(course, LESSON, how=How(jobs=2), say=said.append)}
    # others used this machine, too
    if busy := [name for name, one in found.items() if DISTURBED in " ".join(one.problems)]:
        found = {
            outcome.student: outcome for outcome in autograde(course, LESSON, busy, How(jobs=1), lambda line: None)
        }
        said = [line for line in said if DISTURBED not in line]
    grown = psutil.Process().memory_info().rss - before
    wrong = []
    for case in CLASS:
        path = course.autograded(case.name, LESSON)
        notebook = nbformat.read(path, as_version=4) if path.exists() else None
        wrong += [f"{case.name}: {difference}" for difference in differences(case, found[case.name], notebook)]
        if notebook is not None:
            if path.stat().st_size > 12_000_000:
                wrong.append(f"{case.name}: {path.stat().st_size} bytes of graded notebook")
            if strange := not_json(path.read_text(encoding="utf-8")):
                wrong.append(f"{case.name}: {strange} in the graded notebook, which no browser reads")
    assert not wrong, "\n".join(wrong)
    said = [line for line in said if line not in unenforced()]
    assert {line.split(":")[0] for line in said} == {case.name for case in CLASS if case.told}
    assert all(case.told in line for line in said for case in CLASS if line.startswith(f"{case.name}:"))
    assert "without a grade: nobody" in summary(list(found.values()))
    assert "\x1b" not in summary(list(found.values())) + "".join(said)
    assert listener.reached == []
    assert left_behind(canary) == []
    assert [path for path in place.rglob("*")] == []
    assert grown < 300 << 20, f"the driver grew by {grown >> 20} MB"
    with sqlite3.connect(course.root / "gradebook.db") as db:
        assert db.execute("select count(*) from submitted_assignment").fetchone() == (len(CLASS),)


def not_json(text: str) -> list[str]:
    """What Python reads and the standard does not know: NaN, Infinity."""
    found: list[str] = []
    json.loads(text, parse_constant=found.append)
    return found


def left_behind(canary: str) -> list[str]:
    """Files and processes of the submissions that are still there."""
    found = [
        str(path)
        for folder in ("/tmp", "/dev/shm", "/dev", "/var/tmp", str(Path.home()), str(HERE), os.getcwd())
        for path in Path(folder).glob(f"*{canary}*")
    ]
    for process in psutil.process_iter():
        try:
            if canary in " ".join(process.cmdline()):
                found.append(f"process {process.pid}")
        except psutil.Error:
            continue
    return found


STRANGE = (
    "=1+1",
    "x;=1+1",
    "\uff1d1+1",
    "*",
    "?nn",
    "[a-h]*",
    "\x1b[2J",
    "<img src=x>",
    "..",
    "x" * 120,
    os.fsdecode(b"\xff"),
)
"""What no student is called."""


def put_into_the_exchange(course: Course) -> None:
    """Hand-ins of honest and of strange names; eve's folder holds links and a pipe, hal's a file without an end, fay's is a link."""
    released = course.root / "release" / LESSON / f"{NOTEBOOK}.ipynb"
    inbound = course.root / "exchange" / "corpus" / "inbound"
    for student in ("ann", "eve", "fay", "gus", "hal", *STRANGE, "ivy+when"):
        when = "at dawn" if student == "ivy+when" else "2026-01-01 10:00:00 UTC"
        folder = inbound / f"{student}+{LESSON}+{when}+secret"
        folder.mkdir()
        (folder / "timestamp.txt").write_text("2026-01-01 10:00:00 UTC")
        (folder / f"{NOTEBOOK}.ipynb").write_bytes(released.read_bytes())
        if student == "eve":
            (folder / "key").symlink_to(course.root / "marking_secret")
            (folder / "all").symlink_to(course.root, target_is_directory=True)
            os.mkfifo(folder / "pipe")
        if student == "hal":
            (folder / "timestamp.txt").write_text("9" * 40)
            with (folder / "0.bin").open("wb") as file:
                file.truncate(1 << 40)
        if student == "fay":
            for path in folder.iterdir():
                path.unlink()
            folder.rmdir()
            folder.symlink_to(course.root / "source", target_is_directory=True)


@pytest.mark.slow
def test_collecting_follows_no_link_and_what_cannot_be_read_is_named_while_marking_goes_on(
    tmp_path_factory, monkeypatch
):
    from grader.handin.exchange import collect
    from grader.marking.autograde import autograde

    course = make_course(tmp_path_factory)
    put_into_the_exchange(course)
    said: list[str] = []
    assert collect(course, LESSON, said.append) == collect(course, LESSON) == 5
    assert len(said) == len(STRANGE) + 1, said  # all but the hidden folder, ivy whose folder has no time, fay's link
    handed_in = course.root / "submitted"
    (handed_in / os.fsdecode(b"\xff") / LESSON).mkdir(parents=True)
    assert sorted(path.name for path in (handed_in / "eve" / LESSON).iterdir()) == [
        f"{NOTEBOOK}.ipynb",
        "timestamp.txt",
    ]
    assert not any(path.is_symlink() for path in handed_in.rglob("*"))
    reading = read_hand_in

    def unreadable(course, lesson, student):
        if student == "ann":
            raise PermissionError(13, "Permission denied")
        return reading(course, lesson, student)

    monkeypatch.setattr("grader.marking.autograde.handed_in", unreadable)
    said.clear()
    found = {one.student: one for one in autograde(course, LESSON, say=said.append)}
    assert [line for line in said if line not in unenforced()] == [
        "ann: no grade: PermissionError: [Errno 13] Permission denied"
    ]
    assert {student: (one.points, one.verdict) for student, one in found.items()} == {
        "ann": (None, "infrastructure"),
        "eve": (0, "answers"),
        "fay": (None, "look"),
        "gus": (0, "answers"),
        "hal": (0, "answers"),
        "?": (None, "left out"),
    }
    assert "without a grade: ann, ?" in summary(list(found.values()))
    assert "not marked, our fault" in summary(list(found.values()))

"""The answer log under rough treatment: killed writers, many kernels, full disks, foreign and damaged files."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

import course
from course.learning.entry import to_line
from course.learning.log import AnswerLog, default_path
from course.learning.transfer import Merged, TransferError, export_to, import_from
from tests.conftest import ROOT
from tests.course.learning.test_quiz_log import START, an_ordinary_user

posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals and limits")
WRITER = """
import sys
from course.learning.log import AnswerLog
log = AnswerLog(sys.argv[1])
for n in range(int(sys.argv[2])):
    entry = log.append("answer", "05-one", options=["a"] * (1 + n % 40), lesson="05_x")
    print(entry.id, flush=True)
"""


def python(code, *arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


@posix
def test_kill_minus_nine_loses_nothing_that_was_acknowledged(log):
    """Twelve writers, each killed at a random moment while it writes; what append() returned must be there."""
    rng, acknowledged = random.Random(0), []
    for _ in range(12):
        child = python(WRITER, log.path, 100_000)
        acknowledged += [child.stdout.readline().strip() for _ in range(rng.randint(1, 60))]
        child.kill()  # in the middle of a later line, mostly
        acknowledged += [line for line in child.stdout.read().split("\n") if len(line) == 36]
        child.wait(20)
    found = {entry.id for entry in log.entries()}
    assert len(acknowledged) > 120 and set(acknowledged) <= found
    last = log.append("answer", "05-one", options=["a"])
    assert last in AnswerLog(log.path).entries()


def test_a_log_cut_at_any_byte_keeps_what_came_before_and_what_comes_after(tmp_path):
    log = AnswerLog(tmp_path / "whole.jsonl")
    kept = [log.append("answer", "05-one", options=["a"]) for _ in range(2)]
    before = log.path.read_bytes()
    log.append("answer", "05-many", options=["b"], at=START)
    line = log.path.read_bytes()[len(before) :]
    for cut in range(1, len(line)):
        broken = AnswerLog(tmp_path / f"cut{cut}.jsonl")
        broken.path.write_bytes(before + line[:cut])
        after = broken.append("answer", "05-count", options=["c"])
        found = AnswerLog(broken.path)
        ids = {entry.id for entry in found.entries()}
        assert {*(entry.id for entry in kept), after.id} <= ids
        whole = cut == len(line) - 1  # only the line break is missing
        aside = broken.path.with_name(broken.path.name + ".damaged")
        assert len(ids) == 3 + whole and aside.exists() != whole
        assert whole or aside.read_bytes() == line[:cut] + b"\n"


def test_several_kernels_write_at_once_and_every_line_is_there(log):
    kernels = 4
    children = [python(WRITER, log.path, 150) for _ in range(kernels)]
    said = [child.communicate(timeout=120)[0].split() for child in children]
    assert [child.returncode for child in children] == [0] * kernels
    ids = {identity for one in said for identity in one}
    assert len(ids) == 150 * kernels and {entry.id for entry in log.entries()} == ids
    assert log.take_notices() == []


def test_another_kernel_is_heard_between_two_looks(log):
    other = AnswerLog(log.path)
    first = log.append("answer", "05-one", options=["a"])
    assert other.entries() == [first]
    second = log.append("answer", "05-many", options=["a"])
    assert other.entries() == [first, second]
    log.path.write_bytes(to_line(second))  # the file was replaced by a shorter one
    assert other.entries() == [second]
    log.path.unlink()
    assert other.entries() == []


FULL = """
import resource, signal, sys
from pathlib import Path
from course.learning.log import AnswerLog
log = AnswerLog(sys.argv[1])
log.append("answer", "05-one", options=["a"])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
size = Path(sys.argv[1]).stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 50, resource.RLIM_INFINITY))
log.append("answer", "05-many", options=["b"])
print(len(log.entries()), len(log.pending), log.take_notices()[0])
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
log.append("answer", "05-count", options=["c"])
print(len(log.entries()), len(log.pending))
"""


@posix
def test_a_file_that_may_not_grow_gives_a_sentence_and_keeps_the_answer(log):
    """A real short write: the system takes 50 bytes of the line and no more."""
    said, errors = python(FULL, log.path).communicate(timeout=60)
    assert errors == ""
    first, second = said.strip().split("\n")
    assert first.startswith("2 1 This answer could not be saved") and "COURSE_HOME" in first
    assert second == "3 0"
    assert [entry.item for entry in AnswerLog(log.path).entries()] == ["05-one", "05-many", "05-count"]


def test_a_read_only_home_speaks_once_and_the_answers_can_be_taken_elsewhere():
    place = Path(os.path.realpath("/tmp")) / f"readonly-{uuid.uuid4()}"
    place.mkdir(mode=0o555)
    elsewhere = Path(os.path.realpath("/tmp")) / f"elsewhere-{uuid.uuid4()}"
    elsewhere.mkdir(mode=0o777)
    elsewhere.chmod(0o777)
    try:
        with an_ordinary_user():
            log = AnswerLog(place / "answers.jsonl")
            for item in ("05-one", "05-many"):
                log.append("answer", item, options=["a"])
            assert len(log.entries()) == 2 and "Permission denied" in log.take_notices()[0]
            target, lines = export_to(log, elsewhere)
            assert lines == 2 and len(AnswerLog(target).entries()) == 2
    finally:
        for folder in (place, elsewhere):
            for path in folder.iterdir():
                path.unlink()
            folder.rmdir()


def test_a_log_of_a_newer_version_is_kept_to_the_byte(tmp_path, log):
    """Unknown fields are ignored, unknown kinds and formats are not used, and all of them travel on."""
    known = log.append("answer", "05-one", options=["a"])
    line = json.loads(log.path.read_text("utf-8"))
    newer = [
        {**line, "id": "field", "mood": {"of": "the day"}},
        {**line, "id": "kind", "event": "dream"},
        {"id": "format", "schema": 2, "what": "ever"},
    ]
    with open(log.path, "a", encoding="utf-8") as file:
        file.writelines(json.dumps(one) + "\n" for one in newer)
    fresh = AnswerLog(log.path)
    assert [entry.id for entry in fresh.entries()] == [known.id, "field"]
    assert "newer version of the course: 2. They are kept" in fresh.take_notices()[0]
    before = log.path.read_bytes()
    fresh.append("answer", "05-many", options=["a"])
    assert log.path.read_bytes().startswith(before)
    other = AnswerLog(tmp_path / "other.jsonl")
    merged = import_from(other, log.path)
    assert merged == Merged(5, 0, 0)
    assert set(before.split(b"\n")) <= set(other.path.read_bytes().split(b"\n"))


def test_a_line_another_kernel_is_still_writing_is_not_called_damaged(log):
    first = log.append("answer", "05-one", options=["a"])
    line = log.path.read_bytes().replace(first.id.encode(), b"second")
    for part in (line[:60], line[60:]):
        with open(log.path, "ab") as file:
            file.write(part)
        found = len(log.entries())
        assert log.take_notices() == [] and not log.path.with_name("answers.jsonl.damaged").exists()
    assert found == 2


def test_rubbish_is_set_aside_and_said_once_and_every_answer_is_found(log):
    rng = random.Random(3)
    written = []
    for _ in range(40):
        written.append(log.append("answer", "05-one", options=["a"]))
        with open(log.path, "ab") as file:
            file.write(rng.randbytes(rng.randrange(1, 400)))
            file.write(rng.choice([b"\n", b"", b"\r\n", b"[" * 100_000 + b"\n", b"\x00" * 30 + b"\n"]))
    damaged = [
        b'{"id": "t", "time": "2026-99-99T99:99:99.999999Z", "event": "answer", "item": "x"}',
        b'{"id": "y", "time": "9999-12-31T00:00:00.000000Z", "event": "answer", "item": "x"}',
        b'{"id": "w", "time": "2026-03-01T09:00:00.0+0000Z", "event": "answer", "item": "x"}',
        b'{"id": "o", "time": "0001-01-01T00:00:00+14:00", "event": "answer", "item": "x"}',
        b'{"id": "half", "time": "2026-0',
        b"[1, 2]",
        b'{"id": 7}',
    ]
    with open(log.path, "ab") as file:
        file.write(b"\n" + b"\n".join(damaged) + b"\n")
    fresh = AnswerLog(log.path)
    assert fresh.entries() == sorted(written, key=lambda entry: entry.time)
    aside = log.path.with_name(log.path.name + ".damaged").read_bytes()
    assert all(line in aside for line in damaged) and "set aside" in fresh.take_notices()[0]
    again = AnswerLog(log.path)
    assert again.entries() == fresh.entries() and again.take_notices() == [], "it is said once"


def test_home_unset_and_a_home_of_an_unknown_user(monkeypatch, tmp_path):
    monkeypatch.delenv("COURSE_HOME")
    monkeypatch.delenv("HOME", raising=False)
    assert default_path().name == "answers.jsonl"
    monkeypatch.setenv("COURSE_HOME", "~no-such-user-here/course")
    assert default_path().parts[-3:] == ("no-such-user-here", "course", "answers.jsonl")


def test_every_append_is_synced(log, monkeypatch):
    synced = []
    monkeypatch.setattr("course.learning.log.os.fsync", synced.append)
    log.append("answer", "05-one", options=["a"])
    assert len(synced) == 2  # the file, and the folder that has a new name in it
    log.append("answer", "05-one", options=["a"])
    assert len(synced) == 3


# --- taking progress along ---


def test_export_and_import_lose_nothing_and_say_what_they_did(tmp_path, log):
    one, two = log, AnswerLog(tmp_path / "second" / "answers.jsonl")
    one.append("answer", "05-one", options=["a"])
    two.append("answer", "05-many", options=["a"])
    file, lines = export_to(one, tmp_path)
    assert lines == 1 and file.name == "torch-backends-progress.jsonl"
    assert import_from(two, file) == Merged(1, 0, 0) and import_from(two, file) == Merged(0, 1, 0)
    assert export_to(two, file)[1] == 2 and import_from(one, file) == Merged(1, 1, 0)
    assert {entry.id for entry in one.entries()} == {entry.id for entry in two.entries()}


def test_a_damaged_line_and_one_at_odds_are_set_aside(tmp_path, log):
    entry = log.append("answer", "05-one", options=["a"])
    other = tmp_path / "other.jsonl"
    changed = to_line(entry).replace(b'["a"]', b'["b"]')
    other.write_bytes(changed + b'{"id": "half\n' + b"\xef\xbb\xbf" + to_line(entry).replace(entry.id.encode(), b"bom"))
    assert import_from(log, other) == Merged(1, 0, 2)
    aside = log.path.with_name("answers.jsonl.damaged").read_bytes()
    assert changed in aside and b'{"id": "half' in aside
    assert log.entries()[0].options == ("a",)


@pytest.mark.parametrize(
    "content, words",
    [
        (None, "There is no file"),
        (b"", "holds no answers"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, "holds no answers"),
        (b'{"cells": []}', "holds no answers"),
    ],
)
def test_a_bad_file_gets_a_sentence_and_changes_nothing(tmp_path, log, content, words, capsys):
    log.append("answer", "05-one", options=["a"])
    before = log.path.read_bytes()
    path = tmp_path / "bad.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(TransferError, match=words):
        import_from(log, path)
    assert log.path.read_bytes() == before and not log.path.with_name("answers.jsonl.damaged").exists()
    course.import_progress(path)
    assert words in capsys.readouterr().out


def test_export_never_overwrites_another_file(tmp_path, log):
    log.append("answer", "05-one", options=["a"])
    thesis = tmp_path / "thesis.txt"
    thesis.write_text("four years of work")
    with pytest.raises(TransferError, match="left alone"):
        export_to(log, thesis)
    assert thesis.read_text() == "four years of work"
    with pytest.raises(TransferError, match="cannot be written"):
        export_to(log, thesis / "below")


def test_the_verbs_speak_both_languages(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COURSE_TEXT", "1")
    for code, words in (("en", "1 new"), ("zh", "新增 1 条")):
        monkeypatch.setenv("COURSE_HOME", str(tmp_path / f"{code}1"))
        course.language(code)
        AnswerLog().append("answer", "05-revisit", options=["a"])
        course.export_progress(tmp_path / f"{code}.jsonl")
        monkeypatch.setenv("COURSE_HOME", str(tmp_path / f"{code}2"))
        course.import_progress(tmp_path / f"{code}.jsonl")
        assert words in capsys.readouterr().out

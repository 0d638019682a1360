"""Protects who learns on Windows or macOS, as far as Linux can show it: names and bytes of files, encodings, modules that are not there,
processes that are not forked.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import unicodedata
from collections import Counter

import pytest

from course.core import home
from course.experiment import new_process
from tests.conftest import ROOT, missing

SIGNS = re.compile(r'[<>:"/\\|?*\x00-\x1f]|[. ]$')
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)
LONGEST = 120
"""Characters of the longest path of the project; Windows has 259 for the folder it lies in and this."""


def refused(name: str) -> bool:
    """Whether Windows refuses this name for a file or folder."""
    return bool(SIGNS.search(name) or RESERVED.match(name))


def git(*words: str) -> str:
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        missing("a checkout by git", "git clone")
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True)
    return done.stdout.decode()


def test_every_file_of_the_project_can_lie_on_every_file_system():
    names = git("ls-files", "-z").split("\0")[:-1]
    assert [name for name in names if any(map(refused, name.split("/")))] == []
    assert [name for name in names if len(name) > LONGEST] == []
    known = {"/".join(name.split("/")[:depth]) for name in names for depth in range(1, name.count("/") + 2)}
    same = Counter(unicodedata.normalize("NFC", name).casefold() for name in known)
    assert [name for name, count in same.items() if count > 1] == []


def test_git_for_windows_leaves_the_ends_of_lines_as_they_are():
    """The container's start script is copied from the checkout into the image, and sh runs nothing with carriage returns."""
    said = git("-c", "core.autocrlf=true", "cat-file", "--filters", ":container/start")
    assert said.startswith("#!/bin/sh\n") and "\r" not in said


def test_a_file_that_is_held_for_a_moment_is_replaced_after_it(tmp_path, monkeypatch):
    tries, target, real = [], tmp_path / "x.json", os.replace
    target.write_bytes(b"old")

    def held(for_tries):
        tries.clear()

        def replace(name, path):
            tries.append(name)
            if len(tries) <= for_tries:
                raise PermissionError(13, "another process has this file open", str(path))
            real(name, path)

        return replace

    monkeypatch.setattr(home, "WAITS_S", (0.0, 0.0))
    monkeypatch.setattr(home.os, "replace", held(2))
    home.replace_file(target, b"new")
    assert len(tries) == 3 and target.read_bytes() == b"new"
    monkeypatch.setattr(home.os, "replace", held(3))
    with pytest.raises(PermissionError):
        home.replace_file(target, b"newer")
    assert target.read_bytes() == b"new" and [*tmp_path.iterdir()] == [target]


def test_a_new_process_says_what_the_encoding_of_the_machine_has_no_sign_for():
    code = "import sys\nprint('µs ≈ 微秒')\nanswer(sys.stdout.encoding)"
    encoding, said = new_process.answer_of(code, variables={"PYTHONIOENCODING": "ascii"})
    assert encoding == "utf-8" and "µs ≈ 微秒" in said
    with pytest.raises(new_process.ProbeError, match="没有"):
        new_process.answer_of("raise ValueError('没有')", variables={"PYTHONIOENCODING": "cp1252"})


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ["course.cards", "anki", "--lesson", "05_cudnn_benchmark"],
        ["course.experiment", "--record", "x", "--needs", "mps"],
    ],
)
def test_a_command_does_not_end_at_a_sign_that_the_terminal_lacks(words, tmp_path):
    env = os.environ | {"PYTHONIOENCODING": "cp1252", "COURSE_LANGUAGE": "zh"}
    done = subprocess.run([sys.executable, "-m", *words], cwd=tmp_path, env=env, capture_output=True)
    assert done.returncode == 0 and b"?" in done.stdout, done.stderr.decode(errors="replace")


# --- without what Windows lacks --------------------------------------------------------------------------------


PLACE = "Jörg 李 雷"
"""A folder as of a user with such a name."""
AS_ON_WINDOWS = """
import builtins, multiprocessing, sys
import_here, absent = builtins.__import__, "curses fcntl grp posix pty pwd readline resource syslog termios tty".split()
def import_there(name, *more, **named):
    if name in absent and "/course/" in sys._getframe(1).f_code.co_filename:
        raise ModuleNotFoundError(f"Windows has no module {name}", name=name)
    return import_here(name, *more, **named)
builtins.__import__ = import_there
multiprocessing.set_start_method("spawn")
"""


def as_on_windows(place, code: str, **more: str) -> subprocess.CompletedProcess:
    """Run code in a new process, to whose modules of the course those are missing that Windows lacks, in a folder with such a name."""
    (place / PLACE / "work").mkdir(parents=True)
    own = {"COURSE_HOME": str(place / PLACE / "home"), "USER": PLACE}
    return subprocess.run(
        [sys.executable, "-c", AS_ON_WINDOWS + code],
        cwd=place / PLACE / "work", env=os.environ | own | more, capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip


@pytest.mark.slow
def test_every_module_of_the_course_loads_with_what_windows_has(tmp_path):
    done = as_on_windows(
        tmp_path,
        "import importlib, pathlib, course\n"
        "root = pathlib.Path(course.__file__).parent\n"
        "files = [path.relative_to(root.parent).with_suffix('') for path in root.rglob('*.py')]\n"
        "[importlib.import_module('.'.join(path.parts)) for path in sorted(files) if path.name[:2] != '__']\n"
        "print(len({path.parts[2] for path in files if path.parts[1] == 'lessons'}))",
    )
    assert done.returncode == 0 and int(done.stdout) > 16, done.stderr  # also those of each lesson


LEARNER = """
from course import *
lesson("05_cudnn_benchmark", language="zh")
predict("05-bet-price")
answer("05-bet-price", "c")
observe("05-toy-cost")
question("05-what-for")
answer("05-what-for", "a", because="µ ≈ 秒")
observe("01-who-sees")
keep("map.process")
case("typo")
passport()
export_progress("进度.jsonl")
import_progress("进度.jsonl")
take_home("全部.html")
poster("map.html")
progress()
from course.flops import count
from course.timing import compare
import torch
print(count(torch.nn.Linear(8, 8), torch.randn(2, 8)))
print(compare({"a": "os:getcwd", "b": "os:getpid"}, fresh_process=True, same=False, max_time=2))
checkpoint("05_cudnn_benchmark")
"""


@pytest.mark.long
def test_the_way_of_a_learner_is_open_on_windows(tmp_path):
    more = {"COURSE_DEBUG": "1", "COURSE_TEXT": "1", "COURSE_REPLAY": "0", "PYTHONIOENCODING": "utf-8"}
    done = as_on_windows(tmp_path, LEARNER, **more)
    assert done.returncode == 0 and not re.search("Error|Warning", done.stderr), done.stderr
    assert {path.name for path in (tmp_path / PLACE / "work").iterdir()} >= {"进度.jsonl", "全部.html", "map.html"}
    lines = (tmp_path / PLACE / "home" / "answers.jsonl").read_bytes().splitlines()
    assert {"05-bet-price", "05-what-for"} <= {json.loads(line)["item"] for line in lines}

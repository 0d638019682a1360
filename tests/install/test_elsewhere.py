"""What differs on Windows and macOS, as far as Linux can show it: names and bytes of files, encodings, processes that are not
forked. What of Windows is held against the course, `tests/support/elsewhere/sitecustomize.py` says.
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
from course.core.catalog import LESSONS
from course.core.i18n import LANGUAGES
from course.experiment import new_process
from tests.conftest import ROOT, missing
from tests.lessons.test_notebooks import runs
from tests.support.elsewhere.windows_names import refused

PLACE = "Jörg 李 雷"
"""A folder as of a user with such a name."""
LONGEST = 120
"""Characters of the longest path of the project; Windows has 259 for the folder it lies in and this."""


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
    for name in ("aux", "Nul.txt", "con.py", "a:b", "what?", "end.", "end "):
        assert refused(name)
    assert not any(map(refused, ("console.py", "auxiliary", ".gitignore", "a b.c", "李雷")))


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


# --- as on Windows -------------------------------------------------------------------------------------------


@pytest.fixture
def windows(tmp_path, monkeypatch):
    """New processes of this test meet the course as on Windows; gives the folder of a user there."""
    place = tmp_path / PLACE
    for name in ("work", "temp"):
        (place / name).mkdir(parents=True)
    path = os.pathsep.join([str(ROOT / "tests" / "support" / "elsewhere"), os.environ["PYTHONPATH"]])
    for name, value in {
        "PYTHONPATH": path,
        "PYTHONWARNDEFAULTENCODING": "1",
        "TMPDIR": str(place / "temp"),
        "COURSE_HOME": str(place / "home"),
        "USER": PLACE,
    }.items():
        monkeypatch.setenv(name, value)
    return place


def script(place, code: str, **more: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=place / "work", env=os.environ | more, capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip


@pytest.mark.slow
def test_every_module_of_the_course_loads_with_what_windows_has(windows):
    done = script(
        windows,
        "import importlib, pkgutil, course\n"
        "names = [one.name for one in pkgutil.walk_packages(course.__path__, 'course.')]\n"
        "[importlib.import_module(name) for name in names if not name.endswith('__main__')]\n"
        "print(len(names))",
    )
    assert done.returncode == 0 and int(done.stdout) > 100, done.stderr


LEARNER = """
from course import *
lesson("05_cudnn_benchmark", language={language!r})
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
print(compare({{"a": "os:getcwd", "b": "os:getpid"}}, fresh_process=True, same=False, max_time=2))
checkpoint("05_cudnn_benchmark")
"""


@pytest.mark.long
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_way_of_a_learner_is_open_on_windows(windows, language):
    code = LEARNER.format(language=language)
    done = script(windows, code, COURSE_DEBUG="1", COURSE_TEXT="1", COURSE_REPLAY="0", PYTHONIOENCODING="utf-8")
    assert done.returncode == 0 and not re.search("Error|Warning", done.stderr), done.stderr
    assert {path.name for path in (windows / "work").iterdir()} >= {"进度.jsonl", "全部.html", "map.html"}
    lines = (windows / "home" / "answers.jsonl").read_bytes().splitlines()
    assert {"05-bet-price", "05-what-for"} <= {json.loads(line)["item"] for line in lines}


@pytest.mark.long
@pytest.mark.parametrize("lesson", [one.id for one in LESSONS])
def test_a_lesson_is_measured_as_on_windows_from_top_to_bottom(lesson, windows, monkeypatch):
    runs(f"en/lessons/{lesson}", windows / "work", monkeypatch)

"""What every test gets: a learner's home of its own, English, and no thread storm on small machines."""

from __future__ import annotations

import gc
import itertools
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BROWSER = ROOT / "tests" / "browser"
sys.path.insert(0, str(ROOT))
# Threads that wait for work sleep: spinning, they take the processors from the other worker.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("COURSE_REPLAY", "0")  # measure, and do not ask on a busy machine
# What a fixture of a whole file starts has a home, too, that is nobody's; a language chosen last stands there.
_home = tempfile.TemporaryDirectory(prefix="course-home-")
os.environ.update(COURSE_HOME=_home.name, COURSE_LANGUAGE="en")
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what `-m` does not ask for
def pytest_collection_modifyitems(items):
    """Every test that drives a browser is slow. What takes longest starts first, so that no worker is left alone with it."""

    def weight(item):
        return 0 if BROWSER in item.path.parents else 1 if item.get_closest_marker("slow") else 2

    for item in items:
        if BROWSER in item.path.parents:
            item.add_marker("slow")
    items.sort(key=weight)


def pytest_collection_finish():
    """What was loaded to collect the tests stays until the end: the garbage collector need not walk it again and again."""
    gc.freeze()


_numbers = itertools.count()


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory, monkeypatch):
    """Answers of a test never reach the answers of the person who runs it. The folder exists only after something was written."""
    from course.core.i18n import set_language

    home = tmp_path_factory.getbasetemp() / f"home-{next(_numbers)}"
    monkeypatch.setenv("COURSE_HOME", str(home))
    set_language("en")
    yield home
    set_language("en")


def tell(monkeypatch, name, headline, **about):
    """Give an experiment words of the test's own in place of its entry in experiments.yaml: the headline of its only outcome, a."""
    from course.core.i18n import both
    from course.experiment import telling

    before, own = telling.telling, telling.Telling(both("A title", "标题"), {"a": headline}, **about)
    monkeypatch.setattr(telling, "telling", lambda lesson, one: own if one == name else before(lesson, one))


@pytest.fixture
def log(own_home):
    """An empty answer log."""
    from course.learning.log import AnswerLog

    return AnswerLog(own_home / "answers.jsonl")


@pytest.fixture
def bank(tmp_path):
    """The bank of questions of ``quiz_items``."""
    from course.questions.bank import Bank
    from tests.support.quiz_items import write_bank

    return Bank(write_bank(tmp_path / "bank"))


@pytest.fixture
def quick_hands(monkeypatch):
    """Two presses at once count as two."""
    monkeypatch.setattr("course.cards.widgets.DOUBLE_CLICK_S", -1)


def tries(daily: int, thorough: int) -> list:
    """Parameters: how many seeds a simulation runs every day, and how many among the long tests."""
    return [daily, pytest.param(thorough, marks=pytest.mark.long)]


def hurried(code: str) -> str:
    """The same code, which gives twelve seconds to a trial of switches, which starts processes, and three to a race."""
    return re.sub(r"\bmax_time=\d{2,}\b", "max_time=3", re.sub(r"\bbudget=\d{2,}\b", "budget=12", code))


def loaded_by(code: str) -> set[str]:
    """The packages that a new process has loaded after this code."""
    code += "\nimport sys\nprint(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def free_port() -> int:
    """A port for a server that binds it some seconds later: below those that a system hands out by itself, so that no kernel or
    cluster that starts meanwhile is given it. Another for each process, however a test has seeded Python's numbers.
    """
    for port in random.SystemRandom().sample(range(20_000, 32_000), 100):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise OSError("none of a hundred ports is free")


def missing(what: str, next_step: str) -> None:
    """Skip loudly on a person's machine; fail where nothing may be skipped."""
    sentence = f"{what} is not on this machine, so this was NOT tested. Next step: {next_step}"
    if os.environ.get("CI"):
        pytest.fail(sentence)
    pytest.skip(sentence)

"""Whatever is killed, whenever: after running again the gradebook is that of an undisturbed run, row for row."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from grader.course import Course
from grader.marking.autograde import autograde
from grader.project import HERE, Infrastructure
from grader.sandbox.limits import Limits
from grader.sandbox.warm import shared
from tests.support.grading_class import copy_of, hand_in_class, marked, rows
from tests.support.grading_fixtures import LESSON

KILLS = int(os.environ.get("COURSE_KILLS", "20"))  # of the long test
VICTIMS = ("driver", "all", "kernel", "marking", "warm", "any")


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory) -> Path:
    """A course folder with a released checkpoint and 18 submissions, not marked yet."""
    return hand_in_class(tmp_path_factory.mktemp("project"), tmp_path_factory.mktemp("course") / "class", times=2)


def start(root: Path) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "grader", "autograde", LESSON, "--dir", str(root), "--jobs", "2"],
        cwd=HERE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def victim_of(kind: str, run: subprocess.Popen, below: list[psutil.Process], rng: random.Random) -> psutil.Process:
    """A process of the run: its driver, also where all are killed; one that marks or starts those; a warm one or its sandbox; the last
    started, which is mostly a kernel with a submission in it; any.
    """
    if kind in ("driver", "all") or not below:
        return psutil.Process(run.pid)
    said = {process: " ".join(process.cmdline()) for process in below if process.is_running()}
    among = {
        "marking": [process for process, line in said.items() if "multiprocessing" in line],
        "warm": [process for process, line in said.items() if " inside " in line],
        "kernel": sorted(said, key=psutil.Process.create_time)[-1:],
    }.get(kind, below)
    return rng.choice(among or below)


@pytest.mark.slow
@pytest.mark.parametrize("kills", [2, pytest.param(KILLS, marks=pytest.mark.long)])
def test_after_any_kill_the_next_run_brings_the_gradebook_of_an_undisturbed_one(handed_in, tmp_path, kills):
    quiet, rough = copy_of(handed_in, tmp_path / "quiet"), copy_of(handed_in, tmp_path / "rough")
    assert {one.reason for one in autograde(Course(quiet), LESSON) if one.points is None} <= {"held"}
    assert marked(quiet) == 18
    rng, killed = random.Random(2026), []
    for number in range(kills):
        if marked(rough) > 12:
            assert not set(rows(rough)) - set(rows(quiet)), killed
            shutil.rmtree(rough)
            copy_of(handed_in, rough)
        run, before = start(rough), marked(rough)
        while run.poll() is None and marked(rough) <= before:
            time.sleep(0.005)
        time.sleep(rng.random() * 0.3)
        try:
            below = psutil.Process(run.pid).children(recursive=True)
            victim = victim_of(VICTIMS[number % len(VICTIMS)], run, below, rng)
            killed.append(victim.cmdline()[-4:])
            victim.kill()
            if VICTIMS[number % len(VICTIMS)] == "all":  # as when the machine goes down
                for process in below:
                    process.kill()
        except psutil.NoSuchProcess:
            pass  # it was quicker
        said, _ = run.communicate(timeout=300)
        if "resource_tracker" not in str(killed[-1:]):  # a part of Python: one that takes its place misses names, aloud
            assert "Traceback" not in said, (killed, said)
        assert not psutil.wait_procs(below, timeout=20)[1], f"processes were left behind; killed: {killed}"
    if run.returncode:  # the driver was the last to be killed: whatever else is, the run itself goes on
        run = start(rough)
        said, _ = run.communicate(timeout=300)
    assert run.returncode == 0 and "without a grade: nobody" in said, said
    assert rows(rough) == rows(quiet) and len(rows(quiet)) == 18 * 6, killed


@pytest.mark.slow
def test_a_kernel_ended_from_outside_is_nobodys_fault():
    """The student's code runs again in a fresh kernel; ending itself is told apart."""
    warm = shared(True)
    for ending, blamed in (
        ("import os; os._exit(3)", True),
        ("import os; os.kill(os.getpid(), 9)", False),
        ("import os; os.closerange(3, 500)", True),
    ):
        with warm.kernel(Limits()) as kernel:
            ran = kernel.run(ending)
            assert (ran.ended == "died") is blamed, (ending, ran)
    for _ in range(2):  # the second time with a warm process that had to be started again
        with warm.kernel(Limits()) as kernel, pytest.raises(Infrastructure, match="ended from outside|is gone"):
            threading.Timer(0.2, signal.pidfd_send_signal, [kernel._handle, signal.SIGKILL]).start()
            kernel.run("import time; time.sleep(20)")
        warm.close()

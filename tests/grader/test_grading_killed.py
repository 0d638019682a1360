"""The same marks from a Dask cluster, from this machine and from the stock command, whatever is killed, whenever: after running again
the gradebook is that of an undisturbed run, row for row.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest
from distributed import LocalCluster

from grader.cli import main
from grader.course import Course
from grader.marking import pool
from grader.marking.autograde import How, autograde
from grader.project import HERE, Infrastructure
from grader.sandbox.limits import Limits
from grader.sandbox.warm import shared
from tests.support.grading_class import copy_of, hand_in_class, marked, rows
from tests.support.grading_fixtures import LESSON

CLASS = 10
"""Submissions: each of the five kinds twice."""


@pytest.fixture(scope="module")
def here(handed_in, tmp_path_factory) -> Path:
    """The class marked in this process."""
    root = copy_of(handed_in, tmp_path_factory.mktemp("here") / "class")
    autograde(Course(root), LESSON, say=lambda line: None)
    return root


@pytest.fixture(scope="module")
def cluster():
    """One worker that marks in two threads, as `dask worker` starts one: with a thread for each processor."""
    with LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=None) as made:
        yield made


def on(address: str, root: Path, **how) -> list:
    said: list[str] = []
    found = autograde(Course(root), LESSON, how=How(cluster=address, **how), say=said.append)
    assert said == []
    return found


@pytest.mark.slow
def test_a_cluster_gives_the_marks_of_this_machine_and_of_the_stock_command(here, handed_in, cluster, tmp_path):
    far, stock = copy_of(handed_in, tmp_path / "far"), copy_of(handed_in, tmp_path / "stock")
    found = on(cluster.scheduler_address, far)
    assert len(found) == CLASS and all(outcome.points is not None or outcome.reason == "held" for outcome in found)
    assert rows(far) == rows(here) and len(rows(here)) == CLASS * 6
    for folder in (stock / "submitted").glob("*-1"):  # one of each kind will do: this takes seconds for each
        shutil.rmtree(folder)
    words = [sys.executable, "-m", "nbgrader", "autograde", LESSON]
    environment = {**os.environ, "PATH": os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])}
    run = subprocess.run(words, cwd=stock, env=environment, capture_output=True, text=True, timeout=400)
    assert run.returncode == 0, run.stderr[-3000:]
    assert rows(stock) == [row for row in rows(here) if row[0].endswith("-0")] and len(rows(stock)) == 5 * 6


@pytest.mark.slow
@pytest.mark.long
def test_a_worker_killed_in_the_middle_costs_nothing(here, handed_in, cluster, tmp_path):
    root = copy_of(handed_in, tmp_path / "class")
    killed = []

    def kill() -> None:
        while not marked(root):
            time.sleep(0.01)
        victim = next(iter(cluster.workers.values())).pid
        os.kill(victim, signal.SIGKILL)
        killed.append((victim, marked(root)))

    thread = threading.Thread(target=kill)
    thread.start()
    on(cluster.scheduler_address, root)
    thread.join(60)
    assert killed and killed[0][1] < CLASS, "it was killed when all was done"
    assert rows(root) == rows(here)


@pytest.mark.slow
def test_a_worker_with_another_checkout_stops_the_run_and_takes_nothing_back(here, tmp_path):
    root, other = copy_of(here, tmp_path / "class"), tmp_path / "checkout"
    for part in ("course", "grader"):
        shutil.copytree(HERE / part, other / part, ignore=shutil.ignore_patterns("__pycache__"))
    marking = other / "grader" / "marking" / "mark_cells.py"
    marking.write_text(marking.read_text() + "\n# another version\n")
    before = rows(root)
    bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with LocalCluster(n_workers=0, dashboard_address=":0") as made:
        words = [sys.executable, "-m", "distributed.cli.dask_worker", made.scheduler_address, "--no-dashboard"]
        for folder, said in (
            (tmp_path, "No module named 'grader'; start it in the folder of a checkout"),
            (other, f"its checkout, {other}, has other keys, tests or marking code"),
        ):
            worker = subprocess.Popen(words, cwd=folder, env=bare, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                with pytest.raises(Infrastructure) as error:
                    on(made.scheduler_address, root, again=True)
                assert said in str(error.value)
            finally:
                worker.terminate()
                worker.wait(30)
    assert rows(root) == before and marked(root) == CLASS


@pytest.mark.slow
def test_a_scheduler_that_is_not_there_or_has_no_worker_is_said_in_a_sentence(handed_in, monkeypatch, capsys):
    monkeypatch.setattr(pool, "PATIENCE_S", 1)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with LocalCluster(n_workers=0, dashboard_address=":0") as idle:
        for address in (f"tcp://127.0.0.1:{port}", "nonsense://x", idle.scheduler_address):
            assert main(["autograde", LESSON, "--dir", str(handed_in), "--cluster", address]) == 1
            said = capsys.readouterr().out
            assert f"no Dask scheduler with a worker answers at {address}" in said and "Traceback" not in said


KILLS = int(os.environ.get("COURSE_KILLS", "20"))  # of the long test
VICTIMS = ("driver", "all", "kernel", "marking", "warm", "any")


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory) -> Path:
    """A course folder with a released checkpoint and submissions, not marked yet."""
    return hand_in_class(
        tmp_path_factory.mktemp("project"), tmp_path_factory.mktemp("course") / "class", times=CLASS // 5
    )


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
    assert marked(quiet) == CLASS
    rng, killed = random.Random(2026), []
    for number in range(kills):
        if marked(rough) > CLASS // 2:
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
    assert rows(rough) == rows(quiet) and len(rows(quiet)) == CLASS * 6, killed


@pytest.mark.slow
def test_a_kernel_ended_from_outside_is_nobodys_fault():
    """The student's code runs again in a fresh kernel; ending itself is told apart."""
    warm = shared()
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

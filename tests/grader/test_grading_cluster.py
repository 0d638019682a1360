"""The same marks from a Dask cluster, from this machine and from the stock command, also when a worker is killed."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from distributed import LocalCluster

from grader.cli import main
from grader.course import Course
from grader.marking import pool
from grader.marking.autograde import How, autograde
from grader.project import HERE, Infrastructure
from tests.support.grading_class import copy_of, hand_in_class, marked, rows
from tests.support.grading_fixtures import LESSON

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory) -> Path:
    return hand_in_class(tmp_path_factory.mktemp("project"), tmp_path_factory.mktemp("course") / "class", times=2)


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


def test_a_cluster_gives_the_marks_of_this_machine_and_of_the_stock_command(here, handed_in, cluster, tmp_path):
    far, stock = copy_of(handed_in, tmp_path / "far"), copy_of(handed_in, tmp_path / "stock")
    found = on(cluster.scheduler_address, far)
    assert len(found) == 18 and all(outcome.points is not None or outcome.reason == "held" for outcome in found)
    assert rows(far) == rows(here) and len(rows(here)) == 18 * 6
    for folder in (stock / "submitted").glob("*-1"):  # one of each kind will do: this takes seconds for each
        shutil.rmtree(folder)
    words = [sys.executable, "-m", "nbgrader", "autograde", LESSON]
    environment = {**os.environ, "PATH": os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])}
    run = subprocess.run(words, cwd=stock, env=environment, capture_output=True, text=True, timeout=400)
    assert run.returncode == 0, run.stderr[-3000:]
    assert rows(stock) == [row for row in rows(here) if row[0].endswith("-0")] and len(rows(stock)) == 9 * 6


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
    assert killed and killed[0][1] < 18, "it was killed when all was done"
    assert rows(root) == rows(here)


def test_a_worker_with_another_checkout_stops_the_run_and_takes_nothing_back(here, tmp_path):
    root, other = copy_of(here, tmp_path / "class"), tmp_path / "checkout"
    for part in ("course", "grader"):
        shutil.copytree(HERE / part, other / part, ignore=shutil.ignore_patterns("__pycache__"))
    marking = other / "grader" / "marking" / "mark.py"
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
    assert rows(root) == before and marked(root) == 18


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

"""The benchmark of budgets: what it times, what it ends, and what its table says."""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks import budgets
from benchmarks.running import Rows
from course.experiment import base
from course.machine import can


@dataclass(frozen=True)
class Endless:
    """Begins a job that never ends, and neither does the process that it starts; both hold a lock on the file as long as they run."""

    file: Path

    def __call__(self) -> budgets.Call:
        return self.run

    def run(self) -> None:
        held = self.file.open("w", encoding="utf-8")
        fcntl.flock(held, fcntl.LOCK_EX)
        if os.fork():
            held.write("started")
            held.flush()
        time.sleep(600)


def test_everything_that_this_machine_can_run_is_timed():
    names = budgets.jobs()
    assert {name for name, one in base.load_all().items() if can(one.needs)} <= names.keys()
    assert {'case("ci").run', "place", "cross_check", "take_home", "finish"} <= names.keys()


@pytest.mark.slow
def test_a_job_without_an_end_is_ended_with_what_it_started(tmp_path):
    job = budgets.Job("endless", 1.0, Endless(tmp_path / "lock"))
    row = budgets.timed(job, multiprocessing.get_context("forkserver"))
    assert row["seconds"] >= budgets.LIMIT and "told" not in row
    with (tmp_path / "lock").open(encoding="utf-8") as file:
        assert file.read() == "started"
        fcntl.flock(file, fcntl.LOCK_EX)  # had one of them gone on, this would wait for ten minutes


def test_the_table_names_what_took_longer_by_its_newest_row(tmp_path):
    rows = Rows(tmp_path / "rows.jsonl", {"neighbours": 8}, True)
    for name, seconds in (("mended", 9.0), ("late", 5.0), ("mended", 3.0)):
        rows.add(name=name, says=2.0, seconds=seconds, load=8.0, told=seconds, said="so | so")
    first, *rest = budgets.table(rows)
    assert first.startswith("1 of 2 took at most 2 times") and "- longer: late" in rest
    assert [line for line in rest if "mended" in line and "1.50" in line and "so / so" in line]

"""The price of torch.compile in a process: what is said for every outcome, and a real run where there is a C++ compiler."""

from __future__ import annotations

import sys

import pytest

import course
from course.core.i18n import pick
from course.core.machine import can, next_step
from course.core.markup import plain
from course.experiment import base
from course.experiment.result import block
from course.figures.svg import SvgPicture
from course.lessons.l10_tuning_master.compiling import job
from course.lessons.l10_tuning_master.experiments import STATES
from course.verbs import state
from tests.lessons.l10_tuning_master.rows import REFUSED, compiling
from tests.lessons.live import check_picture, check_sentence, record_of

NAME = "10-compile-price"


@pytest.mark.parametrize(
    "rows, outcome, calls",
    [
        (compiling(), "after calls", {"empty": 24213, "kept": 3607}),  # 7.99 s / 0.33 ms and 1.19 s / 0.33 ms
        (
            compiling(kept_s=0.001),
            "after calls",
            {"empty": 24213, "kept": 1},
        ),  # a cache so good that it is paid at once
        (compiling(call_ms=0.99), "no payback", {}),  # the intervals overlap
        (compiling(call_ms=1.5), "no payback", {}),
        ([*compiling()[:2], compiling(call_ms=1.5)[2]], "no payback", {}),  # faster only once
        ([compiling()[0] | {"low_ms": 1.0, "high_ms": 1.0}, *compiling()[1:]], "no payback", {}),  # one round
        (REFUSED, "refused", {}),
    ],
)
def test_each_outcome_has_its_sentence_and_its_picture(rows, outcome, calls):
    """A number of calls is told and drawn only where both compiled processes gain for sure."""
    record = record_of(NAME, rows)
    found = base.get(NAME).reading(record)
    assert (found.outcome, found.numbers) == (outcome, calls)
    check_sentence(record)
    assert isinstance(check_picture(record), SvgPicture) == bool(calls)
    assert ("No working C++ compiler" in str(block(record, base.get(NAME)))) == (rows is REFUSED)


def test_the_job_as_written_gives_the_row_that_is_shown():
    assert [set(row) for row in job(False, 0.1)] == [set(compiling()[0]) - {"state"}]


@pytest.mark.long
def test_a_real_run_measures_three_processes():
    """Without a C++ compiler it says so; with one both caches are paid for, the kept one less."""
    record = base.run(NAME)
    rows = {row["state"]: row for row in record.rows}
    assert list(rows) == list(STATES) and rows["plain"]["call_ms"] > 0
    if "refused" not in rows["empty"]:
        assert rows["empty"]["first_s"] > rows["kept"]["first_s"] > rows["plain"]["first_s"]
    check_sentence(record)


def test_a_folder_for_temporary_files_with_a_space_is_no_place_for_a_compiler(monkeypatch, tmp_path, capsys):
    """torch.compile calls g++ with names that end at the space."""
    monkeypatch.setattr(state, "now", state.State(lesson="10_tuning_master"))
    monkeypatch.setenv("COURSE_TEXT", "1")
    monkeypatch.setenv("CXX", sys.executable)
    assert can("compiler")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "a b"))
    assert not course.observe(NAME).live
    assert "TMPDIR" in pick(next_step("compiler")) and plain(pick(next_step("compiler"))) in capsys.readouterr().out

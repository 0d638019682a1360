"""The benchmark of the timers: its counts, its tables, its peers on a budget of a moment."""

from __future__ import annotations

import json
import os
import sys

import pytest

from benchmarks import running, timers, timing
from benchmarks.running import Rows
from benchmarks.timers import Answer


def test_counts_of_a_planted_difference():
    cell = timing.Cell(
        3,
        1.03,
        [Answer(1.03, 1, (1.02, 1.04)), Answer(1.05, 1, (1.04, 1.06)), Answer(0.99, -1), Answer(1.0, 0, (0.9, 1.1))],
    )
    assert (cell.truth, cell.found, cell.alarms, cell.covered, len(cell.intervals)) == (1.03, 2, 1, 2, 3)
    assert cell.rmse == pytest.approx(100 * ((0.02**2 + 0.04**2 + 0.03**2) / 4) ** 0.5)


def test_equal_code_called_different_either_way_is_an_alarm():
    cell = timing.Cell(0, 1.0, [Answer(1.0, 0), Answer(1.01, 1), Answer(0.99, -1)])
    assert cell.alarms == 2 and not cell.intervals


def test_a_bare_ratio_is_believed_beyond_half_a_per_cent():
    assert [timers.by_ratio(r).says for r in (0.99, 0.996, 1.0, 1.004, 1.006)] == [-1, 0, 0, 0, 1]


SETTING = {"budget_s": 0.02}


@pytest.mark.slow
def test_every_method_answers_and_the_tables_hold_them(monkeypatch, tmp_path):
    monkeypatch.setattr(timers, "BUDGET_S", 0.02)
    monkeypatch.setattr(timing, "JOBS", {"compute": (timing.compute, 3), "memory": (timing.memory, 1)})
    rows, part = (
        Rows(tmp_path / "rows.jsonl", SETTING),
        timing.Part((0,), ("compute", "memory"), (3, 0), list(timers.COMPARISONS), tries=1, figures=True),
    )
    for turn in part.missing(rows):
        timing.one_turn(turn, rows)
    found = timing.cells(rows)
    assert {name for _, _, name, _ in found} == {
        "ours",
        "torch blocked",
        "torch IQRs",
        "torch adaptive",
        "pyperf",
        "pytest-benchmark median",
        "pytest-benchmark min",
        "timeit best",
        "do_bench mean",
        "do_bench median",
    }
    assert {job for job, *_ in found} == {"compute", "memory"}
    assert all(len(cell.answers) == 1 and cell.seconds for cell in found.values())
    text = "\n".join([*timing.comparison_tables(rows), *running.heading("Timers", "0.02 s")])
    lines = [line for line in timing.summary_table(rows) if line.startswith("| ")]
    assert len(lines) == 2 + len({name for _, _, name, _ in found}), "a line for each method"
    assert "3 % found" in lines[0] and lines[2].startswith("| ours ") and " of 2 " in lines[2] and " of 4 " in lines[2]
    assert text.count("| ours  ") == 4 and "compute: Equal code" in text and "torch 2" in text
    assert part.missing(rows) == []


@pytest.mark.slow
def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path, monkeypatch):
    def answered(turn, rows):
        rows.add(**turn, name="ours", truth=1.03, ratio=1.0, says=0, interval=None, clock="wall", seconds=0.1, load=1.0)

    def told(turn, rows):
        if rows.find(number=1):
            raise KeyboardInterrupt
        answered(turn, rows)

    monkeypatch.setattr(timing, "one_turn", told)
    monkeypatch.setattr(timing, "overhead_table", lambda: [])
    command = ["--methods", "ours", "--jobs", "compute", "--planted", "3", "--neighbours", "0", "--tries", "4"]
    command += ["--no-figures", "--out", str(tmp_path / "timing.md")]
    with pytest.raises(SystemExit) as stopped:
        timing.main(command)
    assert stopped.value.code == 130 and "goes on from here" in (tmp_path / "timing.md").read_text(encoding="utf-8")
    kept = Rows(tmp_path / "timing.jsonl", {}).rows
    assert kept == [], "rows of another setting are set aside"
    (aside,) = tmp_path.glob("timing.*.jsonl")
    aside.replace(tmp_path / "timing.jsonl")
    monkeypatch.setattr(timing, "one_turn", answered)
    timing.main(command)
    lines = (tmp_path / "timing.jsonl").read_text(encoding="utf-8").splitlines()
    assert sorted(json.loads(line)["number"] for line in lines[1:]) == [0, 1, 2, 3]


def test_rows_survive_a_cut_line(tmp_path):
    path = tmp_path / "rows.jsonl"
    Rows(path, SETTING).add(way="a", seconds=1)
    with path.open("a", encoding="utf-8") as file:
        file.write('{"way": "b", "sec')
    again = Rows(path, SETTING)
    assert again.rows == [{"way": "a", "seconds": 1}] and again.find(way="a") and not again.find(way="b")
    again.add(way="c")
    assert [row["way"] for row in Rows(path, SETTING).rows] == ["a", "c"]
    assert Rows(path, SETTING, fresh=True).rows == []


def test_an_interrupt_ends_with_a_sentence(capsys):
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(SystemExit) as stopped:
        running.stoppable(interrupted)
    assert stopped.value.code == 130 and "goes on from here" in capsys.readouterr().out


def test_a_busy_machine_is_told_at_the_start(monkeypatch):
    monkeypatch.setattr(running, "load_now", lambda: 21.0)
    monkeypatch.setattr(running, "others", lambda _: 0.9)
    said = "this machine is busy (other programs take 90% of it, load 21): figures will not hold"
    assert running.busy_words() == said
    monkeypatch.setattr(
        running, "others", lambda _: 0.1
    )  # the load of the last minute may be that of the last benchmark
    assert running.busy_words() == ""


@pytest.mark.skipif(os.name != "posix", reason="CPU time has no limit there")
def test_a_process_is_ended_by_its_cpu_time():
    status, out, _ = running.run_limited([sys.executable, "-c", "print(6 * 7)"], 60)
    assert (status, out.strip()) == (0, "42")
    status, _, _ = running.run_limited([sys.executable, "-c", "while True: pass"], 1)
    assert status < 0


def test_do_bench_samples_every_call_on_its_own():
    calls = []
    samples = timers.do_bench_samples(lambda: calls.append(sum(range(2000))), 0.02)
    assert len(samples) < len(calls) and all(s > 0 for s in samples)

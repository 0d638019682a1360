"""Lesson 09: exercises, tasks, keys and live experiments give what they should. No speed is asserted."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch

from course import flags
from course.exercise import MISSING, all_exercises, judge
from course.experiment import base
from course.i18n import set_language
from course.lessons.l09_mkldnn.exercises import CONVOLUTIONS, report_line, rule
from course.lessons.l09_mkldnn.experiments_isa import X86
from course.lessons.l09_mkldnn.probes import ROUTES, route, routes_of
from course.onednn_log import parse, recorded_log
from course.quiz.bank import Bank
from course.records import Record, nearest
from grader.project import Project, tasks

LESSON = "09_mkldnn"
BANK = Bank()
NAMES = [name for name, one in base.load_all().items() if one.lesson == LESSON]
ONEDNN = pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="this build of PyTorch has no oneDNN")


def state_of(exercise_id: str, source: str) -> str:
    exercise = all_exercises()[exercise_id]
    space = {"torch": torch, "mkldnn": torch.backends.mkldnn, "flags": flags}
    exec(source, space)
    return judge(exercise, space[exercise.name]).state


# --- exercises --------------------------------------------------------------------------------------------

SHARE = """def reorder_share(report):
    total = part = 0.0
    for line in report:
        fields = line.split(",")
        if {skip}:
            continue
        total += {ms}
        part += {ms} * (fields[5] == "reorder")
    return {result}
"""
GOES = "goes_to_onednn = lambda n, c, h, w, k, g=1: "
OFF = "def without_onednn(run):\n    "


def share(skip='"exec" not in fields', ms="float(fields[-1])", result="part / total if total else 0.0"):
    return SHARE.format(skip=skip, ms=ms, result=result)


@pytest.mark.parametrize("exercise_id", ["09-reorder-share", "09-goes-to-onednn", "09-without-onednn"])
def test_solution_is_correct_and_nothing_is_not_attempted(exercise_id):
    assert state_of(exercise_id, all_exercises()[exercise_id].solution) == "correct"
    exercise = all_exercises()[exercise_id]
    assert judge(exercise, ...).state == judge(exercise, MISSING).state == "not attempted"


@pytest.mark.parametrize(
    ("exercise_id", "source", "state"),
    [
        ("09-reorder-share", share(), "correct"),
        ("09-reorder-share", share(result="part / total"), "partly"),
        ("09-reorder-share", share(ms="1"), "incorrect"),
        ("09-reorder-share", share(result="part"), "incorrect"),
        ("09-reorder-share", share(result="part / (total - part) if total - part else 0.0"), "incorrect"),
        ("09-reorder-share", share(skip="False"), "incorrect"),
        ("09-reorder-share", share(skip="len(fields) < 8"), "incorrect"),
        ("09-reorder-share", "reorder_share = lambda report: None", "not attempted"),
        ("09-reorder-share", "reorder_share = lambda report: ...", "not attempted"),
        ("09-goes-to-onednn", GOES + "g > 1 or k > 3 or n > 1 or n * c * h * w > 20480", "correct"),
        ("09-goes-to-onednn", GOES + "g > 1 or k > 3 or n > 1 or n * c * h * w >= 20480", "partly"),
        ("09-goes-to-onednn", GOES + "g > 1 and k > 3 and n > 1 and n * c * h * w > 20480", "incorrect"),
        ("09-goes-to-onednn", GOES + "True", "incorrect"),
        ("09-goes-to-onednn", GOES + "g > 1 or k > 3 or n > 1 or h * w > 20480", "incorrect"),
        ("09-goes-to-onednn", GOES + "k > 3 or n > 1 or n * c * h * w > 20480", "incorrect"),
        ("09-goes-to-onednn", GOES + "'yes'", "incorrect"),
        ("09-goes-to-onednn", "def goes_to_onednn(*a): raise NotImplementedError", "not attempted"),
        (
            "09-without-onednn",
            OFF + "mkldnn.enabled = False\n    r = run()\n    mkldnn.enabled = True\n    return r",
            "partly",
        ),
        (
            "09-without-onednn",
            OFF + "mkldnn.enabled = False\n    try:\n        return run()\n    finally:\n        mkldnn.enabled = True",
            "partly",
        ),
        ("09-without-onednn", OFF + "with mkldnn.flags(enabled=False):\n        return run()", "partly"),
        ("09-without-onednn", OFF + "mkldnn.enabled = False\n    return run()", "incorrect"),
        ("09-without-onednn", OFF + "return run()", "incorrect"),
        ("09-without-onednn", OFF + "with flags.using({'mkldnn.enabled': False}):\n        run()", "incorrect"),
        ("09-without-onednn", OFF + "with flags.using({'mkldnn.enabled': False}):\n        return run()", "correct"),
    ],
)
def test_typical_answers_get_what_they_deserve(exercise_id, source, state):
    before = flags.read()
    assert state_of(exercise_id, source) == state
    assert flags.read() == before


def test_without_onednn_nothing_can_lose_and_that_is_said(monkeypatch):
    monkeypatch.setattr(torch._C, "_has_mkldnn", False)
    verdict = judge(
        all_exercises()["09-make-it-lose"], {"call": lambda: None, "race": SimpleNamespace(low=1, high=2, rounds=9)}
    )
    assert verdict.state == "inconclusive" and "no oneDNN" in verdict.messages[0]["en"]


def test_without_onednn_a_recorded_log_is_read_and_named(monkeypatch, capsys):
    assert bool(recorded_log("conv")) is (not torch.backends.mkldnn.is_available())
    monkeypatch.setattr(torch._C, "_has_mkldnn", False)
    calls = {call: recorded_log(call) for call in ("conv", *(f"cache {n}" for n in (1, 2, 3, 4)), "lstm 1", "lstm 64")}
    assert "recorded on" in capsys.readouterr().out and all(calls.values())
    assert {"reorder", "convolution"} == {line.primitive for line in calls["conv"]}
    made = [line.event for n in (1, 2, 3, 4) for line in calls[f"cache {n}"] if line.primitive == "convolution"]
    assert made == ["create:cache_miss", "exec"] * 2 + ["create:cache_hit", "exec"] * 2
    assert "rnn" in {line.primitive for line in calls["lstm 64"]} and not recorded_log("no such call")


def test_there_is_something_to_replay_where_this_build_has_no_onednn():
    for name in NAMES:
        if name != "09-threads":  # wants a quiet machine
            record = nearest(name, {}, version=base.get(name).version)
            assert record is not None and record.rows and record.complete, name
            check_shown(base.get(name), record)


@ONEDNN
def test_the_losing_solution_runs():
    exercise = all_exercises()["09-make-it-lose"]
    assert state_of(exercise.id, exercise.solution.replace("on_off(call)", "on_off(call, 0.3)")) != "not attempted"


@ONEDNN
@pytest.mark.parametrize("case", CONVOLUTIONS.values(), ids=CONVOLUTIONS)
def test_the_taught_rule_is_the_dispatchers(case):
    batch, channels, height, width, kernel, groups = (*case, 1)[:6]
    weight = torch.zeros(16, channels // groups, kernel, kernel)
    named = route(torch.zeros(batch, channels, height, width), weight, groups=groups)
    if not named:
        pytest.skip("this torch does not name its choice")
    assert (named == "Mkldnn") == rule(*case)


# --- questions --------------------------------------------------------------------------------------------

PRACTICE = BANK.items(LESSON)


def test_the_checkpoint_is_worth_thirteen_points():
    items = BANK.items(LESSON, checkpoint=True)
    assert sum(item.points for item in items) + sum(task.points for task in tasks(Project(), LESSON).values()) == 13


# --- experiments ------------------------------------------------------------------------------------------


def record_of(name, rows):
    return Record(name, 1, LESSON, {}, rows)


def check_shown(experiment, record):
    """The sentence exists in both languages, and the picture can be drawn in both."""
    from matplotlib.figure import Figure

    sentence = experiment.finding(record)
    assert all(len(sentence[code]) > 15 for code in ("en", "zh"))
    for code in ("en", "zh"):
        set_language(code)
        try:
            experiment.draw(record, Figure().subplots())
        finally:
            set_language("en")


BETS = {
    "09-on-off": {"09-bet-who"},
    "09-layouts": {"09-bet-reorders"},
    "09-routes": {"09-bet-small"},
    "09-bits": {"09-bet-bits"},
    "09-bf16": {"09-bet-bf16"},
}


@ONEDNN
@pytest.mark.parametrize(
    "name",
    ["09-one-step", "09-on-off", "09-where-time", "09-layouts", "09-routes", "09-deterministic", "09-bits", "09-logs"],
)
def test_live_experiments_run_and_leave_no_trace(name):
    before, threads = flags.read(), torch.get_num_threads()
    experiment, record = base.get(name), base.run(name, 4)
    assert set(experiment.settles(record)) == BETS.get(name, set())
    check_shown(experiment, record)
    assert (flags.read(), torch.get_num_threads()) == (before, threads)


@ONEDNN
@pytest.mark.parametrize(("name", "key"), [("09-isa-ladder", "isa"), ("09-bf16", "implementation")])
def test_a_rung_answers_from_a_new_process(name, key):
    experiment, record = base.get(name), base.run(name, 0.1)  # the first rung only
    assert len(record.rows) == 1 and record.rows[0]["ratio"] > 0 and key in record.rows[0]
    assert not record.complete
    check_shown(experiment, record)


@ONEDNN
@pytest.mark.skipif(platform.machine() not in X86, reason="the ladder is that of x86")
def test_the_variable_counts_in_a_new_process_and_not_later():
    code = (
        "import os, torch\nfrom course.onednn_log import log_of\nlayer = torch.nn.Conv2d(16, 16, 3)\n"
        "def names(): return [one.implementation for one in log_of(lambda: layer(torch.zeros(2, 16, 20, 20)))\n"
        "                     if one.primitive == 'convolution']\n"
        "first = names()\nos.environ['ONEDNN_MAX_CPU_ISA'] = 'SSE41'\nassert first == names() and first, first\n"
        "print(first[0])"
    )
    environment = {**os.environ, "PYTHONPATH": str(Project().root)}
    held = subprocess.run(
        [sys.executable, "-c", code],
        env={**environment, "ONEDNN_MAX_CPU_ISA": "SSE41"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert held.stdout.strip() == "jit:sse41"
    free = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert free.stdout.strip().startswith(("jit", "brg"))


@ONEDNN
def test_routes_agree_with_the_log():
    seen = {case: routes_of(case) for case in ROUTES}
    for row in seen.values():
        if row["on"]:
            assert (row["on"] == "Mkldnn") == bool(row["convolution_lines"]), row
    assert seen["float64"]["convolution_lines"] == seen["one small image"]["convolution_lines"] == 0
    torch.backends.mkldnn.enabled = True


@ONEDNN
def test_whole_numbers_agree_to_the_bit_and_repeats_do_too():
    rows = base.run("09-bits").rows
    whole = [row for row in rows if row["numbers"] == "whole"]
    assert whole and all(row["differ_share"] == row["error_on"] == row["error_off"] == 0 for row in whole)
    assert all(row["repeat_differs"] == 0 for row in rows)


@ONEDNN
def test_the_switch_without_a_reader_and_the_trap():
    plain_row, switch, inside = base.run("09-deterministic").rows
    assert (switch["lines"], switch["same_share"]) == (plain_row["lines"], 1.0) and plain_row["lines"]
    assert (inside["enabled"], inside["lines"]) == (0, 0)


def test_every_bet_is_settled_by_its_experiment():
    bets = [item for item in PRACTICE if item.kind == "predict"]
    assert len(bets) == 5
    for item in bets:
        assert item.id in base.get(item.experiment).settles(record_of(item.experiment, []))


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_record_settles_nothing_and_still_speaks(name):
    experiment, record = base.get(name), record_of(name, [])
    assert all(option is None for option in experiment.settles(record).values())
    assert experiment.finding(record)["zh"]


def test_made_up_lines_of_the_checks_are_read_like_real_ones():
    line = parse(report_line("rnn", 2.5))[0]
    assert (line.primitive, line.time_ms, line.event) == ("rnn", 2.5, "exec")

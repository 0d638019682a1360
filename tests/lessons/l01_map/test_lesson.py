"""Lessons 00 and 01: exercises, checkpoint tasks, keys and experiments give the verdicts they should."""

from __future__ import annotations

import contextlib
import multiprocessing
import os

import pytest
import torch

from course import flags
from course.exercise import all_exercises, judge
from course.experiment import base
from course.lessons.l01_map import experiments
from course.lessons.l01_map import probes as map_probes
from course.quiz.bank import Bank
from course.records import Record
from tests.lessons.races import raced

BANK = Bank()
FORKS = "fork" in multiprocessing.get_all_start_methods()


def run_source(source: str, name: str):
    """What the learner's cell leaves under ``name``."""
    from course.timing import compare

    space = {"torch": torch, "contextmanager": contextlib.contextmanager, "compare": compare}
    exec(source, space)
    return space[name]


def verdict_of(exercise_id: str, source: str) -> str:
    exercise = all_exercises()[exercise_id]
    return judge(exercise, run_source(source, exercise.name)).state


# --- exercises ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "exercise_id", ["00-my-numbers", "01-find-typos", "01-what-leaked", "01-fill-the-blanks", "01-only"]
)
def test_solution_is_correct(exercise_id):
    assert verdict_of(exercise_id, all_exercises()[exercise_id].solution) == "correct"


def test_timed_solution_runs():
    exercise = all_exercises()["01-make-it-lose"]
    source = exercise.solution.replace("max_time=3", "max_time=0.6")
    assert judge(exercise, run_source(source, exercise.name)).state != "not attempted"


FIND = "def find_typos(lines, known):\n    names = [line.split('=')[0]{strip}{prefix} for line in lines]\n    {end}\n"
PREFIX = ".removeprefix('torch.backends.')"
LEAK = "def what_leaked(before, after):\n    {body}\n"
BLOCK = (
    "def deterministic_block():\n    cudnn = torch.backends.cudnn\n"
    "    return cudnn.flags(deterministic=True, allow_tf32=cudnn.allow_tf32, {rest})\n"
)
ONLY = """@contextmanager
def only(module, **changes):
    {old}
    for name, value in changes.items():
        setattr(module, name, value)
    {body}
"""
OLD = "old = {n: getattr(module, n) for n in changes}"
BACK = "[setattr(module, n, v) for n, v in old.items()]"

WRONG = [
    ("00-my-numbers", "my_numbers = (..., ..., ...)", "not attempted"),
    ("00-my-numbers", "my_numbers = (1, 2, 3)", "incorrect"),
    ("00-my-numbers", "my_numbers = (1e9, -1e9)", "incorrect"),
    ("00-my-numbers", "my_numbers = (float('inf'), float('-inf'), 1)", "incorrect"),
    ("00-my-numbers", "my_numbers = ('a', 'b', 'c')", "incorrect"),
    ("01-find-typos", "def find_typos(lines, known):\n    raise NotImplementedError", "not attempted"),
    ("01-find-typos", "def find_typos(lines, known):\n    pass", "incorrect"),
    (
        "01-find-typos",
        FIND.format(strip=".strip()", prefix="", end="return [n for n in names if n[15:] not in known]"),
        "incorrect",
    ),
    (
        "01-find-typos",
        FIND.format(strip="", prefix=PREFIX, end="return [n for n in names if n.strip() not in known]"),
        "incorrect",
    ),
    (
        "01-find-typos",
        FIND.format(strip=".strip()", prefix=PREFIX, end="return [n for n in names if n in known]"),
        "incorrect",
    ),
    ("01-find-typos", FIND.format(strip=".strip()", prefix=PREFIX, end="return names"), "incorrect"),
    ("01-find-typos", "def find_typos(lines, known):\n    return lines[0].nothing", "incorrect"),
    ("01-what-leaked", "def what_leaked(before, after):\n    raise NotImplementedError", "not attempted"),
    ("01-what-leaked", LEAK.format(body="return [n for n in before if before[n] != after[n]]"), "incorrect"),
    (
        "01-what-leaked",
        LEAK.format(body="return {n: (after[n], before[n]) for n in before if before[n] != after[n]}"),
        "incorrect",
    ),
    ("01-what-leaked", LEAK.format(body="return {n: (before[n], after[n]) for n in before}"), "incorrect"),
    (
        "01-what-leaked",
        LEAK.format(body="return {n: (before[n], after[n]) for n in before if after[n] and not before[n]}"),
        "incorrect",
    ),
    ("01-what-leaked", LEAK.format(body="before.clear(); return {}"), "incorrect"),
    ("01-fill-the-blanks", BLOCK.format(rest="enabled=..., benchmark=..."), "not attempted"),
    ("01-fill-the-blanks", BLOCK.format(rest="enabled=True, benchmark=True"), "incorrect"),
    ("01-fill-the-blanks", BLOCK.format(rest="enabled=True"), "incorrect"),
    ("01-fill-the-blanks", BLOCK.format(rest="enabled=cudnn.enabled"), "incorrect"),
    ("01-fill-the-blanks", BLOCK.format(rest="enabled=1, benchmark=0"), "incorrect"),
    ("01-fill-the-blanks", "def deterministic_block():\n    pass", "incorrect"),
    ("01-only", "def only(module, **changes):\n    raise NotImplementedError", "not attempted"),
    ("01-only", "def only(module, **changes):\n    setattr(module, 'deterministic', True)", "incorrect"),
    ("01-only", ONLY.format(old=OLD, body=f"yield\n    {BACK}"), "partly"),
    ("01-only", ONLY.format(old="pass", body="yield"), "partly"),
    (
        "01-only",
        ONLY.format(
            old="old = dict(enabled=True, benchmark=False, deterministic=False)",
            body=f"try:\n        yield\n    finally:\n        {BACK}",
        ),
        "partly",
    ),
    (
        "01-only",
        ONLY.format(old=OLD, body=f"try:\n        yield\n    except Exception:\n        pass\n    {BACK}"),
        "partly",
    ),
    ("01-make-it-lose", "my_comparison = ...", "not attempted"),
    ("01-make-it-lose", "my_comparison = 2.5", "incorrect"),
    ("01-make-it-lose", "my_comparison = {'before': {'enabled': True}}", "incorrect"),
    ("01-make-it-lose", "my_comparison = dict(named=['d'], before=dict(d=0, e=1), inside=dict(d=1, e=1))", "incorrect"),
]


@pytest.mark.parametrize(("exercise_id", "source", "state"), WRONG)
def test_typical_attempts_get_the_verdict_they_deserve(exercise_id, source, state):
    before = flags.read()
    assert verdict_of(exercise_id, source) == state
    assert flags.read() == before


def test_the_price_of_the_with_line_alone_does_not_make_the_advice_lose():
    x = torch.ones(4)

    def asked():
        with torch.backends.mkldnn.flags(deterministic=True):
            return x + x

    found = raced({"plain": lambda: x + x, "asked": asked}, 6.3, baseline_ms=0.001)
    verdict = judge(all_exercises()["01-make-it-lose"], found)
    assert (verdict.state, verdict.reason) == ("incorrect", "price")


@pytest.mark.parametrize(
    ("exercise_id", "source", "words"),
    [
        (
            "01-only",
            ONLY.format(old="inside = module.flags(**changes)", body="with inside:\n        yield"),
            "trap above",
        ),
        ("01-find-typos", "def find_typos(lines, known):\n    return lines[0]", "list of names"),
    ],
)
def test_a_typical_detour_is_named(exercise_id, source, words):
    exercise = all_exercises()[exercise_id]
    assert words in judge(exercise, run_source(source, exercise.name)).messages[0]["en"]


def test_every_exercise_is_complete():
    for exercise in all_exercises().values():
        if exercise.lesson in ("00_start", "01_map"):
            hidden = "-t-" in exercise.id
            assert (len(exercise.hints), exercise.solution is None) == ((0, True) if hidden else (3, False))


# --- questions ----------------------------------------------------------------------------------------------

PRACTICE = [item for lesson in ("00_start", "01_map") for item in BANK.items(lesson)]


# --- experiments --------------------------------------------------------------------------------------------

EXPECTED = {
    "00-same-numbers": {"00-bet-sums": "c"},
    "01-typos": {"01-bet-typos": "c"},
    "01-who-sees": {"01-bet-who-sees": "c" if FORKS else None},
    "01-flags-trap": {"01-bet-flags": "d"},
    "01-frozen": {"01-bet-frozen": "c"},
    "01-not-a-switch": {"01-bet-mps": "c"},
}


def check_shown(experiment, record):
    """The sentence exists in both languages, and the picture can be drawn."""
    from matplotlib.figure import Figure

    sentence = experiment.finding(record)
    assert all(len(sentence[code]) > 20 for code in ("en", "zh"))
    experiment.draw(record, Figure().subplots())


@pytest.mark.parametrize("name", EXPECTED)
def test_live_experiment_settles_its_bet(name):
    before, seed = flags.read(), torch.initial_seed()
    experiment, record = base.get(name), base.run(name)
    assert record.complete and experiment.settles(record) == EXPECTED[name]
    check_shown(experiment, record)
    assert (flags.read(), torch.initial_seed(), torch.backends.flags_frozen()) == (before, seed, False)


def test_what_is_overwritten_in_one_line_does_not_spoil_the_next():
    assert [row["accepted"] for row in base.run("01-not-a-switch").rows] == [1] * 6


def test_a_child_process_that_dies_ends_the_wait():
    with pytest.raises(EOFError):
        map_probes._in_child("spawn", _dies)


def _dies(_pipe):
    os._exit(1)


def test_polite_request_runs_and_leaves_no_trace():
    if not torch.backends.mkldnn.is_available():
        pytest.skip("this build of PyTorch has no oneDNN")
    before = flags.read()
    experiment, record = base.get("01-polite-request"), base.run("01-polite-request", 1.5)
    assert set(experiment.settles(record)) == {"01-bet-polite"}
    check_shown(experiment, record)
    assert flags.read() == before


@pytest.mark.parametrize(
    ("low", "high", "option"), [(1.4, 1.6, "c"), (0.6, 0.8, "a"), (0.98, 1.03, "b"), (0.9, 1.3, None)]
)
def test_polite_bet_follows_the_interval(low, high, option):
    rows = [{"request": name, "ratio": 1.0, "low": low, "high": high} for name in ("deterministic", "both named")]
    record = Record("01-polite-request", 1, "01_map", {}, rows)
    assert experiments.settle_polite_request(record) == {"01-bet-polite": option}
    inconclusive = "Inconclusive" in experiments.say_polite_request(record)["en"]
    assert inconclusive == (option is None)


def test_flags_raises_beside_the_newer_precision_api_and_the_bracketed_assignment_does_not():
    cudnn = torch.backends.cudnn
    with flags.preserved():
        cudnn.conv.fp32_precision = "ieee"
        with pytest.raises(RuntimeError), cudnn.flags(enabled=cudnn.enabled, deterministic=True):
            pass
        old = cudnn.deterministic
        try:
            cudnn.deterministic = True
            assert cudnn.deterministic and cudnn.enabled
        finally:
            cudnn.deterministic = old
    assert not cudnn.deterministic

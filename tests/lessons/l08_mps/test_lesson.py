"""Lesson 08: exercises, tasks, keys and experiments give the verdicts they should, on a machine without MPS too."""

from __future__ import annotations

import pytest
import torch

from course.exercise import MISSING, all_exercises, judge
from course.experiment import base
from course.lessons.l08_mps.experiments import LESSON
from course.lessons.l08_mps.machines import KINDS, MACHINES, pretend
from course.quiz.bank import Bank

BANK = Bank()
PRACTICE = BANK.items(LESSON)


def verdict_of(exercise_id: str, source: str):
    exercise = all_exercises()[exercise_id]
    space = {"torch": torch}
    exec(source, space)
    return judge(exercise, space[exercise.name])


# --- exercises --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exercise_id", [e.id for e in all_exercises().values() if e.lesson == LESSON and e.solution])
def test_the_solution_is_correct_and_nothing_is_not_attempted(exercise_id):
    exercise = all_exercises()[exercise_id]
    assert verdict_of(exercise_id, exercise.solution).state == "correct"
    assert judge(exercise, ...).state == judge(exercise, MISSING).state == "not attempted"


HAND = "def pick_by_hand():\n    "
LOOP = (
    "def pick_by_hand():\n    for name, usable in (('cuda', {}), ('mps', {}), ('xpu', {})):\n"
    "        if usable():\n            return name\n    return {}"
)
CUDA, MPS, XPU = "torch.cuda.is_available", "torch.backends.mps.is_available", "torch.xpu.is_available"


@pytest.mark.parametrize(
    ("source", "state", "word"),
    [
        (LOOP.format(CUDA, "...", "...", "..."), "not attempted", "fill in"),
        (LOOP.format(CUDA, MPS, XPU, "..."), "not attempted", "fill in"),
        (LOOP.format(CUDA, "torch.backends.mps.is_built", XPU, "'cpu'"), "incorrect", "compiled in"),
        (LOOP.format(CUDA, "torch.mps.is_available", XPU, "'cpu'"), "correct", "six"),
        (LOOP.format(CUDA, "torch.cuda.is_available", XPU, "'cpu'"), "incorrect", "mps idle"),
        (LOOP.format(CUDA, MPS, XPU, "None"), "incorrect", "device or its name"),
        (LOOP.format(CUDA, MPS, XPU + "()", "'cpu'"), "incorrect", "bool"),
        (HAND + "return 'cuda' if torch.cuda.is_available() else 'cpu'", "incorrect", "idle"),
        (HAND + "return 'mps'", "incorrect", "best device is cpu"),
        (HAND + "return torch.accelerator.current_accelerator(check_available=True) or 'cpu'", "correct", "six"),
    ],
)
def test_a_selector_by_hand_is_judged_on_six_machines(source, state, word):
    verdict = verdict_of("08-pick-by-hand", source)
    assert (verdict.state, word in verdict.messages[0]["en"]) == (state, True), verdict.messages


PICK = "def pick_device(prefer=None):\n    best = torch.accelerator.current_accelerator(check_available=True) "
BEST = PICK + "or torch.device('cpu')\n    "


@pytest.mark.parametrize(
    ("source", "state", "word"),
    [
        ("def pick_device(prefer=None): raise NotImplementedError", "not attempted", "NotImplementedError"),
        (
            "def pick_device(prefer=None): return torch.accelerator.current_accelerator() or torch.device('cpu')",
            "incorrect",
            "compiled in",
        ),
        (BEST + "return torch.device(prefer or best)", "partly", "ValueError"),
        (BEST + "return best", "partly", "instead of handing out cpu"),
        (BEST + "if prefer in (None, best.type): return best\n    raise ValueError(prefer)", "partly", "wish for cpu"),
        (BEST + "return torch.device(prefer) if prefer in ('cpu', best.type) else best", "partly", "ValueError"),
        (BEST + "return best.type", "partly", "torch.device"),
        ("def pick_device(): return torch.device('cpu')", "incorrect", "idle"),
    ],
)
def test_a_selector_honours_a_wish_or_refuses_it(source, state, word):
    verdict = verdict_of("08-pick-device", source)
    assert (verdict.state, word in verdict.messages[0]["en"]) == (state, True), verdict.messages


SET = "import os\nos.environ['PYTORCH_ENABLE_MPS_FALLBACK'] = {}\nimport torch\n"


@pytest.mark.parametrize(
    ("script", "state", "word"),
    [
        ("import os, torch\nos.environ['PYTORCH_ENABLE_MPS_FALLBACK'] = '1'", "incorrect", "after the import"),
        ("from torch import nn\nimport os\nos.environ['PYTORCH_ENABLE_MPS_FALLBACK'] = '1'", "incorrect", "after"),
        ("import os\nos.environ['PYTORCH_MPS_FALLBACK'] = '1'\nimport torch", "incorrect", "spelling"),
        ("import os\nos.environ['PYTORCH_ENABLE_MPS_FALLBACK'] = '1'", "incorrect", "never imports"),
        (SET.format("'-1'"), "correct", ""),
        (SET.format("'0'"), "incorrect", "0 is off"),
        (SET.format("'True'"), "incorrect", "whole number"),
        (SET.format("1"), "incorrect", "did not run"),
        (SET.format("'1'") + "import torch.nn as nn", "correct", "import"),
        (SET.format("'1'") + "model = torch.nn.Linear(2, 2).to('mps')\nprint(model(torch.zeros(2)))", "correct", ""),
        ("import os\nos.environ.setdefault('PYTORCH_ENABLE_MPS_FALLBACK', '1')\nfrom torch import nn", "correct", ""),
    ],
)
def test_the_script_is_run_and_watched(script, state, word):
    verdict = judge(all_exercises()["08-script"], script)
    assert (verdict.state, word in verdict.messages[0]["en"]) == (state, True), verdict.messages


@pytest.mark.parametrize(
    ("body", "state", "word"),
    [
        ("stamps.float() - stamps.float()[0]", "incorrect", "before the subtraction"),
        ("stamps - stamps[0]", "partly", "float64"),
        ("(stamps - stamps.min()).float()", "incorrect", "first entry"),
        ("(stamps - stamps[0]).half()", "incorrect", "torch.float16"),
        ("list(stamps)", "incorrect", "one tensor"),
        ("stamps.sub_(stamps[0].clone()).float()", "incorrect", "changed"),
        ("None", "not attempted", ""),
        ("stamps.sub(stamps[0]).to(torch.float32)", "correct", ""),
    ],
)
def test_times_survive_only_in_the_right_order(body, state, word):
    verdict = verdict_of("08-seconds", f"def seconds_since_start(stamps): return {body}")
    assert (verdict.state, word in verdict.messages[0]["en"]) == (state, True), verdict.messages


@pytest.mark.parametrize(
    ("numbers", "state"),
    [
        ([1.0, 2.5, 4.0], "incorrect"),
        ([5.0, 5.0], "incorrect"),
        ([1e300, 1.0], "incorrect"),
        (7, "incorrect"),
        ([1.0], "incorrect"),
        ([1_700_000_000, 1_700_000_030], "correct"),
        ((0.1, 0.1 + 1e-9), "correct"),
        ([1e8, 2e8], "incorrect"),
    ],
)
def test_losing_counts_on_evidence(numbers, state):
    assert judge(all_exercises()["08-make-it-lose"], numbers).state == state


# --- questions --------------------------------------------------------------------------------------------

# --- the simulated machines -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MACHINES)
def test_a_simulated_machine_answers_as_one(name):
    questions = [
        torch.cuda.is_available,
        torch.backends.mps.is_available,
        torch.backends.mps.is_built,
        torch.xpu.is_available,
        torch.accelerator.is_available,
        torch.accelerator.current_accelerator,
    ]
    before = [ask() for ask in questions]
    with pretend(name) as machine:
        answers = {kind: getattr(torch, kind).is_available() for kind in KINDS}
        assert answers == {kind: machine.best == kind for kind in KINDS}
        assert torch.accelerator.is_available() == machine.usable == (torch.accelerator.device_count() == 1)
        assert torch.backends.mps.is_available() == (machine.best == "mps")
        accelerator = torch.accelerator.current_accelerator()
        assert (accelerator and accelerator.type) == machine.built
    assert [ask() for ask in questions] == before


def test_every_bet_is_settled_by_its_experiment():
    from course.records import Record

    bets = [item for item in PRACTICE if item.kind == "predict"]
    assert len(bets) == 6
    for item in bets:
        empty = Record(item.experiment, 1, LESSON, {}, [])
        assert base.get(item.experiment).settles(empty) == {item.id: None}

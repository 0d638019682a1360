"""Lesson 06: exercises, tasks, keys and toys give the verdicts they should. Nothing is timed."""

from __future__ import annotations

import random

import pytest
import torch

from course import flags, toy_search
from course.exercise import all_exercises, judge
from course.lessons.l06_cudnn_deterministic import filters as toy_filter
from course.lessons.l06_cudnn_deterministic import training as toy_repro
from course.quiz.bank import Bank
from grader.project import Project

LESSON = "06_cudnn_deterministic"
BANK = Bank()
PRACTICE = BANK.items(LESSON)


def verdict_of(exercise_id: str, source: str):
    exercise = all_exercises()[exercise_id]
    space: dict = {"torch": torch}
    exec(source, space)
    return judge(exercise, space[exercise.name])


# --- exercises --------------------------------------------------------------------------------------------

SEED = "import random, numpy\ndef seed_everything(seed):\n    "
SUM = "steady_sum = lambda values: "
RUN = "def repeatable(run, seed):\n    "
MODE = "torch.use_deterministic_algorithms(True)\n    "


@pytest.mark.parametrize("exercise_id", ["06-seed-everything", "06-steady-sum", "06-repeatable", "06-make-it-lose"])
def test_the_solution_is_correct_and_leaves_nothing_behind(exercise_id):
    before, state = flags.read(), random.getstate()
    assert verdict_of(exercise_id, all_exercises()[exercise_id].solution).state == "correct"
    assert flags.read() == before and random.getstate() == state


@pytest.mark.parametrize(
    ("exercise_id", "source", "state", "words"),
    [
        ("06-seed-everything", SEED + "torch.manual_seed(seed)", "partly", "random, numpy"),
        (
            "06-seed-everything",
            SEED + "random.seed(seed); torch.manual_seed(seed); numpy.random.default_rng(seed)",
            "partly",
            "numpy",
        ),
        ("06-seed-everything", SEED + "torch.use_deterministic_algorithms(True)", "incorrect", "sets no seed"),
        (
            "06-seed-everything",
            SEED + "random.seed(0); numpy.random.seed(0); torch.manual_seed(0)",
            "incorrect",
            "use the argument",
        ),
        ("06-seed-everything", SEED + "torch.seed()", "incorrect", "none of the three"),
        ("06-seed-everything", SEED + "random.seed(seed)\n    raise NotImplementedError", "not attempted", ""),
        ("06-steady-sum", SUM + "values.sum()", "incorrect", "shared out"),
        ("06-steady-sum", SUM + "None", "incorrect", "gave back None"),
        ("06-steady-sum", SUM + "values[:2]", "incorrect", "gave back Tensor [2]"),
        ("06-steady-sum", SUM + "values.double().sum().float()", "incorrect", "huge numbers cancel"),
        ("06-steady-sum", SUM + "values.sort().values.sum()", "incorrect", "shared out"),
        ("06-steady-sum", SUM + "values[:32768].sum()", "incorrect", "the sum is about"),
        (
            "06-steady-sum",
            SUM + "torch.stack([p.sum() for p in values.split(100_000)]).sum()",
            "incorrect",
            "shared out",
        ),
        ("06-steady-sum", SUM + "torch.stack([p.sum() for p in values.split(500)]).sum()", "correct", ""),
        ("06-steady-sum", "import math\n" + SUM + "math.fsum(values.tolist())", "correct", ""),
        ("06-repeatable", RUN + "torch.manual_seed(seed)\n    return run()", "incorrect", "mode is off"),
        (
            "06-repeatable",
            RUN + "torch.backends.cudnn.deterministic = True\n    torch.manual_seed(seed)\n    return run()",
            "incorrect",
            "mode is off",
        ),
        ("06-repeatable", RUN + MODE + "return run()", "incorrect", "sets no seed"),
        ("06-repeatable", RUN + MODE + "torch.manual_seed(0)\n    return run()", "incorrect", "use the argument"),
        ("06-repeatable", RUN + MODE + "torch.manual_seed(seed)\n    run()", "incorrect", "Hand back"),
        (
            "06-repeatable",
            RUN + "torch.use_deterministic_algorithms(True, warn_only=True)\n    torch.manual_seed(seed)\n    "
            "return run()",
            "incorrect",
            "warn_only",
        ),
        ("06-repeatable", RUN + MODE + "torch.manual_seed(seed)\n    return run()", "partly", "not what it was"),
        (
            "06-repeatable",
            RUN + "before = torch.get_deterministic_debug_mode()\n    " + MODE + "torch.manual_seed(seed)\n"
            "    seen = run()\n    torch.set_deterministic_debug_mode(before)\n    return seen",
            "partly",
            "exception",
        ),
        ("06-make-it-lose", 'pair = ({"threads": 1}, {"threads": 2})', "incorrect", "too small"),
        ("06-make-it-lose", 'pair = ({"seed": 1}, {"seed": 2})', "incorrect", "another experiment"),
        ("06-make-it-lose", 'pair = ({"samples": 300}, {})', "incorrect", "another experiment"),
        ("06-make-it-lose", "pair = 0.1", "incorrect", "two dictionaries"),
        ("06-make-it-lose", 'pair = ({"gpu": 1}, {})', "incorrect", "no setting gpu"),
        ("06-make-it-lose", 'pair = ({"threads": 99}, {})', "incorrect", "from 1 to 8"),
        ("06-make-it-lose", 'pair = ({"pieces": 1}, {"pieces": 3})', "correct", "Accepted"),
    ],
)
def test_typical_answers_get_what_they_deserve(exercise_id, source, state, words):
    before = flags.read()
    verdict = verdict_of(exercise_id, source)
    assert verdict.state == state
    assert words in " ".join(message["en"] for message in verdict.messages)
    assert flags.read() == before


# --- questions --------------------------------------------------------------------------------------------


def test_an_item_may_say_which_claims_it_refutes():
    refuted = {claim for item in PRACTICE for claim in item.refutes}
    assert {"0-11", "2-8", "2-24", "2-41", "2-50", "2-55", "2-62", "2-64", "2-68", "2-74", "2-80"} <= refuted


def test_every_card_of_the_lesson_is_shown_in_its_notebook():
    text = Project().lesson_source(LESSON).read_text(encoding="utf-8")
    assert [item.id for item in PRACTICE if f'"{item.id}"' not in text] == []


# --- the toys ---------------------------------------------------------------------------------------------


def test_all_candidates_compute_the_same_convolution():
    x, weight = toy_search.image(17), toy_search.kernel()
    for candidate in toy_filter.CANDIDATES.values():
        torch.testing.assert_close(candidate(x, weight), toy_search.direct(x, weight), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("benchmark", [False, True])
def test_the_filter_holds_with_and_without_the_stopwatch(benchmark):
    x, weight = toy_search.image(12), toy_search.kernel()
    conv = toy_filter.FilterConv(benchmark, deterministic=True)
    conv(x, weight)
    assert conv.timed == (conv.allowed() if benchmark else [])
    assert not set(conv.allowed() + list(conv.plans.values())) & set(toy_filter.NONDETERMINISTIC)
    conv.deterministic = False  # part of the key: another plan
    conv(x, weight)
    assert len(conv.plans) == 2


def test_small_training_repeats_itself_and_pieces_change_its_bits():
    one, again, cut = (toy_repro.small_training(pieces=n) for n in (1, 1, 4))
    assert one.equal(again) and not one.equal(cut)
    torch.testing.assert_close(one, cut, atol=1e-5, rtol=1e-5)
    assert toy_repro.fingerprint(one) == toy_repro.fingerprint(again) != toy_repro.fingerprint(cut)
    threads = torch.get_num_threads()
    with pytest.raises(ValueError, match="pieces is a whole number from 1 to 16"):
        toy_repro.small_training(pieces=0)
    assert torch.get_num_threads() == threads


def test_a_nudge_is_one_step_up():
    values = torch.tensor([0.3, -2.0])
    moved = values.clone()
    toy_repro.nudge(moved)
    assert bool((moved > values).all()) and torch.nextafter(moved, values).equal(values)
    assert toy_repro.fit_losses(True, 3) != [] and toy_repro.duel_losses(False, 2) == toy_repro.duel_losses(False, 2)

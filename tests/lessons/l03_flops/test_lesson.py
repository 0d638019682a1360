"""Lesson 03: every exercise and task gives the verdict it should, every bet is settled by its experiment."""

from __future__ import annotations

import random

import pytest

from course.exercise import MISSING, all_exercises, judge
from course.experiment.base import load_all, run
from course.records import Record
from grader.project import Project, tasks
from tests.lessons.l03_flops.rows import BETS, macs, roofs, shares

LESSON = "03_flops"
TASK = tasks(Project(), LESSON)


def verdict_of(exercise_id: str, obj: object):
    return judge(all_exercises()[exercise_id], obj)


def state(exercise_id: str, obj: object) -> str:
    return verdict_of(exercise_id, obj).state


def solution_of(exercise_id: str) -> object:
    import torch

    from course.flops import count
    from course.timing import compare

    exercise = all_exercises()[exercise_id]
    space = {"torch": torch, "count": count, "compare": compare}
    exec(exercise.solution, space)
    return space[exercise.name]


# --- exercises -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("exercise_id", ["03-conv-macs", "03-least-ms"])
def test_the_solution_is_correct_and_nothing_is_not_attempted(exercise_id):
    assert state(exercise_id, solution_of(exercise_id)) == "correct"
    assert state(exercise_id, ...) == state(exercise_id, MISSING) == "not attempted"
    assert state(exercise_id, lambda *inputs: ...) == "not attempted"
    assert state(exercise_id, lambda *inputs: None) == "not attempted"


@pytest.mark.parametrize(
    "wrong, word",
    [
        (lambda *a: 2 * macs(*a), "FLOPs"),
        (lambda n, *a: macs(1, *a), "batch"),
        (lambda *a: macs(*a[:6]), "groups are missing"),
        (lambda *a: macs(*a) // (*a, 1)[6], "twice"),
        (lambda *a: macs(*a) // a[3], "square"),
        (lambda *a: macs(*a) // a[3] ** 2, "The filter is missing"),
        (lambda *a: macs(*a) + a[0] * a[2] * a[4] * a[5], "bias"),
        (lambda *a: 7, "is right"),
        (lambda *a: "many", "one number"),
        (lambda *a: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_a_wrong_convolution_is_told_why(wrong, word):
    verdict = verdict_of("03-conv-macs", wrong)
    assert verdict.state == "incorrect" and word in verdict.messages[0]["en"]


def compute(macs, moved, peak, bandwidth):
    return 2 * macs / (peak * 1e6)


def memory(macs, moved, peak, bandwidth):
    return moved / (bandwidth * 1e6)


@pytest.mark.parametrize(
    "wrong, word",
    [
        (lambda *a: max(compute(*a) / 2, memory(*a)), "two FLOPs"),
        (lambda *a: compute(*a) + memory(*a), "longer"),
        (lambda *a: min(compute(*a), memory(*a)), "the arithmetic takes longer"),
        (lambda *a: max(compute(*a), memory(*a)) / 1e3, "seconds"),
        (compute, "the memory takes longer"),
        (memory, "the arithmetic takes longer"),
        (lambda *a: -1.0, "alone"),
        (lambda *a: float("nan"), "one number"),
    ],
)
def test_a_wrong_least_time_is_told_why(wrong, word):
    verdict = verdict_of("03-least-ms", wrong)
    assert verdict.state == "incorrect" and word in verdict.messages[0]["en"]


@pytest.mark.parametrize("wrong", [1.4, {"more_macs": 3}, {"more_macs": 3, "fewer_macs": 1, "comparison": 0.8}])
def test_losing_without_evidence_is_incorrect(wrong):
    assert state("03-lose", wrong) == "incorrect"


def test_the_solution_of_losing_saves_work_and_its_check_never_crashes():
    evidence = solution_of("03-lose")
    assert evidence["fewer_macs"] < 0.95 * evidence["more_macs"]
    assert state("03-lose", evidence) in ("correct", "inconclusive", "incorrect")  # the time is the machine's


# --- checkpoint tasks ----------------------------------------------------------------------------------


def test_the_solutions_agree_with_the_counter():
    import torch
    from torch import nn

    from course.flops import count

    layer, step = TASK["03-t-layer"].reference, TASK["03-t-step"].reference
    for case in TASK["03-t-layer"].draw(random.Random(5)):
        kind, n, c_in, c_out, kernel, size, stride, padding, groups = case.args
        kind = nn.Conv2d if kind == "conv" else nn.ConvTranspose2d
        module = kind(c_in, c_out, kernel, stride=stride, padding=padding, groups=groups)
        assert count(module, torch.zeros(n, c_in, size, size)).macs == layer(*case.args)
    for trained in ([True] * 3, [False, True, True], [True, False, True], [False, True, False]):
        sizes = [3, 5, 2, 4]
        layers = [nn.Linear(a, b) for a, b in zip(sizes, sizes[1:], strict=False)]
        for module, learns in zip(layers, trained, strict=True):
            module.requires_grad_(learns)
        work = [module.weight.numel() for module in layers]
        assert count(nn.Sequential(*layers), torch.zeros(1, 3), training=True).macs == step(work, trained)


# --- bets and sentences --------------------------------------------------------------------------------


def record(name: str, rows: list[dict]) -> Record:
    return Record(name, 1, LESSON, {"device": "cpu"}, rows)


@pytest.mark.parametrize("name, bet, outcomes", BETS)
def test_the_experiment_settles_its_bet_every_way(name, bet, outcomes):
    experiment = load_all()[name]
    for rows, expected in outcomes:
        found = record(name, rows)
        assert experiment.settles(found) == {bet: expected}
        sentence = experiment.finding(found)
        assert sentence["en"] and sentence["zh"]
        if rows and expected is None and name == "03-depthwise":
            assert "Inconclusive" in sentence["en"] and "无法判定" in sentence["zh"]


def test_every_bet_of_the_lesson_is_settled_here_and_its_options_can_all_win():
    from course.quiz.bank import load_bank

    settled = {bet: (name, {option for _, option in outcomes if option}) for name, bet, outcomes in BETS}
    bets = [item for item in load_bank().items(LESSON) if item.kind == "predict"]
    assert {item.id: (item.experiment, {option.id for option in item.options}) for item in bets} == settled


def test_the_groups_that_lost_are_named():
    sentence = load_all()["03-groups"].finding(record("03-groups", shares(1.1, 1.2)))
    assert "Slower than dense in spite of fewer MACs: 128 groups." in sentence["en"]
    assert "Slower" not in load_all()["03-groups"].finding(record("03-groups", shares(0.9, 1.2)))["en"]


# --- live, small ---------------------------------------------------------------------------------------


def test_the_counts_settle_their_bets_live():
    experiments = load_all()
    found = run("03-length")
    assert experiments["03-length"].settles(found) == {"03-bet-length": "c"}
    for row in found.rows:
        tokens = row["tokens"]
        assert (row["linear_macs"], row["attention_macs"]) == (12 * 768**2 * tokens, 2 * tokens**2 * 768)


def test_one_switch_hides_the_lstm_live():
    import torch

    if not torch.backends.mkldnn.is_available():
        pytest.skip("needs oneDNN")
    assert load_all()["03-lstm-zero"].settles(run("03-lstm-zero")) == {"03-bet-lstm": "a"}


def test_the_roof_is_measured_live(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_HOME", str(tmp_path))
    found = run("03-roof", 8.0)
    peak, batch, *operations = found.rows
    assert peak["flops_per_s"] > 0 and peak["ridge"] == pytest.approx(peak["flops_per_s"] / peak["bytes_per_s"])
    work = {row["operation"]: row for row in operations}
    expected = {
        "linear, batch 1": (2 * 4096**2, 4 * (4096**2 + 2 * 4096)),
        "linear, batch 64": (2 * 64 * 4096**2, 4 * (4096**2 + 2 * 64 * 4096)),
        "matrix product": (2 * 1024**3, 3 * 4 * 1024**2),
        "depthwise conv": (2 * 56**2 * 128 * 9, 4 * (2 * 128 * 56**2 + 128 * 9)),
        "dense conv": (2 * 56**2 * 128**2 * 9, 4 * (2 * 128 * 56**2 + 128**2 * 9)),
        "ReLU": (0, 2 * 4 * 4 * 128 * 112**2),
    }
    assert work and list(work) == list(expected)[: len(work)]  # a busy machine runs out of time earlier
    assert len(work) == 6 or not found.complete
    for name, row in work.items():
        assert (row["flops"], row["bytes"]) == expected[name], name
    assert batch["work_ratio"] == 64 and 0 < batch["low"] <= batch["ratio"] <= batch["high"]


def test_a_busy_machine_is_said():
    sentence = load_all()["03-roof"].finding(record("03-roof", roofs(3, 4, busy=1)))
    assert "The machine was busy" in sentence["en"] and "机器正忙" in sentence["zh"]


@pytest.mark.parametrize("name", ["03-depthwise", "03-groups"])
def test_the_races_give_whole_rows(name):
    rows = run(name, 1.0).rows
    assert rows and all(0 < row["low"] <= row["ratio"] <= row["high"] for row in rows)
    assert all(row["macs_ratio"] == pytest.approx(1 / row["groups"]) and row["threads"] == 1 for row in rows)

"""Lesson 10: the live cases run here in a fraction of their time; their facts are exact, nothing stays switched, no speed is
asserted.
"""

from __future__ import annotations

import pytest
import torch

from course import flags
from course.core.machine import can
from course.core.records import Record, save
from course.experiment import base
from course.game import cases
from course.learning.log import AnswerLog
from course.lessons.l10_tuning_master import game, panel, workloads
from tests.lessons.l10_tuning_master.rows import LIVE, table
from tests.lessons.live import record_of

LESSON = "10_tuning_master"


@pytest.fixture(autouse=True)
def one_thread():
    """Cases without a control for threads run on one, so that a busy machine does not make two wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def facts(case_id: str, **config: str) -> dict:
    plan = panel.plan_of(cases.find(case_id))
    with base.restored():
        return workloads.WORKLOADS[case_id].facts({**plan.today, **config})


def one_run(name: str) -> dict[str, dict]:
    """The advice against today's: rows with ratio and facts, words on the way, every switch as before."""
    if not can(base.get(name).needs):
        pytest.skip("this build of PyTorch has no oneDNN, and the case would be replayed")
    plan = panel.plan_of(cases.find(name))
    other = next(one for one in [plan.advice, *plan.configs()] if one != plan.today)
    before, threads = flags.read(), torch.get_num_threads()
    random = torch.random.get_rng_state()
    record = base.run_experiment(base.get(name), 0.1, configs=[other])
    assert flags.read() == before and torch.get_num_threads() == threads
    assert torch.equal(torch.random.get_rng_state(), random)
    found = {row["config"]: row for row in record.rows}
    assert set(found) == {panel.key(plan.today), panel.key(other)} and record.live
    for row in found.values():
        assert row["low"] <= row["ratio"] <= row["high"] and row["median_ms"] > 0
        assert all(f"fact_{limit.id}" in row for limit in plan.limits)
    assert found[panel.key(plan.today)]["ratio"] == 1.0
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in LIVE if name != "10-laptop"])
def test_one_run_of_a_live_case(name):
    one_run(name)


def test_an_experiment_takes_the_seconds_of_its_cases_hand_in():
    said = {name: panel.plan_of(cases.find(name)).seconds[1] for name in LIVE}
    assert said == {name: base.get(name).seconds for name in LIVE}


def test_a_player_gets_what_the_experiment_measured(tmp_path):
    desk = game.player(cases.find("museum"), AnswerLog(tmp_path / "answers.jsonl"))
    said = []
    desk._write = said.append
    desk.run(mode="eval", bet="faster", confidence="guess")
    (run,) = desk.play.attempt.runs
    assert run.outcome["facts"] == {"statistics": True} and run.today["facts"] == {"statistics": False}
    assert run.evidence["evidence"] == "live" and torch.__version__ in run.evidence["machine"]["en"]
    assert torch.__version__ in said[-1]


def test_no_grad_does_not_stop_batchnorm_and_eval_does():
    assert facts("10-museum", mode="train", grad="inference_mode") == {"statistics": False}
    assert facts("10-museum", mode="eval", grad="grad") == {"statistics": True}


def test_the_errors_of_number_types_stand_in_order_and_bfloat16_keeps_the_limit():
    errors = {kind: facts("10-bank", dtype=kind)["error"] for kind in ("fp32", "autocast", "bf16")}
    limit = panel.plan_of(cases.find("bank")).limits[0].most
    assert errors["fp32"] < 1e-5 < errors["bf16"] < limit
    assert errors["autocast"] == pytest.approx(errors["bf16"], rel=0.5), "autocast computes in bfloat16 too"
    if workloads.possible({"dtype": "int8"}):
        assert facts("10-bank", dtype="int8")["error"] > limit


def test_one_run_of_the_laptop_where_pieces_of_four_fit_into_a_third_and_checkpoints_alone_do_not():
    today, checkpoints = (row["fact_peak"] for row in one_run("10-laptop").values())
    assert facts("10-laptop", micro_batch="4")["peak"] < today / 3 < checkpoints < today


@pytest.mark.parametrize("name", LIVE)
def test_the_headline_follows_the_table(name):
    def told(best: float, broken: bool = False) -> str:
        return base.get(name).headline(record_of(name, table(name, best, broken)))["en"]

    limits = panel.plan_of(cases.find(name)).limits
    assert "50 % less" in told(0.5)
    assert ("50 % less" in told(0.5, broken=True)) == (not limits), "what breaks a limit is not the best, however fast"
    if name != "10-laptop":  # there today's breaks the limit
        assert "Nothing to gain" in told(1.4)


def test_where_nothing_can_be_measured_a_recording_is_replayed_or_it_is_said(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("course.core.machine.can", lambda needs: needs == "cpu")
    monkeypatch.setattr("course.core.records.LESSONS", tmp_path)
    desk = game.player(cases.find("voice"), AnswerLog(tmp_path / "answers.jsonl"))
    desk.run(onednn="off", bet="same", confidence="guess")
    assert "no recording" in capsys.readouterr().out and not desk.play.attempt.runs
    rows = table("10-voice")
    exp = base.get("10-voice")
    save(
        Record("10-voice", exp.version, LESSON, {"device": "cpu", "torch": "9.9"}, rows),
        tmp_path / "l10_x" / "recordings",
    )
    fast = panel.config_in(next(row["config"] for row in rows if row["ratio"] == 0.5))
    desk.run(bet="faster", confidence="guess", **fast)
    assert desk.play.attempt.runs[0].evidence["evidence"] == "recording"
    assert "replay" in capsys.readouterr().out


def test_a_busy_machine_asks_only_where_it_would_measure(monkeypatch):
    monkeypatch.setattr(game.load, "busy", lambda: True)
    monkeypatch.delenv("COURSE_REPLAY", raising=False)
    assert game.busy(cases.find("10-museum")) and not game.busy(cases.find("10-gan"))  # a rule decides the second
    monkeypatch.setenv("COURSE_REPLAY", "0")  # chosen already
    assert not game.busy(cases.find("10-museum"))


@pytest.mark.parametrize(("interrupted", "raised"), [(True, KeyboardInterrupt), (False, base.ExperimentError)])
def test_a_run_that_ends_before_anything_is_measured_does_not_count(monkeypatch, interrupted, raised):
    case, limits = cases.find("10-museum"), []
    nothing = Record(case.id, 1, LESSON, {"device": "cpu"}, [], interrupted=interrupted)
    monkeypatch.setattr(
        base, "run_experiment", lambda exp, seconds, limit_s, **_: limits.append(limit_s / seconds) or nothing
    )
    with pytest.raises(raised):
        game.measure(case, [panel.plan_of(case).advice])
    assert limits == pytest.approx([base.PATIENCE])  # it ends, however busy the machine is

"""Lesson 10: cases are sound in both languages and played to their end, live ones run here; the score; the price of a compilation."""

from __future__ import annotations

import re

import pytest
import torch

from course import flags
from course.core.catalog import BY_ID, lesson_folder
from course.core.i18n import LANGUAGES, pick, set_language
from course.core.machine import can
from course.core.markup import plain
from course.core.records import Record, load, save
from course.experiment import base
from course.experiment.result import block
from course.figures.svg import SvgPicture
from course.game import cases, view
from course.learning.log import AnswerLog
from course.lessons.l10_tuning_master import game, panel, workloads
from course.lessons.l10_tuning_master.desk import Desk
from course.lessons.l10_tuning_master.experiments import STATES
from course.lessons.l10_tuning_master.panel import FEW, Table
from course.lessons.l10_tuning_master.tuning import Bet, Measured, Tuning, tells
from course.lessons.l10_tuning_master.workloads import job
from course.questions import knowledge
from tests.lessons.l10_tuning_master.rows import LIVE, REFUSED, compiling, table
from tests.lessons.live import check_picture, check_sentence, record_of

LESSON, PRICE = "10_tuning_master", "10-compile-price"
CASES = cases.cases(LESSON)
PLANS = {name: panel.plan_of(case) for name, case in CASES.items()}
RULED = [name for name, case in CASES.items() if case.evidence == "rule"]


@pytest.mark.parametrize("name", CASES)
def test_the_data_of_a_case_are_sound(name):
    """A panel names only what is on it, a debrief only what exists."""
    plan, told, known = PLANS[name], CASES[name].debrief, {one.id: set(one.values) for one in PLANS[name].controls}
    assert set(plan.today) == set(known) and plan.about and set(plan.about) <= set(known)
    for config in (plan.today, plan.advice or {}, *(rule.when for rule in plan.rules)):
        assert all(value in known[control] for control, value in config.items()), config
    assert all(2 <= len(values) <= 4 for values in known.values()), "two to four fit a narrow screen"
    assert bool(plan.rules) == (name in RULED)
    assert not told.card or told.card in knowledge.read()
    assert not told.experiment or base.get(told.experiment)
    sources = " ".join(map(pick, CASES[name].sources))
    named, lessons = re.findall(r"experiment (\d\d-[a-z0-9-]+)", sources), re.findall(r"lesson (\d\d)", sources)
    assert all(base.get(one) for one in named)
    assert set(lessons) <= {one[:2] for one in BY_ID}


@pytest.mark.parametrize("name", LIVE)
def test_a_live_case_has_an_experiment_and_a_workload_for_each_setting(name):
    assert base.get(name).lesson == LESSON and name in workloads.WORKLOADS
    assert PLANS[name].seconds[1] == base.get(name).seconds
    assert len(PLANS[name].configs()) > PLANS[name].runs, "trying everything must not be possible"
    assert PLANS[name].advice is not None


@pytest.mark.parametrize("name", RULED)
def test_a_ruled_case_reaches_every_rule_and_has_one_best_share_that_today_is_not(name):
    rules, ruled = PLANS[name].rules, panel.ruled(PLANS[name])
    assert {one["rule"] for one in ruled.values()} == set(range(len(rules)))
    assert all(0 <= one.share <= 1 and one.source for one in rules)
    table = Table(PLANS[name], ruled)
    best = table.best_set()
    assert best and table.today not in best
    named = panel.shared(best).items()
    assert {panel.key(one) for one in PLANS[name].configs() if named <= one.items()} == set(best), "said in a few words"
    if advice := PLANS[name].advice:
        assert panel.key(advice) not in best, "the usual advice leaves something out"


def detector_s(config) -> float:
    """The seconds of the job in the detector's case, from the figures that it gives."""
    on, sizes = config["benchmark"] == "on", config["sizes"]
    pixels, searches = {"free": 1.0, "ten": 1.05, "one": 2.2}[sizes], {"free": 2000, "ten": 10, "one": 1}[sizes]
    return (on * searches * 60 + 2000 * (38 if on else 45) * pixels) / 1000


def test_the_sums_of_a_rule_are_right_and_order_its_shares():
    plan, sums = PLANS["10-detector"], {}
    for config in plan.configs():
        rule = next(one for one in plan.rules if one.fits(config))
        told = [float(re.findall(r"([\d.]+) s", pick(rule.says, code))[-1]) for code in LANGUAGES]
        assert told == [pytest.approx(detector_s(config), abs=0.06)] * 2, config
        sums[detector_s(config)] = rule.share
    shares = [sums[total] for total in sorted(sums)]
    assert shares == sorted(shares, reverse=True) and shares[0] == 1


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", CASES)
def test_every_case_can_be_played_to_its_end(name, language, tmp_path):
    """By typing, on an invented table: the best is handed in, the cause found, and all is told in the language."""
    set_language(language)
    case, plan = CASES[name], PLANS[name]

    def measured(case, configs):
        return Measured({row["config"]: row | {"facts": facts_of(row)} for row in table(name)}, "live")

    made = Table(plan, panel.ruled(plan) if plan.rules else measured(case, None).outcomes)
    best, said = panel.config_in(made.best_set()[0]), []
    desk = Desk(Tuning(case, AnswerLog(tmp_path / "answers.jsonl"), measured), text=True, write=said.append)
    desk.show()
    for config in (best, beside(plan, best)):
        if config != plan.today:
            desk.run(bet=made.came_out(panel.key(config)), confidence="certain", **config)
    desk.hint()
    desk.hand_in(**best)
    desk.cause(case.right.id)
    assert desk.play.attempt.score().points == 9.5, "all but the hint"
    assert "\n".join(said).count(view.cause_said(True)) == 2, "by itself, and among the answers"
    told, whole = "\n".join(said), str(desk)
    whys = [one.why for one in case.cause.options]
    for text in (case.ticket, case.hints[0], *whys, case.debrief.why, case.debrief.trap, case.letter.model):
        assert plain(pick(text)) in told and plain(pick(text)) in whole
    told = (told + whole).replace(pick(case.code), "")
    assert "9.5 / 10" in told and not re.search(r"None|[{}]|\*\*|\bnan\b", told), told
    assert bool(re.search(r"[一-鿿]", told)) == (language == "zh")
    if language == "zh":
        assert not re.search(r"[\u4e00-\u9fff][,;:?!]|[,;?!][\u4e00-\u9fff]|client|lesson", told), (
            "Chinese has its own signs"
        )


def beside(plan, config: dict) -> dict:
    """A setting that differs from this one in a control that the cause is about, today's where it does."""
    near = [
        one for one in plan.configs() if {name for name, _ in one.items() ^ config.items()} in [{a} for a in plan.about]
    ]
    return plan.today if plan.today in near else near[0]


def facts_of(row: dict) -> dict:
    return {name[5:]: value for name, value in row.items() if name.startswith("fact_")}


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
    monkeypatch.setattr(game.cpu_load, "busy", lambda: True)
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


def recorded(case: cases.Case) -> Table:
    """The table of a case: of a live one the newest that was recorded."""
    plan = panel.plan_of(case)
    if plan.rules:
        return Table(plan, panel.ruled(plan))
    newest = max((lesson_folder(LESSON) / "recordings").glob(f"{case.id}--*.json"))
    return Table(plan, {row["config"]: panel.outcome_of(row) for row in load(newest).rows})


TABLES = {case.id: recorded(case) for case in cases.cases(LESSON).values() if not case.tutorial}


def test_a_run_that_keeps_what_today_breaks_is_evidence_also_where_no_bet_is_decided():
    table = TABLES["10-laptop"]
    (name, *_), today = table.best_set(), table.outcomes[table.today]
    for outcome, told in ((table.outcomes[name], True), (table.outcomes[name] | {"verdict": FEW}, False)):
        assert tells(table.plan, Bet(panel.config_in(name), "faster", 3, outcome, today, None, {})) is told


@pytest.mark.parametrize("name", [name for name, table in TABLES.items() if not table.plan.rules])
def test_a_recording_decides_whatever_is_handed_in(name):
    assert all(map(TABLES[name].decided, TABLES[name].outcomes))


@pytest.mark.parametrize(
    "rows, outcome, calls",
    [
        (compiling(), "after calls", {"empty": 24213, "kept": 3607}),  # 7.99 s / 0.33 ms and 1.19 s / 0.33 ms
        (compiling(kept_s=0.001), "after calls", {"empty": 24213, "kept": 1}),
        (compiling(call_ms=0.99), "no payback", {}),  # the intervals overlap
        ([*compiling()[:2], compiling(call_ms=1.5)[2]], "no payback", {}),  # faster only once
        ([compiling()[0] | {"low_ms": 1.0, "high_ms": 1.0}, *compiling()[1:]], "no payback", {}),  # one round
        (REFUSED, "refused", {}),
    ],
)
def test_each_outcome_has_its_sentence_and_its_picture(rows, outcome, calls):
    """A number of calls is told and drawn only where both compiled processes gain for sure."""
    record = record_of(PRICE, rows)
    found = base.get(PRICE).reading(record)
    assert (found.outcome, found.numbers) == (outcome, calls)
    assert isinstance(check_picture(record), SvgPicture) == bool(calls)
    assert ("No working C++ compiler" in str(block(record, base.get(PRICE)))) == (rows is REFUSED)


def test_the_job_as_written_gives_the_row_that_is_shown():
    assert [set(row) for row in job(False, 0.1)] == [set(compiling()[0]) - {"state"}]


@pytest.mark.long
def test_a_real_run_measures_three_processes():
    """Without a C++ compiler it says so; with one both caches are paid for, the kept one less."""
    record = base.run(PRICE)
    rows = {row["state"]: row for row in record.rows}
    assert list(rows) == list(STATES) and rows["plain"]["call_ms"] > 0
    if "refused" not in rows["empty"]:
        assert rows["empty"]["first_s"] > rows["kept"]["first_s"] > rows["plain"]["first_s"]
    check_sentence(record)

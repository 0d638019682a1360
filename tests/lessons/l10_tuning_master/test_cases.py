"""Lesson 10: every case is sound in both languages, its right answer can be reached, its rules say what arithmetic says."""

from __future__ import annotations

import re

import pytest

from course.core.catalog import BY_ID
from course.core.i18n import LANGUAGES, pick, set_language
from course.core.markup import plain
from course.experiment import base
from course.game import cases, view
from course.learning.log import AnswerLog
from course.lessons.l10_tuning_master import panel
from course.lessons.l10_tuning_master.desk import Desk
from course.lessons.l10_tuning_master.panel import Table
from course.lessons.l10_tuning_master.tuning import Measured, Tuning
from course.questions import knowledge
from tests.lessons.l10_tuning_master.rows import table

LESSON = "10_tuning_master"
CASES = cases.cases(LESSON)
PLANS = {name: panel.plan_of(case) for name, case in CASES.items()}
RULED = [name for name, case in CASES.items() if case.evidence == "rule"]
LIVE = [name for name, case in CASES.items() if case.evidence == "live"]


@pytest.mark.parametrize("name", CASES)
def test_a_panel_names_only_what_is_on_it(name):
    plan, known = PLANS[name], {one.id: set(one.values) for one in PLANS[name].controls}
    assert set(plan.today) == set(known) and plan.about and set(plan.about) <= set(known)
    for config in (plan.today, plan.advice or {}, *(rule.when for rule in plan.rules)):
        assert all(value in known[control] for control, value in config.items()), config
    assert all(2 <= len(values) <= 4 for values in known.values()), "two to four fit a narrow screen"
    assert bool(plan.rules) == (name in RULED)


@pytest.mark.parametrize("name", RULED)
def test_every_rule_is_reached_and_has_a_source(name):
    rules = PLANS[name].rules
    assert {one["rule"] for one in panel.ruled(PLANS[name]).values()} == set(range(len(rules)))
    assert all(0 <= one.share <= 1 and one.source for one in rules)


@pytest.mark.parametrize("name", CASES)
def test_what_a_debrief_names_exists(name):
    told = CASES[name].debrief
    assert not told.card or told.card in knowledge.read()
    assert not told.experiment or base.get(told.experiment)
    sources = " ".join(map(pick, CASES[name].sources))
    named, lessons = re.findall(r"experiment (\d\d-[a-z0-9-]+)", sources), re.findall(r"lesson (\d\d)", sources)
    assert all(base.get(one) for one in named)
    assert set(lessons) <= {one[:2] for one in BY_ID}


@pytest.mark.parametrize("name", LIVE)
def test_a_live_case_has_an_experiment_and_a_workload_for_each_setting(name):
    from course.lessons.l10_tuning_master.workloads import WORKLOADS

    assert base.get(name).lesson == LESSON and name in WORKLOADS
    assert len(PLANS[name].configs()) > PLANS[name].runs, "trying everything must not be possible"
    assert PLANS[name].advice is not None


@pytest.mark.parametrize("name", RULED)
def test_a_ruled_case_has_one_best_share_and_today_is_not_it(name):
    table = Table(PLANS[name], panel.ruled(PLANS[name]))
    best = table.best_set()
    assert best and table.today not in best
    named = panel.shared(best).items()
    assert {panel.key(one) for one in PLANS[name].configs() if named <= one.items()} == set(best), "said in a few words"
    if advice := PLANS[name].advice:
        assert panel.key(advice) not in best, "the usual advice leaves something out"
    for code in LANGUAGES:
        assert all(len(pick(rule.says, code)) > 8 for rule in PLANS[name].rules)


def seconds_told(rule) -> list[float]:
    return [float(re.findall(r"([\d.]+) s", pick(rule.says, code))[-1]) for code in LANGUAGES]


def detector_s(config) -> float:
    """The seconds of the job in the detector's case, from the figures that it gives."""
    on, sizes = config["benchmark"] == "on", config["sizes"]
    pixels, searches = {"free": 1.0, "ten": 1.05, "one": 2.2}[sizes], {"free": 2000, "ten": 10, "one": 1}[sizes]
    return (on * searches * 60 + 2000 * (38 if on else 45) * pixels) / 1000


@pytest.mark.parametrize(("name", "seconds"), [("10-detector", detector_s)])
def test_the_sums_of_a_rule_are_right_and_order_its_shares(name, seconds):
    plan, sums = PLANS[name], {}
    for config in plan.configs():
        rule = next(one for one in plan.rules if one.fits(config))
        assert seconds_told(rule) == [pytest.approx(seconds(config), abs=0.06)] * 2, config
        sums[seconds(config)] = rule.share
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

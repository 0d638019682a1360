"""Field reports: what nobody recorded has one, each fits, is told as reported, and settles nothing."""

from __future__ import annotations

import re

import pytest

import course
from course.core.i18n import LANGUAGES, pick, set_language
from course.experiment import base, reports
from course.questions.bank import Bank
from course.verbs import state
from course.verbs.experiments import open_bets, reported

EXPERIMENTS = base.load_all()
REPORTS = {one.id: one for one in reports.reports()}
assert len(REPORTS) == len(reports.reports()), "two reports have one id"
GPU = [name for name, one in EXPERIMENTS.items() if one.needs in ("cuda", "mps")]
BETS = {item.id: item for item in Bank().items() if item.kind == "predict"}
CHINESE = re.compile("[一-鿿]")


def test_a_gpu_experiment_has_a_recording_or_a_report():
    """And no report where a recording stands."""
    assert not [name for name in GPU if (base.recording(EXPERIMENTS[name]) is not None) == bool(reports.about(name))]


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_names_its_own_lesson_and_speaks_both_languages(name):
    report = REPORTS[name]
    assert re.fullmatch(r"https://\S+", report.link) and re.fullmatch(r"\d{4}(-\d{2}){0,2}", report.date)
    assert all(EXPERIMENTS[one].lesson.startswith(name[:2]) for one in report.experiments)
    for text in (report.what, report.does_not_show):
        assert CHINESE.search(text["zh"]) and not CHINESE.search(text["en"])
    assert not CHINESE.search(pick(report.machine, "en"))


UNRECORDED = [
    bet for bet, item in BETS.items() if item.experiment in GPU and not base.recording(EXPERIMENTS[item.experiment])
]


@pytest.mark.parametrize("bet", UNRECORDED)
def test_every_bet_that_nobody_recorded_gets_an_answer_that_is_one_of_its_options(bet):
    _, answer = reports.verdicts(BETS[bet].experiment)[bet]
    assert BETS[bet].option(answer.option) and set(answer.why) == set(LANGUAGES)


def test_a_bet_is_answered_by_reports_on_its_own_experiment_alone():
    assert all(BETS[bet].experiment in report.experiments for report in REPORTS.values() for bet in report.answers)


@pytest.mark.parametrize("code", LANGUAGES)
def test_reports_are_told_whole_and_as_reported(code):
    set_language(code)
    label = "他人报告" if code == "zh" else "reported by others"
    for name in sorted({one for report in REPORTS.values() for one in report.experiments}):
        block = reported(EXPERIMENTS[name])
        assert label in block.small and block.headline
        for report in reports.about(name):
            said = "\n".join(block.folds[0].said)
            assert report.link in said and pick(report.what) in said and pick(report.does_not_show) in said


# --- observe without a GPU and without a recording ------------------------------------------------------------


def test_what_cannot_run_here_is_answered_from_the_reports(capsys):
    assert course.observe("04-ops-cuda", bet=False) is None
    said = capsys.readouterr().out
    assert "reported by others, not measured here" in said and "It does not show" in said
    assert "Report and source name" in said and said.count("To measure it here takes an NVIDIA GPU") == 1
    (entry,) = state.now.seen("settled", "04-bet-gpu")
    assert entry.options == () and entry.record.startswith("report 04-who-asks-cudnn https://")


def test_a_bet_that_a_report_would_give_away_is_asked_for_first():
    assert [item.id for item in open_bets([EXPERIMENTS["04-ops-cuda"], EXPERIMENTS["05-networks-cuda"]])] == [
        "04-bet-gpu"
    ]


def test_the_explanation_of_the_option_bet_on_is_shown_and_the_bet_stays_open(capsys):
    wrong = next(
        one.id
        for one in BETS["04-bet-gpu"].options
        if one.id != reports.verdicts("04-ops-cuda")["04-bet-gpu"][1].option
    )
    course.answer("04-bet-gpu", wrong, confidence=3)
    capsys.readouterr()
    course.observe("04-ops-cuda", bet=False)
    said = capsys.readouterr().out
    assert pick(BETS["04-bet-gpu"].option(wrong).why)[:30] in said and "It stays open" in said

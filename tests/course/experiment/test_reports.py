"""Where a run here tells little: field reports for what nobody recorded, and one line that names the recording on a busy machine."""

from __future__ import annotations

import re
import sys
from types import SimpleNamespace

import pytest

import course
from course.core import cpu_load
from course.core.i18n import LANGUAGES, pick, set_language
from course.experiment import base, reports
from course.game.cases import EVIDENCE, find, origin_said
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


NAME = "05-toy-race"


@pytest.fixture
def crowded(monkeypatch):
    """Other programs are at work, and no run takes place. Gives the names of the runs asked for."""
    ran = []

    def run(exp, *_):
        ran.append(exp.name)
        return base.replace(base.recording(base.get(NAME)), live=True)

    monkeypatch.delenv("COURSE_REPLAY", raising=False)
    monkeypatch.setattr(cpu_load, "others", lambda: 0.83)
    monkeypatch.setattr(base, "run_experiment", run)
    return ran


@pytest.mark.parametrize(("code", "busy"), [("en", "Other programs use 83%"), ("zh", "别的程序占着这台机器的 83%")])
def test_on_a_busy_machine_one_line_says_so_and_how_to_see_the_recording(code, busy, crowded, capsys):
    set_language(code)
    course.observe(NAME, bet=False)
    said = capsys.readouterr().out
    assert busy in said and f'observe("{NAME}", replay=True)' in said and crowded == [NAME]


@pytest.mark.parametrize(
    ("name", "recorded", "replay", "told"),
    [
        (NAME, True, True, False),  # nothing runs
        (NAME, False, False, True),
        ("06-two-lines", True, False, False),  # what comes out needs no clock
    ],
)
def test_it_is_said_where_a_clock_decides_and_no_recording_is_named_where_there_is_none(
    name, recorded, replay, told, crowded, monkeypatch, capsys
):
    if not recorded:
        monkeypatch.setattr(base, "recording", lambda experiment: None)
    course.observe(name, bet=False, replay=replay)
    said = capsys.readouterr().out
    assert ("Other programs use" in said) == told and (recorded or "replay=True" not in said)
    assert crowded == [name] * (not replay) and (not replay or "Replay" in said)


@pytest.mark.parametrize(("rows", "live", "named"), [(None, True, False), ([], False, False), ([], True, True)])
def test_where_a_run_tells_nothing_the_recording_is_named(rows, live, named, monkeypatch, capsys):
    found = base.recording(base.get(NAME))
    record = base.replace(found, live=live, rows=found.rows if rows is None else rows)
    monkeypatch.setattr(base, "load_or_run", lambda *_: record)
    course.observe(NAME, bet=False, replay=True)
    assert (f'observe("{NAME}", replay=True)' in capsys.readouterr().out) == named


def test_a_replayed_case_does_not_say_that_it_was_measured_live(monkeypatch):
    monkeypatch.setenv("COURSE_REPLAY", "1")
    assert origin_said(find("voice")) == EVIDENCE["recording"] and origin_said(find("gan")) == EVIDENCE["rule"]
    assert origin_said(find("typo")) == EVIDENCE["live"], "a hunt runs its scripts all the same"
    monkeypatch.setenv("COURSE_REPLAY", "0")
    assert origin_said(find("voice")) == EVIDENCE["live"]


# --- how busy the machine is ---


def times(idle, user):
    every = SimpleNamespace(idle=idle, user=user)
    return type("Times", (tuple,), vars(every))((user, idle))


@pytest.mark.parametrize(("used", "own", "share"), [(8.0, 0.0, 1.0), (4.0, 0.0, 0.5), (4.0, 4.0, 0.0), (0.0, 0.0, 0.0)])
def test_what_this_program_uses_does_not_count(used, own, share, monkeypatch):
    every, mine = iter([times(100.0, 100.0), times(108.0 - used, 100.0 + used)]), iter([0.0, own])
    fake = SimpleNamespace(
        cpu_times=lambda: next(every), Process=lambda: SimpleNamespace(cpu_times=lambda: (next(mine), 0.0, 0.0, 0.0))
    )
    monkeypatch.setitem(sys.modules, "psutil", fake)
    monkeypatch.setattr(cpu_load.os, "cpu_count", lambda: 4)
    clock = iter([0.0, 2.0])
    monkeypatch.setattr(cpu_load, "time", SimpleNamespace(monotonic=lambda: next(clock), sleep=lambda s: None))
    assert cpu_load.others() == pytest.approx(share)

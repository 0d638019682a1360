"""Field reports: every GPU experiment has one, each fits, is told as reported, and settles only what it decides."""

from __future__ import annotations

import re

import pytest

import course
from course.core.i18n import LANGUAGES, pick, set_language
from course.core.machine import passport
from course.experiment import __main__ as experiments
from course.experiment import base, reports
from course.questions.bank import Bank
from course.verbs import state
from course.verbs.experiments import open_bets
from course.verbs.reported import reported
from tests.conftest import ROOT
from tests.course.experiment.test_headlines import faults

EXPERIMENTS = base.load_all()
REPORTS = {one.id: one for one in reports.reports()}
GPU = [name for name, one in EXPERIMENTS.items() if one.needs in ("cuda", "mps")]
BETS = {item.id: item for item in Bank().items() if item.kind == "predict"}
CHINESE = re.compile("[一-鿿]")


@pytest.mark.parametrize("name", GPU)
def test_every_gpu_experiment_has_a_report_with_a_source(name):
    assert reports.about(name), f"{name}: add a report to reports.yaml of its lesson"


def test_no_experiment_of_the_course_is_empty():
    about = passport()
    assert not [name for name, one in EXPERIMENTS.items() if experiments.evidence(one, about) == ["none"]]


def test_the_list_says_what_there_is_to_show(capsys):
    experiments.print_list(EXPERIMENTS)
    said = capsys.readouterr().out.splitlines()
    assert len(said) == len(EXPERIMENTS)
    assert all(re.search(r"live|recorded \(|field reports? \(\d", line) for line in said)


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_names_its_own_lesson_and_speaks_both_languages(name):
    report = REPORTS[name]
    assert all(EXPERIMENTS[one].lesson.startswith(name[:2]) for one in report.experiments)
    for text in (report.what, report.shows, report.does_not_show):
        assert CHINESE.search(text["zh"]) and not CHINESE.search(text["en"])
    assert not CHINESE.search(pick(report.machine, "en") + pick(report.versions, "en"))


@pytest.mark.parametrize("bet", [bet for bet, item in BETS.items() if item.experiment in GPU])
def test_every_bet_on_a_gpu_gets_an_answer_that_is_one_of_its_options(bet):
    report, answer, _ = reports.verdicts(BETS[bet].experiment)[bet]
    assert BETS[bet].option(answer.option) and set(answer.why) == set(LANGUAGES)
    assert not set(report.answers) & set(report.settles)


def test_a_bet_is_answered_by_reports_on_its_own_experiment_alone():
    for report in REPORTS.values():
        for bet in {**report.answers, **report.settles}:
            assert BETS[bet].experiment in report.experiments


@pytest.mark.parametrize("code", LANGUAGES)
def test_reports_are_told_whole_and_as_reported(code):
    set_language(code)
    label = "他人报告" if code == "zh" else "reported by others"
    for name in sorted({one for report in REPORTS.values() for one in report.experiments}):
        block = reported(EXPERIMENTS[name])
        assert label in block.small and block.headline
        for report in reports.about(name):
            said = "\n".join(block.folds[0].said)
            assert report.link in said and pick(report.shows) in said and pick(report.does_not_show) in said


def test_every_picture_of_a_report_says_on_itself_that_it_is_one():
    """And never with the ink of what was measured here."""
    names = sorted({one for report in REPORTS.values() for one in report.experiments})
    drawn = [picture for name in names if (picture := reported(EXPERIMENTS[name]).picture)]
    assert drawn
    for picture in drawn:
        assert "reported by others" in picture.svg() and "--p-out" not in picture.svg()


@pytest.mark.parametrize("name", sorted(one for one in EXPERIMENTS if reports.about(one)))
def test_reports_on_an_experiment_come_to_a_headline_and_a_caution(name):
    summary = reports.summary(name)
    assert summary, f"{name}: add a summary (experiment, headline, caution) to reports.yaml of its lesson"
    assert not [found for code in LANGUAGES if (found := faults(summary.headline[code], code))]
    assert all(len(summary.caution[code].split()) <= 25 for code in LANGUAGES)


# --- observe without a GPU and without a recording ------------------------------------------------------------


@pytest.fixture
def nothing_recorded(monkeypatch):
    monkeypatch.setattr(base, "recording", lambda experiment: None)
    monkeypatch.setattr(base, "can", lambda needs: False)


def test_what_cannot_run_here_is_answered_from_the_reports(nothing_recorded, capsys):
    assert course.observe("05-flip-cuda", bet=False) is None
    said = capsys.readouterr().out
    assert "reported by others, not measured here" in said and "59656" in said
    assert "Report and source name" in said and pick(BETS["05-bet-flip"].option("b").text).rstrip(".") in said
    (entry,) = state.now.seen("settled", "05-bet-flip")
    assert entry.options == () and entry.record.startswith("report 05-key-without-benchmark https://")


def test_a_bet_that_a_report_would_give_away_is_asked_for_first(nothing_recorded):
    assert [item.id for item in open_bets([EXPERIMENTS["05-flip-cuda"], EXPERIMENTS["05-sizes-cuda"]])] == [
        "05-bet-flip"
    ]


def test_the_explanation_of_the_option_bet_on_is_shown(nothing_recorded, capsys):
    course.answer("05-bet-flip", "a", confidence=3)
    capsys.readouterr()
    course.observe("05-flip-cuda", bet=False)
    said = capsys.readouterr().out
    assert "the cache is asked first" in said and "It stays open" in said


def test_a_report_that_decides_settles_the_bet_and_the_log_says_by_what(nothing_recorded, monkeypatch, capsys):
    """An invented report: none of those in the course decides a bet."""
    decides = {"05-bet-flip": reports.Answer("b", {"en": "They timed it.", "zh": "他们测过。"})}
    one = REPORTS["05-key-without-benchmark"]
    invented = reports.Report(
        **{**vars(one), "id": "05-invented", "machine": "V100", "answers": {}, "settles": decides}
    )
    monkeypatch.setattr(reports, "reports", lambda: (one, invented))
    course.answer("05-bet-flip", "b", confidence=3)
    course.observe("05-flip-cuda", bet=False)
    said = capsys.readouterr().out
    assert "A report decided it (V100)" in said and "They timed it." in said and "stays open" not in said
    entry = state.now.seen("settled", "05-bet-flip")[-1]
    assert entry.options == ("b",) and entry.verdict == "correct" and entry.record.startswith("report 05-invented ")


def test_several_are_told_in_one_cell(nothing_recorded, capsys):
    assert course.observe(["05-sizes-cuda", "05-pays-cuda"], bet=False) is None
    said = capsys.readouterr().out
    assert said.count("No recording exists yet") == 1 and said.index("No recording") > said.rindex("It shows")
    assert all(pick(reports.summary(name).headline) in said for name in ("05-sizes-cuda", "05-pays-cuda"))


# --- files that do not fit ------------------------------------------------------------------------------------

GOOD = """
- id: "99-a"
  experiments: ["99-x"]
  strength: anecdote
  machine: "V100"
  versions: "torch 1.0"
  date: "2020-01"
  link: https://example.org/a
  what: {en: "w", zh: "w"}
  figures: [{name: "n", value: 1, unit: "s"}]
  shows: {en: "s", zh: "s"}
  does_not_show: {en: "d", zh: "d"}
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("strength: anecdote", "strength: certain", "must be one of"),
        ("  link: https://example.org/a\n", "", "lacks link"),
        ("https://example.org/a", "http://example.org/a", "https address"),
        ('"2020-01"', '"January"', "in quotes"),
        ('zh: "w"', 'fr: "w"', "field what"),
        ("value: 1", 'value: "1"', "is no number"),
        (', unit: "s"', "", "name, value and unit"),
        ("  strength", "  extra: 1\n  strength", "unknown fields extra"),
        ('experiments: ["99-x"]', "experiments: 99-x", "list of names"),
        ("- id", "id", "YAML"),
    ],
)
def test_a_file_that_does_not_fit_is_named_with_the_field(tmp_path, old, new, said):
    path, other = tmp_path / "reports.yaml", tmp_path / "other.yaml"  # two files: of one the time may not tell a change
    path.write_text(GOOD, encoding="utf-8")
    assert reports.read(path)[0][0].figures[0].value == 1
    other.write_text(GOOD.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(reports.ReportError, match=said):
        reports.read(other)


def test_reports_come_with_the_course():
    assert [path.parent.name for path in ROOT.glob("course/lessons/*/reports.yaml")]
    assert "lessons/*/*.yaml" in (ROOT / "pyproject.toml").read_text(encoding="utf-8")

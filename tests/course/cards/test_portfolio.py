"""What a learner takes along: sheets from the table of switches, only own numbers, the poster, one file that asks for nothing."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

import course
from course import flags
from course.core.i18n import LANGUAGES, pick, speaking
from course.core.plain_text import text_of
from course.core.records import Record, own, own_folder, save_own
from course.experiment import base
from course.flags import GROUPS, SWITCHES
from course.questions import knowledge
from course.verbs import state
from course.verbs.portfolio.cheat_sheet import cheat_sheet, own_numbers, sheet_html, short_name
from course.verbs.portfolio.poster import entry_name, poster
from tests.lessons.l15_review.test_lesson import flips

NAME = "15-flip-all"


@pytest.fixture(autouse=True)
def fresh_kernel(monkeypatch, tmp_path):
    monkeypatch.setattr(state, "now", state.State(lesson="15_review"))
    monkeypatch.setenv("COURSE_TEXT", "1")
    monkeypatch.chdir(tmp_path)


def record(count, day, version=1):
    return Record(
        NAME,
        version,
        "15_review",
        {"device": "cpu", "device_name": "My CPU", "torch": "2.13.0"},
        flips(count),
        f"2026-03-{day:02}T09:30:00Z",
    )


# --- own numbers ---


def test_the_newest_of_an_experiment_is_kept_alone_and_an_older_version_is_not_shown():
    for count, day in ((2, 1), (5, 2)):
        save_own(record(count, day))
    assert [path.name for path in own_folder().iterdir()] == [record(5, 2).file_name()]
    assert own(NAME, 1).rows == record(5, 2).rows and own(NAME, 2) is None


def test_observing_keeps_a_live_record_and_a_replay_is_never_mine(monkeypatch, capsys):
    monkeypatch.setattr(base, "load_or_run", lambda name, budget_s=None, replay=False: record(3, 4))
    course.observe(NAME)
    assert own(NAME) is None
    monkeypatch.setattr(base, "load_or_run", lambda name, budget_s=None, replay=False: replace(record(3, 4), live=True))
    course.observe(NAME)
    assert own(NAME).rows == record(3, 4).rows


def test_a_folder_that_cannot_be_written_costs_nothing_but_a_sentence(monkeypatch, capsys):
    own_folder().parent.mkdir(parents=True)
    own_folder().write_text("a file in the way")
    monkeypatch.setattr(base, "load_or_run", lambda name, budget_s=None, replay=False: replace(record(3, 4), live=True))
    assert course.observe(NAME) is not None
    assert "could not be kept" in capsys.readouterr().out


def test_own_numbers_are_told_with_machine_and_day():
    assert own_numbers({"15_review"}) == []
    save_own(record(3, 7))
    ((said, where),) = own_numbers({"15_review"})
    assert "My CPU" in where and "2026-03-07" in where and said == pick(base.get(NAME).headline(record(3, 7)))


# --- sheets ---


def test_every_switch_stands_on_the_sheet_of_its_submodule_and_every_group_has_one():
    assert {switch.group for switch in SWITCHES.values()} == set(GROUPS)
    for group in GROUPS:
        sheet = cheat_sheet(group)
        assert {row["name"] for row in sheet.rows} == {one.name for one in SWITCHES.values() if one.group == group}
        for language in LANGUAGES:
            with speaking(language):
                sheet = cheat_sheet(group)
                html = sheet_html(sheet)
                assert all(f"<code>{short_name(row)}</code>" in html for row in sheet.rows)


@pytest.mark.parametrize("group, card", [("cudnn", "cudnn.benchmark"), ("torch", "deterministic_algorithms")])
def test_a_sheet_carries_the_advice_of_its_cards(group, card):
    sheet = cheat_sheet(group)
    assert card in {one.id for one in sheet.cards}
    assert not [one.id for one in sheet.cards if one.id.startswith(("recipe.", "map.", "export."))]


def test_sheets_and_poster_change_no_switch():
    before = flags.read()
    cheat_sheet("cudnn")
    poster()
    assert flags.read() == before


# --- the poster ---


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_poster_is_a_file_that_names_every_switch(language, tmp_path):
    with speaking(language):
        course.poster(tmp_path / "map.html")
    whole = (tmp_path / "map.html").read_text("utf-8")
    assert all(f"<code>{entry_name(one)}</code>" in whole for one in SWITCHES.values())
    assert bool(re.search("[\u4e00-\u9fff]", whole.partition("<body>")[2].rpartition("</style>")[2])) == (
        language == "zh"
    )
    said = text_of(poster())  # who asks whom is told without a picture, too
    assert "\n  mkldnn.fp32_precision\n    mkldnn.matmul.fp32_precision\n" in said


# --- one file ---


@pytest.mark.parametrize("language", LANGUAGES)
def test_one_file_holds_everything_and_asks_for_nothing(language, tmp_path, capsys):
    with speaking(language):
        course.take_home("mine.html")
    page = (tmp_path / "mine.html").read_text("utf-8")
    assert "mine.html" in capsys.readouterr().out
    loading = re.sub(r'<a href="https://[^>]+>', "", page)  # an address that a reader may press loads nothing
    loads = re.findall(r"""(?:src|href)=["']?([^"' >]+)|url\(([^)]+)\)|@import""", loading)
    assert all(one.startswith(("#", "data:")) for pair in loads for one in pair if one)
    assert not re.search(r"<(link|iframe|object|embed)\b|<script[^>]+src", page)
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids)) and {"map", "sheets", "interview", "cards", "bets", "passport"} <= set(ids)
    assert all(re.sub(r"[`&'].*", "", pick(card.asks, language)) in page for card in knowledge.read().values())


def test_what_cannot_be_written_or_found_is_said(capsys):
    course.take_home("no/such/folder/mine.html")
    course.cheat_sheet("cudn")
    course.cheat_sheet()
    said = capsys.readouterr().out
    assert "could not be written" in said and "cudnn" in said and "take_home()" in said

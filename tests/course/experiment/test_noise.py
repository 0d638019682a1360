"""On a busy machine a learner is told so in one line, with the call that shows the recording."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

import course
from course.core import load
from course.core.i18n import set_language
from course.experiment import base
from course.game.cases import EVIDENCE, find, origin_said

NAME = "05-toy-race"


@pytest.fixture
def crowded(monkeypatch):
    """Other programs are at work, and no run takes place. Gives the names of the runs asked for."""
    ran = []

    def run(exp, *_):
        ran.append(exp.name)
        return base.replace(base.recording(base.get(NAME)), live=True)

    monkeypatch.delenv("COURSE_REPLAY", raising=False)
    monkeypatch.setattr(load, "others", lambda: 0.83)
    monkeypatch.setattr(base, "run_experiment", run)
    return ran


@pytest.mark.parametrize(("code", "busy"), [("en", "Other programs use 83%"), ("zh", "别的程序占着这台机器的 83%")])
def test_on_a_busy_machine_one_line_says_so_and_how_to_see_the_recording(code, busy, crowded, capsys):
    set_language(code)
    course.observe(NAME, bet=False)
    said = capsys.readouterr().out
    assert busy in said and f'observe("{NAME}", replay=True)' in said and crowded == [NAME]


def test_the_recording_is_shown_without_a_word_on_the_machine(crowded, capsys):
    assert not course.observe(NAME, bet=False, replay=True).live
    said = capsys.readouterr().out
    assert crowded == [] and "Replay" in said and "Other programs" not in said


def test_without_a_recording_none_is_offered(crowded, monkeypatch, capsys):
    monkeypatch.setattr(base, "recording", lambda experiment: None)
    course.observe(NAME, bet=False)
    said = capsys.readouterr().out
    assert "Other programs use" in said and "replay=True" not in said


@pytest.mark.parametrize("name, told", [("06-two-lines", False), ("04-cpu-enabled", False), (NAME, True)])
def test_it_is_said_where_the_answer_needs_a_clock(name, told, crowded, capsys):
    course.observe(name, bet=False)
    assert ("Other programs use" in capsys.readouterr().out) == told and crowded == [name]


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
    monkeypatch.setattr(load.os, "cpu_count", lambda: 4)
    clock = iter([0.0, 2.0])
    monkeypatch.setattr(load, "time", SimpleNamespace(monotonic=lambda: next(clock), sleep=lambda s: None))
    assert load.others() == pytest.approx(share)


def test_without_psutil_the_average_load_counts(monkeypatch):
    monkeypatch.setitem(sys.modules, "psutil", None)
    monkeypatch.setattr(load.os, "cpu_count", lambda: 4)
    monkeypatch.setattr(load.os, "getloadavg", lambda: (1.0, 0, 0), raising=False)
    assert load.others() == 0.25 and not load.busy()
    monkeypatch.delattr(load.os, "getloadavg")
    assert load.others() == 0.0

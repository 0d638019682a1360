"""On a busy machine a learner chooses between measuring and the recording; where nobody can answer it is measured."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest

import course
from course import load
from course.experiment import base
from course.experiment.reading import OPEN
from course.experiment.result import headline_of
from course.game.cases import EVIDENCE, find, origin_said
from course.i18n import set_language
from course.verbs import choosing, state
from tests.conftest import ROOT

NAME, UNRECORDED = "05-toy-race", "99-none"


@pytest.fixture
def crowded(monkeypatch):
    """Other programs are at work, somebody can answer, and no run takes place. Gives the names of the runs asked for."""
    ran = []

    def run(exp, *_):
        ran.append(exp.name)
        found = base.recording(base.get(NAME))
        return base.replace(found, live=True)

    monkeypatch.delenv("COURSE_REPLAY", raising=False)
    monkeypatch.setattr(load, "busy", lambda: True)
    monkeypatch.setattr("course.verbs.asking.somebody_there", lambda: True)
    monkeypatch.setattr(base, "run_experiment", run)
    monkeypatch.setattr(state.now, "replays", {})
    monkeypatch.setattr(state.now, "on_busy", None)
    return ran


@pytest.mark.parametrize(("code", "busy"), [("en", "This machine is busy"), ("zh", "这台机器正忙着")])
def test_a_busy_machine_asks_first(code, busy, crowded, capsys):
    set_language(code)
    assert course.observe(NAME, bet=False) is None
    said = capsys.readouterr().out
    assert busy in said and f'observe("{NAME}", replay=True)' in said and f'observe("{NAME}", replay=False)' in said
    assert crowded == []


def test_either_way_can_be_typed(crowded, capsys):
    assert not course.observe(NAME, bet=False, replay=True).live
    assert crowded == [] and "Replay" in capsys.readouterr().out
    course.observe([NAME], bet=False, replay=False)
    assert crowded == [NAME] and "busy" not in capsys.readouterr().out


@pytest.mark.parametrize("there", [True, False])
def test_without_a_recording_or_anybody_to_answer_it_measures_and_says_so(there, crowded, monkeypatch, capsys):
    monkeypatch.setattr("course.verbs.asking.somebody_there", lambda: there)
    if there:
        monkeypatch.setattr(choosing, "_recorded", lambda name: False)
    course.observe(NAME, bet=False)
    said = capsys.readouterr().out
    assert crowded == [NAME] and "This machine is busy" in said and ("no recording" in said) == there


@pytest.mark.parametrize("replay", ["0", "1"])
def test_the_environment_answers_too(replay, crowded, monkeypatch, capsys):
    monkeypatch.setenv("COURSE_REPLAY", replay)
    course.observe(NAME, bet=False)
    assert crowded == [NAME] * (replay == "0") and "busy" not in capsys.readouterr().out


@pytest.mark.parametrize("way", [0, 1])
def test_a_button_runs_the_cell_again_with_what_was_chosen(way, crowded, monkeypatch):
    shown = []
    monkeypatch.setattr(choosing, "text_mode", lambda: False)
    monkeypatch.setattr("course.verbs.asking.wait", lambda: None)
    monkeypatch.setattr(choosing.Choice, "show", lambda self: shown.append(self.build()))
    monkeypatch.setattr("course.verbs.asking.this_cell", lambda: lambda: course.observe(NAME, bet=False))
    course.observe(NAME, bet=False)
    (choice,) = shown
    first, second = choice.buttons
    assert "recording" in first.description and "tbq-sub" not in first._dom_classes  # the filled one
    assert "anyway" in second.description and "tbq-sub" in second._dom_classes
    choice.buttons[way].click()
    assert crowded == [NAME] * way and choice.widget.children == (choice.output,) and state.now.replays == {}


@pytest.mark.parametrize("way", [True, False])
def test_it_is_asked_once_a_lesson(way, crowded, monkeypatch, capsys):
    """What was chosen holds for the next experiments of the lesson while the machine is busy."""
    shown = []
    monkeypatch.setattr(choosing, "text_mode", lambda: False)
    monkeypatch.setattr(choosing.Choice, "show", lambda self: shown.append(self.build()))
    monkeypatch.setattr("course.verbs.asking.wait", lambda: None)
    monkeypatch.setattr("course.verbs.asking.this_cell", lambda: lambda: course.observe(NAME, bet=False))
    course.observe(NAME, bet=False)
    shown[0].buttons[0 if way else 1].click()
    record = course.observe("05-toy-cost", bet=False)
    assert len(shown) == 1 and record.live != way and ("still busy" in capsys.readouterr().out) == way
    monkeypatch.setattr(load, "busy", lambda: False)
    assert course.observe("05-toy-cost", bet=False).live
    course.lesson("05_cudnn_benchmark")
    assert state.now.on_busy is None


@pytest.mark.parametrize(
    "name, asked", [("05-winners", False), ("06-two-lines", False), ("04-cpu-enabled", False), (NAME, True)]
)
def test_it_is_asked_where_the_answer_needs_a_clock(name, asked, crowded, capsys):
    course.observe(name, bet=False)
    assert ("This machine is busy" in capsys.readouterr().out) == asked and (crowded == [name]) == (not asked)


REST = r"""
from IPython.core.interactiveshell import InteractiveShell
from course.verbs import asking
shell = InteractiveShell.instance()
shell.user_ns["asking"] = asking
def cell(source):
    shell.run_cell(source, store_history=True).raise_error()
cell("seen, ask = [], []")
cell("seen.append('above')\nfor one in 'ab':\n    ask.append(asking.this_cell())\n    seen.append(one)\nseen.append('below')")
seen_now = lambda: shell.user_ns["seen"]
assert seen_now() == ["above", "a", "b", "below"]
cell("seen.clear()")
cell("ask[0]()")
assert seen_now() == ["a", "b", "below"], seen_now()
cell("seen.clear(); later = ask[2]")
cell("later()")
assert seen_now() == ["a", "b", "below"], seen_now()
print("rest")
"""


def test_what_runs_again_is_the_rest_of_the_cell_that_asked():
    """Cards above the question do not come twice, and no other cell runs, however many ran since."""
    done = subprocess.run([sys.executable, "-c", REST], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.stdout.strip().endswith("rest"), done.stderr + done.stdout


def test_where_a_run_tells_nothing_there_are_two_buttons(crowded, monkeypatch):
    shown, again = [], []
    monkeypatch.setattr(choosing, "text_mode", lambda: False)
    monkeypatch.setattr(choosing.Choice, "show", lambda self: shown.append(self.build()))
    experiment = base.get(NAME)
    told = base.replace(base.recording(experiment), live=True)
    empty = base.replace(told, rows=[])
    assert headline_of(empty, experiment) in OPEN
    choosing.after_nothing(told, again.append)
    choosing.after_nothing(base.replace(empty, live=False), again.append)
    assert shown == []
    choosing.after_nothing(empty, again.append)
    assert len(shown[0].buttons) == 2
    for button in shown[0].buttons:
        button.click()
    assert again == [True, False]


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

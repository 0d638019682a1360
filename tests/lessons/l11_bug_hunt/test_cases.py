"""Lesson 11: every script shows its symptom, every repair removes it, wrong repairs are refused; exact values, no times."""

from __future__ import annotations

import os
import re

import pytest

from course.game.cases import cases
from course.lessons.l11_bug_hunt.hunt import bug, changed, failure, judge, seen, telling
from course.lessons.l11_bug_hunt.scenes import SCENES
from tests.lessons.l11_bug_hunt.forks import play_all
from tests.lessons.l11_bug_hunt.scripts import RIGHT, WRONG

pytestmark = pytest.mark.slow

BUGS = {case_id.partition("-")[2]: bug(case) for case_id, case in cases("11_bug_hunt").items()}
GUILTY = [name for name, one in BUGS.items() if not one.innocent]
INNOCENT = [name for name, one in BUGS.items() if one.innocent]
OWN_PROCESS = {name for name, one in BUGS.items() if one.fresh or one.variables} | {"spawn"}
"""These need a process of their own from its first line on: a few seconds each; all but the repair by `make test-long`."""


def jobs() -> list[tuple[str, str, str]]:
    """(case, kind, script) of everything that is tried."""
    found = []
    for name, one in BUGS.items():
        found += [(name, "as it came", one.script)]
        found += [(name, "as wished", one.accused)] if one.innocent else [(name, "repair", one.repair)]
        found += [(name, f"right {n}", changed(one.script, how)) for n, how in enumerate(RIGHT.get(name, ()))]
        found += [(name, f"wrong {n}", changed(one.script, how)) for n, (how, _) in enumerate(WRONG.get(name, ()))]
    return found


JOBS = jobs()
ODD = {
    "import time\nwhile True:\n    print('x' * 1000)": "TooMuch",
    "def compare(:": "SyntaxError",
    "raise SystemExit(3)": "SystemExit",
    "input()": "EOFError",
    "x = 1": "missing",
    "compare = 3": "TypeError",
}


@pytest.fixture(scope="module")
def facts():
    """(case, kind) -> what was seen: the quick ones all at once."""
    if not hasattr(os, "fork"):
        quick = {("typo", text): seen(BUGS["typo"], text) for text in ODD}
    else:
        now = [(name, kind, text) for name, kind, text in JOBS if name not in OWN_PROCESS]
        now += [("typo", text, text) for text in ODD]
        seen_now = play_all([(BUGS[name].case.id, text) for name, _, text in now])
        quick = {(name, kind): one for (name, kind, _), one in zip(now, seen_now, strict=True)}

    def look(name: str, kind: str) -> dict:
        if (name, kind) not in quick:
            quick[name, kind] = seen(BUGS[name], next(text for one, of, text in JOBS if (one, of) == (name, kind)))
        return quick[name, kind]

    return look


def trial(facts, name, kind):
    return judge(BUGS[name], facts(name, kind))


def params(*, of, kinds=("",)):
    return [
        pytest.param(
            name, kind, marks=pytest.mark.long if name in OWN_PROCESS and kind != "repair" else (), id=f"{name}: {kind}"
        )
        for name, kind, _ in JOBS
        if name in of and kind.startswith(tuple(kinds))
    ]


@pytest.mark.parametrize(("name", "kind"), params(of=GUILTY, kinds=["as it came"]))
def test_a_script_shows_its_symptom_and_prints_its_log(facts, name, kind):
    one, found = BUGS[name], facts(name, kind)
    assert judge(one, found).state in ("stays", "failed")
    printed = "\n".join(filter(None, [found["printed"], found.get("shown"), _error(found)]))
    assert undecided(printed).startswith(undecided(one.log.removesuffix("..."))), printed


def undecided(text):
    """The text with every decimal number left open: those differ from machine to machine."""
    return re.sub(r"-?\d+\.\d+", "#", text)


def _error(found):
    error = found.get("error")
    return f"{error['kind']}: {error['said']}" if error else ""


@pytest.mark.parametrize(("name", "kind"), params(of=GUILTY, kinds=["repair", "right"]))
def test_a_right_repair_removes_it_and_leaves_nothing_over(facts, name, kind):
    found = trial(facts, name, kind)
    assert found.accepted, (found.state, [one["en"] for one in found.said], found.facts)


@pytest.mark.parametrize(("name", "kind"), params(of=GUILTY, kinds=["wrong"]))
def test_a_wrong_repair_is_refused_with_its_reason(facts, name, kind):
    found = trial(facts, name, kind)
    expected = WRONG[name][int(kind.split()[1])][1]
    assert not found.accepted and expected in ("", found.state), ([one["en"] for one in found.said], found.facts)
    assert found.said[0]["en"] and found.said[0]["zh"]


def test_every_guilty_script_has_another_right_repair_and_two_wrong_ones():
    assert set(RIGHT) == set(GUILTY) == set(WRONG)
    assert all(len(WRONG[name]) >= 2 for name in GUILTY)


@pytest.mark.parametrize("name", INNOCENT)
def test_an_innocent_script_runs_and_its_complaint_is_answered_by_the_other_version(facts, name):
    as_is, as_wished = facts(name, "as it came"), facts(name, "as wished")
    assert failure(as_is) is None and not set(as_is["left"]) - set(BUGS[name].keeps)
    if name == "no-grad":
        assert as_is["trained"] and "nference" in as_wished["error"]["said"]
    elif name == "cpu-benchmark":
        assert (as_is["operators"], as_is["bits"]) == (as_wished["operators"], as_wished["bits"])
        assert as_is["benchmark"] != as_wished["benchmark"]
    else:
        assert as_is["devices"] == as_wished["devices"] == ["cpu"]


@pytest.mark.parametrize("name", BUGS)
def test_the_data_of_a_case_are_sound(name):
    one = BUGS[name]
    assert one.case.debrief.card, "the card to keep"
    assert one.case.id in SCENES and len(one.numbered()) <= 16
    assert one.innocent == bool(one.accused) == bool(one.wish) == (one.repair == one.script)


def test_whatever_a_script_does_a_sentence_says_it(facts):
    one = BUGS["typo"]
    odd = {text: facts("typo", text) for text in ODD}
    odd["import os\nos._exit(1)"] = seen(one, "import os\nos._exit(1)")
    for text, found in odd.items():
        assert found.get("error", {"kind": "missing"})["kind"] == ODD.get(text, "ended"), text
        said = telling(one, found)
        assert said["en"] and said["zh"] and "Traceback" not in said["en"]


def test_a_script_without_end_is_stopped(monkeypatch):
    from course.lessons.l11_bug_hunt import hunt

    monkeypatch.setattr(hunt, "PATIENCE_S", 2.0)
    found = seen(BUGS["typo"], "while True: pass")
    assert found["error"]["kind"] == "late" and "2 s" in failure(found)["en"]

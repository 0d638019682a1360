"""Lesson 11: every script shows its symptom, every repair removes it, wrong ones are refused; the moves of a hunt, its points, its card.

Values are exact, no time is asserted.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from course.core.i18n import set_language
from course.experiment import base
from course.game import board, moves, view
from course.game.cases import cases, find
from course.game.play import MoveError
from course.learning.log import AnswerLog
from course.lessons.l11_bug_hunt import hunt_view as told
from course.lessons.l11_bug_hunt.desk import Desk
from course.lessons.l11_bug_hunt.hunt import Hunt, bug, failure, judge, seen, telling
from course.lessons.l11_bug_hunt.scenes import SCENES
from tests.lessons.ideas import parse
from tests.lessons.l11_bug_hunt.forks import play_all

BUGS = {case_id.partition("-")[2]: bug(case) for case_id, case in cases("11_bug_hunt").items()}
GUILTY = [name for name, one in BUGS.items() if not one.innocent]
INNOCENT = [name for name, one in BUGS.items() if one.innocent]
OWN_PROCESS = {name for name, one in BUGS.items() if one.fresh or one.variables} | {"spawn"}
"""These need a process of their own from its first line on: a few seconds each; all but the repair by `make test-long`."""


REPAIRS = Path(__file__).with_name("repairs.txt")
IDEAS = parse(REPAIRS.read_text("utf-8"), REPAIRS, {name: one.script for name, one in BUGS.items()})
STATES = {(one.of, f"wrong {n}"): one.deserves[0] for n, one in enumerate(IDEAS) if not one.right}


def jobs() -> list[tuple[str, str, str]]:
    """(case, kind, script) of everything that is tried."""
    found = [(one.of, f"{'right' if one.right else 'wrong'} {n}", one.code) for n, one in enumerate(IDEAS)]
    for name, one in BUGS.items():
        found += [(name, "as it came", one.script)]
        found += [(name, "as wished", one.accused)] if one.innocent else [(name, "repair", one.repair)]
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


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), params(of=GUILTY, kinds=["repair", "right"]))
def test_a_right_repair_removes_it_and_leaves_nothing_over(facts, name, kind):
    found = trial(facts, name, kind)
    assert found.accepted, (found.state, [one["en"] for one in found.said], found.facts)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), params(of=GUILTY, kinds=["wrong"]))
def test_a_wrong_repair_is_refused_with_its_reason(facts, name, kind):
    found = trial(facts, name, kind)
    expected = STATES[name, kind]
    assert not found.accepted and expected in ("refused", found.state), ([one["en"] for one in found.said], found.facts)
    assert found.said[0]["en"] and found.said[0]["zh"]


@pytest.mark.slow
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


@pytest.mark.slow
def test_whatever_a_script_does_a_sentence_says_it(facts):
    one = BUGS["typo"]
    odd = {text: facts("typo", text) for text in ODD}
    odd["import os\nos._exit(1)"] = seen(one, "import os\nos._exit(1)")
    for text, found in odd.items():
        assert found.get("error", {"kind": "missing"})["kind"] == ODD.get(text, "ended"), text
        said = telling(one, found)
        assert said["en"] and said["zh"] and "Traceback" not in said["en"]


@pytest.mark.slow
def test_a_script_without_end_is_stopped(monkeypatch):
    monkeypatch.setattr("course.lessons.l11_bug_hunt.hunt.PATIENCE_S", 2.0)
    found = seen(BUGS["typo"], "while True: pass")
    assert found["error"]["kind"] == "late" and "2 s" in failure(found)["en"]


TYPO = bug(find("11-typo"))
RIGHT_LINE, RIGHT_CAUSE = TYPO.lines[0], TYPO.case.right.id


@pytest.fixture
def hunt(log):
    return Hunt(TYPO.case, log)


def done(log, *kinds, case=TYPO.case):
    for kind, *choice in kinds:
        moves.write(log, case, kind, choice)


def points(log, case=TYPO.case):
    return [part.points for part in Hunt(case, log).attempt.score().parts]


def test_the_steps_come_one_after_the_other(hunt):
    with pytest.raises(MoveError):
        hunt.cause(RIGHT_CAUSE)
    with pytest.raises(MoveError):
        hunt.repair(TYPO.repair)
    empty = next(number for number, text in TYPO.numbered() if not text.strip())
    for odd in (-1, 99, "7", True, None, empty):
        with pytest.raises(MoveError):
            hunt.line(odd)
    assert not hunt.attempt.done
    assert not hunt.line(0) and not hunt.line(1) and hunt.step == "line"
    assert hunt.line(RIGHT_LINE) and hunt.step == "cause"
    with pytest.raises(MoveError):
        hunt.repair(TYPO.repair)
    assert hunt.cause(RIGHT_CAUSE) and hunt.step == "repair"
    with pytest.raises(MoveError):
        hunt.prove()
    with pytest.raises(MoveError):
        hunt.repair("  ")
    assert [one.kind for one in hunt.attempt.done] == ["line", "line", "line", "cause"]


FOUND = ("line", str(RIGHT_LINE)), ("cause", RIGHT_CAUSE)


@pytest.mark.parametrize(
    ("made", "parts"),
    [
        ([("line", "1"), ("hint", "1"), *FOUND, ("repair", "gone")], [2.0, 3.0, 4.0]),
        ([*[("line", "1")] * 5, FOUND[0], ("cause", "a"), FOUND[1], ("give-up",)], [0.0, 1.5, 0.0]),
        ([*FOUND, ("give-up",), ("repair", "gone")], [3.0, 3.0, 0.0]),  # after giving up the answer is shown
        ([("line", "1"), ("give-up",)], [0.0, 0.0, 0.0]),
        ([*FOUND, ("repair", "stays"), ("repair", "left"), ("repair", "failed")], [3.0, 3.0, 0.0]),
        ([*FOUND, ("repair", "gone"), ("repair", "stays")], [3.0, 3.0, 4.0]),
    ],
)
def test_points(made, parts, log):
    done(log, *made)
    assert points(log) == parts
    closed = ("give-up",) in made or ("repair", "gone") in made
    assert (Hunt(TYPO.case, log).step == "closed") == closed


def test_nothing_is_wrong_and_what_does_not_prove_it_is_not_kept(log, monkeypatch):
    case = find("11-cpu-timer")
    hunt = Hunt(case, log)
    assert not hunt.line(12) and hunt.line(0) and hunt.cause(case.right.id)
    with pytest.raises(MoveError):
        hunt.repair("x = 1")
    devices = [["cpu"], ["cpu"], ["cpu"], ["cuda:0"]]
    monkeypatch.setattr(
        "course.lessons.l11_bug_hunt.hunt.seen", lambda one, text: {"devices": devices.pop(), "left": {}}
    )
    said = []
    desk = Desk(hunt, text=True, write=said.append)
    desk.prove()
    assert "Not everything is on the CPU" in said[-1] and hunt.step == "repair" and not hunt.attempt.proofs
    desk.prove()
    assert points(log, case) == [2.0, 3.0, 4.0] and "All tensors were on: cpu" in str(desk)


def test_a_wrong_line_gets_the_same_words_whether_something_is_wrong_or_not(log):
    said = set()
    for name in ("11-typo", "11-cpu-timer"):
        hunt = Hunt(find(name), log)
        assert not hunt.line(1)
        said.add(told.line_said(hunt))
    assert len(said) == 1, "other words would tell that nothing is wrong"


def test_a_hunt_goes_on_after_a_restart_and_the_board_counts_the_first_attempt(log):
    done(log, ("line", str(RIGHT_LINE)), ("cause", RIGHT_CAUSE))
    again = AnswerLog(log.path)
    assert Hunt(TYPO.case, again).step == "repair"
    assert board.standing(TYPO.case, again.entries()).scores == ()
    done(again, ("give-up",), ("again",), ("line", str(RIGHT_LINE)), ("cause", RIGHT_CAUSE), ("repair", "gone"))
    standing = board.standing(TYPO.case, again.entries())
    assert [one.points for one in standing.scores] == [6.0, 10.0] and standing.first.points == 6.0
    others = board.standings("11_bug_hunt", again.entries())
    assert len(others) == len(cases("11_bug_hunt")) and sum(bool(one.scores) for one in others) == 1


def test_a_damaged_line_of_the_log_is_passed_over(log):
    log.append("move", TYPO.case.id, options=("line",))
    log.append("move", TYPO.case.id, options=("line", "x"))
    log.append("move", TYPO.case.id, options=("repair", "gone"), record="{")
    hunt = Hunt(TYPO.case, log)
    assert hunt.step == "line" and points(log) == [0.0, 0.0, 4.0]
    assert str(Desk(hunt, text=True))


def test_halving_finds_the_line_wherever_it_is_in_four_runs():
    record = base.run("11-bisect")
    assert all(row["found"] for row in record.rows) and {row["halving"] for row in record.rows} == {4}
    assert [row["line_by_line"] for row in record.rows] == [row["place"] for row in record.rows]


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", pytest.param("zh", marks=pytest.mark.long)])
def test_a_hunt_is_typed_from_the_ticket_to_the_debrief(log, language):
    set_language(language)
    told = []
    desk = Desk(Hunt(TYPO.case, log), text=True, write=told.append)
    desk.show()
    assert TYPO.case.title[language] in told[0] and "torch.backends.mkldnn.enable = False" in told[0]
    desk.repair({99: "x"})
    desk.line()
    desk.line("seven")
    assert log.entries() == []
    desk.line(str(RIGHT_LINE))
    desk.cause("q")
    desk.cause(next(one.id for one in TYPO.case.cause.options if not one.correct))
    assert view.cause_said(False) in told[-1]
    desk.cause(RIGHT_CAUSE)
    desk.hint()
    desk.repair({77: "x"})
    assert desk.play.step == "repair" and "77" in told[-1]
    lines = dict(TYPO.numbered())
    fixed = {number: lines[number].replace("enable =", "enabled =") for number in TYPO.lines}
    desk.repair(fixed)  # runs, in a process of its own
    assert desk.play.step == "closed" and TYPO.case.debrief.trap[language] in "\n".join(told)
    assert TYPO.case.debrief.why[language].split("。")[0].split(".")[0] in str(desk)


@pytest.mark.parametrize("name", cases("11_bug_hunt"))
def test_every_card_can_be_built_and_read_in_both_languages(log, name):
    for language in ("en", "zh"):
        set_language(language)
        desk = Desk(Hunt(find(name), log), text=False)
        assert desk.build() and find(name).title[language] in desk.title.value
        assert find(name).ticket[language][:12] in str(desk).replace("`", "") or "`" in find(name).ticket[language]


# --- invented rows that settle each bet on each of its options (tests/course/experiment); nothing was measured ---


def repaired(verdict, switch, both=0.1):
    found = [("switch", switch, verdict), ("type", 0.5, "faster"), ("both", both, "faster")]
    return [{"repaired": n, "ratio": r, "low": r - 0.01, "high": r + 0.01, "verdict": v} for n, r, v in found]


def asked(exact, ratios):
    return [{"pair": n, "on": exact or n % 2 == 0, "off": False, "ratio": ratios[n % len(ratios)]} for n in range(24)]


ROWS = {
    "11-bet-hidden": {"a": repaired("faster", 0.7), "b": repaired("same", 1.0), "c": repaired("slower", 1.3)},
    "11-bet-witness": {
        "a": asked(True, [2.0, 2.05]),
        "b": asked(True, [1.2, 2.0, 3.1]),
        "c": asked(False, [2.0, 2.05]),
        "d": asked(False, [1.2, 2.0, 3.1]),
    },
}
FURTHER = {"11-bet-hidden": [(repaired("same", 1.0, both=0.5), "b"), (repaired("undecided", 1.0), None)]}


def bisected(halving=4, **more):
    return [{"place": n, "halving": halving, "line_by_line": n, "found": True, **more} for n in range(1, 17)]


BRANCHES = {
    "11-bisect": [
        bisected(),
        bisected(found=False),
        bisected(12),
        [{**row, "halving": 3 + row["place"] % 2} for row in bisected()],
    ]
}

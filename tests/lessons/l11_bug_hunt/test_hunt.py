"""Lesson 11: the moves of a hunt, its points, its state after a restart, and its card, typed and pressed."""

from __future__ import annotations

import pytest

from course.core.i18n import set_language
from course.game import board, moves, view
from course.game.cases import cases, find
from course.game.play import MoveError
from course.learning.log import AnswerLog
from course.lessons.l11_bug_hunt import hunt_view as told
from course.lessons.l11_bug_hunt.desk import Desk
from course.lessons.l11_bug_hunt.hunt import Hunt, bug

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


# --- moves and points ---------------------------------------------------------------------------------------------


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


def test_giving_up_a_try_that_is_open_erases_nothing(hunt, log):
    hunt.line(1)
    with pytest.raises(MoveError):
        hunt.again()
    done(log, ("again",), ("line", str(RIGHT_LINE)), ("cause", RIGHT_CAUSE), ("repair", "gone"))
    assert [part.points for part in board.standing(TYPO.case, log.entries()).first.parts] == [2.0, 3.0, 4.0]


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


# --- the experiments ----------------------------------------------------------------------------------------------


def test_halving_finds_the_line_wherever_it_is_in_four_runs():
    from course.experiment import base

    record = base.run("11-bisect")
    assert all(row["found"] for row in record.rows) and {row["halving"] for row in record.rows} == {4}
    assert [row["line_by_line"] for row in record.rows] == [row["place"] for row in record.rows]


# --- the card -----------------------------------------------------------------------------------------------------


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


def test_a_hunt_is_pressed_and_a_second_page_of_it_follows(log):
    set_language("en")
    one, other = (Desk(Hunt(TYPO.case, log), text=False) for _ in range(2))
    one.build(), other.build()
    one.point.click()
    assert "Choose a line first" in one.say.value
    one.lines[1].click()
    assert one.lines[1].description.startswith("●") and not other.lines[1].description.startswith("●")
    one.point.click()
    assert one.lines[1].description.startswith("✗") and other.lines[1].description.startswith("✗")
    one.lines[RIGHT_LINE].click()
    one.point.click()
    assert one.lines[RIGHT_LINE].description.startswith("✓") and one.lines[1].disabled and other.lines[1].disabled
    assert one.work.layout.display == "none" and one.box.widget in one.below.children
    one.ask.click()
    assert TYPO.case.hints[0]["en"][:20] in one.say.value
    one.box.choices.toggle(RIGHT_CAUSE)
    one.box.go.click()
    assert one.work.layout.display is None and one.field.value == TYPO.script
    one.stop.click()
    assert TYPO.case.debrief.why["en"][:30] in one.closing.value and "enabled = False" in one.folds.value
    assert other.closing.value == one.closing.value and not one.buttons.children
    one.restart.click()
    one.stop.click()
    assert all(one.lines[number].description.startswith("✓") for number in TYPO.lines), "given up: the lines are shown"
    one.restart.click()
    assert one.play.step == "line" and not one.lines[1].disabled and one.ticket in one.two.children


@pytest.mark.parametrize("name", cases("11_bug_hunt"))
def test_every_card_can_be_built_and_read_in_both_languages(log, name):
    for language in ("en", "zh"):
        set_language(language)
        desk = Desk(Hunt(find(name), log), text=False)
        assert desk.build() and find(name).title[language] in desk.title.value
        assert find(name).ticket[language][:12] in str(desk).replace("`", "") or "`" in find(name).ticket[language]

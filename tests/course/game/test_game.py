"""The frame of the games: moves in the log, points as pure functions, one learner at one case, the board, what survives."""

from __future__ import annotations

import json

import ipykernel
import ipykernel.comm.comm as kernel
import pytest

import course
from course.cards.widgets import view_of
from course.core.i18n import LANGUAGES, both, pick, set_language
from course.core.units import format_points
from course.game import board, cases, moves, play, score, view
from course.learning.bets import levels
from course.learning.log import AnswerLog
from course.lessons.l10_tuning_master import tuning_plan
from course.lessons.l10_tuning_master import tuning_view as told
from course.lessons.l10_tuning_master.tuning_desk import Desk
from course.lessons.l10_tuning_master.tuning_outcome import FEW, Table
from course.lessons.l10_tuning_master.tuning_player import Measured, Tuning
from course.verbs import state
from course.verbs.bets import every_bet

RULED, LIVE = cases.find("gan"), cases.find("bank")
PLAN = tuning_plan.plan_of(LIVE)
TODAY = tuning_plan.key(PLAN.today)


def outcome(ratio: float, half: float = 0.02, error: float = 0.0, verdict: str = "") -> dict:
    word = verdict or ("faster" if ratio + half < 1 else "slower" if ratio - half > 1 else "same")
    return {"ratio": ratio, "low": ratio - half, "high": ratio + half, "verdict": word, "facts": {"error": error}}


def table(**ratios: tuple) -> dict:
    """Outcomes of the bank: number type -> (ratio, error); on one thread twice as slow."""
    found = {}
    for config in PLAN.configs():
        ratio, error = ratios.get(config["dtype"], (1.0, 0.0))
        found[tuning_plan.key(config)] = outcome(ratio * (2 if config["threads"] == "1" else 1), 0.02, error)
    return found | {TODAY: outcome(1.0, 0.0)}


TABLE = table(fp32=(1.0, 0.0), autocast=(1.4, 0.004), bf16=(0.4, 0.004), int8=(0.1, 0.02))


def measured(case, configs, tell):
    tell("measuring")
    names = [tuning_plan.key(one) for one in configs] if configs is not None else list(TABLE)
    return Measured({name: TABLE[name] for name in {*names, TODAY}}, "live", both("a made-up machine", "虚构的机器"))


@pytest.fixture
def bank(log):
    return Tuning(LIVE, log, measured)


def page_of(played: Tuning) -> Desk:
    """The desk of a case as widgets."""
    desk = Desk(played, text=False)
    desk.build()
    return desk


def typed(played: Tuning) -> tuple[Desk, list[str]]:
    """The desk of a case by typing, and what it says."""
    said: list[str] = []
    return Desk(played, text=True, write=said.append), said


def close(log, name: str, bet: str = "fits", confidence: int = 3, run: bool = False, **config: str) -> Tuning:
    """Play a case by rule to its end. run: look it up before it is handed in."""
    played = Tuning(cases.find(name), log)
    if run:
        played.run(config, bet, confidence)
    played.hand_in(config, bet, confidence)
    played.cause(played.case.cause.right.id)
    return played


@pytest.fixture
def learner(log, monkeypatch, tmp_path):
    """A learner of lesson 10 in text mode, at work in a folder of their own: the verbs read and write this log."""
    monkeypatch.setattr(state, "now", state.State(lesson="10_tuning_master"))
    monkeypatch.setattr(type(state.now), "log", log)
    monkeypatch.setenv("COURSE_TEXT", "1")
    monkeypatch.chdir(tmp_path)
    return log


# --- points ---------------------------------------------------------------------------------------------------------


def hand(dtype: str, threads: str = "all") -> str:
    return tuning_plan.key({"dtype": dtype, "threads": threads})


BF16, AUTOCAST, INT8 = map(hand, ("bf16", "autocast", "int8"))


def all_of(**one) -> dict:
    """Every setting but today's with this outcome."""
    return {name: outcome(**one) for name in TABLE if name != TODAY}


def few(*names: str) -> dict:
    """These settings with too few rounds."""
    return {name: {**TABLE[name], "verdict": FEW} for name in names}


TODAY_BREAKS = {TODAY: {**outcome(1.0, 0.0), "facts": {"error": 0.5}}}


@pytest.mark.parametrize(
    ("changed", "handed", "points"),
    [
        ({}, BF16, 5),
        ({}, INT8, 0),  # the fastest breaks the limit
        ({}, TODAY, 0),
        ({}, hand("bf16", "1"), 0.5),
        ({AUTOCAST: outcome(0.43, 0.04)}, AUTOCAST, 5),  # what overlaps with the best is the best
        (all_of(ratio=1.0), TODAY, 5),
        (TODAY_BREAKS, TODAY, 0),
        (TODAY_BREAKS, AUTOCAST, 1.0),  # the gain counts from the slowest that is permitted
        ({BF16: outcome(0.4, 0.15)}, BF16, None),  # wide
        (few(BF16), BF16, None),
        (few(*TABLE), INT8, 0),  # a broken requirement needs no clock
        (few(*TABLE), BF16, None),
        (all_of(ratio=1.0, half=0.4), TODAY, None),  # its own row is always 1: what could beat it must be decided
        (all_of(ratio=4.0, half=1.0), TODAY, 5),  # all others are slower, however wide
    ],
)
def test_the_points_of_a_hand_in_and_when_nothing_is_decided(changed, handed, points):
    found = Table(PLAN, TABLE | changed)
    assert (found.points(handed) if found.decided(handed) else None) == points
    assert (handed in found.best_told()) == (points == 5)


@pytest.mark.parametrize(
    ("bets", "points"),
    [
        ([], 0.0),
        ([(3, True)], 2.0),
        ([(3, False)], 0.0),
        ([(2, True), (2, False)], 0.75),
        ([(1, False)], 0.5),
        ([(3, True), (3, None)], 2.0),
        ([(3, True), (3, True), (3, False)], 1 / 3),
    ],
)
def test_bets(bets, points):
    assert score.bet_points(bets) == pytest.approx(points)


def test_ranks_rise_with_the_mean_of_first_attempts_that_count():
    names = [score.rank(points, 9)[1]["en"] for points in (0, 2.9, 3, 5.4, 5.5, 8, 10)]
    assert [score.rank(10, closed)[1]["en"] for closed in (1, 3, 5)] == [names[2], names[4], names[5]], (
        "one case is no career"
    )
    assert names[0] == names[1] != names[2] == names[3] != names[4] != names[5] == names[6]
    made = [score.Score((score.Part("x", points, 10),)) for points in (4, 8)]
    assert score.standing(made) == 6 and score.standing([]) is None


# --- one learner at one case ----------------------------------------------------------------------------------------


def test_a_case_from_the_first_run_to_the_letter(bank, log):
    bank.run({"dtype": "int8"}, "faster", "certain")
    assert bank.attempt.runs[0].outcome["ratio"] == 0.1 and bank.runs_left() == 2
    bank.hand_in({"dtype": "bf16"}, "faster", 3)
    assert bank.attempt.score().points == pytest.approx(5 + 0 + 0), (
        "a certain bet lost (it breaks the limit), one won; bf16 unseen"
    )
    assert not bank.cause("a") and bank.cause("c") and bank.attempt.cause_found
    bank.letter("Dear colleague, here is what I measured.", ["cause", "need"])
    found = board.standing(LIVE, log.entries())
    assert found.first.points == pytest.approx(5.5) and bank.written().choice == ("cause", "need")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_bets_of_a_first_attempt_count_with_all_others(language, bank, learner, capsys):
    bank.run({"dtype": "int8"}, "faster", "certain")
    bank.run({"dtype": "bf16"}, "faster", "fairly")
    bank.hand_in({"dtype": "bf16"})
    bank.cause("c")
    bank.again()
    bank.run({"dtype": "autocast"}, "faster", "certain")
    set_language(language)
    found = every_bet(learner.entries())
    assert [(one.state, one.choice, one.outcome) for one in found] == [
        ("lost", "faster", "breaks"),
        ("won",) + ("faster",) * 2,
    ]
    assert [(level.right, level.total) for level in levels(found)] == [(0, 1), (1, 1)]
    course.bets()
    said = capsys.readouterr().out
    row = next(part for part in said.split("\n\n") if "int8" in part)
    assert (
        pick(both("breaks a requirement", "违反要求")) in row and pick(both("a made-up machine", "虚构的机器")) in row
    )
    assert "10-bank" not in said and "✗" not in said and "autocast" not in said  # a lost bet is no wrong answer


def test_a_run_is_in_the_log_before_it_is_shown_and_a_dead_kernel_loses_nothing(bank, log):
    bank.run({"dtype": "bf16"}, "faster", "fairly")
    again = Tuning(LIVE, AnswerLog(log.path), measured)
    assert again.attempt.runs == bank.attempt.runs and again.runs_left() == 2
    lines = [json.loads(line) for line in log.path.read_text("utf-8").splitlines()]
    assert [one["event"] for one in lines] == ["move"] and "points" not in lines[0]


def test_an_interrupted_run_is_not_counted(log):
    def stopped(case, configs, tell):
        raise KeyboardInterrupt

    played = Tuning(LIVE, log, stopped)
    with pytest.raises(KeyboardInterrupt):
        played.run({"dtype": "bf16"}, "faster", 1)
    desk, said = typed(played)
    desk.run(dtype="bf16", bet="faster", confidence="guess")
    assert "not counted" in said[-1] and played.runs_left() == 3 and log.entries() == []


def busy(case, configs, tell):
    """A measurement on a machine that is too busy for an interval."""
    found = measured(case, configs, tell)
    return Measured({name: {**one, "verdict": FEW} for name, one in found.outcomes.items()}, "live")


def test_a_run_with_too_few_rounds_shows_no_ratio_and_is_given_back_once(log):
    played = Tuning(LIVE, log, busy)
    played.run({"dtype": "bf16"}, "faster", 1)
    assert played.runs_left() == 3 and len(played.attempt.runs) == 1
    desk = page_of(played)
    assert "not used up" in desk.say.value and "0.400" not in desk.say.value
    desk.go.click()
    assert "not used up" in desk.say.value, "a press without a bet keeps what was measured"
    played.run({"dtype": "bf16"}, "faster", 1)
    assert played.runs_left() == 2, "once a case"
    desk.refresh()
    assert desk.say.value.count("not used up") == 1
    played.run({"dtype": "int8"}, "breaks", 1)
    assert played.runs_left() == 1 and told.run_sentences(played.attempt)[-1].count("not used up") == 0, (
        "a broken requirement was seen"
    )


def test_what_was_not_decided_waits_shows_nothing_and_may_be_handed_in_again(log):
    machines = [busy]
    played = Tuning(
        LIVE, log, lambda *asked: machines[-1](*asked), recorded=lambda case: measured(case, None, lambda words: None)
    )
    with pytest.raises(play.MoveError, match="not busy"):
        played.hand_in({"dtype": "bf16"}, "faster", 3, recording=True)
    desk = page_of(played)
    assert played.hand_in({"dtype": "bf16"}, "faster", 3) is None and played.attempt.waits
    desk.refresh()
    shown = desk.say.value + str(desk) + log.path.read_text("utf-8")
    assert "waits" in desk.say.value and '"table"' not in shown and view.plain(LIVE.cause.stem["en"]) not in shown
    assert desk.tape.layout.display is None and played.attempt.score() is None and played.runs_left() == 3
    assert "waits" in board.standing(LIVE, log.entries()).words["en"]
    with pytest.raises(play.MoveError):
        played.cause("c")
    machines.append(measured)
    played.hand_in({"dtype": "autocast"}, "faster", 3)
    assert played.attempt.handed.config["dtype"] == "autocast" and played.attempt.waits is None, (
        "another one may be chosen"
    )


def test_the_recording_decides_where_the_machine_was_too_busy(log):
    played = Tuning(LIVE, log, busy, recorded=lambda case: Measured(TABLE, "recording", both("another", "另一台")))
    played.hand_in({"dtype": "bf16"}, "faster", 3)
    desk, said = typed(played)
    desk.hand_in(dtype="bf16", bet="faster", confidence="certain", recording=True)
    assert played.attempt.score().points == 7 and "another" in "\n".join(said) and played.attempt.handed


def test_what_is_typed_on_a_busy_machine_is_told_that_a_recording_can_answer(log):
    load = [True]
    tape = Measured(TABLE, "recording", both("another", "另一台"))
    played = Tuning(LIVE, log, measured, recorded=lambda case: tape, busy=lambda case: load[-1])
    desk, said = typed(played)
    desk.run(dtype="int8", bet="faster", confidence="fairly")
    assert "busy" in said[0] and "recording=True" in said[0] and played.attempt.runs[0].evidence["evidence"] == "live"
    desk.run(dtype="bf16", bet="faster", confidence="fairly", recording=True)
    assert played.attempt.runs[1].evidence["evidence"] == "recording"
    load.append(False)
    desk.run(dtype="autocast", bet="faster", confidence="fairly", recording=True)
    assert "not busy" in said[-1] and len(played.attempt.runs) == 2


@pytest.mark.parametrize(
    ("move", "words"),
    [
        (lambda one: one.run({"dtyp": "bf16"}, "faster", 1), '"dtype"?'),
        (lambda one: one.run({"dtype": "bf16"}, "", 1), "First your bet"),
        (lambda one: one.run({"dtype": "bf16"}, "fastr", 1), 'Did you mean "faster"?'),
        (lambda one: one.run({}, {"dtype": "bf16"}, ""), r'run\(dtype="bf16", bet='),
        (lambda one: one.hand_in({"dtype": "bf16"}, "", 1), "before you hand in"),
        (lambda one: one.hand_in({}), "one other setting first"),
        (lambda one: one.run({}, "same", 3), "every run measures it"),
        (lambda one: one.run({"dtype": "bf16"}, "faster", ""), "How sure"),
        (lambda one: one.cause("a"), "after you have handed in"),
        (lambda one: one.letter("no"), "a sentence or two"),
        (lambda one: one.letter("a long enough reply, I hope", ["elegance"]), "criterion"),
    ],
)
def test_a_slip_gets_a_sentence_and_nothing_is_written(bank, log, move, words):
    with pytest.raises(play.MoveError, match=words.replace("?", r"\?")):
        move(bank)
    assert log.entries() == []


def test_the_budget_ends_hints_cost_and_another_try_is_practice(bank, log):
    for kind in ("bf16", "autocast", "int8"):
        bank.run({"dtype": kind}, "faster", 1)
    with pytest.raises(play.MoveError, match="runs"):
        bank.run({"dtype": "bf16"}, "faster", 1)
    for _ in range(4):
        bank.hint()
    assert len(bank.opened_hints()) == 3 and bank.attempt.hints == 3
    bank.hand_in({"dtype": "bf16"}, "faster", 1)
    assert bank.attempt.score().parts[0].points == 3.5
    with pytest.raises(play.MoveError, match="handed in"):
        bank.run({"dtype": "bf16"}, "faster", 1)
    with pytest.raises(play.MoveError, match="too late for a hint"):
        bank.hint()
    bank.cause("c")
    first = board.standing(LIVE, log.entries()).first.points
    assert first == 3.5 + 2 + 0.5 + 1
    bank.again()
    assert bank.runs_left() == 3 and bank.attempt.handed is None
    bank.hand_in({"dtype": "bf16"}, "faster", 3)
    bank.cause("c")
    found = board.standing(LIVE, log.entries())
    assert found.first.points == first and len(found.scores) == 2 and found.scores[1].points == 8


def test_giving_up_before_the_case_is_closed_erases_nothing(bank, log):
    bank.hint()
    bank.run({"dtype": "int8"}, "faster", 3)
    for _ in range(2):
        with pytest.raises(play.MoveError, match="it is the one that counts"):
            bank.again()
        moves.write(log, LIVE, moves.AGAIN)  # as an older version of the course wrote it
    assert bank.runs_left() == 2 and bank.attempt.hints == 1
    bank.hand_in({"dtype": "bf16"}, "faster", 3)
    bank.cause("a")
    moves.write(log, LIVE, moves.AGAIN)
    bank.cause("c")
    assert [part.points for part in board.standing(LIVE, log.entries()).first.parts] == [4.5, 0, 0, 0.5]


# --- evidence -------------------------------------------------------------------------------------------------------


def earned(log, runs: list[dict], handed: dict) -> float:
    """The evidence of an attempt at the bank; the cause is about the number type."""
    played = Tuning(LIVE, log, measured)
    for config in runs:
        played.run(config, "faster", 1)
    played.hand_in(handed, "faster", 1)
    return played.attempt.score().parts[1].points


SEEN, ONE = {"dtype": "bf16"}, {"dtype": "bf16", "threads": "1"}


@pytest.mark.parametrize(
    ("runs", "handed", "points"),
    [
        ([], SEEN, 0),
        ([{"dtype": "int8"}], SEEN, 0),
        ([SEEN], SEEN, 2),
        ([SEEN, SEEN], SEEN, 1.5),
        ([SEEN, SEEN, SEEN], SEEN, 1),
        ([ONE], ONE, 1),
        ([ONE, {"threads": "1"}], ONE, 2),
        ([SEEN], {}, 0),
    ],
)
def test_evidence_is_what_was_measured_before_the_hand_in(log, runs, handed, points):
    """One thread too many apart from today, a setting needs a neighbour of its own; today's is one without a run."""
    assert earned(log, runs, handed) == points


def test_todays_setting_takes_no_bet_and_is_evident_when_its_strongest_rival_was_measured(log, tmp_path):
    slow = table(fp32=(1.0, 0.0), autocast=(3.0, 0.004), bf16=(1.5, 0.004), int8=(0.1, 0.02))

    def here(case, configs, tell):
        return Measured(slow, "live")

    played = Tuning(LIVE, log, here)
    with pytest.raises(play.MoveError, match="one other setting first"):
        played.hand_in({}, "same", "certain")
    played.run({"dtype": "int8"}, "breaks", 1)
    played.hand_in({}, "same", "certain")
    played.cause("c")
    assert [part.points for part in played.attempt.score().parts] == [5, 0, 0.5, 1], "its rival was not looked at"
    other = Tuning(LIVE, AnswerLog(tmp_path / "other.jsonl"), here)
    other.run({"dtype": "bf16"}, "slower", "certain")
    other.hand_in({})
    other.cause("c")
    assert other.attempt.score().points == 10


def test_a_bet_on_what_is_known_counts_for_nothing_and_is_not_asked(log):
    played = Tuning(LIVE, log, measured)
    played.run({"dtype": "bf16"}, "same", 2)
    played.hand_in({"dtype": "bf16"}, "faster", 3)
    assert played.attempt.score().parts[2].points == 0 and played.attempt.handed.bet == ""


def test_a_machine_that_lacks_a_control_has_a_smaller_panel_and_its_table_is_read_as_played(log):
    small = PLAN.without({"threads"}, {("dtype", "int8")})
    assert [one.id for one in small.controls] == ["dtype"] and len(small.configs()) == 3

    def here(case, configs, tell):
        return Measured({tuning_plan.key(one): outcome(1.0, 0.01) for one in small.configs()}, "live")

    played = Tuning(LIVE, log, here, small)
    played.run({"dtype": "bf16"}, "same", 2)
    played.hand_in({})
    assert played.attempt.score().points == 5 + 2 + 1.5
    assert board.standing(LIVE, log.entries()).words["en"].startswith("handed in")
    played.cause("c")
    assert board.standing(LIVE, log.entries()).first.points == 9.5


def test_a_ruled_case_measures_nothing(log):
    played = Tuning(RULED, log)
    found = played.run({"enabled": "off"}, "works", 2)
    assert found.came == "works" and found.evidence["evidence"] == "rule"
    played.hand_in({"enabled": "off", "sdp": "off"}, "fits", 3)
    assert played.attempt.score().points == pytest.approx(5 + 1.75)


def test_moves_survive_rubbish_in_the_log(log):
    log.append("move", LIVE.id, options=("run", TODAY, "faster"), record="{not json")
    log.append("move", LIVE.id, options=("hand-in", "no such", "faster"), record='{"table": {}}')
    log.append("move", LIVE.id)
    assert board.standing(LIVE, log.entries()).scores == ()
    assert Tuning(LIVE, log, measured).attempt.handed is None


# --- shown ----------------------------------------------------------------------------------------------------------


def test_a_page_follows_what_is_typed_and_shows_the_state_it_was_left_in(bank, log):
    page = page_of(bank)
    page.play.hint()
    typed(Tuning(LIVE, log, measured))[0].run(dtype="bf16", bet="faster", confidence="guess")
    assert "0.400" in page.say.value and 'aria-live="polite"' in page.say.value
    assert LIVE.hints[0]["en"][:20] in page.say.value
    page.go.click()
    assert "every run measures it" in page.say.value and page.play.runs_left() == 2
    page.controls["dtype"].choose("autocast")
    page.hand.click()
    assert "First your bet" in page.say.value and page.play.attempt.handed is None
    page.bet.choose("faster")
    page.confidence.choose("3")
    page.hand.click()
    assert page.play.attempt.handed and page.panel not in page.side.children
    assert "<svg" in page.picture.value and "your bet" in page.picture.value
    page.hand.click()
    box = page.boxes[0]
    box.choices.toggle(LIVE.cause.right.id)
    box.press()
    later = page_of(Tuning(LIVE, AnswerLog(log.path), measured))
    assert len(later.boxes) == len(page.boxes) == 2 and LIVE.debrief.why["en"][:20] in later.closing.value
    assert not later.two.children and later.folds.value.count("<details>") == 6
    later.last.children[0].click()
    assert f"tbq-live-{LIVE.twin}" in later.follow.children[0]._dom_classes
    assert LIVE.debrief.trap["en"] in page.saved_copy()["text/html"]


def test_a_press_that_waited_during_a_run_does_not_start_another(bank, monkeypatch):
    monkeypatch.setattr("course.cards.widgets.DOUBLE_CLICK_S", 60)
    page = page_of(bank)
    page.controls["dtype"].choose("bf16")
    for _ in range(2):
        page.bet.choose("faster")
        page.confidence.choose("1")
        page.go.click()
    assert len(page.play.attempt.runs) == 1


@pytest.mark.parametrize(
    ("points", "said"),
    [(6.25, "6.25"), (13.0, "13"), (2 / 3, "0.67"), (100.25, "100.25"), (120.0, "120"), (0.0, "0"), (-0.001, "0")],
)
def test_points_are_written_to_the_hundredth(points, said):
    assert format_points(points) == said


def test_what_a_page_sends_is_answered_in_order_by_one_thread_also_by_parts_that_come_later(bank, monkeypatch):
    """ipykernel 7.4 answers a widget in the thread that last wrote to it; a press would overtake the text beside it."""
    if ipykernel.version_info[:2] < (7, 4):
        pytest.skip("this ipykernel answers all widgets in one thread")
    assert hasattr(kernel.BaseComm, "_reply_subshell_for"), (
        "ipykernel chooses the thread that answers a widget in another way: follow it in course/cards/widgets.py, in_order"
    )
    monkeypatch.setattr("comm.create_comm", kernel.BaseComm)
    monkeypatch.setattr("course.cards.widgets._shared", {})  # those of other tests have no such channel
    page = Desk(bank, text=False)
    view_of(page.build(), "a case")
    page.play.hand_in({"dtype": "bf16"}, "faster", 1), page.play.cause("c"), page.refresh()

    def every(widget):
        return [widget, *(one for child in getattr(widget, "children", ()) for one in every(child))]

    field = page.boxes[1].field
    assert field in every(page.widget) and len(every(page.widget)) > 20
    assert {one.comm._reply_subshell_for({}, "another thread") for one in every(page.widget)} == {None}


def test_a_reply_of_before_is_folded_and_one_just_kept_is_not(bank):
    desk = page_of(bank)
    desk.play.hand_in({"dtype": "bf16"}, "faster", 1), desk.play.cause("c"), desk.refresh()
    writing = desk.boxes[1]
    writing.field.value = "Dear colleague, here is what I measured."
    writing.keep.click()
    assert desk.play.written() and writing.below in writing.widget.children and writing.below.layout.display is None
    found = page_of(bank).boxes[1]
    assert found.below not in found.widget.children and found.field.value == writing.field.value
    found.fold.children[0].click()
    assert found.below in found.widget.children and found.fold not in found.widget.children

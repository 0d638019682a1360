"""The frame of the games: moves in the log, points as pure functions, one learner at one case, the board, what is shared, what survives."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict

import ipykernel
import ipykernel.comm.comm as kernel
import pytest

import course
from course.cards.widgets import view_of
from course.core.i18n import LANGUAGES, both, pick, set_language
from course.core.markup import plain
from course.core.units import format_points
from course.game import board, cases, moves, play
from course.learning.log import AnswerLog
from course.learning.progress import summary
from course.lessons.l10_tuning_master import panel
from course.lessons.l10_tuning_master.desk import Desk
from course.lessons.l10_tuning_master.panel import FEW, Table
from course.lessons.l10_tuning_master.tuning import Measured, Tuning
from course.questions.lint import language_faults
from course.verbs import state

RULED, LIVE = cases.find("gan"), cases.find("bank")
PLAN = panel.plan_of(LIVE)
TODAY = panel.key(PLAN.today)


def outcome(ratio: float, half: float = 0.02, error: float = 0.0, verdict: str = "") -> dict:
    word = verdict or ("faster" if ratio + half < 1 else "slower" if ratio - half > 1 else "same")
    return {"ratio": ratio, "low": ratio - half, "high": ratio + half, "verdict": word, "facts": {"error": error}}


def table(**ratios: tuple) -> dict:
    """Outcomes of the bank: number type -> (ratio, error); on one thread twice as slow."""
    found = {}
    for config in PLAN.configs():
        ratio, error = ratios.get(config["dtype"], (1.0, 0.0))
        found[panel.key(config)] = outcome(ratio * (2 if config["threads"] == "1" else 1), 0.02, error)
    return found | {TODAY: outcome(1.0, 0.0)}


TABLE = table(fp32=(1.0, 0.0), autocast=(1.4, 0.004), bf16=(0.4, 0.004), int8=(0.1, 0.02))


def measured(case, configs):
    names = [panel.key(one) for one in configs] if configs is not None else list(TABLE)
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
    played.cause(played.case.right.id)
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
    return panel.key({"dtype": dtype, "threads": threads})


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
        ([(3, False)], 0.0),
        ([(2, True), (2, False), (1, False)], 2 / 3),
        ([(3, True), (3, True), (3, False), (3, None)], 1 / 3),
    ],
)
def test_bets(bets, points):
    assert play.bet_points(bets) == pytest.approx(points)


# --- one learner at one case ----------------------------------------------------------------------------------------


def test_a_case_from_the_first_run_to_its_end_also_after_a_dead_kernel(bank, log):
    bank.run({"dtype": "int8"}, "faster", "certain")
    again = Tuning(LIVE, AnswerLog(log.path), measured)
    assert again.attempt.runs == bank.attempt.runs and again.runs_left() == 2
    lines = [json.loads(line) for line in log.path.read_text("utf-8").splitlines()]
    assert [one["event"] for one in lines] == ["move"] and "points" not in lines[0]
    assert bank.attempt.runs[0].outcome["ratio"] == 0.1 and bank.runs_left() == 2
    bank.hand_in({"dtype": "bf16"}, "faster", 3)
    assert bank.attempt.score().points == pytest.approx(5 + 0 + 0), (
        "a certain bet lost (it breaks the limit), one won; bf16 unseen"
    )
    desk, said = typed(bank)
    desk.cause("a")
    assert (said[-1].count("✗"), said[-1].count("✓")) == (1, 0), "what was not tried is not told"
    shown = [plain(one.why["en"]) in said[-1] for one in LIVE.cause.options]
    assert shown == [one.id == "a" for one in LIVE.cause.options]
    desk.cause("c")
    assert all(plain(one.why["en"]) in said[-1] for one in LIVE.cause.options) and "first attempt" in said[-1]
    moves.write(log, LIVE, "letter", ("cause",), text="as an older version of the course kept it")
    assert board.standing(LIVE, log.entries()).first.points == pytest.approx(5.5)


def test_an_interrupted_run_is_not_counted(log):
    def stopped(case, configs):
        raise KeyboardInterrupt

    played = Tuning(LIVE, log, stopped)
    with pytest.raises(KeyboardInterrupt):
        played.run({"dtype": "bf16"}, "faster", 1)
    desk, said = typed(played)
    desk.run(dtype="bf16", bet="faster", confidence="guess")
    assert "not counted" in said[-1] and played.runs_left() == 3 and log.entries() == []


def busy(case, configs):
    """A measurement on a machine that is too busy for an interval."""
    found = measured(case, configs)
    return Measured({name: {**one, "verdict": FEW} for name, one in found.outcomes.items()}, "live")


def test_a_run_that_told_nothing_is_not_used_up_and_shows_no_ratio(log):
    played = Tuning(LIVE, log, busy)
    for _ in range(2):
        played.run({"dtype": "bf16"}, "faster", 1)
    assert played.runs_left() == 3 and len(played.attempt.runs) == 2
    desk = page_of(played)
    assert "not used up" in desk.say.value and "0.400" not in desk.say.value
    played.run({"dtype": "int8"}, "breaks", 1)
    assert played.runs_left() == 2, "a broken requirement was seen"


def test_what_was_not_decided_shows_and_keeps_nothing_and_a_recording_can_decide(log):
    tape = Measured(TABLE, "recording", both("another", "另一台"))
    played = Tuning(LIVE, log, busy, recorded=lambda case: tape, busy=lambda case: True)
    desk = page_of(played)
    assert desk.tape.layout.display == "none"
    desk.controls["dtype"].choose("bf16"), desk.bet.choose("faster"), desk.confidence.choose("3")
    desk.hand.click()
    assert "Not handed in" in desk.say.value and log.entries() == [] and desk.tape.layout.display is None
    # as an older version of the course kept one that waits
    moves.write(log, LIVE, "hand-in", (BF16, "faster"), confidence=3)
    with pytest.raises(play.MoveError):
        played.cause("c")
    other, said = typed(played)
    other.run(dtype="int8", bet="breaks", confidence="fairly", recording=True)
    assert played.attempt.runs[0].evidence["evidence"] == "recording" and "another" in said[-1]
    other.run(dtype="autocast", bet="faster", confidence="fairly")
    assert "busy" in said[1] and "recording=True" in said[1]
    desk.tape.click()
    assert played.attempt.handed.config["dtype"] == "bf16" and played.attempt.score().parts[0].points == 5


@pytest.mark.parametrize(
    ("move", "words"),
    [
        (lambda one: one.run({"dtyp": "bf16"}, "faster", 1), '"dtype"?'),
        (lambda one: one.run({"dtype": "bf16"}, "", 1), "First your bet"),
        (lambda one: one.run({"dtype": "bf16"}, "fastr", 1), 'Did you mean "faster"?'),
        (lambda one: one.hand_in({"dtype": "bf16"}, "", 1), "before you hand in"),
        (lambda one: one.hand_in({}), "one other setting first"),
        (lambda one: one.run({}, "same", 3), "every run measures it"),
        (lambda one: one.run({"dtype": "bf16"}, "faster", ""), "How sure"),
        (lambda one: one.cause("a"), "after you have handed in"),
    ],
)
def test_a_slip_gets_a_sentence_and_nothing_is_written(bank, log, move, words):
    with pytest.raises(play.MoveError, match=words.replace("?", r"\?")):
        move(bank)
    assert log.entries() == []


def test_the_budget_ends_hints_cost_and_another_try_is_practice(bank, log):
    for kind in ("bf16", "autocast", "int8"):
        bank.run({"dtype": kind}, "faster", 1)
        with pytest.raises(play.MoveError, match="measured that one|runs"):
            bank.run({"dtype": kind}, "faster", 1)
    with pytest.raises(play.MoveError, match="runs"):
        bank.run({"dtype": "bf16", "threads": "1"}, "faster", 1)
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
    assert "practice" in str(typed(bank)[0]) and "practice: 8" in found.said


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

    def here(case, configs):
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


def test_moves_survive_rubbish_in_the_log(log):
    log.append("move", LIVE.id, options=("run", TODAY, "faster"), record="{not json")
    log.append("move", LIVE.id, options=("hand-in", "no such", "faster"), record='{"table": {}}')
    log.append("move", LIVE.id)
    assert board.standing(LIVE, log.entries()).scores == ()
    assert Tuning(LIVE, log, measured).attempt.handed is None


def test_a_setting_that_the_machine_cannot_run_is_refused_and_its_table_is_as_good(log):
    def here(case, configs):
        found = measured(case, configs)
        return Measured({name: one for name, one in found.outcomes.items() if "int8" not in name}, "live")

    played = Tuning(LIVE, log, here)
    for move in (played.run, played.hand_in):
        with pytest.raises(play.MoveError, match="cannot run"):
            move({"dtype": "int8"}, "faster", 1)
    played.hand_in({"dtype": "bf16"}, "faster", 1)
    assert played.attempt.score().parts[0].points == 5
    one_core = {"dtype=fp32": outcome(1.0), "dtype=bf16": outcome(0.5)}  # as an older version kept it without threads
    old = AnswerLog(log.path.with_name("old.jsonl"))
    moves.write(old, LIVE, "hand-in", ("dtype=bf16", "faster"), confidence=3, evidence={"table": one_core})
    assert Tuning(LIVE, old).attempt.score().parts[0].points == 5


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
    box = page.box
    box.choices.toggle(LIVE.right.id)
    box.press()
    later = page_of(Tuning(LIVE, AnswerLog(log.path), measured))
    assert LIVE.debrief.why["en"][:20] in later.closing.value == page.closing.value
    assert not later.two.children and LIVE.letter.model["en"][:20] in later.folds.value
    assert LIVE.twin in later.closing.value
    assert LIVE.debrief.trap["en"] in page.saved_copy()["text/html"]


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
    page.play.hand_in({"dtype": "bf16"}, "faster", 1), page.refresh()

    def every(widget):
        return [widget, *(one for child in getattr(widget, "children", ()) for one in every(child))]

    assert page.box.go in every(page.widget) and len(every(page.widget)) > 20
    assert {one.comm._reply_subshell_for({}, "another thread") for one in every(page.widget)} == {None}


# --- the board, what one sends, what a case loads ---------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
def test_board_and_finish_know_the_cases(language, capsys, learner, monkeypatch):
    def said(verb, *args) -> str:
        verb(*args)
        return capsys.readouterr().out

    set_language(language)
    assert "voice" in said(course.case, "voyce")
    monkeypatch.setenv("COURSE_DEBUG", "1")
    assert "board()" in said(course.finish) and 'case("museum")' in said(course.board)
    close(learner, "gan", confidence=1, enabled="off", sdp="off")
    close(learner, "school", run=True, benchmark="on")
    found = board.standings("10_tuning_master", learner.entries())
    points = [one.first.points for one in found if one.first]
    told = said(course.board, "10_tuning_master")
    assert all(f'case("{one.case.id[3:]}")' in told and plain(pick(one.case.title)) in told for one in found)
    assert format_points(round(sum(points) / 2, 1)) in told and all(format_points(one) in told for one in points)
    assert "10_tuning_master" in said(course.board, "09_mkldnn")
    assert plain(pick(cases.find("school").title)) in said(course.finish)
    assert said(course.review)
    done = next(one for one in summary(learner.entries(), state.now.bank).lessons if one.lesson == "10_tuning_master")
    assert done.done, "a lesson of cases is finished without a card"


# --- what one sends ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_shared_names_no_setting_and_no_cause_and_asks_for_a_bet(language, bank, learner, capsys):
    set_language(language)

    def shared(case) -> str:
        capsys.readouterr()
        course.share(case.id)
        return capsys.readouterr().out

    assert "🎲" not in shared(LIVE), "a case that is not closed is not shared"
    bank.run({"dtype": "int8"}, "faster", 3), bank.hand_in({"dtype": "bf16"}, "same", 2), bank.cause("c")
    text = shared(LIVE)
    assert (
        LIVE.call in text
        and format_points(bank.attempt.score().points) in text
        and plain(pick(LIVE.quote.text)) in text
    )
    for secret in (*PLAN.controls[0].values, LIVE.debrief.trap[language], LIVE.right.text[language]):
        assert secret not in text
    hook = text.splitlines()[0]
    assert pick(both("60 % less time", "省 60% 的时间")) in hook and "90" not in hook, "the best that breaks nothing"
    typo = board.game("11_bug_hunt").player(cases.find("typo"), learner)
    typo.give_up(), typo.cause(typo.case.right.id)
    for case in (LIVE, close(learner, "gan", enabled="off").case, typo.case):
        assert shared(case).splitlines()[0].endswith(("Your bet?", "你押哪个？", "你押哪行？")), case.id


def texts(found, name="") -> Iterator[tuple[str, dict]]:
    """Every text in both languages in the data of a case, and what it is called."""
    if isinstance(found, Mapping):
        if set(found) == set(LANGUAGES):
            yield name, found
            return
        found = found.items()
    elif isinstance(found, list | tuple):
        found = enumerate(found)
    elif isinstance(found, str) and name.split()[0] not in CODE:
        assert not re.search(r"[a-z] [a-z]", found), f"{name} stands in one language only: {found}"
    for key, one in found if not isinstance(found, str | bool | int | float | None) else ():
        yield from texts(one, f"{name} {key}".strip())


CODE = {"code", "comments", "sources", "play"}
"""Fields that hold scripts, calls and addresses."""


@pytest.mark.parametrize("case", cases.cases().values(), ids=lambda one: one.id)
def test_a_case_is_whole_and_stands_in_both_languages(case):
    found = dict(texts(asdict(case)))
    assert [fault for name, text in found.items() for fault in language_faults(name, text)] == []
    assert sum(one.correct for one in case.cause.options) == 1 and len(case.cause.options) >= 3 and len(case.hints) == 3
    assert case.evidence in cases.EVIDENCE and (not case.twin or cases.cases()[case.twin].twin == case.id)
    assert case.lesson[:2] == case.id[:2] and all(pick(one, code).strip() for one in case.sources for code in LANGUAGES)

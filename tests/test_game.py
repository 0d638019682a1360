"""The frame of the games: moves in the log, points as pure functions, one learner at one case, the board, what survives."""

from __future__ import annotations

import json
import subprocess
import sys

import ipykernel
import ipykernel.comm.comm as kernel
import pytest

import course
from course.cards.widgets import view_of
from course.game import board, cases, moves, play, score, view
from course.i18n import LANGUAGES, both, set_language, speaking
from course.learning.log import AnswerLog
from course.lessons.l10_tuning_master import tuning
from course.lessons.l10_tuning_master import tuning_view as told
from course.lessons.l10_tuning_master.tuning_desk import Desk, again_words
from course.lessons.l10_tuning_master.tuning_player import Measured, Tuning
from course.units import format_points
from course.verbs import state
from tests.conftest import ROOT

RULED, LIVE = cases.find("gan"), cases.find("bank")
PLAN = tuning.plan_of(LIVE)
TODAY = tuning.key(PLAN.today)


def outcome(ratio: float, half: float = 0.02, error: float = 0.0, verdict: str = "") -> dict:
    word = verdict or ("faster" if ratio + half < 1 else "slower" if ratio - half > 1 else "same")
    return {"ratio": ratio, "low": ratio - half, "high": ratio + half, "verdict": word, "facts": {"error": error}}


def table(**ratios: tuple) -> dict:
    """Outcomes of the bank: number type -> (ratio, error); on one thread twice as slow."""
    found = {}
    for config in PLAN.configs():
        ratio, error = ratios.get(config["dtype"], (1.0, 0.0))
        found[tuning.key(config)] = outcome(ratio * (2 if config["threads"] == "1" else 1), 0.02, error)
    return found | {TODAY: outcome(1.0, 0.0)}


TABLE = table(fp32=(1.0, 0.0), autocast=(1.4, 0.004), bf16=(0.4, 0.004), int8=(0.1, 0.02))


def measured(case, configs, tell):
    tell("measuring")
    names = [tuning.key(one) for one in configs] if configs is not None else list(TABLE)
    return Measured({name: TABLE[name] for name in {*names, TODAY}}, "live", both("a made-up machine", "虚构的机器"))


@pytest.fixture
def log(tmp_path):
    return AnswerLog(tmp_path / "answers.jsonl")


@pytest.fixture
def bank(log):
    return Tuning(LIVE, log, measured)


# --- points ---------------------------------------------------------------------------------------------------------


def hand(dtype: str, threads: str = "all") -> str:
    return tuning.key({"dtype": dtype, "threads": threads})


def test_first_the_limit_then_the_speed():
    assert tuning.best_set(PLAN, TABLE, TODAY) == [hand("bf16")]
    assert tuning.outcome_points(PLAN, TABLE, TODAY, hand("int8")) == 0, "the fastest breaks the limit"
    assert tuning.outcome_points(PLAN, TABLE, TODAY, hand("bf16")) == 5
    assert tuning.outcome_points(PLAN, TABLE, TODAY, TODAY) == 0
    assert 0 < tuning.outcome_points(PLAN, TABLE, TODAY, hand("bf16", "1")) < 4


def test_what_overlaps_with_the_best_is_the_best_and_today_may_be_among_it():
    near = TABLE | {hand("autocast"): outcome(0.43, 0.04)}
    assert set(tuning.best_set(PLAN, near, TODAY)) == {hand("bf16"), hand("autocast")}
    flat = {name: outcome(1.0, 0.02) for name in TABLE} | {TODAY: outcome(1.0, 0.0)}
    assert TODAY in tuning.best_set(PLAN, flat, TODAY)
    assert tuning.outcome_points(PLAN, flat, TODAY, TODAY) == 5


def test_where_today_breaks_the_limit_the_gain_counts_from_the_slowest_that_is_permitted():
    ill = TABLE | {TODAY: {**outcome(1.0, 0.0), "facts": {"error": 0.5}}}
    assert tuning.outcome_points(PLAN, ill, TODAY, TODAY) == 0
    assert tuning.outcome_points(PLAN, ill, TODAY, hand("autocast")) > 0


def test_a_wide_or_a_short_measurement_gives_no_points():
    assert tuning.decided(PLAN, TABLE, TODAY, hand("bf16"))
    assert not tuning.decided(PLAN, TABLE | {hand("bf16"): outcome(0.4, 0.15)}, TODAY, hand("bf16"))
    few = TABLE | {hand("bf16"): outcome(0.4, 0.0, verdict=tuning.FEW)}
    assert not tuning.decided(PLAN, few, TODAY, hand("bf16"))
    assert tuning.came_out(PLAN, few[hand("bf16")], few[TODAY]) is None


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


def test_saying_certain_pays_only_for_who_is():
    def expected(sure, chance):
        right, wrong = score.BET_POINTS[sure]
        return chance * right + (1 - chance) * wrong

    best = {chance: max(score.BET_POINTS, key=lambda sure: expected(sure, chance)) for chance in (0.2, 0.5, 0.8, 0.9)}
    assert best == {0.2: 1, 0.5: 2, 0.8: 2, 0.9: 3}


def test_ranks_rise_with_the_mean_of_first_attempts_that_count():
    names = [score.rank(points, 9)[1]["en"] for points in (0, 2.9, 3, 5.4, 5.5, 8, 10)]
    assert [score.rank(10, closed)[1]["en"] for closed in (1, 3, 5)] == [names[2], names[4], names[5]], (
        "one case is no career"
    )
    assert names[0] == names[1] != names[2] == names[3] != names[4] != names[5] == names[6]
    made = [
        score.Score((score.Part("x", points, 10),), counts) for points, counts in ((4, True), (8, True), (0, False))
    ]
    assert score.standing(made) == 6 and score.standing(made[2:]) is None


# --- one learner at one case ----------------------------------------------------------------------------------------


def test_a_case_from_the_first_run_to_the_letter(bank, log):
    bank.run({"dtype": "int8"}, "faster", "certain")
    assert bank.attempt.runs[0].outcome["ratio"] == 0.1 and bank.runs_left() == 2
    bank.hand_in({"dtype": "bf16"}, "faster", 3)
    assert bank.score().points == pytest.approx(5 + 0 + 2), "a certain bet lost (it breaks the limit) and one won"
    assert not bank.cause("a") and bank.cause("c") and bank.cause_found()
    bank.letter("Dear colleague, here is what I measured.", ["cause", "need"])
    found = tuning.standing(LIVE, log.entries())
    assert found.first.points == pytest.approx(7.5) and bank.written().choice == ("cause", "need")


def test_a_run_is_in_the_log_before_it_is_shown_and_a_dead_kernel_loses_nothing(bank, log):
    bank.run({"dtype": "bf16"}, "faster", "fairly")
    again = Tuning(LIVE, AnswerLog(log.path), measured)
    assert again.attempt == bank.attempt and again.runs_left() == 2
    lines = [json.loads(line) for line in log.path.read_text("utf-8").splitlines()]
    assert [one["event"] for one in lines] == ["move"] and "points" not in lines[0]


def test_an_interrupted_run_is_not_counted(log):
    def stopped(case, configs, tell):
        raise KeyboardInterrupt

    played = Tuning(LIVE, log, stopped)
    with pytest.raises(KeyboardInterrupt):
        played.run({"dtype": "bf16"}, "faster", 1)
    said = []
    Desk(played, text=True, write=said.append).run(dtype="bf16", bet="faster", confidence="guess")
    assert "not counted" in said[-1] and played.runs_left() == 3 and log.entries() == []


def test_a_run_with_too_few_rounds_is_given_back(log):
    def short(case, configs, tell):
        found = measured(case, configs, tell)
        return Measured({name: {**one, "verdict": tuning.FEW} for name, one in found.outcomes.items()}, "live")

    played = Tuning(LIVE, log, short)
    played.run({"dtype": "bf16"}, "faster", 1)
    assert played.runs_left() == 3 and len(played.attempt.runs) == 1
    desk = Desk(played, text=False)
    desk.build()
    result = told.interval(played.attempt.runs[0].outcome)
    assert result in desk.say.value
    desk.go.click()
    assert result in desk.say.value, "a press without a bet keeps what was measured"
    desk.play.hand_in({"dtype": "bf16"}, "faster", 1), desk.play.cause("c"), desk.refresh()
    assert desk.restart.description == again_words(counts=True) != again_words()


@pytest.mark.parametrize(
    ("move", "words"),
    [
        (lambda one: one.run({"dtyp": "bf16"}, "faster", 1), '"dtype"?'),
        (lambda one: one.run({"dtype": "bf61"}, "faster", 1), '"bf16"?'),
        (lambda one: one.run({}, "", 1), "First your bet"),
        (lambda one: one.run({}, "fastr", 1), 'Did you mean "faster"?'),
        (lambda one: one.run({}, {"dtype": "bf16"}, 1), "is no bet"),
        (lambda one: one.hand_in({}, "", 1), "so does the hand-in"),
        (lambda one: one.run({}, "faster", ""), "How sure"),
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
    for _ in range(3):
        bank.run({"dtype": "bf16"}, "faster", 1)
    with pytest.raises(play.MoveError, match="runs"):
        bank.run({"dtype": "bf16"}, "faster", 1)
    for _ in range(4):
        bank.hint()
    assert len(bank.opened_hints()) == 3 and bank.attempt.hints == 3
    bank.hand_in({"dtype": "bf16"}, "faster", 1)
    assert bank.score().parts[0].points == 3.5
    with pytest.raises(play.MoveError, match="handed in"):
        bank.run({"dtype": "bf16"}, "faster", 1)
    with pytest.raises(play.MoveError, match="too late for a hint"):
        bank.hint()
    bank.cause("c")
    first = tuning.standing(LIVE, log.entries()).first.points
    bank.again()
    assert bank.runs_left() == 3 and bank.attempt.handed is None
    bank.hand_in({"dtype": "bf16"}, "faster", 3)
    bank.cause("c")
    found = tuning.standing(LIVE, log.entries())
    assert found.first.points == first and len(found.scores) == 2 and found.scores[1].points > first


def test_a_machine_that_lacks_a_control_has_a_smaller_panel_and_its_table_is_read_as_played(log):
    small = PLAN.without({"threads"}, {("dtype", "int8")})
    assert [one.id for one in small.controls] == ["dtype"] and len(small.configs()) == 3

    def here(case, configs, tell):
        return Measured({tuning.key(one): outcome(1.0, 0.01) for one in small.configs()}, "live")

    played = Tuning(LIVE, log, here, small)
    played.hand_in({}, "same", 2)
    assert played.score().points == pytest.approx(5 + 1.5 + 2)
    assert tuning.standing(LIVE, log.entries()).words["en"].startswith("handed in")
    played.cause("c")
    assert tuning.standing(LIVE, log.entries()).first.points == pytest.approx(9.5)


def test_a_ruled_case_measures_nothing(log):
    played = Tuning(RULED, log)
    found = played.run({"enabled": "off"}, "works", 2)
    assert tuning.came_out(played.plan, found.outcome, found.today) == "works"
    assert found.evidence["evidence"] == "rule"
    played.hand_in({"enabled": "off", "sdp": "off"}, "fits", 3)
    assert played.score().points == pytest.approx(5 + 1.75 + 2)


def test_moves_survive_rubbish_in_the_log(log):
    log.append("move", LIVE.id, options=("run", TODAY, "faster"), record="{not json")
    log.append("move", LIVE.id, options=("hand-in", "no such", "faster"), record='{"table": {}}')
    log.append("move", LIVE.id)
    assert tuning.standing(LIVE, log.entries()).scores == ()
    assert Tuning(LIVE, log, measured).attempt.handed is None


# --- shown ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("case", [LIVE, RULED], ids=lambda one: one.id)
def test_the_text_twin_tells_a_whole_case(language, case, log):
    set_language(language)
    said = []
    desk = Desk(Tuning(case, log, measured), text=True, write=said.append)
    config = {"dtype": "bf16"} if case is LIVE else {"enabled": "off", "sdp": "off"}
    bet = "faster" if case is LIVE else "fits"
    desk.show()
    desk.run(bet=bet, confidence="fairly", **config)
    desk.hint()
    desk.hand_in(bet=bet, confidence="certain", **config)
    desk.cause(case.cause.right.id)
    desk.letter("Dear colleague, this is what I measured.", tick=["cause"])
    told = "\n".join(said)
    for text in (case.debrief.why, case.debrief.trap, case.letter.model, *(one.why for one in case.cause.answers)):
        assert view.plain(text[language])[:30] in told
    desk.letter(tick="machine")
    assert told.count(view.cause_said(True)) == 1 and desk.play.written().choice == ("machine",)
    assert "9." in told and "[x]" in told and not any(mark in told for mark in ("**", "None", "{"))
    assert view.plain(case.letter.model[language])[:30] in str(desk)


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_rules_decide_stands_in_one_line_a_rule_on_the_page_as_in_text(language, log):
    set_language(language)
    played = Tuning(RULED, log)
    played.run({"enabled": "off"}, "works", 2)
    played.hand_in({"deterministic": "on"}, "fits", 3)
    page, text = told.picture_html(played, played.attempt), told.picture_text(played, played.attempt)
    found = told.rulings(played.plan, played.attempt)
    assert [one.bet for one in found] == ["fits", "works", "breaks"] and page.count("<br>") == text.count("  - ") == 3
    assert all(view.inline(one.settings(played.plan)) in page for one in found)
    assert all(view.plain(one.settings(played.plan)) in text for one in found)
    marks = [len(one.marks.split("，" if language == "zh" else ", ")) if one.marks else 0 for one in found]
    assert marks == [0, 1, 2], "the run works; today's and the hand-in, both with cuDNN, break"
    assert text.count("cudnn.deterministic") == 1, "named once, as what plays no part"


def test_a_page_follows_what_is_typed_and_shows_the_state_it_was_left_in(log):
    page = Desk(Tuning(LIVE, log, measured), text=False)
    page.build()
    page.play.hint()
    Desk(Tuning(LIVE, log, measured), text=True, write=lambda words: None).run(
        dtype="bf16", bet="faster", confidence="guess"
    )
    assert "0.400" in page.say.value and 'aria-live="polite"' in page.say.value
    assert LIVE.hints[0]["en"][:20] in page.say.value
    page.controls["dtype"].choose("bf16")
    page.hand.click()
    assert "First your bet" in page.say.value and page.play.attempt.handed is None
    page.bet.choose("faster")
    page.confidence.choose("3")
    page.hand.click()
    assert page.play.attempt.handed and page.panel.layout.display == "none"
    page.hand.click()
    box = page.after[0]
    box.choices.toggle(LIVE.cause.right.id)
    box.press()
    later = Desk(Tuning(LIVE, AnswerLog(log.path), measured), text=False)
    later.build()
    assert len(later.after) == len(page.after) == 4 and LIVE.debrief.why["en"][:20] in later.after[1].value
    assert LIVE.debrief.trap["en"] in page.saved_copy()["text/html"]


def test_a_press_that_waited_during_a_run_does_not_start_another(log, monkeypatch):
    monkeypatch.setattr("course.cards.widgets.DOUBLE_CLICK_S", 60)
    page = Desk(Tuning(LIVE, log, measured), text=False)
    page.build()
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


@pytest.mark.parametrize("language", LANGUAGES)
def test_quarter_points_stand_whole_in_the_score_and_on_the_board(language):
    found = score.Score((score.Part("x", 5, 5), score.Part("y", 1.25, 5)))
    standing = board.Standing(LIVE, "", (found, found))
    with speaking(language):
        for shown in (view.points_text(found), view.points_html(found)):
            assert "1.25 / 5" in shown and "6.25 / 10" in shown
        assert "6.25" in view._latest(standing)
        assert "6.25" in view.career_lines(board.career([standing], [LIVE.id]))[0]


def test_what_a_page_sends_is_answered_in_order_by_one_thread_also_by_parts_that_come_later(log, monkeypatch):
    """ipykernel 7.4 answers a widget in the thread that last wrote to it; a press would overtake the text beside it."""
    if ipykernel.version_info[:2] < (7, 4):
        pytest.skip("this ipykernel answers all widgets in one thread")
    assert hasattr(kernel.BaseComm, "_reply_subshell_for"), (
        "ipykernel chooses the thread that answers a widget in another way: follow it in course/cards/widgets.py, in_order"
    )
    monkeypatch.setattr("comm.create_comm", kernel.BaseComm)
    page = Desk(Tuning(LIVE, log, measured), text=False)
    view_of(page.build(), "a case")
    page.play.hand_in({"dtype": "bf16"}, "faster", 1), page.play.cause("c"), page.refresh()

    def every(widget):
        return [widget, *(one for child in getattr(widget, "children", ()) for one in every(child))]

    field = page.after[2].field
    assert field in every(page.widget) and len(every(page.widget)) > 40
    assert {one.comm._reply_subshell_for({}, "another thread") for one in every(page.widget)} == {None}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_board_knows_state_rank_and_the_score_before(language, monkeypatch, capsys, log):
    monkeypatch.setenv("COURSE_TEXT", "1")
    monkeypatch.setattr(state, "now", state.State(lesson="10_tuning_master"))
    set_language(language)
    course.board()
    assert "10-museum" in capsys.readouterr().out
    for name, config in (("gan", {"enabled": "off", "sdp": "off"}), ("mac", {})):
        played = Tuning(cases.find(name), state.now.log)
        played.hand_in(config, "fits", 1)
        played.cause(played.case.cause.right.id)
    course.board()
    told = capsys.readouterr().out
    found = board.career(board.standings("10_tuning_master", state.now.log.entries()), ["10-gan", "10-mac"])
    assert found.closed == 2 and found.before == pytest.approx(8.5) and found.mean < found.before
    assert score.rank(found.mean, 2)[1][language] in told and f"{found.before:.1f}" in told
    course.board("09_mkldnn")
    assert "10_tuning_master" in capsys.readouterr().out
    course.case("voyce")
    assert "voice" in capsys.readouterr().out


def test_the_frame_loads_no_torch_no_widgets_and_no_matplotlib():
    code = (
        "import sys\nfrom course.game import board, cases, view\nfrom course.lessons.l10_tuning_master import tuning\n"
        "from course.lessons.l10_tuning_master.tuning_desk import Desk\n"
        "board.standings('10_tuning_master', [])\nprint([m for m in ('torch', 'ipywidgets', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_move_needs_no_more_than_a_case_and_a_log(log):
    """What a second game writes: its own kinds of moves, read back by attempt."""
    moves.write(log, LIVE, "line", ("7",), confidence=2, evidence={"symptom": 1.5})
    moves.write(log, LIVE, moves.AGAIN)
    moves.write(log, LIVE, "repair", text="with torch.no_grad():")
    first, second = moves.attempts(LIVE.id, log.entries())
    assert first == [moves.Move("line", ("7",), 2, {"symptom": 1.5})] and second[0].text == "with torch.no_grad():"

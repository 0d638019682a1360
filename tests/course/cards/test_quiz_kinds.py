"""Drawn options, bets on a scale, the next experiment, the empty answer: the card and its text twin."""

from __future__ import annotations

import copy

import pytest

from course.cards.anki import front
from course.cards.cards import bet, practice
from course.cards.drawing import place_on, plot_svg, short
from course.cards.offline import item_data
from course.cards.text import answer, card_text
from course.core.i18n import set_language
from course.learning.bets import settle, settled_of
from course.learning.log import AnswerLog
from course.learning.marking import Response, mark_bet
from course.learning.progress import summary
from course.learning.reporting import decades, report
from course.questions.bank import Bank
from course.questions.item_lint import lint_items
from course.questions.items import BankError, parse_item
from course.questions.wording import option_words, pairs
from tests.support import quiz_items as q


@pytest.fixture
def bank(tmp_path):
    wrong_way = copy.deepcopy(q.SINGLE) | {"id": "05-led"}
    wrong_way["options"][0]["experiment"] = "05-other"
    return Bank(q.write_bank(tmp_path / "bank", [q.SCALE, q.PICTURES, q.SINGLE, q.ORDER, q.NUMBER, wrong_way]))


pytestmark = pytest.mark.usefixtures("quick_hands")


def build(kind, item_id, bank, log, **more):
    return kind(item_id, bank=bank, log=log, text=False, **more)


@pytest.mark.parametrize(
    ("base", "change", "words"),
    [
        (q.PICTURES, {"axes": None}, "go together"),
        (q.PICTURES, {"options": [q.PICTURES["options"][0], q.option("b")]}, "draw all or none"),
        (q.SCALE, {"options": [q.option("a"), q.option("b")]}, "without options"),
        (q.SCALE, {"slider": {**q.SCALE["slider"], "stops": [0, 1, 2]}}, "above 0"),
        (q.SCALE, {"slider": {**q.SCALE["slider"], "stops": [1, 3, 2]}}, "rise"),
        (q.SCALE, {"slider": {**q.SCALE["slider"], "stops": [1, 3]}}, "at least 3"),
        (q.NUMBER, {"slider": q.SCALE["slider"]}, "kind predict"),
    ],
)
def test_each_contradiction_of_the_new_fields_has_its_sentence(base, change, words):
    raw = {key: value for key, value in {**base, **change}.items() if value is not None}
    with pytest.raises(BankError, match=words):
        parse_item(raw, "05_x.yaml")


def test_lint_reads_the_words_of_drawings_and_scales(bank):
    broken = copy.deepcopy(q.PICTURES)
    broken["options"][0]["plot"]["alt"] = "one language"
    broken["axes"]["x"] = {"en": "调用", "zh": "调用"}
    found = {one.rule: one for one in lint_items([parse_item(broken, "x")], q.BELIEFS)}
    assert "plot of option a" in found["one-language"] and "x axis" in found["chinese-in-english"]


def test_an_option_drawn_as_a_picture_keeps_its_words(bank, log):
    item = bank["05-pictures"]
    drawn = plot_svg(item.option("b").plot, item.axes, 4)
    assert drawn.count("<rect") == 3 and 'aria-hidden="true"' in drawn and "time &amp; more" in drawn
    heights = [float(part.split('"')[0]) for part in drawn.split('height="')[1:]]
    assert heights[0] == pytest.approx(4 * heights[1], rel=0.01) and heights[2] == 1
    card = build(bet, "05-pictures", bank, log)
    assert "Drawing: three equal bars" in card.input.rows["a"].button.description
    assert "<svg" in card.input.rows["a"].face.value
    saved = card.saved_copy()
    assert "three equal bars" in saved["text/html"] and "Drawing: three equal bars" in saved["text/plain"]
    card.input.rows["b"].button.click()
    card.buttons[1].click()
    assert log.entries()[-1].options == ("b",)


@pytest.mark.parametrize("style", ["line", "dots"])
def test_lines_and_dots_pass_through_the_same_heights(bank, style):
    item = parse_item({**q.PICTURES, "axes": {**q.PICTURES["axes"], "style": style}}, "x")
    drawn = plot_svg(item.option("a").plot, item.axes, 4)
    assert drawn.count("<circle") == (3 if style == "dots" else 0)
    assert drawn.count("<polyline") == (1 if style == "line" else 0)


def test_a_scale_is_pressed_stepped_and_typed(bank, log):
    card = build(bet, "05-scale", bank, log)
    field, (less, more) = card.input.field, card.input.steps
    more.click()
    assert field.value == "5" and "left:50.00%" in card.input.knob.value
    more.click()
    less.click()
    less.click()
    assert field.value == "2"
    field.value = "3.3"
    more.click()
    assert field.value == "5"
    less.click(), less.click(), less.click()
    assert field.value == "1"
    card.input.marks[3].click()
    assert field.value == "10"
    assert not any(getattr(mark, "tabbable", False) for mark in card.input.marks)  # ipywidgets 7 has no such thing
    field.value = "-4"
    card.buttons[1].click()
    assert "above 0" in card.say.value and log.entries() == []
    field.value = "9,000"
    assert "left:90.00%" in card.input.knob.value  # the last mark: beyond the scale is still a number
    card.buttons[2].click()
    assert (log.entries()[-1].event, log.entries()[-1].number, log.entries()[-1].options) == ("bet", 9000, ())
    assert field.disabled and all(mark.disabled for mark in card.input.marks)
    again = build(bet, "05-scale", bank, AnswerLog(log.path))
    assert again.input.field.value == "9000" and "Your bet is locked." in again.say.value


@pytest.mark.parametrize(
    ("measured", "state", "words"),
    [
        (5.0, "correct", "🎯"),
        (7.4, "correct", "factor of 1.5"),
        (11.0, "partly", "Close"),
        (12.0, "incorrect", "otherwise"),
        (None, "inconclusive", "locked"),
    ],
)
def test_a_bet_on_a_scale_is_settled_by_a_measured_number(bank, log, measured, state, words):
    card = build(bet, "05-scale", bank, log)
    card.input.choose(5)
    card.buttons[3].click()
    assert "why of the scale" not in card.say.value
    assert settle(card.item, measured, log).state == state
    assert settled_of(card.item, log.entries()) == measured
    settle(card.item, measured, log)
    assert len(log.entries()) == 2
    card.settle()
    assert words in card.say.value and ("why of the scale" in card.say.value) is (measured is not None)
    assert ("tbq-ruler" in card.say.value) is (measured is not None)
    won, lost, still_open = summary(log.entries(), bank).bets
    assert (won, lost, still_open) == {"correct": (1, 0, 0), "inconclusive": (0, 0, 1)}.get(state, (0, 1, 0))


def test_what_does_not_fit_a_scale_is_refused(bank, log):
    for winner in ("a", 0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="number above 0"):
            settle(bank["05-scale"], winner, log)
    with pytest.raises(ValueError, match="no option"):
        settle(bank["05-pictures"], 3.0, log)
    assert mark_bet(bank["05-scale"], Response(), 3.0).state == "not attempted"


def test_the_scale_typed_is_the_twin_of_the_scale_pressed(bank, log, capsys):
    answer("05-scale", 5, confidence=2, bank=bank, log=log)
    assert "locked" in capsys.readouterr().out
    clicked = AnswerLog(log.path.with_name("clicked.jsonl"))
    card = build(bet, "05-scale", bank, clicked)
    card.input.choose(5)
    card.buttons[2].click()
    keep = ("event", "item", "options", "number", "confidence", "verdict", "points", "lesson")
    assert all(getattr(log.entries()[0], name) == getattr(clicked.entries()[0], name) for name in keep)
    answer("05-scale", 6, bank=bank, log=log)
    answer("05-scale", bank=bank, log=log)
    out = capsys.readouterr().out
    assert "Your bet is locked: 5." in out and "Scale (times): 1, 2, 5, 10, 100" in out and "NUMBER" in out


def test_places_and_marks_of_a_scale():
    assert [place_on((1, 10, 100), value) for value in (0.1, 1, 10, 100, 900)] == [0, 0, 0.5, 1, 1]
    assert place_on((1, 10, 100), 31.6227766) == pytest.approx(0.75)
    assert decades(18, 64) == (10, 20, 50, 100) and decades(3e6, 4e9) == (1e6, 1e7, 1e8, 1e9, 1e10)
    assert [short(one) for one in (0.5, 20, 2000, 50_000, 3e6, 1e9)] == ["0.5", "20", "2000", "50k", "3M", "1e9"]


def test_an_estimate_far_off_is_shown_beside_the_truth(bank, log):
    card = build(practice, "05-count", bank, log)
    card.input.field.value = "94000"
    card.buttons[1].click()
    assert "tbq-ruler" in card.say.value and "factor of about 100" in card.say.value


def test_the_experiment_named_after_a_wrong_choice_is_that_of_the_choice(bank, log):
    card = build(practice, "05-led", bank, log)
    for option, named in (
        ("a", "05-other"),
        ("c", "05-run"),
        ("b", ""),
    ):  # c has none of its own: the item's; b is right
        card.input.rows[option].button.click()
        card.buttons[2].click()
        assert f"observe(&quot;{named}" in card.say.value if named else "observe(" not in card.say.value
        card.buttons[2].click()


@pytest.mark.parametrize(("code", "words"), [("en", "Not answered yet."), ("zh", "还没有作答。")])
def test_an_empty_answer_has_its_own_verdict_and_no_entry(bank, log, capsys, code, words):
    set_language(code)
    for item_id in ("05-one", "05-scale", "05-lines", "05-count"):
        card = build(practice, item_id, bank, log)
        card.buttons[1].click()
        assert words in card.say.value and 'role="status"' in card.say.value
        answer(item_id, "", bank=bank, log=log)
        assert words in capsys.readouterr().out
    assert log.entries() == []


def test_a_distractor_stands_beside_the_line_it_tempts_for(bank, log):
    assert pairs(bank["05-lines"]) == [("a", "b"), ("c",), ("d",)]
    card = build(practice, "05-lines", bank, log)
    lines = card.input.widget.children[0]
    assert [box for box in lines.children if "tbq-pair" in box._dom_classes]
    assert list(card.input.rows) == ["a", "b", "c", "d"]


def test_buttons_of_an_order_say_what_they_move(bank, log):
    card = build(practice, "05-lines", bank, log)
    for one in "acd":
        card.input.rows[one].button.click()
    up, down, out = card.input.places[0].buttons
    assert up.disabled and not down.disabled and not out.disabled
    assert down.description.startswith("↓") and down.description.endswith("move down, line 1")
    assert card.input.places[2].buttons[1].disabled and card.input.places[3].buttons[2].disabled


def test_the_report_of_a_settled_scale_holds_the_numbers(bank):
    item, response = bank["05-scale"], Response(number=5.0)
    found = report(item, response, mark_bet(item, response, 8.0), q.BELIEFS, 8.0)
    assert (found.ruler.given, found.ruler.truth) == (5.0, 8.0) and found.lines[0].why == "why of the scale"
    assert "You bet on 5 times; measured: 8." in found.messages[0]


def test_every_face_says_which_two_lines_exclude_each_other(bank):
    item = bank[q.ORDER["id"]]
    group = next(group for group in pairs(item) if len(group) == 2)
    shown = card_text(item)
    first, second = (f"  {one}) {option_words(item.option(one))}" for one in group)
    assert f"Only one of these two:\n{first}\n{second}\n" in shown + "\n"
    assert "Only one of these two:" in front(item) and front(item).count("<ul") == 1
    assert group in item_data(item)["groups"]


def test_a_line_of_code_keeps_its_indentation_in_text():
    assert "  b)     mkldnn.enabled = old" in card_text(Bank()["01-safe-block"])

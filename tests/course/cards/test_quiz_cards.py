"""Cards driven through their widgets, once an option of every question, their text twin, and the saved copy in the notebook."""

from __future__ import annotations

import copy
import html

import pytest

from course.cards.cards import Card as practice
from course.cards.deck import Deck
from course.cards.typed import answer, text_mode
from course.core.i18n import LANGUAGES, pick, set_language
from course.core.markup import inline, paragraphs, plain
from course.learning.bets import bet_of, settle
from course.learning.log import AnswerLog
from course.learning.session import AnswerError, parse_number
from course.learning.sheet import current_sheet, open_sheet
from course.questions.bank import Bank
from course.questions.items import Item
from tests.support import quiz_items as q

pytestmark = pytest.mark.usefixtures("quick_hands")


@pytest.fixture
def sheet(bank, tmp_path):
    return open_sheet("05_x", [item.id for item in bank.items("05_x", checkpoint=True)], tmp_path)


def build(kind, item_id, bank, log, **more):
    return kind(item_id, bank=bank, log=log, text=False, **more)


def checkpoint(item_id, **more):
    """The card of a checkpoint question, on the sheet that is open."""
    return practice(item_id, **{"sheet": current_sheet()} | more)


def press(card, *options):
    for one in options:
        card.input.rows[one].button.click()


def visible(card):
    return [button.description for button in card.buttons.values() if button.layout.visibility != "hidden"]


def test_one_click_and_submit_marks_logs_and_explains(bank, log):
    card = build(practice, "05-one", bank, log)
    assert visible(card) == ["Submit: a guess", "Submit: fairly sure", "Submit: certain"]
    press(card, "a")
    assert card.input.rows["a"].button.description == "a. text of a (● selected)"
    card.buttons[3].click()
    said = card.say.value
    assert 'role="status"' in said and 'aria-live="polite"' in said
    for words in (
        "why of a",
        "why of b",
        "why of c",
        "your choice, not right",
        "the first belief",
        "observe(&quot;05-run&quot;)",
    ):
        assert words in said
    assert "the second belief" not in said
    entry = log.entries()[-1]
    assert (entry.event, entry.options, entry.confidence, entry.verdict, entry.lesson) == (
        "answer",
        ("a",),
        3,
        "incorrect",
        "05_x",
    )
    assert all(row.button.disabled for row in card.input.rows.values())
    assert "(right)" in card.input.rows["b"].button.description


def test_try_again_keeps_the_pressed_button_and_the_earlier_answer(bank, log):
    card = build(practice, "05-one", bank, log)
    press(card, "a")
    card.buttons[2].click()
    assert visible(card) == ["↺ Try again"] and card.buttons[2].layout.visibility is None
    card.buttons[2].click()
    assert len(visible(card)) == 3 and not card.input.rows["a"].button.disabled
    press(card, "b")
    card.buttons[1].click()
    assert [entry.verdict for entry in log.entries()] == ["incorrect", "correct"]


def test_a_reopened_card_shows_the_answer_and_its_explanations(bank, log):
    card = build(practice, "05-one", bank, log)
    press(card, "c")
    card.buttons[1].click()
    again = build(practice, "05-one", bank, AnswerLog(log.path))
    assert again.say.value == card.say.value and visible(again) == ["↺ Try again"]
    assert "(your choice, not right)" in again.input.rows["c"].button.description
    assert len(log.entries()) == 1


def test_a_number_is_typed_and_a_slip_gets_a_sentence(bank, log):
    card = build(practice, "05-count", bank, log)
    card.input.field.value = "nine"
    card.buttons[1].click()
    assert "is not a number" in card.say.value and log.entries() == []
    card.input.field.value = "4,700,000"
    card.buttons[1].click()
    assert "half of it" in card.say.value and "9,400,000 bytes" in card.say.value
    assert log.entries()[-1].number == 4.7e6


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("3", 3),
        ("2.5e6", 2.5e6),
        ("1,234,567", 1234567),
        ("1,234.5", 1234.5),
        ("９．４", 9.4),
        ("−2", -2),
        (" 1_000 ", 1000),
    ],
)
def test_numbers_as_people_type_them(typed, value):
    assert parse_number(typed) == value


@pytest.mark.parametrize("typed", ["", "nan", "inf", "0,5", "3 4x", "1e999"])
def test_what_is_no_number_is_refused(typed):
    with pytest.raises(AnswerError):
        parse_number(typed)


def test_lines_are_added_moved_and_removed_with_buttons(bank, log, monkeypatch):
    focused = []
    monkeypatch.setattr("course.cards.inputs.focus", focused.append)
    card = build(practice, "05-lines", bank, log)
    shown = lambda: sum("tbq-free" not in place.box._dom_classes for place in card.input.places)  # noqa: E731
    assert shown() == 0
    press(card, "a", "c", "b", "d")
    assert shown() == 4 and "(place 2)" in card.input.rows["c"].button.description
    assert ["<b>1</b>" in place.text.value for place in card.input.places] == [True, False, False, False]
    card.input.places[1].buttons[0].click()
    assert card.input.chosen == ["c", "a", "b", "d"]
    assert focused == [card.input.places[0].buttons[2]], "where the line went, and up is no more possible"
    assert [[one.disabled for one in card.input.places[place].buttons] for place in (0, 3)] == [
        [True, False, False],
        [False, True, False],
    ]
    card.input.places[0].buttons[0].click()
    card.input.places[3].buttons[1].click()
    assert card.input.chosen == ["c", "a", "b", "d"]
    card.input.places[2].buttons[2].click()
    assert card.input.chosen == ["c", "a", "d"]
    card.input.places[0].buttons[1].click()
    card.input.places[1].buttons[0].click()
    assert card.input.chosen == ["c", "a", "d"] and shown() == 3
    card.buttons[2].click()
    assert "🎯" in card.say.value and log.entries()[-1].options == ("c", "a", "d")
    card.input.places[0].buttons[1].click()
    assert card.input.chosen == ["c", "a", "d"]


def test_a_bet_locks_tells_nothing_and_is_settled_later(bank, log):
    card = build(practice, "05-wager", bank, log)
    press(card, "b")
    card.buttons[3].click()
    assert visible(card) == ["✓ Bet locked"] and "why of" not in card.say.value
    card.buttons[3].click()
    press(card, "a")
    assert bet_of(card.item, log.entries()).options == ("b",) and len(log.entries()) == 1
    settle(card.item, "c", log)
    unanswered = build(practice, "05-one", bank, log)
    for shown in (card, unanswered):
        shown.settle()
    assert visible(unanswered) == visible(build(practice, "05-one", bank, log))
    assert "🎲" in card.say.value and "why of c" in card.say.value
    assert "it happened" in card.input.rows["c"].button.description
    assert "🎲" in build(practice, "05-wager", bank, log).say.value


def test_a_bet_on_a_result_already_known_is_said_not_to_count(bank, log):
    settle(bank["05-wager"], "b", log)
    card = build(practice, "05-wager", bank, log)
    press(card, "b")
    card.buttons[3].click()
    assert "as you said" in card.say.value and "before measuring" not in card.say.value
    assert "does not count it" in card.say.value
    assert "does not count it" in str(build(practice, "05-wager", bank, AnswerLog(log.path)))


def test_a_checkpoint_card_records_and_never_says_right_or_wrong(bank, log, sheet):
    card = build(checkpoint, "05-c-one", bank, log)
    press(card, "a")
    card.buttons[1].click()
    assert "Recorded at" in card.say.value and "right" not in card.say.value.lower().replace("copyright", "")
    press(card, "b")
    card.buttons[3].click()
    assert sheet.answers["05-c-one"]["options"] == ["b"] and len(sheet.history) == 2
    assert [entry.verdict for entry in log.entries()] == [None, None]
    again = build(checkpoint, "05-c-one", bank, log)
    assert again.input.response().options == ("b",) and "Recorded earlier" in again.say.value
    assert current_sheet() is sheet


def test_a_checkpoint_card_says_when_what_is_chosen_is_not_what_is_recorded(bank, log, sheet):
    card = build(checkpoint, "05-c-one", bank, log, sheet=sheet)
    press(card, "a")
    assert "recorded" not in card.say.value, "nothing is on the sheet yet"
    card.buttons[2].click()
    press(card, "b")
    assert "not recorded yet; your sheet holds: a" in card.say.value
    press(card, "a")
    assert "✓ Recorded earlier" in card.say.value
    press(card, "b")
    card.buttons[1].click()
    assert "Recorded at" in card.say.value and sheet.answers["05-c-one"]["options"] == ["b"]
    number = build(checkpoint, "05-c-count", bank, log, sheet=sheet)
    number.input.field.value = "3"
    number.buttons[2].click()
    number.input.field.value = "3 or 4"
    assert "your sheet holds: 3." in number.say.value
    again = build(checkpoint, "05-c-count", bank, log, sheet=sheet)
    assert "✓ Recorded earlier" in again.say.value and "not recorded yet" not in again.say.value


@pytest.mark.parametrize(
    "text, linked",
    [
        ("https://a.org/b.html#c.d, e", "https://a.org/b.html#c.d"),
        ("（https://a.org/b）。", "https://a.org/b"),
        ("https://a.org/?b=1&c=2.", "https://a.org/?b=1&amp;c=2"),
        ('https://a.org/"onclick="b', "https://a.org/"),
        ("`https://a.org`", None),
    ],
)
def test_an_address_opens_beside_the_notebook_and_carries_nothing_else(text, linked):
    link = f'<a href="{linked}" target="_blank" rel="noopener">{linked}</a>'
    assert inline(text) == (html.escape(text).replace(linked, link, 1) if linked else "<code>https://a.org</code>")


def test_texts_of_questions_cannot_bring_markup_in(tmp_path, log):
    evil = copy.deepcopy(q.SINGLE)
    evil["stem"] = q.both('<script>alert("x")</script> `a < b` and **bold**')
    evil["options"][0]["text"] = q.both("<img src=x onerror=alert(1)>")
    evil["code"] = "x = '</pre><script>'"
    card = build(practice, "05-one", Bank(q.write_bank(tmp_path / "evil", [evil])), log)
    html = card.widget.children[0].value + card.input.rows["a"].face.value + card.saved_copy()["text/html"]
    assert "<script>" not in html and "<img" not in html
    assert "<code>a &lt; b</code>" in html and "<strong>bold</strong>" in html
    assert inline("`x**2` **b**") == "<code>x**2</code> <strong>b</strong>"
    assert inline("**only `x`** and **`y`**") == (
        "<strong>only <code>x</code></strong> and <strong><code>y</code></strong>"
    )
    assert plain("**only `x`**: `2 ** 3` or `3 ** 2`") == "only x: 2 ** 3 or 3 ** 2"
    assert paragraphs("a\n\nb") == "<p>a</p><p>b</p>" and plain("`a` **b**") == "a b"


def test_the_saved_copy_has_question_and_options_and_no_key_before_an_answer(bank, log, sheet):
    card = build(practice, "05-one", bank, log)
    before = card.saved_copy()
    for words in ("stem of one", "text of c", "answer(&quot;05-one&quot;"):
        assert words in before["text/html"]
    assert "why of" not in before["text/html"] + before["text/plain"]
    press(card, "a")
    card.buttons[2].click()
    assert "Your answer:" in card.saved_copy()["text/html"] and "why of b" in card.saved_copy()["text/html"]
    assert "why" not in build(checkpoint, "05-c-one", bank, log).saved_copy()["text/html"]


def test_outside_a_notebook_cards_are_text(bank, log, capsys, monkeypatch):
    assert text_mode()
    card = practice("05-one", bank=bank, log=log).show()
    printed = capsys.readouterr().out
    assert card.widget is None and "text of b" in printed and 'answer("05-one", "LETTER")' in printed
    monkeypatch.setenv("COURSE_TEXT", "1")
    assert text_mode()


def said(capsys, bank, log, *args, **more):
    answer(*args, bank=bank, log=log, **more)
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("args", "options"),
    [
        (("05-many", "a", "c"), ("a", "c")),
        (("05-many", 1, 3), ("a", "c")),
        (("05-many", "A，C"), ("a", "c")),
        (("05-many", "ac"), ("a", "c")),
        (("05-many", "1、3"), ("a", "c")),
        (("05-lines", "c", "a", "d"), ("c", "a", "d")),
    ],
)
def test_typed_options_in_several_spellings(bank, log, capsys, args, options):
    assert "🎯" in said(capsys, bank, log, *args)
    assert log.entries()[-1].options == options


@pytest.mark.parametrize(
    ("args", "more", "words"),
    [
        (("05-one", "z"), {}, "There is no option z; the options are a, b, c."),
        (("05-one", "a", "b"), {}, "exactly one option"),
        (("05-one", "x" * 3000), {}, "There is no option " + "x" * 39 + "…;"),
        (("05-count", "9" * 3000), {}, "9" * 39 + "…” is not a number"),
        (("05-count", "0,125"), {}, "with a point for decimals"),
        (("05-one", "a"), {"confidence": True}, "confidence is 1"),
        (("05-onn", "a"), {}, 'Did you mean "05-one"'),
        (("05-count", 1, 2), {}, "Give one number"),
        (("05-many", "a", "a"), {}, "named twice"),
    ],
)
def test_a_mistake_in_the_call_is_answered_by_a_sentence(bank, log, capsys, args, more, words):
    assert words in said(capsys, bank, log, *args, **more)
    assert log.entries() == []


def test_typed_numbers_bets_and_checkpoint_answers(bank, log, sheet, capsys):
    assert "🎯" in said(capsys, bank, log, "05-count", 9.4e6, confidence="certain")
    assert "locked" in said(capsys, bank, log, "05-wager", "b")
    assert "locked: b" in said(capsys, bank, log, "05-wager", "a")
    out = said(capsys, bank, log, "05-c-one", "b", confidence=2)
    assert "Recorded at" in out and sheet.answers["05-c-one"]["confidence"] == 2
    assert "stem of one" in said(capsys, bank, log, "05-one")
    assert "Your answer: 9400000" in str(practice("05-count", bank=bank, log=log, text=True))


def test_of_a_deck_one_card_is_open_and_the_next_opens_once_it_is_answered(bank, log):
    cards, deck = [build(practice, one, bank, log) for one in ("05-one", "05-many", "05-one")], Deck()
    deck.add(cards[0])
    assert cards[0].folded is None and "<details" not in cards[0].question.value, "a card alone has nothing to fold"
    deck.add(cards[1])
    deck.add(cards[2])
    assert [card.folded for card in cards] == [False, True, True]
    assert '<details class="tbq-fold" open>' in cards[0].question.value
    press(cards[0], "b")
    cards[0].buttons[2].click()
    assert [card.folded for card in cards] == [False, False, True]
    assert "✓ right" in cards[0].question.value and "✓ right" not in cards[1].question.value
    again, deck = [build(practice, one, bank, log) for one in ("05-one", "05-many")], Deck()
    for card in again:
        deck.add(card)
    assert [card.folded for card in again] == [True, False], "the first that waits for an answer"


@pytest.fixture
def led(tmp_path):
    wrong_way = copy.deepcopy(q.SINGLE) | {"id": "05-led"}
    wrong_way["options"][0]["experiment"] = "05-other"
    return Bank(q.write_bank(tmp_path / "led", [q.PREDICT, q.SINGLE, q.ORDER, q.NUMBER, wrong_way]))


def test_the_experiment_named_after_a_wrong_choice_is_that_of_the_choice(led, log):
    card = build(practice, "05-led", led, log)
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
def test_an_empty_answer_has_its_own_verdict_and_no_entry(led, log, capsys, code, words):
    set_language(code)
    for item_id in ("05-one", "05-wager", "05-lines", "05-count"):
        card = build(practice, item_id, led, log)
        card.buttons[1].click()
        assert words in card.say.value and 'role="status"' in card.say.value
        answer(item_id, "", bank=led, log=log)
        assert words in capsys.readouterr().out
    assert log.entries() == []


BANK = Bank()
ITEMS = BANK.items()


def answers(item: Item) -> list[str | float]:
    """One answer an option; for a number the right one, one in each trap and one far off."""
    if item.number:
        traps = [(trap.low + trap.high) / 2 for trap in item.number.traps]
        return [item.number.value, *traps, 1e3 * abs(item.number.high) + 7]
    return [one.id for one in item.options]


def reasons(item: Item, given: str | float) -> list[str]:
    """What must be explained to whoever answers so, in the language in use."""
    if item.number:
        fallen = [
            trap.why for trap in item.number.traps if given != item.number.value and trap.low <= given <= trap.high
        ]
        return [pick(why) for why in (*fallen, item.number.why)]
    return [pick(one.why) for one in item.options]


def drive(card, given: str | float) -> None:
    """Answer through the state of the widgets, as a click does; a card answered before is opened again."""
    item = card.item
    if card.answered:
        card.retry()
    if item.kind == "number":
        card.input.field.value = repr(given)
    else:
        card.input.rows[given].button.click()
    card.buttons[2].click()


@pytest.mark.slow
@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_every_answer_is_explained_and_marked_alike_by_click_and_by_text(item, tmp_path):
    card = None
    for number, given in enumerate(answers(item)):
        set_language(LANGUAGES[number % 2])
        if card is None or item.kind == "predict" or item.varies:  # a bet locks, other numbers come at the second try
            clicked, typed = AnswerLog(tmp_path / f"{number}.clicked"), AnswerLog(tmp_path / f"{number}.typed")
            card = practice(item, log=clicked, bank=BANK, text=False)
        said: list[str] = []
        drive(card, given)
        answer(item.id, given, confidence=2, log=typed, bank=BANK, write=said.append)
        if item.kind == "predict":
            winner = item.options[0].id
            assert settle(item, winner, clicked).state == settle(item, winner, typed).state
            card.settle()
            said.append(str(practice(item, log=typed, bank=BANK, text=True)))
        words = "\n".join(said)
        for why in reasons(item, given):
            assert inline(why) in card.say.value, (item.id, given)
            assert plain(why) in words, (item.id, given)
        if item.options and item.kind != "order":
            twin = str(practice(item, log=clicked, bank=BANK, text=True))
            for one in item.options:  # an answered card names each option once: where it was chosen
                assert inline(pick(one.text)) + " <small>" not in card.say.value, item.id
                assert twin.count(f"{one.id}) {plain(pick(one.text)).splitlines()[0]}") == 1, item.id
        keep = ("event", "item", "options", "number", "confidence", "verdict", "points", "lesson")
        for one, other in zip(clicked.entries(), typed.entries(), strict=True):
            assert [getattr(one, name) for name in keep] == [getattr(other, name) for name in keep]


@pytest.mark.slow
def test_every_experiment_that_a_card_sends_to_exists():
    pytest.importorskip("torch")  # these tests also run beside Colab's widgets, without torch
    from course.experiment import base

    named = {one.experiment for item in ITEMS for one in (item, *item.options) if one.experiment}
    assert named and not named - set(base.load_all())

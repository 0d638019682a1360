"""Every practice item of the bank, driven once per option: the explanation is seen, and the text twin agrees."""

from __future__ import annotations

import pytest

from course.cards.cards import card as practice
from course.cards.text import answer
from course.core.i18n import LANGUAGES, pick, set_language
from course.core.markup import inline, plain
from course.learning.bets import settle
from course.learning.log import AnswerLog
from course.questions.bank import Bank
from course.questions.items import Item

pytestmark = pytest.mark.slow

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


def test_every_experiment_that_a_card_sends_to_exists():
    from course.experiment import base

    named = {one.experiment for item in ITEMS for one in (item, *item.options) if one.experiment}
    assert named and not named - set(base.load_all())

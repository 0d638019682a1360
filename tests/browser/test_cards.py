"""Every kind of card in a real JupyterLab: by mouse and by keys, in both languages, light, dark and narrow."""

from __future__ import annotations

import pytest

from course.core.i18n import pick
from course.core.markup import plain
from course.learning.log import AnswerLog
from tests.browser.card_notebook import CardOnPage, cards, items, write
from tests.browser.conftest import Notebook, assert_colours_hold, assert_open_to_all, languages

WORDS = {
    "en": {
        "recorded": "Recorded at",
        "kept": "Recorded earlier",
        "locked": "Your bet is locked",
        "fresh": "A fresh try",
        "empty": "Not answered yet",
        "again": "Try again",
    },
    "zh": {
        "recorded": "已记录（",
        "kept": "之前已记录",
        "locked": "赌注已锁定",
        "fresh": "重新作答",
        "empty": "还没有作答",
        "again": "再答一次",
    },
}


def explained(card: CardOnPage, language: str, words: dict[str, str]) -> None:
    """The feedback says what this kind of card has to say."""
    item = card.item
    if item.checkpoint:
        card.wait_told(words["recorded"])
        return
    if item.kind == "predict":
        card.wait_told(words["locked"])
        return
    card.bar.get_by_text(words["again"]).wait_for()
    fold = card.feedback.locator("summary")
    for one in fold.all():  # what is not in sight is one press away
        one.click()
    told = card.told()
    for one in fold.all():
        one.click()
    for text in [one.why for one in item.options] or [item.number.why]:
        assert plain(pick(text, language))[:12] in told, (item.id, told)
    status = card.feedback.locator("[role=status]")
    assert status.get_attribute("aria-live") == "polite" and status.inner_text().strip()


def answer_all(book: Notebook, language: str, choose: str) -> None:
    """Answer every card, by mouse or by keys; what stands above the feedback does not move."""
    for card in cards(book):
        card.box.scroll_into_view_if_needed()
        getattr(card, choose)()
        before = card.height_above_feedback()
        if choose == "choose_by_mouse":
            card.box.locator("button.tbq-go").nth(2).click()
        else:
            card.to(".tbq-go")
            book.page.keyboard.press("Tab")
            book.page.keyboard.press("Enter")
        explained(card, language, WORDS[language])
        assert abs(card.height_above_feedback() - before) < 1, f"{card.item.id} jumps"


@pytest.mark.parametrize("language", languages("zh"))
def test_every_kind_of_card(page, lab, language):
    lab.forget()
    words = WORDS[language]
    book = Notebook(page, lab, write(lab, language)).open()
    book.run_all()
    nothing_to_hand_in(next(cards(book)), words)
    assert_open_to_all(page, "before answering", ".tbq")
    assert_colours_hold(page, "before answering", ".tbq")
    book.theme(True)
    answer_all(book, language, "choose_by_mouse")
    shots(book, f"{language}-dark")
    assert_open_to_all(page, "after answering", ".tbq")
    assert_colours_hold(page, "after answering", ".tbq")
    book.theme(False)
    shots(book, f"{language}-light")

    told = {card.item.id: card.told() for card in cards(book)}
    book.restart_and_run_all()
    for card in cards(book):
        card.wait_told(words["kept"] if card.item.checkpoint else told[card.item.id].splitlines()[1])
        assert card.item.checkpoint or card.told() == told[card.item.id]
    given = AnswerLog(lab.folder / "home" / "answers.jsonl").entries()
    assert [entry.item for entry in given] == [item.id for item in items()]

    lab.forget()
    book.restart_and_run_all()
    answer_all(book, language, "choose_by_keys")
    for card in cards(book):
        if not card.item.checkpoint and card.item.kind != "predict":
            start_afresh_by_keys(card, words)
    assert len(AnswerLog(lab.folder / "home" / "answers.jsonl").entries()) == len(items())


def nothing_to_hand_in(card: CardOnPage, words: dict[str, str]) -> None:
    """An empty answer has a verdict of its own and is not written down."""
    card.box.locator("button.tbq-go").first.click()
    card.wait_told(words["empty"])


def start_afresh_by_keys(card: CardOnPage, words: dict[str, str]) -> None:
    """The button that was pressed opens the card again; nothing is chosen then."""
    card.bar.get_by_text(words["again"]).focus()
    card.page.keyboard.press("Enter")
    card.wait_told(words["fresh"])
    assert card.box.locator(".tbq-chosen, .tbq-right, .tbq-wrong").count() == 0
    assert card.item.kind != "number" or card.first_control().input_value() == ""


def shots(book: Notebook, name: str) -> None:
    for card in cards(book):
        book.shot(f"card-{card.item.id}-{name}", card.box)

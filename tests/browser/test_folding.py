"""The cards of one cell: one open, the others folded to a line; by mouse, by keys, after a restart, without a kernel."""

from __future__ import annotations

import pytest

from course.core.i18n import pick
from course.core.markup import plain
from course.questions.bank import Bank
from tests.browser.conftest import Notebook, assert_colours_hold, assert_open_to_all, comes_to, languages

IDS = ("05-why-flip", "05-bet-price", "05-resnet-keys", "05-key-members")
RIGHT = {"en": "✓ right", "zh": "✓ 正确"}


class Deck:
    """The cards of the one cell on the page."""

    def __init__(self, book: Notebook) -> None:
        self.book, self.page = book, book.page
        self.boxes = [book.page.locator(f".tbq-live-{one}").first for one in IDS]

    def opened(self) -> list[bool]:
        """Of each card whether it shows more than its line."""
        return [box.locator(".tbq-bar").is_visible() for box in self.boxes]

    def line(self, place: int):
        return self.boxes[place].locator("summary.tbq-head")

    def comes_open(self, *wanted: int) -> None:
        """Exactly these cards are open."""
        comes_to(self.page, self.opened, [place in wanted for place in range(len(IDS))])


@pytest.mark.parametrize("language", languages("zh"))
def test_one_card_is_open_and_the_next_opens_once_it_is_answered(page, lab, language):
    lab.forget()
    calls = f'review("{IDS[0]}")\npredict("{IDS[1]}")\nreview(*{IDS[2:]!r})'
    name = lab.write(f"folding.{language}.ipynb", f'from course import *\nlanguage("{language}")', calls)
    book = Notebook(page, lab, name).open()
    book.run_all()
    deck, bank = Deck(book), Bank()
    deck.comes_open(0)
    gist = plain(pick(bank[IDS[3]].stem, language)).split("\n")[0]
    assert gist[:20] in deck.line(3).inner_text()
    assert deck.boxes[3].bounding_box()["height"] < 60
    assert_open_to_all(page, "folded", ".tbq")
    assert_colours_hold(page, "folded", ".tbq")

    item = bank[IDS[0]]
    deck.boxes[0].locator("button.tbq-opt").nth([one.id for one in item.options].index(item.correct[0])).click()
    deck.boxes[0].locator("button.tbq-go").nth(1).click()
    deck.comes_open(0, 1)
    book.rested()

    deck.line(3).focus()  # one further down, by keys
    page.keyboard.press("Enter")
    deck.comes_open(0, 1, 3)
    assert deck.line(3).evaluate("line => line === document.activeElement"), "the focus stays"
    page.keyboard.press("Tab")
    assert deck.boxes[3].evaluate("box => box.contains(document.activeElement)"), "its parts follow its line"
    book.restart_and_run_all()
    deck.comes_open(1)
    assert RIGHT[language] in deck.line(0).inner_text()
    page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.restartKernel()")
    book.started()
    deck.line(3).click()
    deck.boxes[3].locator("button.tbq-opt").first.wait_for()
    assert deck.boxes[3].locator(".tbq-dead").is_visible(), "without a kernel it opens, and says so"

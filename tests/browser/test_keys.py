"""Protects who has no mouse: a lesson by keys alone, cells run, bets placed, cards answered. A checkpoint has the same cards (test_cards).

Nothing is clicked and no focus is set: the keyboard goes from cell to card and back as a person takes it there.
"""

from __future__ import annotations

import pytest

from course.learning.log import AnswerLog
from course.questions.bank import Bank
from tests.browser.conftest import comes_to
from tests.browser.on_page import CardOnPage

pytestmark = pytest.mark.long
BANK = Bank()
MOST_TABS = 120
SEEN = """() => {
  const one = document.activeElement, box = one.getBoundingClientRect(), style = getComputedStyle(one);
  const frame = one.closest('.jp-WindowedPanel-outer').getBoundingClientRect(), high = Math.min(box.height, 20);
  const shown = box.top + high <= frame.bottom && box.bottom - high >= frame.top;
  return !shown ? 'out of sight' : style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2 ? '' : 'without a ring'
}"""
CELL = """() => { const {content} = window.jupyterapp.shell.currentWidget;
  return [content.activeCellIndex, content.widgets.length, content.mode] }"""
MET = """place => [...document.querySelectorAll('.jp-Notebook .jp-Cell')[place].querySelectorAll('[class*=tbq-live-]')]
  .filter(one => [...one.querySelectorAll('button.tbq-go')].some(go => go.checkVisibility()))
  .map(one => [...one.classList].find(name => name.startsWith('tbq-live-')).slice('tbq-live-'.length))"""


class Walk:
    """An open notebook that is gone through by keys. faults: where the focus was lost, hidden or without a ring."""

    def __init__(self, book) -> None:
        self.book, self.page, self.keys, self.faults = book, book.page, book.page.keyboard, []
        self.log = AnswerLog(book.lab.folder / "home" / "answers.jsonl")

    def run(self) -> int:
        """Run the cell with the keyboard in it; gives its place. The next one has the keyboard then."""
        place, count, mode = self.page.evaluate(CELL)
        assert mode == "command", place
        self.keys.press("Shift+Enter")
        self.page.wait_for_timeout(300)
        self.page.wait_for_function(
            """() => ![...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].some(p => p.textContent.includes('*'))""",
            timeout=240_000,
        )
        self.book.started()
        self.page.wait_for_timeout(300)
        assert self.page.evaluate(CELL)[0] == min(place + 1, count - 1)
        return place

    def met(self, place: int) -> list[str]:
        """The questions whose card a cell shows, open."""
        return self.page.evaluate(MET, place)

    def back_to(self, card: CardOnPage) -> None:
        """From the cell below back to the first control of a card."""
        first = card.first_control().element_handle()
        for _ in range(MOST_TABS):
            if self.page.evaluate("one => document.activeElement === one", first):
                return
            self.keys.press("Shift+Tab")
            self.look(card.item.id)
        raise AssertionError(f"Shift+Tab never reaches {card.item.id}")

    def look(self, where: str) -> None:
        """Note it where what has the keyboard is a part of the course and cannot be seen."""
        if self.page.evaluate("document.activeElement.closest('.tbq') !== null") and (
            fault := self.page.evaluate(SEEN)
        ):
            what = self.page.evaluate("document.activeElement.className + ' ' + document.activeElement.innerText")
            self.faults.append(f"{where}: {fault}: {what}")

    def answer(self, card: CardOnPage) -> None:
        """Answer a card; the keyboard is in it before and after."""
        before = len(self.log.entries())
        self.back_to(card)
        card.choose_by_keys()
        card.to(".tbq-go")
        self.keys.press("Tab")
        self.look(card.item.id)
        self.keys.press("Enter")
        comes_to(self.page, lambda: len(self.log.entries()) > before, True)
        self.page.wait_for_timeout(600)
        if not self.page.evaluate("document.activeElement.closest('.tbq') !== null"):
            self.faults.append(f"{card.item.id}: the focus is lost after the answer")
        self.look(card.item.id)

    def on(self, place: int) -> None:
        """From a card on to the cell below the one that shows it."""
        self.keys.press("ArrowDown")
        assert self.page.evaluate(CELL)[0] == place + 1, self.page.evaluate(
            "document.activeElement.outerHTML.slice(0, 200)"
        )


@pytest.mark.parametrize(("lesson", "language"), [("03_flops", "en"), ("05_cudnn_benchmark", "zh")])
def test_a_lesson_is_gone_through_by_keys_alone(notebook, lesson, language):
    """Every card is answered; of a deck one after the other, as each opens."""
    book = notebook(language, "lessons", lesson)
    book.started()
    book.replay()
    walk, kinds, decks = Walk(book), set(), 0
    count = walk.page.evaluate(CELL)[1]
    for _ in range(count - 1):
        place, answered = walk.run(), []
        while left := [name for name in walk.met(place) if name not in answered]:
            item = BANK[left[0]]
            walk.answer(CardOnPage(book, item))
            walk.on(place)
            answered.append(item.id)
            kinds.add(item.kind)
        decks += len(answered) > 1
    errors = walk.page.locator('.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.error"]')
    assert errors.count() == 0, errors.first.inner_text()
    assert kinds >= {"predict", "single", "number"} and decks, (kinds, decks)
    assert not walk.faults, "\n".join(walk.faults)

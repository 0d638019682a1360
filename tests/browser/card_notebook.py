"""A notebook with one card of each kind, and what a person does with a card: by mouse, and by keys alone."""

from __future__ import annotations

from collections.abc import Iterator

from course.questions.bank import Bank
from course.questions.items import Item
from tests.browser.conftest import Notebook

IDS = {
    "single": "05-why-flip",
    "code": "09-trap",
    "multiple": "05-key-members",
    "number": "05-resnet-keys",
    "order": "05-fair-ab",
    "predict": "05-bet-price",
    "checkpoint": "05-c-new-key",
}
BANK = Bank()
LESSON = "05_cudnn_benchmark"


def items() -> list[Item]:
    """The items on the page, in order."""
    return [BANK[one] for one in IDS.values()]


def write(lab, language: str) -> str:
    """Put the notebook into the served folder and return its name. Its kernel imports no torch."""
    start = (
        f"from course.core.i18n import set_language\nfrom course.cards.cards import card as practice\n"
        f"from course.learning.sheet import open_sheet\n"
        f"set_language({language!r})\nsheet = open_sheet({LESSON!r}, {[one.id for one in BANK.items(LESSON, checkpoint=True)]!r})"
    )
    calls = [f"practice({one!r}{', sheet=sheet' if '-c-' in one else ''})" for one in IDS.values()]
    return lab.write(f"cards.{language}.ipynb", start, *calls)


class CardOnPage:
    """One card of an open notebook."""

    def __init__(self, book: Notebook, item: Item):
        self.page, self.item = book.page, item
        self.box = book.page.locator(f".tbq-live-{item.id}").first

    @property
    def options(self):
        return self.box.locator("button.tbq-opt")

    @property
    def bar(self):
        return self.box.locator(".tbq-bar")

    @property
    def feedback(self):
        return self.box.locator(".tbq-say")

    def first_control(self):
        """The first thing on the card that takes an answer."""
        return (
            self.box.locator("input:not(.tbq-because input)").first
            if self.item.kind == "number"
            else self.options.first
        )

    def wanted(self) -> list[int]:
        """Places of the options to choose: a wrong one, two of several, all lines of an order."""
        if self.item.kind == "order":
            return list(range(len(self.item.options)))
        return [0, 2] if self.item.kind == "multiple" else [0]

    def choose_by_mouse(self) -> None:
        if self.item.kind == "number":
            self.first_control().fill("64")
        for place in [] if self.item.kind == "number" else self.wanted():
            self.options.nth(place).click()
            self.wait_chosen(place)

    def choose_by_keys(self) -> None:
        """From the first control on: Tab, Enter and Space alone."""
        keys = self.page.keyboard
        self.first_control().focus()
        if self.item.kind == "number":
            keys.type("64")
        for number in range(len(self.item.options)):
            if number in self.wanted():
                keys.press("Space" if number % 2 else "Enter")
                self.wait_chosen(number)
            keys.press("Tab")
        if self.item.kind == "order":
            self._move_by_keys()

    def wait_chosen(self, place: int) -> None:
        self.options.nth(place).locator("xpath=..").and_(self.page.locator(".tbq-chosen")).wait_for()

    def _move_by_keys(self) -> None:
        """Press "move down" of line 1; the focus goes with the line."""
        self.to(".tbq-line button.tbq-move")
        self.page.keyboard.press("Enter")
        self.page.wait_for_function(
            "() => document.activeElement.matches('.tbq-move') && /2/.test(document.activeElement.title)"
        )

    def to(self, selector: str) -> None:
        """Tab on until the focus is on such an element."""
        for _ in range(30):
            if self.page.evaluate(f"document.activeElement.matches({selector!r})"):
                shown = self.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
                assert shown == "solid", f"the focus cannot be seen on {selector} of {self.item.id}"
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"Tab never reaches {selector} of {self.item.id}")

    def height_above_feedback(self) -> float:
        return self.bar.bounding_box()["y"] + self.bar.bounding_box()["height"] - self.box.bounding_box()["y"]

    def told(self) -> str:
        return self.feedback.inner_text()

    def wait_told(self, words: str) -> None:
        self.feedback.get_by_text(words).first.wait_for(timeout=10_000)


def cards(book: Notebook) -> Iterator[CardOnPage]:
    for item in items():
        yield CardOnPage(book, item)

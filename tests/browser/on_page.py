"""What a person does with a card or a case on the page: with the mouse, with keys alone, or by calls typed into a cell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from course.game import cases, moves
from course.game.cases import Case
from course.learning.log import AnswerLog
from course.lessons.l10_tuning_master import panel, tuning
from course.lessons.l10_tuning_master.tuning import Tuning
from course.lessons.l11_bug_hunt.hunt import Bug, bug
from course.questions.bank import Bank
from course.questions.items import Item
from tests.browser.conftest import Notebook, comes_to

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


def write_cards(lab, language: str) -> str:
    """Put the notebook into the served folder and return its name. Its kernel imports no torch."""
    start = (
        f"from course.core.i18n import set_language\nfrom course.cards.cards import Card as practice\n"
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

    def told(self) -> str:
        return self.feedback.inner_text()

    def wait_told(self, words: str) -> None:
        self.feedback.get_by_text(words).first.wait_for(timeout=10_000)


def cards(book: Notebook) -> Iterator[CardOnPage]:
    for item in items():
        yield CardOnPage(book, item)


# --- What a person does at a case on the page: with the mouse, with keys alone, or by calls typed into a cell. ---


PATIENCE_S = 120
QUICK = """
import dataclasses
from course.experiment.base import ExperimentError
from course.lessons.l10_tuning_master import game, panel
usual, measured, seconds = panel.plan_of, game.measure, [0.6, 2.0]
panel.plan_of = lambda case: dataclasses.replace(usual(case), seconds=tuple(seconds))
def until_measured(*asked):
    while True:
        try:
            return measured(*asked)
        except ExperimentError:
            seconds[:] = [2 * one for one in seconds]
            if seconds[0] > 20:
                raise
game.measure = until_measured
"""
"""What is measured is measured in a third of the seconds; in twice the seconds for as long as nothing is measured within them."""


def answer_log(book: Notebook) -> AnswerLog:
    """The answers given so far to the JupyterLab of this notebook."""
    return AnswerLog(book.lab.folder / "home" / "answers.jsonl")


def has_the_keyboard(book: Notebook, name: str) -> None:
    """Wait until the keyboard is in an element of that class: the desk sends it on to what comes next."""
    book.page.wait_for_function("name => document.activeElement.closest('.' + name) !== null", arg=name)


class CaseOnPage:
    """One case of an open notebook. keys: pressed with Tab and Enter alone, never with the mouse."""

    def __init__(self, book: Notebook, case_id: str, keys: bool = False) -> None:
        self.book, self.page, self.keys = book, book.page, keys
        self.case: Case = cases.find(case_id)
        self.box = book.page.locator(f".tbq-live-{case_id}").first

    def button(self, name: str):
        return self.box.locator(f"button.{name}:visible")

    def made(self, kind: str) -> list[moves.Move]:
        """The moves of a kind in the log."""
        entries = answer_log(self.book).entries()
        every = [move for one in moves.attempts(self.case.id, entries, lambda _: False) for move in one]
        return [one for one in every if one.kind == kind]

    def makes(self, kind: str, do: Callable[[], None]) -> moves.Move:
        """Do something, and wait for the move that it writes into the log."""
        before = len(self.made(kind))
        do()
        comes_to(self.page, lambda: len(self.made(kind)), before + 1, PATIENCE_S)
        return self.made(kind)[-1]

    def press(self, target) -> None:
        """Press a button: with the mouse, or by going there with Tab and pressing Enter."""
        target.wait_for()
        if not self.keys:
            target.click()
            return
        handle = target.element_handle()
        for _ in range(60):
            if self.page.evaluate("e => document.activeElement === e", handle):
                style = self.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
                assert style == "solid", f"the focus cannot be seen: {target.inner_text()}"
                self.page.keyboard.press("Enter")
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"Tab never reaches {target.inner_text()}")

    def active(self) -> str:
        """The class and the tag of what has the keyboard."""
        return self.page.evaluate("document.activeElement.className + ' ' + document.activeElement.tagName")

    def start(self) -> None:
        """See the case from its beginning; with keys, from its first control on."""
        self.box.scroll_into_view_if_needed()
        if self.keys:
            self.box.locator("button:visible, input:visible").first.focus()

    def cause(self, answer_id: str) -> None:
        """Choose an answer about the cause, and press."""
        place = [one.id for one in self.case.cause.options].index(answer_id)
        answer = self.box.locator("button.tbq-opt").nth(place)
        answer.wait_for()
        if self.keys:
            answer.focus()
            self.page.keyboard.press("Enter")
        else:
            answer.click()
        answer.locator("xpath=..").and_(self.page.locator(".tbq-chosen")).wait_for()
        self.makes("cause", lambda: self.press(self.button("tbg-cause")))

    def closed(self) -> None:
        """Wait until the case is shown as closed."""
        self.box.locator(".tbg-top").wait_for(timeout=1000 * PATIENCE_S)


class DeskOnPage(CaseOnPage):
    """A case of the tuning game."""

    def __init__(self, book: Notebook, case_id: str, keys: bool = False) -> None:
        super().__init__(book, case_id, keys)
        self.plan = panel.plan_of(self.case)

    @property
    def attempt(self) -> tuning.Attempt:
        return Tuning(self.case, answer_log(self.book)).attempt

    def choose(self, row, value: int) -> None:
        """Press a value of a row of choices, and wait for its full dot."""
        target = row.locator("button.tbg-value").nth(value)
        self.press(target)
        target.and_(self.page.locator(".tbg-on")).wait_for()
        assert target.inner_text().startswith("●")

    def set(self, config: Mapping[str, str], bet: str, sure: int) -> None:
        """Set the panel, bet, say how sure; the order of the page, so that Tab only goes forward. What a run has shown takes no bet."""
        self.start()
        rows = self.box.locator(".tbg-panel .tbg-row:not(.tbg-yours)")
        for row, one in enumerate(self.plan.controls):
            if one.id in config:
                self.choose(rows.nth(row), list(one.values).index(config[one.id]))
        yours, attempt = self.box.locator(".tbg-panel .tbg-yours"), self.attempt
        if attempt.runs and tuning.known(self.plan, attempt.runs, {**self.plan.today, **config}):
            comes_to(self.page, yours.count, 0)
            return
        comes_to(self.page, yours.count, 2)
        self.choose(yours.nth(0), list(self.plan.bets()).index(bet))
        self.choose(yours.nth(1), sure - 1)

    def measures(self, kind: str, name: str) -> None:
        """Press a button that measures."""
        self.makes(kind, lambda: self.press(self.button(name)))
        self.book.rested()

    def run(self, config: Mapping[str, str], bet: str, sure: int) -> None:
        self.set(config, bet, sure)
        self.measures("run", "tbg-run")

    def hand_in(self, config: Mapping[str, str], bet: str, sure: int) -> None:
        """Hand it in. Where this machine is too busy to tell, the recording decides."""
        self.set(config, bet, sure)
        self.press(self.button("tbg-hand"))
        tape = self.button("tbg-tape")
        comes_to(self.page, lambda: bool(self.made("hand-in")) or tape.count() > 0, True, PATIENCE_S)
        self.book.rested()
        if not self.made("hand-in"):
            self.measures("hand-in", "tbg-tape")
        self.box.locator(".tbq-verdict").wait_for()


class HuntOnPage(CaseOnPage):
    """A case of the bug hunt."""

    def __init__(self, book: Notebook, case_id: str, keys: bool = False) -> None:
        super().__init__(book, case_id, keys)
        self.bug: Bug = bug(self.case)

    @property
    def script(self):
        return self.box.locator(".tbh-script textarea")

    def said(self, words: str) -> None:
        self.box.locator(".tbq-say").get_by_text(words).first.wait_for(timeout=1000 * PATIENCE_S)

    def line(self, number: int) -> None:
        """Point at a line; 0: nothing is wrong."""
        self.start()
        self.press(self.box.locator("button.tbh-line").nth(number - 1) if number else self.button("tbh-none"))
        chosen = self.box.locator("button.tbh-on" if number else "button.tbh-none.tbg-on")
        chosen.wait_for()
        self.makes("line", lambda: self.press(self.button("tbh-point")))
        if number in (self.bug.lines or (0,)):
            has_the_keyboard(self.book, "tbq-opt")  # only then: what is pressed before it arrives may be lost

    def repair(self, script: str) -> moves.Move:
        """Hand in a repaired script, and have it run."""
        self.script.wait_for()
        if self.keys:
            self.script.focus()
            self.page.keyboard.press("Control+A")
            self.page.keyboard.insert_text(script)
            self.page.keyboard.press("Tab")
            assert "tbh-repair" in self.active()
        else:
            self.script.fill(script)
        self.book.rested()
        return self.makes("repair", lambda: self.press(self.button("tbh-repair")))

"""A whole case of the tuning game in a real JupyterLab, from the ticket to the letter: by mouse, and by keys alone."""

from __future__ import annotations

import pytest

from course.game import board, cases, moves
from course.i18n import pick
from course.learning.log import AnswerLog
from course.lessons.l10_tuning_master.tuning import plan_of
from course.markup import plain
from tests.browser.conftest import Notebook, assert_colours_hold, assert_open_to_all, languages

pytestmark = [pytest.mark.browser, pytest.mark.slow]
REPLY = {"en": "Dear colleague, here is what I measured and why.", "zh": "你好，这是我测到的结果和原因，欢迎复测。"}
BETTER = {"10-museum": {"mode": "eval", "grad": "inference_mode"}, "10-gan": {"enabled": "off", "sdp": "off"}}
"""Case -> the setting that is played: it is among the best, or keeps what must be kept."""
QUICK = """
import dataclasses
from course.lessons.l10_tuning_master import game
usual = game.plan_here
game.plan_here = lambda case: dataclasses.replace(usual(case), seconds=(0.6, 2.0))
"""
"""What is measured is measured in a third of the seconds."""


def write(lab, language: str) -> str:
    """A notebook with the two cases and the board."""
    start = f"from course import *\nlanguage({language!r}){QUICK}"
    calls = [f'case("{name[3:]}")' for name in BETTER]
    return lab.write(f"game.{language}.ipynb", start, *calls, 'board("10_tuning_master")')


class DeskOnPage:
    """One case of an open notebook, and what a person does with it. keys: with Tab, Enter and letters alone."""

    def __init__(self, book: Notebook, case_id: str, keys: bool) -> None:
        self.book, self.page, self.case, self.keys = book, book.page, cases.find(case_id), keys
        self.box = book.page.locator(f".tbq-live-{case_id}").first

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

    def start(self) -> None:
        """Put the focus at the start of the desk."""
        self.box.scroll_into_view_if_needed()
        if self.keys:
            self.box.locator("button.tbg-value").first.focus()

    def choose(self, row: int, value: int) -> None:
        """Press a value of a row of choices, and wait for its full dot."""
        target = self.box.locator(".tbg-panel .tbg-row").nth(row).locator("button.tbg-value").nth(value)
        self.press(target)
        target.and_(self.page.locator(".tbg-on")).wait_for()
        assert target.inner_text().startswith("●")

    def set(self, config: dict[str, str], bet: str, sure: int) -> None:
        """Set the panel, bet, say how sure; the order of the page, so that Tab only goes forward."""
        controls = plan_of(self.case).controls
        for row, one in enumerate(controls):
            if one.id in config:
                self.choose(row, list(one.values).index(config[one.id]))
        self.choose(len(controls), list(plan_of(self.case).bets()).index(bet))
        self.choose(len(controls) + 1, sure - 1)


def play(book: Notebook, case_id: str, keys: bool, language: str) -> None:
    """Bet, measure, hand in, name the cause, answer the colleague; then read what the log holds."""
    desk = DeskOnPage(book, case_id, keys)
    rules = desk.case.evidence == "rule"
    bet = "fits" if rules else "faster"
    desk.start()
    run = desk.box.locator("button.tbg-run")
    if not keys:  # without a bet nothing is measured
        desk.press(run)
        desk.box.locator(".tbq-say p.tbq-notice").first.wait_for()
        assert not log(book).entries() or log(book).entries()[-1].item != case_id
    desk.set(BETTER[case_id], bet, 2)
    desk.press(run)
    desk.box.locator(".tbq-say").get_by_text("🎯").or_(desk.box.locator(".tbq-say").get_by_text("🎲")).first.wait_for(
        timeout=90_000
    )
    book.page.wait_for_timeout(1000)
    book.shot(f"game-{case_id}-{language}-run", desk.box)
    desk.start()
    desk.set(BETTER[case_id], bet, 3)
    desk.press(desk.box.locator("button.tbg-hand"))
    verdict, tape = desk.box.locator(".tbq-verdict").first, desk.box.locator("button.tbg-tape:visible")
    verdict.or_(tape).first.wait_for(timeout=90_000)
    if tape.count():  # too noisy here: the hand-in waits, and the recording decides
        book.rested()
        desk.start()
        desk.set(BETTER[case_id], bet, 3)
        desk.press(tape)
        verdict.wait_for(timeout=90_000)
    has_the_keyboard(book, "tbq-opt")
    answers = desk.box.locator("button.tbq-opt")
    right = [one.right for one in desk.case.cause.answers].index(True)
    wrong = 1 if right == 0 else 0
    for place in (wrong, right):
        if keys:
            desk.box.locator(".tbq-letters input").focus()
            book.page.keyboard.press("Control+A")
            book.page.keyboard.type("abc"[place])
        else:
            answers.nth(place).click()
        answers.nth(place).locator("xpath=..").and_(book.page.locator(".tbq-chosen")).wait_for()
        desk.press(desk.box.locator("button.tbg-cause"))
        why = plain(pick(desk.case.cause.answers[place].why, language))[:12]
        (desk.box.get_by_text(why) if place == wrong else desk.box.locator(".tbg-top")).first.wait_for()
    field = desk.box.locator(".widget-textarea textarea")
    field.wait_for()
    has_the_keyboard(book, "widget-textarea")
    if keys:
        book.page.keyboard.type(REPLY[language])
    else:
        field.fill(REPLY[language])
    desk.press(desk.box.locator("button.tbg-send"))
    tick = desk.box.locator(".tbg-ticks button.tbg-value").first
    desk.press(tick)
    tick.and_(book.page.locator(".tbg-on")).wait_for()  # it is in the log before it is shown


def has_the_keyboard(book: Notebook, name: str) -> None:
    """Wait until the keyboard is in an element of that class: the desk sends it on to what comes next."""
    book.page.wait_for_function("name => document.activeElement.closest('.' + name) !== null", arg=name)


def log(book: Notebook) -> AnswerLog:
    return AnswerLog(book.lab.folder / "home" / "answers.jsonl")


@pytest.mark.parametrize("language", languages("zh"))
def test_a_whole_case_by_mouse_and_another_by_keys(page, lab, language):
    lab.forget()
    book = Notebook(page, lab, write(lab, language)).open()
    book.run_all()
    by_keys = "10-gan" if language == "en" else "10-museum"
    for case_id in BETTER:
        play(book, case_id, case_id == by_keys, language)
    page.set_viewport_size({"width": 1280, "height": 3600})  # a whole case on one picture
    assert_open_to_all(page, "a closed case", ".tbq")
    assert_colours_hold(page, "a closed case", ".tbq")
    for dark in (True, False):
        book.theme(dark)
        for case_id in BETTER:
            book.shot(f"game-{case_id}-{language}-{'dark' if dark else 'light'}", DeskOnPage(book, case_id, False).box)
    nothing_sticks_out(book, language)

    entries = log(book).entries()
    for case_id in BETTER:
        (attempt,) = moves.attempts(case_id, entries, bool)
        kinds = [one.kind for one in attempt]
        assert kinds[:2] == ["run", "hand-in"] and kinds[-4:] == ["cause", "cause", "letter", "letter"]
        assert attempt[-1].text == REPLY[language] and len(attempt[-1].choice) == 1
        assert board.game("10_tuning_master").standing(cases.find(case_id), entries).scores

    told = {case_id: DeskOnPage(book, case_id, False).box.inner_text() for case_id in BETTER}
    book.restart_and_run_all()  # a dead kernel loses nothing
    for case_id in BETTER:
        box = DeskOnPage(book, case_id, False).box
        box.locator("textarea").wait_for()
        assert box.locator("textarea").input_value() == REPLY[language]
        assert box.locator(".tbg-top").inner_text() in told[case_id]
    from_the_board(book, language)


def from_the_board(book: Notebook, language: str) -> None:
    """A tile opens its case by Enter, the way back ends at that tile; the board can be read in both themes."""
    page, box = book.page, book.page.locator(".tbb[class*=tbq-live]").first
    box.scroll_into_view_if_needed()
    assert_colours_hold(page, "the board", ".tbb")
    book.shots_in_both_themes(f"game-board-{language}", box)
    tile = box.get_by_role("button", name=plain(pick(cases.find("mac").title, language)))
    tile.focus()
    page.keyboard.press("Enter")
    box.locator(".tbq-live-10-mac").wait_for()
    has_the_keyboard(book, "tbb-back")
    book.shot(f"game-board-{language}-opened", box)
    page.keyboard.press("Enter")
    box.locator(".tbq-live-10-mac").wait_for(state="detached")
    has_the_keyboard(book, "tbb-tile")


def nothing_sticks_out(book: Notebook, language: str) -> None:
    """Desks 400 px wide: no part is wider than its desk, except what scrolls by itself."""
    narrow = ".tbq.tbg{width:400px!important;max-width:400px!important}"
    style = book.page.add_style_tag(content=narrow)
    wide = book.page.evaluate("""() => [...document.querySelectorAll('.tbq.tbg')].flatMap(desk => {
        const edge = desk.getBoundingClientRect().right;
        return [...desk.querySelectorAll('*')].filter(one => one.getClientRects().length
            && !one.closest('pre, button.tbq-opt') && one.getBoundingClientRect().right > edge + 0.5)
            .map(one => desk.className + ': ' + one.outerHTML.slice(0, 120)); })""")
    for case_id in BETTER:
        book.shot(f"game-{case_id}-{language}-400", DeskOnPage(book, case_id, False).box)
    style.evaluate("node => node.remove()")
    assert not wide, f"{language}: {wide[:5]}"

"""A whole case of the tuning game in a real JupyterLab, from the ticket to the letter: by mouse, and by keys alone."""

from __future__ import annotations

import pytest

from course.core.i18n import pick
from course.core.markup import plain
from course.game import board, cases, moves
from tests.browser.conftest import Notebook, assert_colours_hold, assert_open_to_all, languages
from tests.browser.desks import QUICK, DeskOnPage, answer_log, has_the_keyboard

REPLY = {"en": "Dear colleague, here is what I measured and why.", "zh": "你好，这是我测到的结果和原因，欢迎复测。"}
BETTER = {"10-museum": {"mode": "eval", "grad": "inference_mode"}, "10-gan": {"enabled": "off", "sdp": "off"}}
"""Case -> the setting that is played: it is among the best, or keeps what must be kept."""


def write(lab, language: str) -> str:
    """A notebook with the two cases and the board."""
    start = f"from course import *\nlanguage({language!r}){QUICK}"
    calls = [f'case("{name[3:]}")' for name in BETTER]
    return lab.write(f"game.{language}.ipynb", start, *calls, 'board("10_tuning_master")')


def play(book: Notebook, case_id: str, keys: bool, language: str) -> None:
    """Bet, measure, hand in, name a wrong cause and the right one, answer the colleague."""
    desk = DeskOnPage(book, case_id, keys)
    bet = "fits" if desk.plan.rules else "faster"
    desk.start()
    if not keys:  # without a bet nothing is measured
        desk.press(desk.button("tbg-run"))
        desk.box.locator(".tbq-say p.tbq-notice").first.wait_for()
        assert not desk.made("run")
    desk.run(BETTER[case_id], bet, 2)
    book.shot(f"game-{case_id}-{language}-run", desk.box)
    desk.hand_in(BETTER[case_id], bet, 3)
    has_the_keyboard(book, "tbq-opt")
    right = desk.case.cause.right
    wrong = next(one for one in desk.case.cause.answers if one != right)
    desk.cause(wrong.id)
    desk.box.get_by_text(plain(pick(wrong.why, language))[:12]).first.wait_for()
    desk.cause(right.id)
    desk.closed()
    has_the_keyboard(book, "widget-textarea")
    desk.reply(REPLY[language])


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
            book.shot(f"game-{case_id}-{language}-{'dark' if dark else 'light'}", DeskOnPage(book, case_id).box)

    entries = answer_log(book).entries()
    for case_id in BETTER:
        desk = DeskOnPage(book, case_id)
        (attempt,) = moves.attempts(case_id, entries, bool)
        kinds = [one.kind for one in attempt]
        assert kinds[:2] == ["run", "hand-in"] and kinds[-4:] == ["cause", "cause", "letter", "letter"]
        assert attempt[-1].text == REPLY[language] and len(attempt[-1].choice) == 1
        bets = [one for one in attempt if one.kind in ("run", "hand-in") and one.confidence]
        assert len(bets) == 1 if desk.attempt.runs[0].came else len(bets) > 1, "what a run has shown takes no bet"
        assert board.standing(cases.find(case_id), entries).scores

    told = {case_id: DeskOnPage(book, case_id).box.inner_text() for case_id in BETTER}
    book.restart_and_run_all()  # a dead kernel loses nothing
    for case_id in BETTER:
        desk = DeskOnPage(book, case_id)
        box = desk.box
        box.locator(".tbg-top").wait_for()
        desk.press(desk.button("tbg-reply"))
        box.locator("textarea").wait_for()
        has_the_keyboard(book, "widget-textarea")
        assert box.locator("textarea").input_value() == REPLY[language]
        assert box.locator(".tbg-top").inner_text() in told[case_id]
    from_the_board(book, language)


def from_the_board(book: Notebook, language: str) -> None:
    """A tile opens its case by Enter, the way back ends at that tile; the board can be read in both themes."""
    page, box = book.page, book.page.locator(".tbb[class*=tbq-live]").first
    box.scroll_into_view_if_needed()
    assert_colours_hold(page, "the board", ".tbb")
    book.shots_in_both_themes(f"game-board-{language}", box)
    tile = box.get_by_role("button", name=plain(pick(cases.find("detector").title, language)))
    tile.focus()
    page.keyboard.press("Enter")
    box.locator(".tbq-live-10-detector").wait_for()
    has_the_keyboard(book, "tbb-back")
    book.shot(f"game-board-{language}-opened", box)
    page.keyboard.press("Enter")
    box.locator(".tbq-live-10-detector").wait_for(state="detached")
    has_the_keyboard(book, "tbb-tile")

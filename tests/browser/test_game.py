"""A whole case of the tuning game in a real JupyterLab, from the ticket to its end: by mouse, and by keys alone."""

from __future__ import annotations

import pytest

from course.core.i18n import pick
from course.core.markup import plain
from course.game import board, cases, moves
from tests.browser.conftest import Notebook, assert_colours_hold, assert_open_to_all, languages
from tests.browser.desks import QUICK, DeskOnPage, answer_log, has_the_keyboard

BETTER = {"10-museum": {"mode": "eval", "grad": "inference_mode"}, "10-gan": {"enabled": "off", "sdp": "off"}}
"""Case -> the setting that is played: it is among the best, or keeps what must be kept."""


def write(lab, language: str) -> str:
    """A notebook with the two cases and the board."""
    start = f"from course import *\nlanguage({language!r}){QUICK}"
    calls = [f'case("{name[3:]}")' for name in BETTER]
    return lab.write(f"game.{language}.ipynb", start, *calls, 'board("10_tuning_master")')


def play(book: Notebook, case_id: str, keys: bool, language: str) -> None:
    """Bet, measure, hand in, name a wrong cause and the right one; open the colleague's question."""
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
    right = desk.case.right
    wrong = next(one for one in desk.case.cause.options if one != right)
    desk.cause(wrong.id)
    desk.box.get_by_text(plain(pick(wrong.why, language))[:12]).first.wait_for()
    desk.cause(right.id)
    desk.closed()
    has_the_keyboard(book, "tbg-again")
    colleague = desk.box.locator(".tbg-folds details").first
    colleague.locator("summary").first.focus()
    book.page.keyboard.press("Enter")
    colleague.get_by_text(plain(pick(desk.case.letter.says, language))[:12]).first.wait_for()


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
        assert kinds[:2] == ["run", "hand-in"] and kinds[-2:] == ["cause", "cause"]
        bets = [one for one in attempt if one.kind in ("run", "hand-in") and one.confidence]
        assert len(bets) == 1 if desk.attempt.runs[0].came else len(bets) > 1, "what a run has shown takes no bet"
        assert board.standing(cases.find(case_id), entries).scores

    told = {case_id: DeskOnPage(book, case_id).box.inner_text() for case_id in BETTER}
    book.restart_and_run_all()  # a dead kernel loses nothing
    for case_id in BETTER:
        box = DeskOnPage(book, case_id).box
        box.locator(".tbg-top").wait_for()
        assert box.locator(".tbg-top").inner_text() in told[case_id]
    board_shown = page.locator(".tbb").first
    board_shown.scroll_into_view_if_needed()
    assert_colours_hold(page, "the board", ".tbb")
    book.shots_in_both_themes(f"game-board-{language}", board_shown)
    assert 'case("detector")' in board_shown.inner_text()

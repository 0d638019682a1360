"""Protects who plays in JupyterLab: a case of the tuning game and a bug hunted to the end, by mouse and by keys alone."""

from __future__ import annotations

import re

import pytest

from course.core.i18n import pick
from course.core.markup import plain
from course.game import board, cases, moves
from tests.browser.conftest import Notebook, assert_colours_hold, assert_open_to_all, languages
from tests.browser.on_page import QUICK, DeskOnPage, HuntOnPage, answer_log, has_the_keyboard

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
    assert 'case("detector")' in board_shown.inner_text()


# --- One bug hunted to the end in a real JupyterLab: by mouse, after a killed kernel, by keyboard alone, and given up. ---


GONE = {"en": "nothing was left over", "zh": "也没留下尾巴"}
LEFT = {"en": "Almost", "zh": "差一点"}


def write_hunt(lab, language):
    """A notebook with the case, in the served folder; its name."""
    start = f"from course import *\nlanguage({language!r})"
    return lab.write(f"hunt.{language}.ipynb", start, 'case("typo")', 'board("11_bug_hunt")')


@pytest.mark.parametrize("language", languages("en"))
def test_a_bug_is_hunted_to_the_end_by_mouse_and_by_keyboard(page, lab, language):
    lab.forget()
    page.set_viewport_size({"width": 1280, "height": 3200})  # the whole card at once
    book = Notebook(page, lab, write_hunt(lab, language)).open()
    book.run_all()
    case = HuntOnPage(book, "11-typo")
    case.box.wait_for()
    errors = page.locator('.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.error"]')
    assert errors.count() == 0, errors.first.inner_text()

    by_mouse(book, case, language)

    book.restart_and_run_all()  # a new kernel: the case is as it was
    case.button("tbg-again").wait_for()
    case.box.get_by_text(pick(case.case.debrief.trap, language)).first.wait_for()
    by_keyboard(book, HuntOnPage(book, "11-typo", keys=True), language)


def by_mouse(book, case, language):
    case.button("tbh-measure").click()
    case.said("True, True")
    case.line(1)
    case.box.locator("button.tbh-miss").wait_for()
    case.button("tbg-hint").click()
    case.said(pick(case.case.hints[0], language)[:12])
    case.line(case.bug.lines[0])
    case.box.locator("button.tbh-hit").wait_for()
    has_the_keyboard(book, "tbq-opt")
    case.cause(case.case.right.id)
    case.script.wait_for()
    case.repair(case.bug.script.replace("mkldnn.enable = False", "mkldnn.enabled = False"))
    case.said(LEFT[language])
    case.repair(case.bug.repair)
    case.said(GONE[language])
    case.box.locator(".tbg-score", has_text="9 / 10").wait_for()


def by_keyboard(book, case, language):
    case.button("tbg-again").focus()
    case.page.keyboard.press("Enter")
    has_the_keyboard(book, "tbh-line")
    case.line(case.bug.lines[0])
    case.box.locator("button.tbh-hit").wait_for()
    has_the_keyboard(book, "tbq-opt")
    case.cause(case.case.right.id)
    has_the_keyboard(book, "tbh-script")
    case.repair(case.bug.repair)
    case.said(GONE[language])
    case.box.locator(".tbg-score", has_text="10 / 10").wait_for()
    has_the_keyboard(book, "tbg-again")
    book.rested()
    case.press(case.button("tbg-again"))
    has_the_keyboard(book, "tbh-line")
    book.rested()
    case.makes("give-up", lambda: case.press(case.button("tbh-give-up")))
    case.box.locator(".tbg-score", has_text=re.compile(r"\b0 / 10")).wait_for()
    assert case.box.locator("button.tbh-hit").count() == len(case.bug.lines)
    has_the_keyboard(book, "tbg-again")

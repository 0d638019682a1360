"""One bug hunted to the end in a real JupyterLab, in each language: by mouse, after a killed kernel, by keyboard alone."""

from __future__ import annotations

import pytest

from course.core.i18n import pick
from tests.browser.conftest import Notebook, languages
from tests.browser.desks import HuntOnPage, has_the_keyboard

GONE = {"en": "nothing was left over", "zh": "也没留下尾巴"}
LEFT = {"en": "Almost", "zh": "差一点"}


def write(lab, language):
    """A notebook with the case, in the served folder; its name."""
    start = f"from course import *\nlanguage({language!r})"
    return lab.write(f"hunt.{language}.ipynb", start, 'case("typo")', 'board("11_bug_hunt")')


@pytest.mark.parametrize("language", languages("en"))
def test_a_bug_is_hunted_to_the_end_by_mouse_and_by_keyboard(page, lab, language):
    lab.forget()
    page.set_viewport_size({"width": 1280, "height": 3200})  # the whole card at once
    book = Notebook(page, lab, write(lab, language)).open()
    book.run_all()
    case = HuntOnPage(book, "11-typo")
    case.box.wait_for()
    errors = page.locator('.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.error"]')
    assert errors.count() == 0, errors.first.inner_text()
    book.shots_in_both_themes(f"hunt-{language}-ticket", case.box)

    by_mouse(book, case, language)
    book.shot(f"hunt-{language}-closed", case.box)

    book.restart_and_run_all()  # a new kernel: the case is as it was
    case.button("tbg-again").wait_for()
    case.box.get_by_text(pick(case.case.debrief.trap, language)).first.wait_for()
    book.shot(f"hunt-{language}-board", book.cell("board(").locator(".jp-OutputArea"))
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
    book.shot(f"hunt-{language}-repair", case.box)
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

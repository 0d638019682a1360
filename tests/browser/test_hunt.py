"""One bug hunted to the end in a real JupyterLab, in each language: by mouse, after a killed kernel, by keyboard alone."""

from __future__ import annotations

import pytest

from course.game.cases import find
from course.i18n import pick
from course.lessons.l11_bug_hunt.bug import bug
from tests.browser.conftest import Notebook, languages

pytestmark = [pytest.mark.browser, pytest.mark.slow]
BUG = bug(find("11-typo"))
LINE, RIGHT = BUG.lines[0], BUG.case.cause.right.id
PLACE = [one.id for one in BUG.case.cause.answers].index(RIGHT)
GONE = {"en": "nothing was left over", "zh": "也没留下尾巴"}
LEFT = {"en": "Almost", "zh": "差一点"}
FIRST_ONLY = BUG.script.replace("mkldnn.enable = False", "mkldnn.enabled = False")


def write(lab, language):
    """A notebook with the case, in the served folder; its name."""
    start = f"from course import *\nfrom course.i18n import set_language\nset_language({language!r})"
    return lab.write(f"hunt.{language}.ipynb", start, 'case("typo")', 'board("11_bug_hunt")')


class CaseOnPage:
    """The case as it is seen and pressed."""

    def __init__(self, page):
        self.page, self.box = page, page.locator(f".tbq-live-{BUG.case.id}").first

    def button(self, name):
        return self.box.locator(f"button.{name}")

    def line(self, number):
        return self.box.locator("button.tbh-line").nth(number - 1)

    @property
    def script(self):
        return self.box.locator(".tbh-script textarea")

    def said(self, words):
        self.box.locator(".tbq-say").get_by_text(words).first.wait_for(timeout=90_000)

    def active(self):
        return self.page.evaluate("document.activeElement.className + ' ' + document.activeElement.tagName")

    def tab_to(self, name, most=40):
        """Press Tab until an element of that class, or tag, has the keyboard."""
        for _ in range(most):
            if name in self.active():
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"Tab never reached {name}")


@pytest.mark.parametrize("language", languages("en"))
def test_a_bug_is_hunted_to_the_end_by_mouse_and_by_keyboard(page, lab, language):
    lab.forget()
    page.set_viewport_size({"width": 1280, "height": 3200})  # the whole card at once
    book = Notebook(page, lab, write(lab, language)).open()
    book.run_all()
    case = CaseOnPage(page)
    case.box.wait_for()
    errors = page.locator('.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.error"]')
    assert errors.count() == 0, errors.first.inner_text()
    book.shots_in_both_themes(f"hunt-{language}-ticket", case.box)

    by_mouse(book, case, language)
    book.shot(f"hunt-{language}-closed", case.box)

    book.restart_and_run_all()  # a new kernel: the case is as it was
    case.button("tbg-again").wait_for()
    case.box.get_by_text(pick(BUG.case.debrief.trap, language)).first.wait_for()
    book.shot(f"hunt-{language}-board", book.cell("board(").locator(".jp-OutputArea"))
    by_keyboard(book, case, language)

    narrow = page.add_style_tag(content=".tbq{width:400px!important;max-width:400px!important}")
    page.wait_for_timeout(500)
    wide = """box => [...box.querySelectorAll('*')].filter(one => !one.closest('pre, textarea')
              && one.getBoundingClientRect().right > box.getBoundingClientRect().right + 1).map(one => one.className)"""
    assert not case.box.evaluate(wide), "wider than the card"
    book.shot(f"hunt-{language}-narrow", case.box)
    narrow.evaluate("node => node.remove()")


def by_mouse(book, case, language):
    case.button("tbh-measure").click()
    case.said("True, True")
    case.line(1).click()
    case.button("tbh-point").click()
    case.box.locator("button.tbh-miss").wait_for()
    case.button("tbg-hint").click()
    case.said(pick(BUG.case.hints[0], language)[:12])
    case.line(LINE).click()
    case.button("tbh-point").click()
    case.box.locator("button.tbh-hit").wait_for()
    case.page.wait_for_function("document.activeElement.classList.contains('tbq-opt')")
    case.box.locator("button.tbq-opt").nth(PLACE).click()
    case.button("tbg-cause").click()
    case.script.wait_for()
    book.shot(f"hunt-{language}-repair", case.box)
    case.script.fill(FIRST_ONLY)
    book.rested()
    case.button("tbh-repair").click()
    case.said(LEFT[language])
    case.script.fill(BUG.repair)
    book.rested()
    case.button("tbh-repair").click()
    case.said(GONE[language])
    case.box.locator(".tbg-score", has_text="9 / 10").wait_for()


def by_keyboard(book, case, language):
    press = case.page.keyboard.press
    case.button("tbg-again").focus()
    press("Enter")
    case.page.wait_for_function("document.activeElement.tagName === 'INPUT'")
    case.page.keyboard.type(str(LINE))
    case.tab_to("tbh-point")  # the field tells its number when it is left
    case.box.locator("button.tbh-on", has_text=str(LINE)).wait_for()
    press("Enter")
    case.box.locator("button.tbh-hit").wait_for()
    case.page.wait_for_function("document.activeElement.classList.contains('tbq-opt')")
    for _ in range(PLACE):
        press("Tab")
    press("Enter")
    case.tab_to("tbg-cause")
    press("Space")
    case.page.wait_for_function("document.activeElement.tagName === 'TEXTAREA'")
    press("Control+A")
    case.page.keyboard.insert_text(BUG.repair)
    press("Tab")
    assert "tbh-repair" in case.active()
    press("Enter")
    case.said(GONE[language])
    case.box.locator(".tbg-score", has_text="10 / 10").wait_for()
    case.page.wait_for_function("document.activeElement.classList.contains('tbg-again')")

"""How tall the outputs of a lesson are on a page of 1,100 pixels with every bet placed and no question answered."""

from __future__ import annotations

import pytest

from course.catalog import LESSONS
from course.i18n import pick
from course.learning.log import AnswerLog
from course.learning.marking import Response
from course.learning.session import submit
from course.questions.bank import Bank
from tests.browser.conftest import SHOTS, Notebook, languages
from tests.browser.test_widths import with_every_bet

WIDTH, TALLEST = 1100, 1400
"""Of an output in pixels."""
SCREEN = 920
"""What a full-HD screen shows of a notebook, in pixels."""
HEIGHTS = """() => [...document.querySelectorAll('.jp-Notebook .jp-CodeCell')].map(cell => [
  Math.round(cell.querySelector('.jp-Cell-outputWrapper').getBoundingClientRect().height),
  cell.querySelector('.jp-InputArea .cm-content').innerText.trim().split('\\n').at(-1)])"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("lesson", "language"), [(one.id, ("zh", "en")[number % 2]) for number, one in enumerate(LESSONS)]
)
def test_no_output_is_taller_than_two_screens(notebook, lesson, language):
    book = with_every_bet(notebook, language, lesson)
    page = book.page
    page.set_viewport_size({"width": WIDTH, "height": 1000})
    page.evaluate("window.jupyterapp.shell.collapseLeft()")
    book.run_all(600)
    page.wait_for_timeout(1000)
    found = sorted(map(tuple, page.evaluate(HEIGHTS)), reverse=True)
    print(f"\n{lesson} {language}: {found[:4]}")
    page.set_viewport_size({"width": WIDTH, "height": 3000})  # a whole cell on one picture
    for number, one in enumerate(found[:4] if SHOTS else ()):
        book.shots_in_both_themes(f"{lesson}-{language}-{number}", book.cell(one[1]).locator(".jp-Cell-outputWrapper"))
    assert [one for one in found if one[0] > TALLEST] == []


@pytest.mark.parametrize("language", languages("en"))
def test_a_card_whose_lines_are_put_in_order_fits_a_screen(page, lab, language):
    orders = [item.id for item in Bank().items() if item.kind == "order"]
    call = f'import course; course.lesson("01_map", language="{language}"); course.review(*{orders})'
    book = Notebook(page, lab, lab.write(f"orders-{language}.ipynb", call)).open()
    page.set_viewport_size({"width": WIDTH, "height": 900})
    page.evaluate("window.jupyterapp.shell.collapseLeft()")
    book.run_all()
    screen, tall = page.locator(".jp-WindowedPanel-outer").first.bounding_box()["height"], {}
    for identity in orders:
        card = page.locator(f".tbq-live-{identity}").first
        card.locator("button.tbq-opt:visible, summary:visible").first.wait_for()  # it is drawn, open or folded
        if not card.locator("button.tbq-opt").first.is_visible():
            card.locator("summary").first.click()
        card.locator("button.tbq-opt").first.wait_for()
        tall[identity] = card.bounding_box()["height"]
    print(f"\n{language}, {screen} px: {sorted(tall.items(), key=lambda one: -one[1])[:3]}")
    assert max(tall.values()) <= screen


@pytest.mark.parametrize("language", languages("zh"))
def test_a_card_that_was_answered_fits_a_screen(page, lab, language):
    """The questions with most words, answered wrong: what was asked and answered, the verdict, why; the rest one press away."""
    lab.forget()
    log = AnswerLog(lab.folder / "home" / "answers.jsonl")

    def words(item):
        return sum(len(pick(one.text, language) + pick(one.why, language)) for one in item.options)

    asked = [one for one in Bank().items() if one.kind in ("single", "multiple") and not one.varies and not one.axes]
    items = sorted(asked, key=words)[-6:]
    for item in items:
        submit(item, Response((next(one.id for one in item.options if one.id not in item.correct),), None, 2), log)
    calls = [
        f'import course; course.lesson("01_map", language="{language}")',
        *(f'course.review("{one.id}")' for one in items),
    ]
    book = Notebook(page, lab, lab.write(f"answered-{language}.ipynb", *calls)).open()
    page.set_viewport_size({"width": WIDTH, "height": 1000})
    page.evaluate("window.jupyterapp.shell.collapseLeft()")
    book.run_all()
    tall = {}
    for item in items:
        card = page.locator(f".tbq-live-{item.id}").first
        card.locator(".tbq-verdict").wait_for()
        tall[item.id] = card.bounding_box()["height"]
        book.shots_in_both_themes(f"answered-{language}-{item.id}", card)
    print(f"\n{language}: {sorted(tall.items(), key=lambda one: -one[1])}")
    assert max(tall.values()) <= SCREEN

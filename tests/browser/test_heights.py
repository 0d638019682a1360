"""How tall the outputs of a lesson are on a page of 1,100 pixels with every bet placed and no question answered."""

from __future__ import annotations

import pytest

from course.core.catalog import LESSONS
from course.core.i18n import pick
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


MOST = """
import course
from course.tryout.result import Tried
from course.tryout.settings import all_settings
course.language("{code}")
ids = ["channels_last", "autocast-bfloat16", "inference_mode", "oneDNN-off", "matmul-medium", "conv-bf16", "deterministic", "denormals"]
mine = [one for one in all_settings() if one.id in ids or one.family == "threads"][: len(ids) + 2]
faster = {{"low": 0.4, "high": 0.6, "sets": 5, "float64": True, "error_as_is": 1e-7, "bits": False}}
found = {{one.id: faster | {{"ratio": 0.5 + 0.001 * at, "error": 1e-2 * one.lossy}} for at, one in enumerate(mine)}}
slower = "oneDNN-off", "deterministic", *(one.id for one in mine[len(ids) + 1 :])
for name in slower:
    found[name] |= {{"ratio": 1.5, "low": 1.4, "high": 1.6}}
best = [one for one in found if one not in slower]
tried = Tried(mine, course.core.i18n.both("CPU: a name of thirty-three letters", "CPU：名字有三十三个字母的一颗处理器"), found)
tried.together = faster | {{"of": best, "ratio": 0.3, "low": 0.25, "high": 0.35, "error": 1e-2}}
tried.notes = [course.core.i18n.both("A sentence of a hundred letters. " * 3, "一句大约五十个字的话，" * 5)] * 2
tried.base_ms = 30.0
tried
"""
"""All settings of a CPU tried, those faster that may be, and as many sentences as may stand below the first."""


@pytest.mark.parametrize("language", languages("en"))
def test_however_much_switches_bring_it_fits_two_screens(page, lab, language):
    book = Notebook(page, lab, lab.write(f"most-{language}.ipynb", MOST.format(code=language))).open()
    page.set_viewport_size({"width": WIDTH, "height": 3000})
    page.evaluate("window.jupyterapp.shell.collapseLeft()")
    book.run_all()
    book.shots_in_both_themes(f"most-{language}", page.locator(".tbr").first)
    assert "uncomment" in page.inner_text(".tbr") or "取消注释" in page.inner_text(".tbr")
    assert page.locator(".tbr").first.bounding_box()["height"] <= TALLEST


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

"""A paper of one's own in a real JupyterLab: asked who you are, your numbers on the cards, other numbers at a second try."""

from __future__ import annotations

import json

import pytest

from course.core.i18n import pick
from course.learning.harvesting import harvest
from course.questions.bank import Bank
from course.questions.items import redrawn
from course.questions.variants import Paper
from tests.browser.conftest import Notebook, languages
from tests.browser.test_lesson import card, feedback, run_code, submit_buttons

LESSON, SALT, PLACE, AGAIN = "15_review", "0123456789abcdef", "15-c-search", "03-linear"
BANK = Bank()


def put(lab, language: str) -> str:
    start = f'from course import *\ncheckpoint("{LESSON}", language="{language}", paper="{SALT}")'
    return lab.write(f"papers.{language}.ipynb", start, f'question("{PLACE}")', f'review("{AGAIN}")')


@pytest.mark.parametrize("language", languages("zh"))
def test_whose_paper_then_my_numbers_then_others(page, lab, language):
    lab.forget()
    book = Notebook(page, lab, put(lab, language)).open()
    book.run_all()
    page.get_by_text("i_am(").first.wait_for()
    assert page.locator(".tbq", has_text=PLACE).count() == 0
    run_code(book, "question(", f'i_am("ada")\nquestion("{PLACE}")')
    mine = redrawn(BANK[PLACE], Paper("ada", LESSON, SALT).seed(PLACE))
    shown = card(page, mine)
    shown.wait_for()
    numbers = {str(one) for one in mine.values.values() if isinstance(one, int)}
    assert numbers and all(number in shown.inner_text() for number in numbers), pick(mine.stem, language)
    book.shot(f"papers-{language}-card")
    shown.locator("input").first.fill("120")
    submit_buttons(page, mine).nth(1).click()
    shown.get_by_text({"en": "Recorded at", "zh": "已记录"}[language]).first.wait_for()
    book.save()
    answers, problems = harvest(json.loads((lab.work / book.name).read_text("utf-8")), None, LESSON)
    assert problems == [] and answers[PLACE]["student"] == "ada" and answers[PLACE]["number"] == 120

    first, second = BANK[AGAIN], redrawn(BANK[AGAIN], "again 1")
    practice = card(page, first)
    practice.locator("input").first.fill("25600")
    submit_buttons(page, first).nth(2).focus()
    page.keyboard.press("Enter")
    feedback(page, first).get_by_text("409,600").first.wait_for()
    book.rested()
    page.keyboard.press("Enter")  # the focus has stayed on it: another try
    practice.get_by_text(str(second.values["inputs"])).first.wait_for()
    assert page.evaluate("document.activeElement.matches('.tbq-go')")
    practice.locator("input").first.fill(str(int(second.number.value)))
    submit_buttons(page, first).nth(2).click()
    feedback(page, first).locator(".tbq-verdict.good").wait_for()
    book.shot(f"papers-{language}-again", practice)

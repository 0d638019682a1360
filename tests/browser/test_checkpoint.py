"""Protects a student's answers to a checkpoint: the .ipynb alone carries them, also after a killed kernel, and on a paper of one's own."""

from __future__ import annotations

import json
import os
import signal
from contextlib import suppress

import psutil
import pytest

from course.core.i18n import pick
from course.learning.harvesting import harvest
from course.questions.bank import Bank
from course.questions.items import redrawn
from course.questions.variants import Paper
from tests.browser.conftest import Notebook, languages
from tests.browser.test_lesson import card, feedback, option, run_code, submit_buttons

LESSON = "05_cudnn_benchmark"
BANK = Bank()


def kernel_process(book) -> psutil.Process:
    """The process of this notebook's kernel. That of an earlier one may just be ending."""
    session = next(one for one in book.lab.sessions() if one["path"] == book.name)
    for child in psutil.Process(book.lab.process.pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if session["kernel"]["id"] in " ".join(child.cmdline()):
                return child
    raise AssertionError("the kernel has no process")


def saved_answers(book) -> dict:
    notebook = json.loads((book.lab.work / book.name).read_text("utf-8"))
    answers, problems = harvest(notebook, None, LESSON)
    assert problems == []
    return {item: tuple(answer.get("options", ())) for item, answer in answers.items()}


def test_click_save_close_and_kill(notebook):
    book = notebook("en", "checkpoints", f"{LESSON}_checkpoint")
    page = book.page
    book.run_all()
    first, second = [item for item in BANK.items(LESSON, checkpoint=True) if item.kind == "single"][:2]
    option(page, first, first.options[0].id).click()
    submit_buttons(page, first).nth(2).click()
    card(page, first).get_by_text("Recorded at").wait_for()
    assert "incorrect" not in card(page, first).inner_text().lower()
    book.save()
    assert saved_answers(book) == {first.id: (first.options[0].id,)}

    option(page, second, second.options[1].id).click()
    submit_buttons(page, second).nth(0).click()
    card(page, second).get_by_text("Recorded at").wait_for()
    os.kill(kernel_process(book).pid, signal.SIGKILL)
    page.wait_for_timeout(4000)
    book.save()
    assert saved_answers(book)[second.id] == (second.options[1].id,)

    page.goto("about:blank")
    book.open()
    book.run_all()
    card(page, first).get_by_text("Recorded earlier").wait_for()
    card(page, second).get_by_text("Recorded earlier").wait_for()


# --- A paper of one's own in a real JupyterLab: asked who you are, your numbers on the cards, other numbers at a second try. ---


REVIEW, SALT, PLACE, AGAIN = "15_review", "0123456789abcdef", "15-c-search", "03-linear"


def put(lab, language: str) -> str:
    start = f'from course import *\ncheckpoint("{REVIEW}", language="{language}", paper="{SALT}")'
    return lab.write(f"papers.{language}.ipynb", start, f'question("{PLACE}")', f'review("{AGAIN}")')


@pytest.mark.parametrize("language", languages("zh"))
def test_whose_paper_then_my_numbers_then_others(page, lab, language):
    lab.forget()
    book = Notebook(page, lab, put(lab, language)).open()
    book.run_all()
    page.get_by_text("i_am(").first.wait_for()
    assert page.locator(".tbq", has_text=PLACE).count() == 0
    run_code(book, "question(", f'i_am("ada")\nquestion("{PLACE}")')
    mine = redrawn(BANK[PLACE], Paper("ada", REVIEW, SALT).seed(PLACE))
    shown = card(page, mine)
    shown.wait_for()
    numbers = {str(one) for one in mine.values.values() if isinstance(one, int)}
    assert numbers and all(number in shown.inner_text() for number in numbers), pick(mine.stem, language)
    shown.locator("input").first.fill("120")
    submit_buttons(page, mine).nth(1).click()
    shown.get_by_text({"en": "Recorded at", "zh": "已记录"}[language]).first.wait_for()
    book.save()
    answers, problems = harvest(json.loads((lab.work / book.name).read_text("utf-8")), None, REVIEW)
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

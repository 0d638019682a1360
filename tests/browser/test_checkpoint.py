"""A checkpoint in a real JupyterLab: click, save, close; the .ipynb alone carries the answers, also after a killed kernel."""

from __future__ import annotations

import json
import os
import signal
from contextlib import suppress

import psutil

from course.learning.harvesting import harvest
from course.questions.bank import Bank
from tests.browser.test_lesson import card, option, submit_buttons

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


def saved_answers(book, lesson: str = LESSON) -> dict:
    notebook = json.loads((book.lab.work / book.name).read_text("utf-8"))
    answers, problems = harvest(notebook, None, lesson)
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
    book.shot("checkpoint-after-kill")

    page.goto("about:blank")
    book.open()
    book.run_all()
    card(page, first).get_by_text("Recorded earlier").wait_for()
    card(page, second).get_by_text("Recorded earlier").wait_for()
    book.shot("checkpoint-reopened")

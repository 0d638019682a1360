"""An interview question in a real JupyterLab, by keyboard alone: nothing is given away, then the answers, the criteria, the rating."""

from __future__ import annotations

import pytest

from course.core.i18n import pick
from course.core.markup import plain
from course.learning.log import AnswerLog
from course.questions.bank import Bank
from tests.browser.conftest import Notebook, languages, shoot


@pytest.mark.parametrize("language", languages("en"))
def test_said_uncovered_and_rated_by_keyboard(page, lab, language):
    lab.forget()
    item = Bank().interview()[0]
    name = lab.write(f"interview.{language}.ipynb", f'from course import *\nlanguage("{language}")', "interview()")
    Notebook(page, lab, name).open().run_all()
    box = page.locator(f".tbq-live-{item.id}").first
    box.locator("button.tbq-go:visible").first.wait_for()
    criterion = plain(pick(item.options[0].text, language))
    assert plain(pick(item.stem, language)) in box.inner_text() and criterion not in box.inner_text()
    shoot(page, f"interview-asked-{language}")
    box.locator("button.tbq-go:visible").first.focus()
    page.keyboard.press("Enter")
    box.get_by_text(criterion).first.wait_for()
    assert plain(pick(item.full[0], language))[:40] in box.inner_text()
    for place in range(len(item.correct)):
        box.locator("button.tbq-opt").nth(place).focus()
        page.keyboard.press("Enter")
    box.locator(".tbq-sure button").nth(1).focus()
    page.keyboard.press("Enter")
    box.locator(".tbq-verdict").wait_for()
    shoot(page, f"interview-rated-{language}", full_page=True)
    entry = AnswerLog(lab.folder / "home" / "answers.jsonl").entries()[-1]
    assert (entry.item, entry.options, entry.verdict, entry.confidence) == (item.id, item.correct, "correct", 2)

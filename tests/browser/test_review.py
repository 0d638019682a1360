"""Protects who reviews in JupyterLab by keyboard: the daily deck, and an interview question said, uncovered and rated."""

from __future__ import annotations

import shutil
from datetime import datetime, timedelta, timezone

import pytest

from course.core.i18n import pick
from course.core.markup import plain
from course.learning.log import AnswerLog
from course.questions.bank import Bank, load_bank
from tests.browser.conftest import Notebook, languages


@pytest.fixture
def learner(lab):
    """The log of a learner who answered three questions of three lessons wrongly, last week."""
    shutil.rmtree(lab.folder / "home", ignore_errors=True)
    log = AnswerLog(lab.folder / "home" / "answers.jsonl")
    items = [item for item in load_bank().items() if item.kind != "predict"]
    typed = {item.concept for item in items if item.kind != "single"}
    for lesson in ("01_map", "02_timing", "03_flops"):
        item = next(one for one in items if one.lesson == lesson and one.concept not in typed)
        wrong = next(one.id for one in item.options if not one.correct)
        log.append(
            "answer",
            item.id,
            options=[wrong],
            verdict="incorrect",
            confidence=2,
            lesson=lesson,
            at=datetime.now(timezone.utc) - timedelta(days=7),
        )
    return log


def test_the_review_is_a_deck_that_opens_the_next_card_by_keyboard(page, lab, learner):
    name = lab.write("review.ipynb", 'from course import *\nlanguage("en")', "review()")
    notebook = Notebook(page, lab, name).open()
    notebook.run_all()
    cards = page.locator("[class*=tbq-live-]")
    first, second = cards.nth(0), cards.nth(1)
    first.locator("button.tbq-opt").first.wait_for()
    assert cards.count() == 3 and page.locator(".tbq-static:visible").count() == 0
    assert page.locator("button.tbq-opt:visible").count() == first.locator("button.tbq-opt").count()
    assert "3 ideas to review today." in page.locator(".jp-Notebook").inner_text()

    first.locator("button.tbq-opt").first.focus()
    page.keyboard.press("Enter")
    first.locator("button.tbq-go").nth(1).focus()
    page.keyboard.press("Enter")
    first.get_by_text("Try again").wait_for()
    assert len(learner.entries()) == 4
    second.locator("button.tbq-opt").first.wait_for()


# --- An interview question in a real JupyterLab, by keyboard alone: nothing is given away, then the answers, the criteria, the rating. ---


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
    entry = AnswerLog(lab.folder / "home" / "answers.jsonl").entries()[-1]
    assert (entry.item, entry.options, entry.verdict, entry.confidence) == (item.id, item.correct, "correct", 2)

"""The daily review in a real JupyterLab, by keyboard."""

from __future__ import annotations

import shutil
from datetime import datetime, timedelta, timezone

import pytest

from course.learning.log import AnswerLog
from course.questions.bank import load_bank
from tests.browser.conftest import Notebook


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
    assert "3 ideas to review today from 3 lessons, mixed." in page.locator(".jp-Notebook").inner_text()

    first.locator("button.tbq-opt").first.focus()
    page.keyboard.press("Enter")
    first.locator("button.tbq-go").nth(1).focus()
    page.keyboard.press("Enter")
    first.get_by_text("Try again").wait_for()
    assert len(learner.entries()) == 4
    second.locator("button.tbq-opt").first.wait_for()
    notebook.shot("review-deck")

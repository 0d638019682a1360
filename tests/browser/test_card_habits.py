"""What people do to cards: double clicks, typing while a cell runs, and the same notebook open twice on one page."""

from __future__ import annotations

import shutil

import pytest

from course.learning.log import AnswerLog
from tests.browser.conftest import Notebook, comes_to

ITEM = "05-why-flip"
NUMBER = "05-resnet-keys"
LOADING = """() => {
  window.loading = 0;
  const look = () => window.loading += [...document.querySelectorAll('.jp-OutputArea-child')].filter(one =>
    one.checkVisibility() && one.innerText.includes('Loading widget')).length;
  new MutationObserver(look).observe(document.body, {childList: true, subtree: true});
}"""


@pytest.fixture
def book(page, lab):
    lab.forget()
    cards = [f"practice({one!r})" for one in (ITEM, NUMBER)]
    name = lab.write("habits.ipynb", "from course.cards.cards import card as practice", *cards)
    opened = Notebook(page, lab, name).open()
    opened.run_all()
    return opened


@pytest.mark.one_of_each  # a card, answered in JupyterLab
def test_what_is_typed_while_a_cell_runs_is_handed_in_whole(page, lab, book):
    card = page.locator(f".tbq-live-{NUMBER}")
    field, submit = card.locator(".tbq-number input"), card.locator("button.tbq-go").nth(2)
    book.tell_kernel("import time; time.sleep(3)")
    field.focus()
    page.keyboard.type("64", delay=40)
    for _ in range(10):
        page.keyboard.press("Tab")
        if submit.evaluate("button => document.activeElement === button"):
            break
    page.keyboard.press("Enter")
    card.get_by_text("Try again").wait_for()
    (given,) = AnswerLog(lab.folder / "home" / "answers.jsonl").entries()
    assert given.item == NUMBER and given.number == 64, "later letters do not come after the press"


def test_double_clicks_and_a_second_notebook(page, lab, book):
    card = page.locator(f".tbq-live-{ITEM}")
    card.locator("button.tbq-opt").first.dblclick()
    card.locator(".tbq-chosen").first.wait_for()
    book.rested()
    assert card.locator(".tbq-chosen").count() == 1, "the second click does not take the choice back"
    card.locator("button.tbq-go").nth(1).dblclick()
    card.get_by_text("Try again").wait_for()
    book.rested()
    assert card.locator(".tbq-lines li").count() > 2, "the second click does not wipe the feedback away"
    assert len(AnswerLog(lab.folder / "home" / "answers.jsonl").entries()) == 1
    card.get_by_text("Try again").click()
    card.get_by_text("A fresh try").wait_for()

    book.save()
    shutil.copy(lab.work / "habits.ipynb", lab.work / "habits-too.ipynb")
    saved = page.locator(f".tbq-static-{ITEM}")
    assert saved.count() == 1 and not saved.is_visible(), "the live card stands for its copy"
    page.evaluate(LOADING)
    book.command("docmanager:open", '{path: "habits-too.ipynb", factory: "Notebook", options: {mode: "split-right"}}')
    page.wait_for_function(f"document.querySelectorAll('.tbq-static-{ITEM}').length == 2")
    shown = [False, True]  # a notebook not run shows its saved cards
    comes_to(page, lambda: [one.is_visible() for one in saved.all()], shown)
    assert page.evaluate("window.loading") == 0, "no widget that loads was seen above a saved card"

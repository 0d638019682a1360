"""Protects a learner in a lesson: bet, card, exercise, and the notebook reopened after its kernel was killed."""

from __future__ import annotations

import json

import pytest

from course.core.i18n import pick
from course.exercises.exercise import all_exercises
from course.learning.log import AnswerLog
from course.learning.marking import Response
from course.learning.session import place_bet
from course.questions.bank import Bank
from tests.browser.conftest import comes_to, languages
from tests.conftest import ROOT

LESSON = "05_cudnn_benchmark"
BANK = Bank()
WORDS = {
    "en": {
        "locked": "Bet locked",
        "again": "Try again",
        "selected": "● selected",
        "wrong": "incorrect",
        "right": "correct",
        "hint": "Hint 1 of 3",
        "not yet": "not attempted",
    },
    "zh": {
        "locked": "已锁定",
        "again": "再答一次",
        "selected": "● 已选",
        "wrong": "不正确",
        "right": "正确",
        "hint": "提示 1/3",
        "not yet": "尚未作答",
    },
}


def cells(language: str) -> list[str]:
    notebook = json.loads((ROOT / f"notebooks/{language}/lessons/{LESSON}.ipynb").read_text("utf-8"))
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def shown_items(kind: str) -> list:
    """The items of one kind that the lesson's notebook shows, in order of appearance."""
    text = "\n".join(cells("en"))
    found = [item for item in BANK.items(LESSON) if item.kind == kind and f'"{item.id}"' in text]
    return sorted(found, key=lambda item: text.index(f'"{item.id}"'))


def card(page, item):
    """The widget card of an item on the page."""
    return page.locator(".tbq", has=page.locator(".tbq-head>code", has_text=item.id)).first


def option(page, item, option_id):
    return card(page, item).locator("button.tbq-opt").nth([one.id for one in item.options].index(option_id))


def submit_buttons(page, item):
    return card(page, item).locator("button.tbq-go")


def feedback(page, item):
    return card(page, item).locator(".tbq-say")


def run_code(notebook, after_cell: str, code: str) -> None:
    """Replace the code of a cell as a person would: select all, type, Shift+Enter; then wait."""
    cell = notebook.cell(after_cell)
    cell.locator(".cm-content").click()
    notebook.page.keyboard.press("Control+A")
    notebook.page.keyboard.insert_text(code)
    notebook.page.keyboard.press("Shift+Enter")
    notebook.page.wait_for_timeout(1500)


@pytest.mark.parametrize("language", languages("en"))
def test_a_learner_works_through_the_lesson(notebook, language):
    words = WORDS[language]
    book = notebook(language, "lessons", LESSON)
    page = book.page
    book.run_all()  # as far as the first open bet: what comes next would give it away
    errors = page.locator('.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.error"]')
    assert errors.count() == 0, errors.first.inner_text()
    bet, *others = shown_items("predict")
    page.get_by_text("bet=False").first.wait_for()
    option(page, bet, bet.options[1].id).click()
    submit_buttons(page, bet).nth(1).click()
    submit_buttons(page, bet).filter(has_text=words["locked"]).first.wait_for()
    comes_to(page, option(page, bet, bet.options[0].id).is_disabled, True)
    log = AnswerLog(book.lab.folder / "home" / "answers.jsonl")
    for item in others:
        place_bet(item, Response((item.options[1].id,)), log)
    book.replay()
    book.run_to('"05-resnet-keys"')  # below it, try_switches takes its time
    assert errors.count() == 0, errors.first.inner_text()

    answered = answer_by_keyboard(book, words, shown_items("single")[0])
    exercise_fails_and_passes(book, words)

    reopen_and_find_the_answers(book, words, bet, answered)


def answer_by_keyboard(book, words, item):
    """Choose the first wrong option and hand it in without a mouse: it and the right one explain themselves, the others a press away."""
    page = book.page
    wrong = next(one for one in item.options if one.id not in item.correct)
    option(page, item, item.options[0].id).focus()
    for _ in range([one.id for one in item.options].index(wrong.id)):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    card(page, item).get_by_text(words["selected"]).first.wait_for()
    for _ in range(len(item.options) + 2):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.classList.contains('tbq-go')"):
            break
    page.keyboard.press("Space")
    submit_buttons(page, item).filter(has_text=words["again"]).wait_for()
    said = feedback(page, item)
    assert said.locator("[role=status]").get_attribute("aria-live") == "polite"
    language = "zh" if words is WORDS["zh"] else "en"

    def explained():
        text = said.inner_text().replace("`", "")
        return {
            one.id for one in item.options if pick(one.why, language).replace("`", "").replace("**", "")[:15] in text
        }

    assert explained() == {wrong.id, *item.correct}
    said.locator("summary").focus()
    page.keyboard.press("Enter")
    assert explained() == {one.id for one in item.options}
    return item


def exercise_fails_and_passes(book, words):
    """A wrong function is told why, a hint opens after it, and the solution of the course passes."""
    page = book.page
    exercise = next(
        e
        for e in all_exercises().values()
        if e.lesson == LESSON
        and e.solution
        and f"def {e.name}(" in e.solution
        and any(f"def {e.name}(" in c for c in cells("en"))
    )
    call, stub = f'check("{exercise.id}")', f"def {exercise.name}("
    output = book.cell(call).locator(".jp-OutputArea")
    assert words["not yet"] in output.inner_text()
    run_code(book, stub, f"def {exercise.name}(*args, **kwargs):\n    return -12345\n\n{call}")
    output.get_by_text(words["wrong"]).first.wait_for()
    run_code(book, stub, f'def {exercise.name}(*args, **kwargs):\n    return -12345\n\n{call}\nhint("{exercise.id}")')
    page.get_by_text(words["hint"]).first.wait_for()
    run_code(book, stub, f"{exercise.solution}\n\n{call}")
    output.get_by_text(f"✓ {words['right']}").first.wait_for()


def reopen_and_find_the_answers(book, words, bet, answered):
    """Save, kill the kernel, open again, run as far as both: the log brings the bet and the answer back."""
    page = book.page
    book.save()
    for session in book.lab.sessions():
        page.request.delete(f"http://127.0.0.1:{book.lab.port}/api/sessions/{session['id']}")
    page.goto("about:blank")
    book.open()
    book.replay()
    book.run_to(f'"{bet.id}"')
    submit_buttons(page, bet).filter(has_text=words["locked"]).wait_for()
    submit_buttons(page, answered).filter(has_text=words["again"]).wait_for()
    assert feedback(page, answered).inner_text().strip()

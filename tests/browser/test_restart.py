"""A kernel restarted in the middle of a lesson, on a page of 800 pixels: what a learner reads, and what heals it."""

from __future__ import annotations

import pytest

from course.learning.log import AnswerLog
from course.learning.marking import Response
from course.learning.session import place_bet
from course.questions.bank import Bank
from tests.browser.conftest import Lab, Notebook, comes_to, languages
from tests.conftest import ROOT

LESSON, BET, EXPERIMENT = "05_cudnn_benchmark", "05-bet-race", "05-toy-race"
HINT = {"en": "is not there yet", "zh": "内核刚刚重启过"}
HEADLINE = {
    "en": "The toy's search pays with one size, not with a new size every step.",
    "zh": "玩具的搜索：始终一种尺寸，划算；每步换新尺寸，不划算。",
}
RUN = """text => { const {content} = window.jupyterapp.shell.currentWidget;
  content.activeCellIndex = content.widgets.findIndex(one => one.model.type === 'code' && one.model.sharedModel.getSource().includes(text));
  content.deselectAll(); }"""


@pytest.fixture
def plain_lab(tmp_path, monkeypatch):
    """A JupyterLab in which no variable names the language: a new kernel knows it from the learner's last choice."""
    monkeypatch.delenv("COURSE_LANGUAGE")
    server = Lab(tmp_path)
    yield server
    server.stop()


@pytest.mark.parametrize("language", languages("zh"))
def test_a_restart_in_the_middle_of_a_lesson_is_said_and_healed(fresh_page, plain_lab, language):
    page = fresh_page
    source = ROOT / "notebooks" / language / "lessons" / f"{LESSON}.ipynb"
    book = Notebook(page, plain_lab, plain_lab.put(source, f"{LESSON}.ipynb")).open()
    page.set_viewport_size({"width": 800, "height": 1000})
    page.evaluate("window.jupyterapp.shell.collapseLeft()")
    log = AnswerLog(book.lab.folder / "home" / "answers.jsonl")
    for item in Bank().items(LESSON):
        if item.kind == "predict":
            place_bet(item, Response((item.options[1].id,)), log)

    def run(text: str) -> None:
        page.evaluate(RUN, text)
        book.run_all(command="notebook:run-cell")

    def replay() -> None:
        book.replay()

    replay()
    call = f'observe("{EXPERIMENT}")'
    book.run_to(call)
    run(call)
    output = book.cell(call).locator(".jp-OutputArea")
    assert HEADLINE[language] in output.inner_text()
    page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.restartKernel()")
    book.started()
    run(call)
    comes_to(page, lambda: HINT[language] in output.inner_text(), True)
    said = output.inner_text()
    assert "Run All Above Selected Cell" in said and "Traceback" not in said and HEADLINE[language] not in said
    book.shot(f"restart-{language}-hint")
    replay()
    page.evaluate(RUN, call)
    book.run_all(command="notebook:run-all-above")
    run(call)
    comes_to(page, lambda: HEADLINE[language] in output.inner_text(), True)
    bet = page.locator(f".tbq-live-{BET}").first
    bet.locator("button.tbq-opt").first.wait_for()
    assert bet.locator("button.tbq-opt:enabled").count() == 0, "the bet is not locked any more"
    book.shot(f"restart-{language}-healed")
    run(f'lesson("{LESSON}"')  # the first cell again
    assert HEADLINE[language] in output.inner_text() and bet.locator("button.tbq-opt:enabled").count() == 0
    book.shot(f"restart-{language}-again")

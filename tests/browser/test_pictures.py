"""Protects who looks at the README: its pictures are taken of what really runs (a bet, the board, a trial of the switches, feedback).

`make pictures` writes them to docs/pictures; without it the same is run and looked at, and the pictures are thrown away.
"""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

from course.core.i18n import LANGUAGES
from grader.cli.made_up import Student, work
from grader.course import Course, init
from grader.marking.autograde import How, autograde
from grader.project import Project
from grader.release.run import release
from grader.reporting.give_out import feedback
from tests.browser.conftest import REPLAY, Notebook
from tests.conftest import ROOT

pytestmark = pytest.mark.long
LESSON = "05_cudnn_benchmark"
NOTEBOOK = f"{LESSON}_checkpoint"
BET = """
import course
course.lesson("06_cudnn_deterministic", language="CODE")
course.answer("06-bet-ulp", "a", confidence=2)
course.observe("06-one-ulp")
"""
BOARD = "import course\ncourse.language('CODE')\ncourse.board('10_tuning_master')"
PLAYED = """
import random
from course.game import cases
from course.learning.log import answer_log
from course.lessons.l10_tuning_master import game
draw = random.Random(18)
for case in list(cases.cases("10_tuning_master").values())[:6]:
    play = game.player(case, answer_log()).play
    settings = [one for one in play.plan.configs() if one != dict(play.plan.today)]
    tried = play.plan.advice if play.plan.advice in settings and draw.random() < 0.5 else draw.choice(settings)
    for move in (play.run, play.hand_in):
        move(dict(tried), draw.choice(list(play.plan.bets())), draw.randint(1, 3))
    play.cause(case.right.id)
"""
"""Six cases played by somebody who follows the usual advice half of the time."""
TRIED = """
import course, torch
from course.models import resnet18
torch.manual_seed(0)
tried = course.try_switches(resnet18().eval(), torch.randn(4, 3, 160, 160), budget=120)
"""
SHOWN = """
course.language("{code}")
tried
"""


@pytest.fixture
def folder(tmp_path) -> Path:
    """Where the pictures go."""
    place = Path(os.environ.get("COURSE_PICTURES", tmp_path))
    place.mkdir(parents=True, exist_ok=True)
    return place


def shots(notebook: Notebook, name: str, selector: str, folder: Path) -> None:
    """The element in both themes, as it stands in a page of 1,000 pixels."""
    page = notebook.page
    page.evaluate("window.jupyterapp.shell.collapseLeft()")
    page.set_viewport_size({"width": 1000, "height": 1600})
    target = page.locator(selector).first
    for dark in (True, False):
        notebook.theme(dark)
        target.wait_for()
        page.wait_for_timeout(500)
        path = folder / f"{name}-{'dark' if dark else 'light'}.png"
        target.screenshot(path=path)
        assert path.stat().st_size > 10_000, "an empty picture"


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize(
    "name, cells, selector", [("bet", [REPLAY + BET], ".tbr"), ("board", [REPLAY + PLAYED, BOARD], ".tbb")]
)
def test_a_bet_and_its_outcome_and_the_board_of_a_game(name, cells, selector, code, page, lab, folder):
    lab.forget()
    written = lab.write(f"{name}-{code}.ipynb", *(cell.replace("CODE", code) for cell in cells))
    notebook = Notebook(page, lab, written).open()
    notebook.run_all()
    shots(notebook, f"{name}-{code}", selector, folder)


def test_a_trial_of_the_switches(page, lab, folder):
    """One trial in every language: two would differ, and look like an error."""
    lab.forget()
    notebook = Notebook(
        page, lab, lab.write("try.ipynb", TRIED, *(SHOWN.format(code=code) for code in LANGUAGES))
    ).open()
    notebook.run_all()
    for place, code in enumerate(LANGUAGES):
        shots(notebook, f"try-{code}", f".tbr >> nth={place}", folder)


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_page_of_feedback(code, fresh_page, tmp_path, folder):
    course = marked(tmp_path / "class", code)
    path = course.root / "feedback" / "ada" / LESSON / f"{NOTEBOOK}.html"
    fresh_page.set_viewport_size({"width": 900, "height": 1000})
    for theme in ("dark", "light"):
        fresh_page.emulate_media(color_scheme=theme)
        fresh_page.goto(path.as_uri())
        fresh_page.wait_for_timeout(300)
        fresh_page.screenshot(path=folder / f"feedback-{code}-{theme}.png")
    assert "ada" in fresh_page.inner_text("body")


def marked(root: Path, code: str) -> Course:
    """One submission to a checkpoint of the course, marked as ever."""
    project = Project(ROOT)
    init(root, code, "course")
    course, place = Course(root), root / "submitted" / "ada" / LESSON
    release(course, LESSON)
    place.mkdir(parents=True)
    shutil.copy(root / "release" / LESSON / f"{NOTEBOOK}.ipynb", place)
    random.seed(5)
    work(project, LESSON, code, Student("ada", quiz="half", tasks="first"), place)
    autograde(course, LESSON, how=How(jobs=1), say=lambda line: None)
    assert feedback(course, LESSON, lambda line: None) == []
    return course

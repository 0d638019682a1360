"""An instructor in nbgrader's formgrader, in a real JupyterLab: the button marks our way, marks by hand stay."""

from __future__ import annotations

import sqlite3

import nbformat
import pytest
from nbformat.v4 import new_code_cell

from grader.project.publish import text_of
from tests.browser.conftest import Lab, comes_to, shoot
from tests.support.grading_class import hand_in_class
from tests.support.grading_fixtures import LESSON, NOTEBOOK

STUDENT, TASK = "partly-0", "90-t-contrast"
SPY = "import os\nprint('the gradebook is in sight:', os.path.exists({!r}))"
BY_HAND = """
select g.auto_score, g.manual_score, m.manual_comment from grade g join base_cell c on c.id = g.cell_id
join submitted_notebook n on n.id = g.notebook_id join submitted_assignment s on s.id = n.assignment_id
left join comment m on m.notebook_id = n.id and m.manual_comment is not null
where s.student_id = ? and c.name = ?
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course folder of ours with a class handed in, and a server started in it."""
    root = hand_in_class(tmp_path_factory.mktemp("project"), tmp_path_factory.mktemp("instructor") / "class", times=1)
    path = root / "submitted" / STUDENT / LESSON / f"{NOTEBOOK}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(new_code_cell(SPY.format(str(root / "gradebook.db")), id="spy"))
    path.write_text(text_of(notebook), encoding="utf-8")
    server = Lab(tmp_path_factory.mktemp("lab"), root)
    yield server
    server.stop()


@pytest.fixture
def page(fresh_page):
    return fresh_page


def marks(root) -> tuple:
    """Automatic mark, mark by hand and comment by hand of the one cell."""
    with sqlite3.connect(root / "gradebook.db") as db:
        return db.execute(BY_HAND, (STUDENT, TASK)).fetchone()


def press(frame, column: str) -> None:
    """One of the buttons in the student's line of the class; waits for nbgrader's own word that it worked."""
    frame.locator("tr", has=frame.get_by_text(STUDENT, exact=True)).locator(f"td.{column} a").click()
    done = frame.locator("#success-modal")
    done.wait_for(timeout=90_000)
    assert "Success" in done.inner_text()
    done.get_by_role("button", name="OK").click()
    done.wait_for(state="detached")


def shot(page, name: str) -> None:
    shoot(page, f"formgrader-{name}")


def open_class(frame) -> None:
    frame.get_by_role("link", name="Manage Assignments").first.click()
    frame.locator("tr", has=frame.get_by_text(LESSON)).locator("td.num-submissions a").click()
    frame.get_by_text(STUDENT, exact=True).wait_for()


def open_submission(frame) -> None:
    frame.get_by_role("link", name="Manual Grading").first.click()
    for name in (LESSON, f"{LESSON}_checkpoint"):  # the assignment, then its one notebook
        frame.get_by_role("link", name=name, exact=True).last.click()
    frame.get_by_role("link", name="Submission #1").click()
    frame.locator(f"input[id='{TASK}']").wait_for()


def test_the_button_marks_in_the_sandbox_and_a_mark_by_hand_stays(page, course):
    page.set_default_timeout(120_000)  # formgrader reads nine submissions for each page
    page.goto(f"http://127.0.0.1:{course.port}/lab?reset")
    page.wait_for_function("window.jupyterapp && window.jupyterapp.shell", timeout=90_000)
    page.get_by_role("menuitem", name="Nbgrader").click()
    page.get_by_role("menuitem", name="Formgrader").first.click()
    frame = page.frame_locator("iframe")
    frame.get_by_text(LESSON).first.wait_for(timeout=60_000)
    open_class(frame)
    assert frame.get_by_text("needs autograding").count() == 9
    shot(page, "class")

    press(frame, "autograde")
    line = frame.locator("tr", has=frame.get_by_text(STUDENT, exact=True))
    line.get_by_text("graded", exact=True).wait_for()
    assert line.locator("td.score").inner_text() == "7.67 / 13"
    shot(page, "marked")

    open_submission(frame)
    body = frame.locator("body").inner_text()
    assert "The secret reason for option b stands here." in body and "2 of 2 points (right)" in body
    assert "0 of 3 points (not attempted)" in body and "the gradebook is in sight: False" in body
    shot(page, "submission")

    score, comment = frame.locator(f"input[id='{TASK}']"), frame.locator(f"textarea[id='{TASK}-answer-comment']")
    frame.locator(f"input[id='{TASK}'][placeholder='3']").wait_for()
    score.fill("1.5")
    score.press("Tab")
    frame.locator(".nbgrader_cell", has=score).locator(".score-saved").wait_for()
    comment.fill("Say why the sum cannot be zero.")
    comment.press("Tab")
    comes_to(page, lambda: marks(course.work), (3.0, 1.5, "Say why the sum cannot be zero."))
    score.scroll_into_view_if_needed()
    shot(page, "by-hand")

    frame.get_by_role("link", name="Manual Grading").first.click()  # the way back is a trail of links on top
    open_class(frame)
    press(frame, "autograde")
    assert marks(course.work) == (3.0, 1.5, "Say why the sum cannot be zero.")
    line = frame.locator("tr", has=frame.get_by_text(STUDENT, exact=True))
    line.locator("td.score", has_text="6.17 / 13").wait_for()
    press(frame, "generate-feedback")
    feedback = (course.work / "feedback" / STUDENT / LESSON / f"{NOTEBOOK}.html").read_text("utf-8")
    assert "Say why the sum cannot be zero." in feedback and "1.5 of 3 points" in feedback
    shot(page, "again")
    page.goto((course.work / "feedback" / STUDENT / LESSON / f"{NOTEBOOK}.html").as_uri())
    shot(page, "feedback")

"""Protects the instructor: formgrader's button marks in the sandbox and keeps marks by hand, and no feedback runs a student's script."""

from __future__ import annotations

import sqlite3

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from grader.course import Course, init
from grader.marking.autograde import How, autograde
from grader.project.build import text_of
from grader.release.run import release
from grader.reporting.give_out import feedback
from tests.browser.conftest import Lab, comes_to
from tests.support.grading_class import hand_in_class
from tests.support.grading_corpus.base import ANSWERS, Hostile, answer, dumped, hand_in, sheet
from tests.support.grading_fixtures import LESSON, NOTEBOOK, make_project

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


def test_the_button_marks_in_the_sandbox_and_a_mark_by_hand_stays(fresh_page, course):
    page = fresh_page
    page.set_default_timeout(120_000)  # formgrader reads every submission for each page
    page.goto(f"http://127.0.0.1:{course.port}/lab?reset")
    page.wait_for_function("window.jupyterapp && window.jupyterapp.shell", timeout=90_000)
    page.get_by_role("menuitem", name="Nbgrader").click()
    page.get_by_role("menuitem", name="Formgrader").first.click()
    frame = page.frame_locator("iframe")
    frame.get_by_text(LESSON).first.wait_for(timeout=60_000)
    open_class(frame)
    assert frame.get_by_text("needs autograding").count() == 5

    press(frame, "autograde")
    line = frame.locator("tr", has=frame.get_by_text(STUDENT, exact=True))
    line.get_by_text("graded", exact=True).wait_for()
    assert line.locator("td.score").inner_text() == "7.67 / 13"

    open_submission(frame)
    body = frame.locator("body").inner_text()
    assert "The secret reason for option b stands here." in body and "2 of 2 points (right)" in body
    assert "0 of 3 points (not attempted)" in body and "the gradebook is in sight: False" in body

    score, comment = frame.locator(f"input[id='{TASK}']"), frame.locator(f"textarea[id='{TASK}-answer-comment']")
    frame.locator(f"input[id='{TASK}'][placeholder='3']").wait_for()
    score.fill("1.5")
    score.press("Tab")
    frame.locator(".nbgrader_cell", has=score).locator(".score-saved").wait_for()
    comment.fill("Say why the sum cannot be zero.")
    comment.press("Tab")
    comes_to(page, lambda: marks(course.work), (3.0, 1.5, "Say why the sum cannot be zero."))
    score.scroll_into_view_if_needed()

    frame.get_by_role("link", name="Manual Grading").first.click()  # the way back is a trail of links on top
    open_class(frame)
    press(frame, "autograde")
    assert marks(course.work) == (3.0, 1.5, "Say why the sum cannot be zero.")
    line = frame.locator("tr", has=frame.get_by_text(STUDENT, exact=True))
    line.locator("td.score", has_text="6.17 / 13").wait_for()
    press(frame, "generate-feedback")
    feedback = (course.work / "feedback" / STUDENT / LESSON / f"{NOTEBOOK}.html").read_text("utf-8")
    assert "Say why the sum cannot be zero." in feedback and "1.5 / 3" in feedback
    page.goto((course.work / "feedback" / STUDENT / LESSON / f"{NOTEBOOK}.html").as_uri())


# --- Feedback shows what a student wrote and ran, and nothing of it runs in the browser of whoever reads it. ---


MARK = "window.canary = (window.canary || 0) + 1"
PAGE = (
    f"<script>{MARK}</script><img src=x onerror='{MARK}'><svg onload='{MARK}'></svg><iframe srcdoc='<script>parent.{MARK}"
    f"</script>'></iframe><a id=trap href='javascript:{MARK}'>click</a><details open ontoggle='{MARK}'>kept words</details>"
    "<img src='http://canary.invalid/pixel.png'><style>@import url(http://canary.invalid/a.css)</style>"
)
SHOW = f"""
from IPython.display import HTML, SVG, Javascript, Markdown, display
page = {PAGE!r}
display(HTML(page), Markdown(page), Javascript({MARK!r}))
display(SVG('<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><script>parent.{MARK}</script></svg>'))
display({{'text/vnd.mermaid': page, 'text/plain': ''}}, raw=True)
display({{'application/vnd.jupyter.widget-view+json': {{'model_id': page}}, 'text/plain': page}}, raw=True)
display({{'text/latex': page}}, raw=True)
for kind in ('image/png', 'image/jpeg'):
    display({{kind: '">' + page, 'text/plain': ''}}, metadata={{kind: {{'width': '">' + page}}}}, raw=True)
print(page, '\\x1b[31mred\\x1b[0m', '\\x1b]8;;javascript:1\\x07')
import sys
print(page, file=sys.stderr)
raise type(page[:60], (Exception,), {{}})(page)
"""


def tamper(notebook: nbformat.NotebookNode) -> None:
    """Markup wherever a notebook can hold some."""
    notebook.cells.insert(
        1,
        new_markdown_cell(
            PAGE + f"\n\n# {PAGE}\n\n[link](javascript:{MARK})\n\n![x](attachment:a.png)",
            id="text",
            attachments={"a.png": {"image/png": f"' onerror='{MARK}"}},
        ),
    )
    notebook.cells.insert(2, nbformat.v4.new_raw_cell(PAGE, id="raw", metadata={"raw_mimetype": "text/html"}))
    notebook.cells.append(new_code_cell(f"# {PAGE}", id="code", metadata={"tags": [f"x'><script>{MARK}</script>"]}))
    notebook.metadata.update(
        title=PAGE,
        authors=[{"name": PAGE}],
        language_info={"name": "python", "pygments_lexer": PAGE},
        widgets={
            "application/vnd.jupyter.widget-state+json": {
                "state": {"x": f"</script><script>{MARK}</script>"},
                "version_major": 2,
            }
        },
    )


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """(the feedback page, the same notebook as a page of stock nbconvert)."""
    from nbconvert.exporters import HTMLExporter

    project = make_project(tmp_path_factory.mktemp("project"))
    root = tmp_path_factory.mktemp("course") / "class"
    init(root, "en", "scripts", project=project)
    course = Course(root)
    release(course, LESSON)
    released = nbformat.read(root / "release" / LESSON / f"{NOTEBOOK}.ipynb", as_version=4)
    given = {f"<script>{MARK}</script>": 7, "90-c-single": answer("90-c-single", "a")}
    case = Hostile("eve", harm=SHOW, change=tamper, files={ANSWERS: dumped(sheet(answers=given))})
    hand_in(case, released, root / "submitted" / "eve" / LESSON, {})
    (outcome,) = autograde(course, LESSON, how=How(jobs=1), say=lambda line: None)
    assert outcome.points == 6
    assert feedback(course, LESSON, say=lambda line: None) == []
    stock = root / "stock.html"
    stock.write_text(HTMLExporter().from_filename(str(course.autograded("eve", LESSON)))[0])
    return root / "feedback" / "eve" / LESSON / f"{NOTEBOOK}.html", stock


def opened(chromium, path) -> tuple[int, list[str], str]:
    """(how often a script of the student ran, what was fetched from elsewhere, the text that is shown)."""
    page = chromium.new_page()
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    page.route("http*://**", lambda route: route.abort())
    page.goto(path.as_uri(), wait_until="load")
    page.wait_for_timeout(500)
    for link in page.locator("a").all():
        if "javascript" in (link.get_attribute("href") or ""):
            link.evaluate("one => one.click()")
    ran, text = page.evaluate("window.canary || 0"), page.inner_text("body")
    page.close()
    return ran, [url for url in fetched if "canary" in url], text


def test_no_script_of_a_student_runs_in_the_feedback(pages, chromium):
    ran, fetched, text = opened(chromium, pages[0])
    assert ran == 0 and fetched == []
    for shown in ("kept words", "red", "6 of 13 points", "Which letter is second?"):
        assert shown in text
    assert opened(chromium, pages[1])[0] > 0  # on a stock page they do: this test can fail

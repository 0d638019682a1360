"""Feedback shows what a student wrote and ran, and nothing of it runs in the browser of whoever reads it."""

from __future__ import annotations

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from grader.course import Course, init
from grader.marking.autograde import How, autograde
from grader.release.run import release
from grader.reporting.give_out import feedback
from tests.support.grading_corpus.base import ANSWERS, Hostile, dumped, hand_in, sheet
from tests.support.grading_fixtures import LESSON, NOTEBOOK, make_project

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
    case = Hostile(
        "eve", harm=SHOW, change=tamper, files={ANSWERS: dumped(sheet(answers={f"<script>{MARK}</script>": 7}))}
    )
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

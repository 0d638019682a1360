"""Protects who opens a notebook that has not run: its marks, its results for a stranger, and its source for a teacher."""

from __future__ import annotations

import json

import nbformat
import pytest

from course.core.i18n import set_language
from course.experiment import base
from course.experiment.result import block
from course.verbs.experiments import reported
from grader.project import Project
from grader.project.texts import prose
from tests.browser.conftest import Notebook


def test_a_term_tells_its_meaning(page, lab):
    text = prose("One **[[plan]]** is kept.", "en")
    Notebook(page, lab, lab.write("prose.ipynb", nbformat.v4.new_markdown_cell(text))).open()
    term = page.locator(".jp-MarkdownCell abbr").first
    term.wait_for()
    assert (
        'what("plan")' in term.get_attribute("title")
        and "[[" not in page.locator(".jp-MarkdownCell").first.inner_text()
    )


# --- The block of a result in a real JupyterLab: what is seen at each width and in each theme, trusted or not. ---


def test_an_untrusted_notebook_keeps_the_headline_the_picture_and_the_numbers(page, lab):
    """Opened as a stranger's: styles are taken out, the pictures stay, and the dark one stays hidden."""
    set_language("en")
    race = base.get("05-toy-race")
    cell = nbformat.v4.new_code_cell("1")
    for one in (block(base.recording(race), race), reported(base.get("05-networks-cuda"))):
        cell.outputs.append(
            nbformat.v4.new_output("display_data", {"text/html": one._repr_html_(), "text/plain": str(one)})
        )
    notebook = Notebook(page, lab, lab.write("untrusted.ipynb", cell)).open()
    output = notebook.page.locator(".jp-OutputArea-output")
    assert "The toy's search pays with one size, not with a new size every step." in output.first.inner_text()
    seen = page.evaluate(
        "() => [...document.querySelectorAll('.jp-OutputArea-output img')].filter(i => i.offsetWidth).map(i => i.naturalWidth)"
    )
    assert seen == [760] and page.locator(".jp-OutputArea-output style").count() == 0


# --- A teacher edits the source of a lesson in JupyterLab: it opens as a notebook, and saving changes what was edited alone. ---


SOURCES = {
    "lesson.md": Project().lesson_source("05_cudnn_benchmark"),
    "checkpoint.md": Project().checkpoint_source("05_cudnn_benchmark"),
}
TOUCH = """more => { const cell = window.jupyterapp.shell.currentWidget.content.model.cells.get(0).sharedModel;
                    const text = cell.getSource(); cell.setSource(text + ' '); cell.setSource(text + more); }"""


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_opens_as_a_notebook_and_is_saved_as_it_was(page, lab, name):
    written = lab.work / lab.put(SOURCES[name], name)
    before = written.read_bytes()
    if not page.evaluate("window.jupyterapp !== undefined"):
        Notebook(page, lab, lab.write("empty.ipynb", "1")).open()
    opened = Notebook(page, lab, name)
    opened.command("docmanager:open", json.dumps({"path": name, "factory": "Notebook"}))
    page.wait_for_function(f"window.jupyterapp.shell.currentWidget?.context?.path === '{name}'")
    opened.started()
    assert page.locator(".jp-Notebook:visible h1").count() == 2  # the title in both languages, as a reader sees it
    page.evaluate(TOUCH, "")
    opened.save()
    assert written.read_bytes() == before
    page.evaluate(TOUCH, " (seen)")
    opened.save()
    changed = [line for line in written.read_bytes().split(b"\n") if line not in before.split(b"\n")]
    assert len(changed) == 1 and changed[0].endswith(b" (seen)")

"""A teacher edits the source of a lesson in JupyterLab: it opens as a notebook, and saving changes what was edited alone."""

from __future__ import annotations

import json

import pytest

from grader.project import Project
from tests.browser.conftest import Notebook

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
    opened.shots_in_both_themes(f"source-{name}", page.locator(".jp-NotebookPanel:visible"))
    page.evaluate(TOUCH, "")
    opened.save()
    assert written.read_bytes() == before
    page.evaluate(TOUCH, " (seen)")
    opened.save()
    changed = [line for line in written.read_bytes().split(b"\n") if line not in before.split(b"\n")]
    assert len(changed) == 1 and changed[0].endswith(b" (seen)")

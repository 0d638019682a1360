"""The block of a result in a real JupyterLab: what is seen at each width and in each theme, trusted or not."""

from __future__ import annotations

import nbformat

from course.core.i18n import set_language
from course.experiment import base
from course.experiment.result import block
from course.verbs.experiments import reported
from tests.browser.conftest import Notebook, shoot


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
    shoot(page, "result-untrusted")

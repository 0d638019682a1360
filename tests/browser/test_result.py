"""The block of a result in a real JupyterLab: what is seen at each width and in each theme, trusted or not."""

from __future__ import annotations

import nbformat
import pytest

from course.core.i18n import LANGUAGES, set_language
from course.core.tables import Table
from course.experiment import base
from course.experiment.reading import OPEN
from course.experiment.result import block, outcome
from course.figures.shown import STYLE
from course.verbs.experiments import reported
from tests.browser.conftest import Notebook, shoot
from tests.course.experiment.test_every_experiment import EXPERIMENTS
from tests.course.experiment.test_headlines import records

CUT = """() => [...document.querySelectorAll('figure')].filter(
  one => Math.max(one.scrollWidth, one.firstElementChild.offsetWidth) > one.clientWidth).map(one => one.id)"""


@pytest.mark.parametrize("code", LANGUAGES)
def test_no_table_of_a_result_is_cut_on_a_phone(code, fresh_page):
    """Those of all invented rows and recordings: 375 pixels wide."""
    set_language(code)
    tables = []
    for name, experiment in EXPERIMENTS.items():
        for record in records(name):
            if outcome(record, experiment).headline not in OPEN and isinstance(
                table := experiment.draw(record, {}), Table
            ):
                tables.append(f'<figure class="tbr-pic" id="{name}">{table.html()}</figure>')
    assert len(tables) > 100
    fresh_page.set_viewport_size({"width": 375, "height": 800})
    fresh_page.set_content(f'{STYLE}<body style="margin:8px"><section class="tbr">{"".join(tables)}</section>')
    assert fresh_page.evaluate(CUT) == []


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
    assert "The toy's search pays when sizes come back." in output.first.inner_text()
    seen = page.evaluate(
        "() => [...document.querySelectorAll('.jp-OutputArea-output img')].filter(i => i.offsetWidth).map(i => i.naturalWidth)"
    )
    assert seen == [760] and page.locator(".jp-OutputArea-output style").count() == 0
    shoot(page, "result-untrusted")

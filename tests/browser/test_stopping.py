"""The Stop button: pressed while a run holds the main thread, it ends the run, and the rows so far are shown."""

from __future__ import annotations

import pytest

from tests.browser.conftest import Notebook, shoot

RUN = """
import os; os.environ["COURSE_REPLAY"] = "0"
import time, course
from course.experiment import base
course.lesson("05_cudnn_benchmark", language="{code}")
def slow(budget):
    {first}
    for step in budget.loop(range(100)):
        time.sleep(0.5)
        yield {{"schedule": "one size", "searches": 1, "verdict": "faster", "rounds": 12, "ratio": 0.5, "low": 0.4, "high": 0.6}}
race = base.get("05-toy-race")
base.REGISTRY["05-toy-race"] = base.replace(race, function=slow, seconds=60, own_read=race.read)
record = course.observe("05-toy-race", bet=False)
print("rows", 0 < len(record.rows) < 100, record.interrupted)
"""


def begun(page, lab, name, code, first="pass"):
    """Open a notebook of RUN and have its cell run, without waiting for its end."""
    notebook = Notebook(page, lab, lab.write(f"{name}.ipynb", RUN.format(code=code, first=first))).open()
    notebook.started()
    page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells') }")


@pytest.mark.parametrize(("code", "stop"), [pytest.param("en", "Stop", marks=pytest.mark.long), ("zh", "停止")])
def test_a_press_ends_the_run_at_once(code, stop, page, lab):
    lab.forget()
    begun(page, lab, f"stop-{code}", code)
    button = page.locator("button", has_text=stop).first
    button.wait_for(timeout=60_000)
    page.wait_for_timeout(2500)
    shoot(page, f"stop-{code}")
    button.click()
    page.wait_for_selector("text=rows True True", timeout=20_000)
    assert page.locator(".tbr").count() == 1 and page.locator("button", has_text=stop).count() == 0
    shoot(page, f"stopped-{code}")


def test_a_desk_is_stopped_while_it_measures_and_nothing_counts(page, lab):
    lab.forget()
    book = Notebook(page, lab, lab.write("stop-desk.ipynb", "from course import *", 'case("typo")')).open()
    book.run_all()
    desk = page.locator(".tbq-live-11-typo").first
    desk.locator("button.tbh-measure").click()
    stop = desk.locator("button.tbg-stop")
    stop.wait_for(timeout=30_000)
    shoot(desk, "stop-desk")
    stop.click()
    desk.get_by_text("nothing is kept of this run").wait_for(timeout=20_000)
    stop.wait_for(state="hidden")


def test_a_press_is_answered_at_once_also_while_a_module_is_loaded(page, lab):
    """The stop itself waits for the module, which takes until a file is there."""
    lab.forget()
    waits = "import pathlib, time\nwhile not pathlib.Path('loaded').exists(): time.sleep(0.1)"
    (lab.work / "takes_long.py").write_text(waits, "utf-8")
    begun(page, lab, "stop-loading", "zh", first="import takes_long")
    page.locator("button", has_text="■ 停止").first.click(timeout=60_000)
    page.locator("button", has_text="■ 正在停止……").first.wait_for(timeout=30_000)
    shoot(page, "stopping")
    (lab.work / "loaded").touch()
    page.wait_for_selector("text=rows False True", timeout=30_000)

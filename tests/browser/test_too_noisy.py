"""Where a run tells nothing, two buttons: see the recording, measure again. Each is pressed in a real page."""

from __future__ import annotations

import pytest

from tests.browser.conftest import Notebook, shoot

NOISY = """
import os; os.environ["COURSE_REPLAY"] = "0"
import course
from course.experiment import base
course.lesson("05_cudnn_benchmark", language="{code}")
runs = []
def noisy(budget):
    runs.append(1)
    told = len(runs) > 1
    for row in base.recording(base.get("05-toy-race")).rows:
        yield row if told else {{**row, "verdict": "undecided", "low": 0.4, "high": 3 * row["high"]}}
base.REGISTRY["05-toy-race"] = base.replace(base.get("05-toy-race"), function=noisy, seconds=1, own_read=base.get("05-toy-race").read)
course.answer("05-bet-race", "c", confidence=2)
course.observe("05-toy-race", replay=False);
"""


@pytest.mark.parametrize(
    ("code", "see", "again", "noisy", "came", "replay"),
    [
        ("en", "See the recording", "Measure again", "Too noisy here to tell.", "The toy's search pays", "Replay"),
        pytest.param(
            "zh", "看录好的结果", "再测一次", "这里噪声太大，说不准。", "搜索", "回放", marks=pytest.mark.long
        ),
    ],
)
def test_each_way_out_of_too_noisy_is_pressed(code, see, again, noisy, came, replay, page, lab):
    for way, words in (("see", see), ("again", again)):
        lab.forget()
        notebook = Notebook(page, lab, lab.write(f"noisy-{code}-{way}.ipynb", NOISY.format(code=code))).open()
        notebook.run_all()
        assert noisy in page.locator(".tbr-head").first.inner_text()
        for dark in (True, False):
            notebook.theme(dark)
            shoot(page, f"noisy-{code}-{way}-{'dark' if dark else 'light'}")
        page.locator("button", has_text=words).first.click()
        page.wait_for_function("document.querySelectorAll('.tbr').length === 2", timeout=60_000)
        below = page.locator(".tbr").nth(1)
        assert came in below.locator(".tbr-head").inner_text()
        assert (replay in below.locator(".tbr-small").inner_text()) == (way == "see")
        assert page.locator("button", has_text=words).count() == 0
        shoot(page, f"noisy-{code}-{way}-pressed")

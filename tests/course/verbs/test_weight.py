"""How much a lesson weighs once it was run and saved with the state of its widgets: what Colab opens, and what a class hands round."""

from __future__ import annotations

import os

import nbformat
import pytest
from nbclient import NotebookClient

from course.core.catalog import LESSONS
from tests.conftest import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.long]
HEAVIEST = 2_000_000
"""Bytes of the file."""


@pytest.mark.parametrize("lesson", [one.id for one in LESSONS])
def test_a_saved_lesson_stays_light(tmp_path, lesson):
    notebook = nbformat.read(ROOT / "notebooks" / "en" / "lessons" / f"{lesson}.ipynb", 4)
    there = {"metadata": {"path": str(tmp_path)}}
    client = NotebookClient(notebook, timeout=600, allow_errors=True, store_widget_state=True, resources=there)
    client.execute(env=os.environ | {"COURSE_HOME": str(tmp_path), "COURSE_REPLAY": "1"})
    assert notebook.metadata.widgets, "the state of the widgets is saved too"
    weight = len(nbformat.writes(notebook).encode())
    print(f"\n{lesson}: {weight / 1e6:.2f} MB")
    assert weight < HEAVIEST

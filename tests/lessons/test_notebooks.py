"""Protects who runs a notebook from top to bottom, in both languages, on a machine without a GPU.

Here their experiments are told from recordings (they run live in the tests of their lessons), and what measures for as long as it
is told does so for some seconds. Lessons take turns: one in English, the next in Chinese; their kernels come from
`tests.support.warm_kernel`. Among the long tests every notebook runs in the other language too, that of the tools in both, and every
English one measures for itself, as with a learner, in a kernel that Jupyter starts.
"""

from __future__ import annotations

import nbformat
import pytest
from nbclient import NotebookClient

from course.core.catalog import LESSONS, checkpoint_names
from course.core.i18n import LANGUAGES
from grader.project import Project
from tests.conftest import ROOT, hurried
from tests.support import warm_kernel

pytestmark = pytest.mark.slow
HEAVIEST = 2_000_000
"""Bytes of a lesson that was run and saved with the state of its widgets: what Colab opens, and what a class hands round."""


def notebook(language: str, rest: str, daily: str):
    """A parameter: this notebook among the long tests, or every day in the language `daily`; the first lesson is the one of its kind."""
    name = f"{language}/{rest}"
    first = pytest.mark.one_of_each if name == "en/lessons/00_start" else ()
    return pytest.param(name, marks=first if language == daily else pytest.mark.long)


NOTEBOOKS = [
    notebook(language, f"{kind}/{name}", LANGUAGES[number % 2])
    for kind in ("lessons", "checkpoints")
    for number, lesson in enumerate(LESSONS)
    for name in [lesson.id if kind == "lessons" else checkpoint_names(lesson.id)[0]]
    for language in LANGUAGES
    if kind == "lessons" or lesson.checkpoint
] + [
    notebook(language, f"{kind}/{name}", daily)
    for language in LANGUAGES
    for kind, daily in (("tools", "none"), ("projects", "zh"))
    for name in getattr(Project(), kind)()
]


def outputs(notebook):
    """(cell, output) for every output."""
    return [(cell, output) for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_runs_from_top_to_bottom(name, tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_REPLAY", "1")
    warm_kernel.install(monkeypatch)
    runs(name, tmp_path, monkeypatch, read=hurried)


@pytest.mark.long
@pytest.mark.parametrize("lesson", [lesson.id for lesson in LESSONS])
def test_measures_from_top_to_bottom_and_stays_light(lesson, tmp_path, monkeypatch):
    notebook = runs(f"en/lessons/{lesson}", tmp_path, monkeypatch)
    assert notebook.metadata.widgets, "the state of the widgets is saved too"
    assert len(nbformat.writes(notebook).encode()) < HEAVIEST


def runs(name, tmp_path, monkeypatch, read=str):
    """Execute the notebook of this name; returns it with its outputs and the state of its widgets. read: changes its text before."""
    text = (ROOT / "notebooks" / f"{name}.ipynb").read_text("utf-8")
    notebook = nbformat.reads(read(text), as_version=4)
    execute(notebook, tmp_path, monkeypatch)
    return notebook


def execute(notebook, tmp_path, monkeypatch):
    """Execute a notebook in a folder of its own: no error but the intended ones, nothing on stderr."""
    monkeypatch.setenv("COURSE_DEBUG", "1")  # what the verbs would say in a sentence fails here
    client = NotebookClient(
        notebook, timeout=300, kernel_name="python3", allow_errors=True, resources={"metadata": {"path": str(tmp_path)}}
    )
    try:
        client.execute()
    except AssertionError:
        if client.km is None:  # nbclient takes the signal for itself, ends the kernel, and then says "Kernel died"
            pytest.exit("the tests were told to stop (Ctrl-C or SIGTERM)", returncode=130)
        raise
    intended = {id(cell) for cell in notebook.cells if "raises-exception" in cell.metadata.get("tags", [])}
    failed = [
        f"{output.ename}: {output.evalue}\nin\n{cell.source}"
        for cell, output in outputs(notebook)
        if output.output_type == "error" and id(cell) not in intended
    ]
    assert failed == []
    assert intended <= {id(cell) for cell, output in outputs(notebook) if output.output_type == "error"}
    noise = [
        output.text for _, output in outputs(notebook) if output.output_type == "stream" and output.name == "stderr"
    ]
    assert noise == []

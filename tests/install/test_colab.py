"""Protects who learns in Google Colab: nothing it brings is replaced, the cards run on it, no answer goes with a runtime unannounced."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import types

import pytest
from nbclient import NotebookClient

import course
from course.core import colab
from course.core.i18n import pick
from course.core.machine import next_step
from course.learning.harvesting import MIME
from course.learning.log import AnswerLog, default_path
from course.learning.marking import Response
from course.learning.sheet import AnswerSheet
from course.verbs import state
from grader.project import Project
from grader.project.build import practice_notebook
from grader.release.bundle import TEXTS, pack, single, wheel_of
from tests.conftest import ROOT, missing
from tests.install.test_project import pyproject

LESSON = "05_cudnn_benchmark"
PINS = dict(
    line.split(" ")[0].split("==")
    for line in (ROOT / "constraints-colab.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
)
KERNEL = """ipywidgets ipykernel ipython traitlets ipython-genutils decorator pickleshare backcall parso pexpect
 ptyprocess prompt_toolkit wcwidth Pygments matplotlib-inline jupyter_client jupyter_core platformdirs
 entrypoints pyzmq tornado python-dateutil six nest-asyncio psutil packaging PyYAML tqdm typing_extensions
 setuptools""".split()


@pytest.fixture
def runtime(tmp_path, monkeypatch):
    """A Colab kernel with a home of its own; Drive is mounted by making its folder. Returns the notebook Colab holds."""
    notebook = {"cells": []}
    message = types.ModuleType("google.colab._message")
    message.blocking_request = lambda kind, **more: {"ipynb": notebook}
    package = types.ModuleType("google.colab")
    package._message = message
    monkeypatch.setitem(sys.modules, "google.colab", package)
    monkeypatch.setitem(sys.modules, "google.colab._message", message)
    monkeypatch.setattr(colab, "DRIVE", tmp_path / "drive" / "MyDrive")
    monkeypatch.delenv("COURSE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "root"))
    monkeypatch.setenv("COURSE_TEXT", "1")
    (tmp_path / "content").mkdir()
    monkeypatch.chdir(tmp_path / "content")
    monkeypatch.setattr(state, "now", state.State())
    return notebook


@pytest.mark.parametrize("language, warning", [("en", "When this Colab runtime ends"), ("zh", "运行时一结束")])
def test_answers_that_would_go_with_the_runtime_are_warned_of_and_then_taken_to_drive(
    runtime, capsys, language, warning
):
    course.lesson(LESSON, language=language)
    said = capsys.readouterr().out
    assert warning in said and colab.MOUNT in said and "Traceback" not in said
    course.answer("05-why-flip", "c")
    before = default_path()
    colab.DRIVE.mkdir(parents=True)
    course.lesson(LESSON, language=language)
    said = capsys.readouterr().out
    assert warning not in said and re.search(r"1 of \d+ cards|已答 1 张", said), said
    assert default_path().is_relative_to(colab.DRIVE) and before.exists()
    assert [one.item for one in AnswerLog(default_path()).entries() if one.event == "answer"] == ["05-why-flip"]
    course.lesson(LESSON, language=language)
    assert len(AnswerLog(default_path()).entries()) == 1  # taken along once


def test_a_new_runtime_finds_the_answers_of_a_checkpoint_on_drive(runtime, capsys):
    colab.DRIVE.mkdir(parents=True)
    course.checkpoint(LESSON)
    assert "Download .ipynb" in capsys.readouterr().out
    course.answer("05-c-new-key", "a", "c")
    assert "could not be written" not in capsys.readouterr().out
    assert not list(colab.Path().glob("*.answers.json")), "the runtime's own folder is no place for them"
    state.now.__init__()
    course.checkpoint(LESSON)
    assert "05-c-new-key: answered: a, c" in capsys.readouterr().out


def test_a_checkpoint_begun_before_drive_was_mounted_goes_along(runtime, capsys):
    course.checkpoint(LESSON)
    course.answer("05-c-new-key", "e")
    colab.DRIVE.mkdir(parents=True)
    course.checkpoint(LESSON)
    assert "05-c-new-key: answered: e" in capsys.readouterr().out
    kept = json.loads((default_path().parent / f"{LESSON}.answers.json").read_text("utf-8"))
    assert kept["answers"]["05-c-new-key"]["options"] == ["e"] and len(kept["history"]) == 1


def test_without_drive_the_answers_come_back_from_the_notebook_that_colab_holds(runtime, tmp_path, capsys):
    course.checkpoint(LESSON)
    said = capsys.readouterr().out
    assert said.index("When this Colab runtime ends") < said.index("Answer sheet")
    assert f'files.download("{tmp_path}/content/{LESSON}.answers.json")' in said
    sheet = AnswerSheet(LESSON, ["05-c-new-key"])
    sheet.record("05-c-new-key", Response(("e",)))
    runtime["cells"] = [{"cell_type": "code", "outputs": [{"data": {MIME: [json.dumps(sheet.payload())]}}]}]
    sheet.path.unlink()
    assert AnswerSheet(LESSON, ["05-c-new-key"]).response("05-c-new-key").options == ("e",)
    sys.modules["google.colab"]._message.blocking_request = None  # Colab may change it: then the files count
    assert AnswerSheet(LESSON, ["05-c-new-key"]).response("05-c-new-key") is None


def test_exported_progress_says_how_to_leave_the_runtime(runtime, tmp_path, capsys):
    course.export_progress()
    assert f'files.download("{tmp_path}/content/torch-backends-progress.jsonl")' in capsys.readouterr().out
    colab.DRIVE.mkdir(parents=True)
    course.export_progress(colab.DRIVE)
    assert "files.download" not in capsys.readouterr().out


def python(folder, pip=False) -> str:
    """A fresh environment, with pip or without; that of the running Python installs into it."""
    subprocess.run([sys.executable, "-m", "venv", *([] if pip else ["--without-pip"]), str(folder)], check=True)
    return str(folder / ("Scripts" if sys.platform == "win32" else "bin") / "python")


def pip(target: str, *words: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "pip", "--python", target, "--disable-pip-version-check", "install", "-q", *words]
    return subprocess.run(command, capture_output=True, text=True)


def need(done: subprocess.CompletedProcess) -> None:
    if done.returncode and re.search("No matching distribution|Connection|Temporary failure", done.stderr):
        missing("a package index with Colab's versions for this Python", f"look at: {done.stderr[-300:]}")
    assert done.returncode == 0, done.stderr


def moved(target: str, folder, asked: list[str]) -> set[str]:
    """The packages that pip would install or replace."""
    need(pip(target, "--dry-run", "--report", str(folder / "report.json"), *asked))
    report = json.loads((folder / "report.json").read_text("utf-8"))
    return {one["metadata"]["name"].lower().replace("_", "-") for one in report["install"]}


@pytest.mark.slow
def test_installing_the_course_moves_nothing_that_colab_brings(tmp_path, monkeypatch):
    target = python(tmp_path / "env")
    place = subprocess.run(
        [target, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    for name, version in PINS.items():  # as pip sees Colab; without files, for torch and its like weigh gigabytes
        info = colab.Path(place) / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", "utf-8")
        (info / "INSTALLER").write_text("pip\n", "utf-8")
    project = pyproject()["project"]
    asked = [*project["dependencies"], *project["optional-dependencies"]["course"]]
    assert moved(target, tmp_path, asked) == {"fsrs", "thop", "ptflops"}  # what Colab lacks, and nothing else
    monkeypatch.setattr("course.core.machine.metadata.version", PINS.get)
    lesson_14 = re.search(r"%pip install ([^`]+)`", next_step("onnx")["en"])[1].split()
    assert moved(target, tmp_path, lesson_14) == {"onnx", "onnxscript", "onnxruntime", "onnx-ir"}
    assert {"torch", "numpy", "ipywidgets", "ipython", "ipykernel", "setuptools", "matplotlib"} <= {*PINS}


@pytest.mark.slow
@pytest.mark.long
def test_the_cards_work_with_the_widgets_that_colab_brings(tmp_path):
    target = python(tmp_path / "env")
    need(pip(target, "--no-deps", "--only-binary", ":all:", *(f"{name}=={PINS[name]}" for name in KERNEL)))
    # jsonschema: it checks the tests' own questions
    need(pip(target, "-c", str(ROOT / "constraints-colab.txt"), "fsrs", "pytest", "jsonschema"))
    cards = ["tests/course/cards/test_quiz_cards.py", "tests/course/learning/test_quiz_review.py"]
    done = subprocess.run(
        [target, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *cards],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 100 and "tabbable" not in done.stdout


def held(target: str) -> dict[str, str]:
    """name -> version of everything that is installed."""
    told = subprocess.run([target, "-m", "pip", "list", "--format", "json"], capture_output=True, text=True, check=True)
    return {one["name"].lower().replace("_", "-"): one["version"] for one in json.loads(told.stdout)}


@pytest.mark.long
def test_a_single_file_runs_from_its_first_cell_to_its_last_on_what_colab_brings(tmp_path, monkeypatch):
    """In an environment with all that Colab brings, torch too: gigabytes. No pin moves, no cell fails that should not."""
    target = python(tmp_path / "env", pip=True)
    need(pip(target, "-r", str(ROOT / "constraints-colab.txt")))
    before, code = held(target), "zh"
    name, wheel = wheel_of(Project())
    notebook = single(practice_notebook(Project(), LESSON, code), name, pack(wheel), code)
    spec = tmp_path / "jupyter" / "kernels" / "colab"
    spec.mkdir(parents=True)
    command = [target, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    kernel = {"argv": command, "display_name": "Colab", "language": "python"}
    (spec / "kernel.json").write_text(json.dumps(kernel), "utf-8")
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    content = tmp_path / "content"
    content.mkdir()
    own = {key: value for key, value in os.environ.items() if not key.startswith(("COURSE_", "PYTHON"))}
    resources = {"metadata": {"path": str(content)}}
    client = NotebookClient(notebook, kernel_name="colab", timeout=1200, resources=resources)
    client.execute(env={**own, "HOME": str(tmp_path)})  # raises where a cell fails
    code_cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert pick(TEXTS["installed"], code) in code_cells[0].outputs[0].text
    assert all(cell.execution_count for cell in code_cells if cell.source.strip())
    after = held(target)
    assert {one: after[one] for one in before} == before, "what Colab brings stays as it is"

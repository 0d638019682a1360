"""What a class gets starts where this checkout has never been, and holds nothing that answers a checkpoint."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from grader.course import Course, init
from grader.project import Project, ProjectError
from grader.release.bundle import NAME, bundle, scan, unpack
from grader.release.run import release
from tests.support.grading_fixtures import KEYS, LESSON, NOTEBOOK, make_project
from tests.support.hand_ins import zipped

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A class with a released checkpoint; its project has the real course package beside the fixture's checkpoint."""
    folder = tmp_path_factory.mktemp("bundle")
    project = make_project(folder / "project")
    kept = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Project().root / "course", project.root / "course", dirs_exist_ok=True, ignore=kept)
    init(folder / "class", "en", "bundle", project=project)
    made = Course(folder / "class")
    release(made, LESSON)
    return made


@pytest.fixture(scope="module")
def made(course, tmp_path_factory):
    return bundle(course.project, ["en", "zh"], tmp_path_factory.mktemp("out"), course)


def test_it_holds_what_a_class_needs_and_was_looked_through(made, course):
    path, looked = made
    with zipfile.ZipFile(path) as archive:
        names = {name.removeprefix(f"{NAME}/") for name in archive.namelist()}
        readme = archive.read(f"{NAME}/README.md").decode()
        config = archive.read(f"{NAME}/nbgrader_config.py").decode()
    assert {"lab.py", f"notebooks/en/lessons/{LESSON}.ipynb"} <= names and looked > 100
    assert {f"colab/{code}/{LESSON}.ipynb" for code in ("en", "zh")} <= names
    assert {f"notebooks/en/checkpoints/{NOTEBOOK}.ipynb", f"colab/en/{NOTEBOOK}.ipynb"} <= names
    assert "python3 lab.py lab`" in readme and "nbgrader fetch_feedback L" in readme
    assert "c.CourseDirectory.course_id = 'bundle'" in config and str(course.root / "exchange") in config


HIDDEN = """def judge(report):
    if not isinstance(report, dict) or 'median_ms' not in report:
        return incorrect(both('The report has no median.', '报告里没有中位数。'), max_points=3)
    if report.get('repeats', 0) < 5:
        return partly(1, 3, both('Fewer than five repeats.', '重复次数少于五次。'))
    return correct(both('The protocol is sound.', '流程正确。'), points=3)
"""
EXPLAINED = json.dumps({"cells": [{"source": KEYS["90-c-single"]["why"]["b"]["zh"]}]})


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("notebooks/en/lessons/x.ipynb", EXPLAINED, "explanation"),
        ("notes.txt", "difference_of_both = high - low\n return difference_of_both / (high + low)", "solution of task"),
        ("extra.py", HIDDEN, "hidden function judge"),
        ("a/keys.yaml", "x: 1", "called keys.yaml"),
        ("sub/start.py", "from grader.project.task import Task\n", "import of the grader"),
    ],
)
def test_a_planted_key_is_refused_wherever_it_lies(course, tmp_path, monkeypatch, name, text, words):
    wheel = zipped({name: text.encode()})
    for files in ({name: text.encode()}, {"x.whl": wheel}):
        assert any(words in sentence for sentence in scan(course.project, files)[1])
    monkeypatch.setattr("grader.release.bundle.contents", lambda *given: {name: text.encode()})
    with pytest.raises(ProjectError, match="class"):
        bundle(course.project, ["en"], tmp_path / "out", course)
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def empty(made, tmp_path_factory):
    """A folder with the unpacked ZIP, a virtual environment that knows the installed packages but not the course."""
    folder = tmp_path_factory.mktemp("empty") / NAME
    with zipfile.ZipFile(made[0]) as archive:
        archive.extractall(folder.parent)
    venv.create(folder / ".venv", symlinks=True)  # pip is among the installed packages
    site = next((folder / ".venv").glob("lib/python*/site-packages"))
    (site / "installed.pth").write_text("\n".join(path for path in sys.path if path.endswith("site-packages")), "utf-8")
    return folder


def run(folder: Path, *words: str) -> str:
    env = {
        name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV", "COURSE_HOME")
    }
    env |= {"HOME": str(folder / "home"), "PIP_NO_INDEX": "1", "OMP_NUM_THREADS": "1", "COURSE_TEXT": "1"}
    python = str(folder / ".venv" / "bin" / "python")
    done = subprocess.run([python, *words], cwd=folder, env=env, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


ANSWERED = f"""import os; os.chdir('notebooks/en/checkpoints')
import course; course.checkpoint('{LESSON}'); course.question('90-c-single'); course.answer('90-c-single', 'b')"""


def test_the_starter_installs_the_wheel_where_the_checkout_is_unknown(empty):
    run(empty, "lab.py", "ensure", "lab")
    said = run(empty, "-c", "import course; print(course.__file__); course.lesson('00_start')")
    assert str(empty / ".venv") in said.splitlines()[0] and "00_start: 0" in said
    assert "Which letter is second?" in run(empty, "-c", ANSWERED)
    assert (empty / "notebooks/en/checkpoints" / f"{LESSON}.answers.json").exists()


def test_a_single_file_brings_the_course_along(empty):
    notebook = json.loads((empty / "colab" / "en" / f"{LESSON}.ipynb").read_text(encoding="utf-8"))
    code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert unpack(code[0]) and len(code[0]) < 1_700_000
    run(empty, "-m", "pip", "uninstall", "-q", "-y", "torch-backends-course")
    script = empty / "colab.py"
    script.write_text(code[1], encoding="utf-8")
    assert "run the cell “Run me first” above" in run(empty, str(script))
    wheel = code[0].index("wheel.write_bytes")
    script.write_text(
        f"{code[0][:wheel]}wheel.write_bytes(b'')\n{code[0][code[0].index('pip = ') :]}", encoding="utf-8"
    )
    said = run(empty, str(script))
    assert "ERROR" in said and "Next step: look whether this notebook has Internet access" in said and "✅" not in said
    script.write_text(
        f"{code[0]}\nimport importlib; importlib.invalidate_caches()\nimport course\nprint(course.__file__)\n"
        f"course.lesson('01_map')\n{code[-1]}\n",
        encoding="utf-8",
    )
    said = run(empty, str(script))
    assert str(empty / ".venv") in said and "01_map: 0" in said
    assert "✅ Ready" in said and "CompletedProcess" not in said and "⚠️ The course could not" not in said

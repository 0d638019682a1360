"""Put a bundle together: a folder and a ZIP that start on a machine which has never seen this checkout.

Everything in it is looked through, also inside its wheel and what its notebooks carry: no key, no solution, no hidden task.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import lzma
import shutil
import subprocess
import sys
import tempfile
import textwrap
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import distributions
from pathlib import Path, PurePosixPath

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from course.core.i18n import pick
from grader.authoring.leaks import in_texts, notebook_text
from grader.course import Course
from grader.project import HERE, Project, ProjectError, read_yaml
from grader.project.build import practice_notebook, text_of
from grader.project.texts import ABSENT
from grader.release.run import student_config

NAME = "torch-backends-class"
NEVER = frozenset(
    "grader source submitted autograded keys.yaml tasks.py tasks.yaml gradebook.db marking_secret imported accepted earlier".split()
)  # names of what holds keys, solutions, hidden tasks or what students handed in
TEXTS = read_yaml(Path(__file__).with_name("texts.yaml"))
HIDDEN = {"cellView": "form", "jupyter": {"source_hidden": True}}
LINE = 4000  # characters of data in a line: an editor draws neither one line of a million nor ten thousand lines well


def bundle(project: Project, languages: Iterable[str], to: Path, course: Course | None = None) -> tuple[Path, int]:
    """Write ``to/torch-backends-class`` and the ZIP of it; (the ZIP, how many files were looked through for keys).

    course: whose released checkpoints go in, as they were released. Raises ProjectError where a key would go out: then
    nothing is written.
    """
    files = contents(project, list(languages), course)
    looked, problems = scan(course.project if course else project, files)
    if problems:
        raise ProjectError("\n".join(["this must not go to a class, so nothing was written:", *problems]))
    folder = to / NAME
    if folder.exists():
        shutil.rmtree(folder)
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return Path(shutil.make_archive(str(folder), "zip", to, NAME)), looked


def contents(project: Project, languages: list[str], course: Course | None) -> dict[str, bytes]:
    """Every file of the bundle by its path."""
    name, wheel = wheel_of(project)
    packed = pack(wheel)
    released = sorted((course.root / "release").glob("*/*.ipynb")) if course else []
    said = ["readme", "hand_in"] if released else ["readme"]
    texts = {
        "README.md": "\n".join(pick(TEXTS[one], language) for language in languages for one in said),
        "lab.py": (HERE / "tools" / "env.py").read_text(encoding="utf-8"),
        "constraints.txt": (HERE / "constraints.txt").read_text(encoding="utf-8"),
    }
    practice = [*(("lesson", one) for one in project.lessons()), *(("project", one) for one in project.projects())]
    for language in languages:
        for kind, lesson in practice:
            notebook = practice_notebook(project, lesson, language, kind)
            texts[f"notebooks/{language}/{kind}s/{lesson}.ipynb"] = text_of(notebook)
            texts[f"colab/{language}/{lesson}.ipynb"] = text_of(single(notebook, name, packed, language))
    if course is not None:
        texts["nbgrader_config.py"] = TEXTS["exchange"] + student_config(course)
    for path in released:
        notebook = nbformat.read(path, as_version=4)
        language = notebook.metadata.course.language
        texts[f"notebooks/{language}/checkpoints/{path.name}"] = path.read_text(encoding="utf-8")
        texts[f"colab/{language}/{path.name}"] = text_of(single(notebook, name, packed, language))
    return {**{name: text.encode() for name, text in texts.items()}, name: wheel}


def wheel_of(project: Project) -> tuple[str, bytes]:
    """(file name, bytes) of the wheel of ``course``, built from a copy: a build leaves traces, and picks up earlier ones."""
    with tempfile.TemporaryDirectory(prefix="course-wheel-") as folder:
        copy, made = Path(folder) / "copy", Path(folder) / "made"
        shutil.copytree(project.root / "course", copy / "course", ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(HERE / name, copy)
        known = [int(one.version.split(".")[0]) for one in distributions(name="setuptools")]
        here = ["--no-build-isolation"] if max(known, default=0) >= 77 else []  # then nothing has to be downloaded
        done = subprocess.run(
            [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", *here, "-w", str(made), str(copy)],
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        wheels = list(made.glob("*.whl"))
        if done.returncode or not wheels:
            raise ProjectError(
                "the wheel of the course could not be built: "
                + ((done.stderr or done.stdout).strip().splitlines() or ["no reason was given"])[-1]
            )
        return wheels[0].name, wheels[0].read_bytes()


def scan(project: Project, files: Mapping[str, bytes]) -> tuple[int, list[str]]:
    """(files looked through, a sentence for each thing that must not be there)."""
    opened = dict(_opened("", files, set()))
    texts = {Path(name): _text(name, data) for name, data in opened.items()}
    named = [
        f"{name}: nothing called {found} goes to a class"
        for name in opened
        for found in sorted(NEVER & set(PurePosixPath(name).parts))
    ]
    return len(opened), sorted({*named, *in_texts(project, texts)})


def _opened(place: str, files: Mapping[str, bytes], seen: set[bytes]) -> Iterator[tuple[str, bytes]]:
    """Every file, also inside others; what is the same as one before is not opened twice. seen: digests of those."""
    for name, data in files.items():
        digest = hashlib.sha256(data).digest()
        if digest in seen:
            continue
        seen.add(digest)
        yield place + name, data
        if name.endswith((".whl", ".zip")):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                inside = {one: archive.read(one) for one in archive.namelist() if not one.endswith("/")}
            yield from _opened(f"{place}{name}/", inside, seen)
        elif name.endswith(".ipynb"):
            for cell in json.loads(data)["cells"]:
                if wheel := unpack("".join(cell["source"])):
                    yield from _opened(f"{place}{name}/", {"carried.whl": wheel}, seen)


def _text(name: str, data: bytes) -> str:
    text = data.decode("utf-8", "replace")
    return notebook_text(text) if name.endswith(".ipynb") else text


# --- single files for Google Colab: a notebook that carries the wheel of the course and installs it ---


def single(notebook: NotebookNode, name: str, packed: str, language: str) -> NotebookNode:
    """The notebook with an installing cell before its first code and a downloading one at its end. packed: of ``pack``."""
    made = NotebookNode({**notebook, "cells": [_first_cell_named(cell, language) for cell in notebook.cells]})
    place = next((n for n, cell in enumerate(made.cells) if cell.cell_type == "code"), 0)
    source = TEXTS["install"].format(
        title=pick(TEXTS["form"], language),
        name=name,
        data="\n".join(textwrap.wrap(packed, LINE)),
        ready=pick(TEXTS["installed"], language),
        failed=pick(TEXTS["not_installed"], language),
    )
    made.cells[place:place] = [
        new_markdown_cell(pick(TEXTS["carries"], language), id="carries"),
        new_code_cell(source, id="install", metadata=HIDDEN),
    ]
    made.cells.append(
        new_code_cell(
            TEXTS["download"].format(title=pick(TEXTS["take_home"], language)),
            id="take-home",
            metadata={"cellView": "form"},
        )
    )
    return made


def _first_cell_named(cell: NotebookNode, language: str) -> NotebookNode:
    """The cell; where it starts the notebook, with the installing cell as the next step for a course that is missing."""
    start, absent, _ = cell.source.partition(ABSENT)
    return (
        NotebookNode({**cell, "source": f'{start}{ABSENT}\n    print("{pick(TEXTS["not_there"], language)}")'})
        if absent
        else cell
    )


def pack(wheel: bytes) -> str:
    """A wheel as text: its files uncompressed in the same wheel, packed as a whole, which takes much less room."""
    flat = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(wheel)) as old, zipfile.ZipFile(flat, "w", zipfile.ZIP_STORED) as new:
        for entry in old.infolist():
            new.writestr(zipfile.ZipInfo(entry.filename), old.read(entry))
    return base64.b64encode(lzma.compress(flat.getvalue(), preset=9 | lzma.PRESET_EXTREME)).decode()


def unpack(source: str) -> bytes | None:
    """The wheel that an installing cell carries, or None."""
    if 'WHEEL = """' not in source:
        return None
    return lzma.decompress(base64.b64decode(source.split('WHEEL = """')[1].split('"""')[0]))

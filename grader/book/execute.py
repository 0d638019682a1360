"""Execute the learner notebooks as a newcomer without a GPU would: recordings replayed, no answer given before.

An executed notebook is kept under a hash of all that it depends on, so that only what changed is executed again.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from course.core.home import NAME, replace_file
from grader.project import Project, ProjectError

LONGEST_CELL_S = 600
READ = ("*.py", "*.yaml", "*.json", "*.css", "*.js")


def executed(project: Project, notebooks: Iterable[Path], folder: Path, workers: int = 2) -> dict[Path, Path]:
    """Execute the notebooks, several at a time; returns notebook -> its executed copy in ``folder``."""
    now, known = state(project), list(notebooks)
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(workers) as pool:
        return dict(zip(known, pool.map(lambda path: _one(project, path, folder, now), known), strict=True))


def state(project: Project) -> bytes:
    """Hash of what every notebook depends on: the course's files, this one, and the versions of torch and matplotlib."""
    found = hashlib.sha256(Path(__file__).read_bytes())
    for path in sorted(path for pattern in READ for path in (project.root / "course").rglob(pattern)):
        found.update(path.relative_to(project.root).as_posix().encode() + path.read_bytes())
    return found.digest() + f"{version('torch')} {version('matplotlib')} {sys.version_info[:2]}".encode()


def _one(project: Project, path: Path, folder: Path, state: bytes) -> Path:
    key = hashlib.sha256(state + path.read_bytes()).hexdigest()[:16]
    language = path.relative_to(project.notebooks).parts[0]
    kept = folder / f"{language}-{path.stem}-{key}.ipynb"
    if kept.exists():
        return kept
    notebook, began = nbformat.read(path, 4), time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        home = str(Path(temporary).resolve())
        client = NotebookClient(
            notebook, timeout=LONGEST_CELL_S, allow_errors=True, resources={"metadata": {"path": home}},
            extra_arguments=["--log-level=ERROR"],
        )  # fmt: skip
        client.execute(env=_environment(project, home))
    if failed := [_failure(cell) for cell in notebook.cells if _failure(cell)]:
        raise ProjectError(f"{path}: {failed[0]}")
    for old in folder.glob(f"{language}-{path.stem}-*.ipynb"):
        old.unlink()
    replace_file(kept, as_a_learner_reads(nbformat.writes(notebook), home).encode())
    print(f"{language}/{path.name}: {time.monotonic() - began:.0f} s", flush=True)
    return kept


def as_a_learner_reads(text: str, home: str) -> str:
    """The JSON of an executed notebook with the usual folder of a learner in place of the one it was executed in."""
    return text.replace(json.dumps(home)[1:-1], f"~/.{NAME}")


def _environment(project: Project, home: str) -> dict[str, str]:
    own = {"COURSE_REPLAY": "1", "COURSE_HOME": home, "PYTHONPATH": str(project.root), "PYTHONHASHSEED": "0"}
    return {**os.environ, **own}


def _failure(cell: nbformat.NotebookNode) -> str:
    """The error of a cell that should have none, or nothing."""
    if "raises-exception" in cell.metadata.get("tags", ()):
        return ""
    errors = [one for one in cell.get("outputs", ()) if one.output_type == "error"]
    return f"{cell.source.splitlines()[0]}: {errors[0].ename}: {errors[0].evalue}" if errors else ""

"""Execute the learner notebooks as a newcomer without a GPU would: recordings replayed, no answer given before.

An executed notebook is kept under a hash of all that it depends on, so that only what changed is executed again.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

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
    notebook = nbformat.read(path, 4)
    with tempfile.TemporaryDirectory() as temporary:
        home = str(Path(temporary).resolve())
        folder_of = {"metadata": {"path": home}}
        client = NotebookClient(
            notebook, timeout=LONGEST_CELL_S, resources=folder_of, extra_arguments=["--log-level=ERROR"]
        )
        own = {"COURSE_REPLAY": "1", "COURSE_HOME": home, "PYTHONPATH": str(project.root), "PYTHONHASHSEED": "0"}
        try:
            client.execute(env={**os.environ, **own})
        except CellExecutionError as error:
            raise ProjectError(f"{path}: {error}") from error
    for old in folder.glob(f"{language}-{path.stem}-*.ipynb"):
        old.unlink()
    text = nbformat.writes(notebook).replace(json.dumps(home)[1:-1], f"~/.{NAME}")  # as a learner reads it
    replace_file(kept, text.encode())
    print(f"{language}/{path.name}", flush=True)
    return kept

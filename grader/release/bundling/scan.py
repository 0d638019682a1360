"""Look through everything in a bundle, also inside its wheel and what its notebooks carry: no key, no solution, no hidden task."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from grader.authoring.leaks import in_texts, notebook_text
from grader.project import Project
from grader.release.bundling.single import unpack

NEVER = {
    "grader",
    "source",
    "submitted",
    "autograded",
    "keys.yaml",
    "tasks.py",
    "tasks.yaml",
    "gradebook.db",
    "marking_secret",
    "imported",
    "accepted",
    "earlier",
}


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

"""What must hold of the finished site: nothing from outside, no dead link, nothing of a checkpoint's solutions.

And no path of the machine that built it.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

from grader.project import Project, checkpoint_items

LOADED = re.compile(
    r"<(?:script|img|iframe|source|link(?! rel=\"(?:next|prev)\"))\b[^>]*?(?:src|href)=\"([^\"]+)\"[^>]*>"
)
OUTSIDE = re.compile(r"url\(['\"]?(?:https?:)?//[^)]*\)|@import[^;]*")
IDS = re.compile(r'\bid="([^"]+)"')
LINK = re.compile(r'<a\b[^>]*?href="([^"]+)"')


def faults(project: Project, site: Path) -> list[str]:
    """A sentence for each fault of the site."""
    found = [one for path in sorted(site.rglob("*.html")) for one in _of_page(site, path)]
    found += [f"{path.relative_to(site)}: {one[0]}" for path in site.rglob("*.css") for one in _outside(path)]
    return [*found, *_of_checkpoints(project, site), *_of_this_machine(project, site)]


def _of_page(site: Path, path: Path) -> Iterator[str]:
    name, text = path.relative_to(site), path.read_text("utf-8")
    for address in dict.fromkeys(LOADED.findall(text)):
        if re.match(r"(https?:)?//", address):
            yield f"{name}: loads {address}"
    if "application/vnd.jupyter" in text or "→ what(&quot;" in text:
        yield f"{name}: holds what only a notebook can use"
    for address in dict.fromkeys(LINK.findall(text)):
        if re.match(r"\w+:", address):
            continue
        target, _, anchor = unquote(address).partition("#")
        goal = _target(path, target) if target else path
        if not goal.is_file():
            yield f"{name}: leads to {address}, which is not there"
        elif anchor and goal.suffix == ".html" and anchor not in _ids(goal):
            yield f"{name}: leads to {address}, and there is no such place"


def _target(path: Path, address: str) -> Path:
    return (path.parent / address.split("?")[0]).resolve()


@cache
def _ids(path: Path) -> frozenset[str]:
    return frozenset(IDS.findall(path.read_text("utf-8")))


def _outside(path: Path) -> list[re.Match[str]]:
    return list(OUTSIDE.finditer(path.read_text("utf-8")))


def _of_checkpoints(project: Project, site: Path) -> Iterator[str]:
    """No question of a checkpoint and no solution stands in any file."""
    ids = {one for lesson in project.checkpoints() for one in checkpoint_items(project, lesson)}
    for path, text in _texts(site):
        held = sorted(ids.intersection(re.findall(r"[\w-]+", text))) + ["BEGIN SOLUTION"] * (
            "### BEGIN SOLUTION" in text
        )
        yield from (f"{path.relative_to(site)}: holds {one} of a checkpoint" for one in held)


def _of_this_machine(project: Project, site: Path) -> Iterator[str]:
    """No file holds a path of the machine that built the site: what it shows is true for a reader's machine."""
    folders = (project.root, Path.home(), Path(sys.prefix), Path(tempfile.gettempdir()))
    own = {str(form) for one in folders for form in (one, one.resolve()) if len(form.parts) > 1}
    pattern = re.compile(rf"(?<![\w.~-])(?:{'|'.join(map(re.escape, own))})[/\\][^\s<\"'`&]*")
    for path, text in _texts(site):
        yield from (f"{path.relative_to(site)}: holds the path {one}" for one in dict.fromkeys(pattern.findall(text)))


def _texts(site: Path) -> Iterator[tuple[Path, str]]:
    """Every file of the site that a person or a script reads, with its text."""
    for path in site.rglob("*"):
        if path.suffix in (".html", ".js", ".ipynb", ".svg"):
            yield path, path.read_text("utf-8")

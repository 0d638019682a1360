"""What must hold of the finished site: nothing from outside, no dead link, no path of the machine that built it."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

from grader.project import Project

LOADED = re.compile(
    r"<(?:script|img|iframe|source|link(?! rel=\"(?:next|prev)\"))\b[^>]*?(?:src|href)=\"([^\"]+)\"[^>]*>"
)
OUTSIDE = re.compile(r"url\(['\"]?(?:https?:)?//[^)]*\)|@import[^;]*")
READ = (".html", ".js", ".ipynb", ".svg", ".css")  # what a person or a script reads
IDS = re.compile(r'\bid="([^"]+)"')
LINK = re.compile(r'<a\b[^>]*?href="([^"]+)"')


def faults(project: Project, site: Path) -> list[str]:
    """A sentence for each fault of the site."""
    folders = (project.root, Path.home(), Path(sys.prefix), Path(tempfile.gettempdir()))
    own = {str(form) for one in folders for form in (one, one.resolve()) if len(form.parts) > 1}
    here = re.compile(rf"(?<![\w.~-])(?:{'|'.join(map(re.escape, own))})[/\\][^\s<\"'`&]*")
    found = []
    for path in sorted(one for one in site.rglob("*") if one.suffix in READ):
        text = path.read_text("utf-8")
        said = [f"holds the path {one}" for one in dict.fromkeys(here.findall(text))]
        said += OUTSIDE.findall(text) if path.suffix == ".css" else []
        said += _of_page(path, text) if path.suffix == ".html" else []
        found += [f"{path.relative_to(site)}: {one}" for one in said]
    return found


def _of_page(path: Path, text: str) -> Iterator[str]:
    for address in dict.fromkeys(LOADED.findall(text)):
        if re.match(r"(https?:)?//", address):
            yield f"loads {address}"
    for address in dict.fromkeys(LINK.findall(text)):
        target, _, anchor = unquote(address).partition("#")
        goal = (path.parent / target.split("?")[0]).resolve() if target else path
        if re.match(r"\w+:", address):
            continue
        if not goal.is_file():
            yield f"leads to {address}, which is not there"
        elif anchor and goal.suffix == ".html" and anchor not in _ids(goal):
            yield f"leads to {address}, and there is no such place"


@cache
def _ids(path: Path) -> frozenset[str]:
    return frozenset(IDS.findall(path.read_text("utf-8")))

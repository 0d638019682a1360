"""The search index of the built pages: every section with its words, as a script, because a page of a folder may load nothing else."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

UNSEEN = {"script", "style", "template", "svg", "title", "nav"}
BLOCKS = {"p", "li", "td", "th", "dt", "dd", "div", "summary", "pre"}
HEADINGS = {"h1", "h2", "h3"}
LEFT_OUT = re.compile(r'<div class="tbr-table".*?</div>|<em class="(?:turn|back)">.*?</em>', re.DOTALL)
"""The table of a result: nobody looks for its numbers, and they are many. What a knowledge card says about turning it."""


class _Sections(HTMLParser):
    """Collects [id, heading, words] of the sections inside the main part of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[list[str]] = []
        self._open: list[list[str] | None] = []  # what each open <section> collects
        self._unseen = self._heading = self._main = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self._main += tag == "article" and known.get("role") == "main" or tag == "article" and bool(self._main)
        self._unseen += tag in UNSEEN
        if tag == "section":
            entry = [known["id"] or "", "", ""] if known.get("id") and self._main else None
            self._open.append(entry)
            self.found += [entry] if entry else []
        if tag in HEADINGS and self._entry() and not self._entry()[1]:
            self._heading += 1

    def handle_endtag(self, tag: str) -> None:
        self._main -= tag == "article" and bool(self._main)
        self._unseen -= tag in UNSEEN and self._unseen > 0
        if tag == "section" and self._open:
            self._open.pop()
        if tag in HEADINGS:
            self._heading = 0
        elif tag in BLOCKS and (entry := self._entry()):
            entry[2] += " "

    def _entry(self) -> list[str] | None:
        return next((one for one in reversed(self._open) if one), None)

    def handle_data(self, data: str) -> None:
        entry = self._entry()
        if entry and self._main and not self._unseen:
            entry[1 if self._heading else 2] += data


def sections(page: str) -> list[list[str]]:
    """[id, heading, words] of each section of a page's HTML."""
    reader = _Sections()
    reader.feed(LEFT_OUT.sub("", page))
    return [
        [one, " ".join(head.replace("¶", "").split()), " ".join(words.split())] for one, head, words in reader.found
    ]


def write(folder: Path) -> None:
    """Write ``_static/index.js`` of the pages of one language: [page, title of the page, id, heading, words]."""
    rows = []
    for path in sorted(folder.glob("*.html")):
        found = sections(path.read_text("utf-8"))
        rows += [[path.name, found[0][1], *section] for section in found]
    text = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    (folder / "_static" / "index.js").write_text(f"const sections = {text};\n", "utf-8")

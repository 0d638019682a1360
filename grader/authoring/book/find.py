"""The search index of the built pages: every section, row of a table and card with its words. It is a script, because a page of
a folder may load nothing else.
"""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

from course.questions import ranking
from course.questions.bank import read_yaml

UNSEEN = {"script", "style", "template", "svg", "title", "nav"}
BLOCKS = {"p", "li", "td", "th", "dt", "dd", "div", "summary", "pre"}
SECTIONS = {"section": {"h1", "h2", "h3"}, "tr": {"th"}, "details": {"b"}}
"""What holds a section, where it has an id, and what in it is the heading: a part of a page, a row of a table, a card."""
LEFT_OUT = re.compile(r'<div class="tbr-table".*?</div>|<em class="(?:turn|back)">.*?</em>', re.DOTALL)
"""The table of a result: nobody looks for its numbers, and they are many. What a knowledge card says about turning it."""


class _Sections(HTMLParser):
    """Collects [id, heading, words] of the sections, rows and cards inside the main part of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[list[str]] = []
        self._open: list[tuple[str, list[str] | None]] = []  # (tag, what it collects) of each open element of SECTIONS
        self._unseen = self._heading = self._main = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self._main += tag == "article" and known.get("role") == "main" or tag == "article" and bool(self._main)
        self._unseen += tag in UNSEEN
        if tag in SECTIONS:
            entry = [known["id"] or "", "", ""] if known.get("id") and self._main else None
            self._open.append((tag, entry))
            self.found += [entry] if entry else []
        holder, entry = self._holder()
        if entry and tag in SECTIONS[holder] and not entry[1]:
            self._heading += 1

    def handle_endtag(self, tag: str) -> None:
        self._main -= tag == "article" and bool(self._main)
        self._unseen -= tag in UNSEEN and self._unseen > 0
        if tag in SECTIONS and self._open:
            self._open.pop()
        holder, entry = self._holder()
        if tag in SECTIONS[holder]:
            self._heading = 0
        elif tag in BLOCKS and entry:
            entry[2] += " "

    def _holder(self) -> tuple[str, list[str] | None]:
        return next((one for one in reversed(self._open) if one[1]), ("section", None))

    def handle_data(self, data: str) -> None:
        entry = self._holder()[1]
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
    """Write ``_static/index.js`` of the pages of one language: [page, title of the page, id, heading, words]; and what the search
    knows of questions (`course.questions.ranking`): words that say nothing, and words that mean the same.
    """
    rows = []
    for path in sorted(folder.glob("*.html")):
        found = sections(path.read_text("utf-8"))
        rows += [[path.name, found[0][1], *section] for section in found]
    (folder / "_static" / "index.js").write_text(script(rows), "utf-8")


def script(rows: list[list[str]]) -> str:
    """The text of ``index.js``."""
    asking = {
        "small": sorted(ranking.SMALL),
        "smallZh": ranking.SMALL_ZH.pattern,
        "ideas": [list(map(str, line)) for line in read_yaml(ranking.SYNONYMS)],
    }
    each = {"sections": rows, "asking": asking}
    return "".join(
        f"const {name} = {json.dumps(value, ensure_ascii=False, separators=(',', ':'))};\n"
        for name, value in each.items()
    )

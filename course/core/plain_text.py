"""The same words as plain text: what a page of the course says in HTML, for terminals and whoever reads without a screen."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from course.core.i18n import t
from course.core.tables import as_text, columns

LINES = set("p div h3 h4 li ul ol dl dt section figure figcaption details summary table br pre".split())
"""Elements that begin and end a line."""
UNSEEN = {"style", "script"}
VOID = {"img", "br", "wbr", "input", "hr", "path", "rect", "circle", "polyline"}
TERMINAL = 180
"""Columns of the widest table that is printed as one; of a broader one each line is printed for itself, every cell with its heading."""


def text_of(html: str) -> str:
    """The words of HTML of ours, a paragraph a line. A picture is its ``alt`` (once, however many copies it has); what can be unfolded
    stands indented below its title, a list in a list below its point; a table keeps its columns.
    """
    page = _Page()
    page.feed(html)
    page.add()
    return "\n".join(page.lines)


class _Page(HTMLParser):
    """Collects the lines of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.line, self.depth, self.code, self.hidden = "", 0, False, ""
        self.lists: list[int] = []
        """Of each open list the number of its last point; -1 where points have a sign, -2 where they have none."""
        self.verbatim, self.address = False, ""
        self.table: list[list[str]] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        about = dict(attrs)
        if self.hidden:
            return
        if tag in UNSEEN or about.get("aria-hidden") == "true":
            self.hidden = "" if tag in VOID else tag
            return
        if tag in LINES and self.table is None:
            self.add()
        if said := about.get("alt") or (tag == "svg" and about.get("aria-label")):
            self.add(said)
        if tag == "svg":
            self.hidden = "svg"
        elif tag == "table":
            self.table, self.right = [], False
        elif tag == "tr" and self.table is not None:
            self.table.append([])
        elif tag in ("td", "th") and self.table is not None:
            self.line = ""
            self.right = self.right or "text-align:right" in (about.get("style") or "")
        elif tag in ("ul", "ol"):
            self.depth += bool(self.lists)
            signs = -2 if "list-style" in (about.get("style") or "") else -1
            self.lists.append(0 if tag == "ol" else signs)
        elif tag == "li":
            self._point()
        elif tag == "a":
            self.address = about.get("href") or ""
        elif tag == "small" and self.line[-1:] not in ("", " "):
            self.line += " "
        self.verbatim = self.verbatim or tag == "code"
        self.code = self.code or tag == "pre"

    def _point(self) -> None:
        """The sign of a point of a list, or its number."""
        if not self.lists or self.lists[-1] == -1:
            self.line = "• "
        elif self.lists[-1] >= 0:
            self.lists[-1] += 1
            self.line = f"{self.lists[-1]}. "

    def handle_endtag(self, tag: str) -> None:
        self.verbatim = self.verbatim and tag != "code"
        if self.hidden:
            self.hidden = "" if tag == self.hidden else self.hidden
        elif tag in ("td", "th") and self.table is not None:
            self.table[-1].append(self.line.strip())
            self.line = ""
        elif tag == "table" and self.table is not None:
            table, self.table = self.table, None
            self.add("\n".join(_printed([line for line in table if any(line)], self.right)))
        elif tag == "summary":
            self.line += t(":", "：") if self.line.strip() and self.line.rstrip()[-1] not in ":：?？" else ""
            self.add()
            self.depth += 1
        elif tag == "dt":
            self.line += t(": ", "：")
        elif tag == "dd":
            self.add()
        elif tag == "a" and self.address.startswith("https://") and self.address not in self.line:
            self.line += f" ({self.address})"
        elif tag in LINES and self.table is None:
            self.lists = self.lists[:-1] if tag in ("ul", "ol") else self.lists
            self.add()
            self.depth -= tag == "details" or tag in ("ul", "ol") and bool(self.lists)
            self.code = self.code and tag != "pre"

    def handle_data(self, data: str) -> None:
        if self.hidden:
            return
        if self.code:
            self.add(data)
        elif self.verbatim:
            self.line += data
        else:
            data = re.sub(r"\s+", " ", data)
            self.line += data.lstrip() if self.line[-1:] in ("", " ") else data

    def add(self, more: str = "") -> None:
        """End the line, and add further ones, once where the same follows itself."""
        shown = ["  " * self.depth + line.rstrip() for line in (self.line.strip(), *more.split("\n")) if line.strip()]
        self.line = ""
        if shown != self.lines[-len(shown) :]:
            self.lines += shown


def _printed(table: list[list[str]], right: bool) -> list[str]:
    """A table as lines; a line of it that has one cell alone stands between the others."""
    most = max(map(len, table), default=0)
    whole = iter(as_text([line for line in table if len(line) == most], right) if most else ())
    found = [next(whole) if len(line) == most else "".join(line) for line in table]
    if max(map(columns, found), default=0) <= TERMINAL:
        return found
    (_, *heads), *rows = table
    colon, comma = t(": ", "："), t("; ", "；")
    return [
        name
        + colon
        + comma.join(f"{head}{colon}{cell}" for head, cell in zip(heads, cells, strict=False) if cell.strip("–"))
        for name, *cells in rows
    ]

"""The search index of the built pages: every section, row of a table of names and card with its words. It is a script, because a page of
a folder may load nothing else.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from bs4 import BeautifulSoup, Tag
from bs4.element import PreformattedString

from course.questions import ranking
from course.questions.bank import read_yaml

UNSEEN = ["script", "style", "template", "svg", "title", "nav"]
BLOCKS = ["p", "li", "td", "th", "dt", "dd", "div", "summary", "pre"]
HEADS = {"section": ["h1", "h2", "h3"], "tr": ["td"], "details": ["b"]}
"""What is found by itself, and what in it is the heading: a part of a page, a row of a table of names (of switches), a card."""
NAMES = re.compile(r"\s*[\w.]+([,、]\s*[\w.]+)*\s*")
LEFT_OUT = re.compile(r'<div class="tbr-table".*?</div>|<em class="(?:turn|back)">.*?</em>', re.DOTALL)
"""The table of a result: nobody looks for its numbers, and they are many. What a knowledge card says about turning it."""


def sections(page: str) -> list[list[str]]:
    """[id, heading, words] of each section, row and card in the main part of a page's HTML."""
    main = BeautifulSoup(LEFT_OUT.sub("", page), "html.parser").find("article", role="main")
    for gone in main.find_all(UNSEEN):
        gone.decompose()
    for block in main.find_all(BLOCKS):
        block.insert_before(" ")
        block.append(" ")
    holders = main.find_all(_holds)
    found = {id(one): [(one if one.get("id") else one.find_parent(id=True))["id"], "", ""] for one in holders}
    heads = {id(one): _head(one) for one in holders}
    for text in main.find_all(string=True):
        holder = next((one for one in text.parents if id(one) in found), None)
        if holder is not None and not isinstance(text, PreformattedString):  # a comment
            found[id(holder)][1 if heads[id(holder)] in text.parents else 2] += text
    return [
        [one, " ".join(head.replace("¶", "").split()), " ".join(words.split())] for one, head, words in found.values()
    ]


def _holds(one: Tag) -> bool:
    if one.name == "tr":
        return one.td is not None and one.td.code is not None and bool(NAMES.fullmatch(one.td.get_text()))
    return one.name in HEADS and one.has_attr("id")


def _head(holder: Tag) -> Tag | None:
    """The heading of a section: the first with words that belongs to it and to no section inside."""
    heads = (one for one in holder.find_all(HEADS[holder.name]) if one.find_parent(_holds) is holder)
    return next((one for one in heads if one.get_text().strip()), None)


def write(folder: Path) -> None:
    """Write ``_static/index.js`` of the pages of one language: [page, title of the page, id, heading, words]; and what the search
    knows of questions (`course.questions.ranking`): words that say nothing, and words that mean the same.
    """
    rows = []
    for path in sorted(folder.glob("*.html")):
        found = sections(path.read_text("utf-8"))
        rows += [[path.name, found[0][1], *section] for section in found]
    asking = {
        "small": sorted(ranking.SMALL),
        "smallZh": ranking.SMALL_ZH.pattern,
        "ideas": [list(map(str, line)) for line in read_yaml(ranking.SYNONYMS)],
    }
    lines = [
        f"const {name} = {json.dumps(value, ensure_ascii=False, separators=(',', ':'))};\n"
        for name, value in (("sections", rows), ("asking", asking))
    ]
    (folder / "_static" / "index.js").write_text("".join(lines), "utf-8")

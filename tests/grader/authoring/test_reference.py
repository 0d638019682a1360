"""The reference pages say everything of every switch, and lead where they say."""

from __future__ import annotations

import re

from course.core.i18n import LANGUAGES, pick
from course.flags import TABLE
from grader.authoring import reference
from grader.project import Project

PROJECT = Project()
PAGES = reference.pages(PROJECT)


def test_every_row_stands_once_in_each_language_and_no_cell_is_empty():
    rows = [row.name for _, _, found in reference.sections() for row in found]
    assert sorted(rows) == sorted(TABLE)
    for code in LANGUAGES:
        text = reference.body(PROJECT, "switches", code, "../")
        assert text in PAGES[PROJECT.root / "docs" / "switches.md"]
        lines = [line for line in text.splitlines() if line.startswith("| `")]
        cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
        assert len(lines) == len(TABLE) and all(len(line) == 8 and all(line) for line in cells)
        assert all(pick(row.text, code) in text for row in TABLE.values())
        assert re.findall(r'<tr id="([^"]+)">', reference.sortable(code, [])) == rows


def test_every_link_inside_the_project_leads_somewhere():
    for path, text in PAGES.items():
        for address in re.findall(r"\]\((\.\./[^)]+)", text):
            assert (path.parent / address).exists(), address

"""The reference pages are in step with the table of switches, say everything of every row, and lead where they say."""

from __future__ import annotations

import re

import pytest

from course.core.i18n import LANGUAGES, pick
from course.core.markup import plain
from course.flags import TABLE
from grader.authoring import reference
from grader.project import Project

PROJECT = Project()
PAGES = reference.pages(PROJECT)
COLUMNS = len(reference.COLUMNS["en"].split(" | "))


def test_every_row_stands_once_in_each_language_and_no_cell_is_empty():
    rows = [row for _, _, found in reference.sections() for row in found]
    assert sorted(row.name for row in rows) == sorted(TABLE)
    text = PAGES[reference.page_path(PROJECT)]
    for code, part in zip(LANGUAGES, text.split("# 中文\n"), strict=True):
        lines = [line for line in part.splitlines() if line.startswith("| `")]
        cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
        assert len(lines) == len(TABLE) and all(len(line) == COLUMNS and all(line) for line in cells)
        assert all(pick(row.text, code) in part for row in TABLE.values())


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_table_to_sort_has_the_same_rows(code):
    text = PAGES[reference.page_path(PROJECT, code)]
    assert re.findall(r'<tr id="([^"]+)">', text) == [row.name for _, _, found in reference.sections() for row in found]
    assert f">{plain(reference.TITLE[code])}</h1>" in text


def test_every_link_inside_the_project_leads_somewhere():
    for path, text in PAGES.items():
        for address in re.findall(r'(?:href="|\]\()(\.\./[^")]+|[\w.-]+\.html)', text):
            assert (path.parent / address).exists(), address

"""The page of every switch in a real Chromium: it sorts by a column, finds a word, and is open to all. It loads nothing."""

from __future__ import annotations

import pytest

from grader.authoring.reference import page_path
from grader.project import Project
from tests.browser.conftest import assert_open_to_all, languages, shoot


@pytest.mark.parametrize("code", languages("en"))
def test_the_table_sorts_finds_and_opens_to_all(chromium, code):
    page = chromium.new_page(viewport={"width": 1300, "height": 900})
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text))
    page.goto(page_path(Project(), code).as_uri())
    assert_open_to_all(page, f"reference-{code}")
    names, since = page.locator("tbody tr:visible th"), page.locator("thead button").nth(5)
    before = names.all_inner_texts()
    since.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert page.locator("thead th").nth(5).get_attribute("aria-sort") == "descending"
    assert "flydsl" in names.first.inner_text() and sorted(names.all_inner_texts()) == sorted(before)
    page.fill("#find", "tf32 cudnn")
    found = names.all_inner_texts()
    assert 0 < len(found) < len(before) / 4 and any("cudnn.allow_tf32" in name for name in found)
    shoot(page, f"reference-{code}")
    page.close()
    assert faults == []

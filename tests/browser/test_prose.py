"""Marks in a notebook's text in a real JupyterLab: a term tells its meaning on hover, a fork leads to its heading."""

from __future__ import annotations

import json

import pytest

from grader.authoring.prose import prose
from tests.browser.conftest import Notebook

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_term_tells_its_meaning_and_a_fork_scrolls_to_its_heading(page, lab):
    language, heading = "en", "What `counts` as new?"
    texts = [
        prose(f"One **[[plan]]** is kept. ☕ Go on at [[#{heading}]].", language),
        *["filler\n\n" * 30] * 3,
        f"## {heading}",
        *["more filler\n\n" * 30] * 2,
    ]
    cells = [
        {"cell_type": "markdown", "id": f"text-{place}", "source": text, "metadata": {}}
        for place, text in enumerate(texts)
    ]
    name, kernel = f"prose.{language}.ipynb", {"name": "python3", "display_name": "Python 3", "language": "python"}
    (lab.work / name).write_text(
        json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": cells})
    )
    book = Notebook(page, lab, name).open()
    term = page.locator(".jp-MarkdownCell abbr").first
    term.wait_for()
    assert (
        'what("plan")' in term.get_attribute("title")
        and "[[" not in page.locator(".jp-MarkdownCell").first.inner_text()
    )
    target = page.locator(".jp-MarkdownCell h2").first
    page.locator(".jp-MarkdownCell a", has_text=heading.replace("`", "")).first.click()
    page.wait_for_timeout(1500)
    box, frame = target.bounding_box(), page.locator(".jp-NotebookPanel").first.bounding_box()
    assert frame["y"] <= box["y"] <= frame["y"] + frame["height"], "the heading came into view"
    assert book.page.url.startswith("http://127.0.0.1")

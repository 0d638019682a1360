"""Marks in a notebook's text in a real JupyterLab: a term tells its meaning on hover, a fork leads to its heading."""

from __future__ import annotations

import nbformat

from grader.project.texts import prose
from tests.browser.conftest import Notebook, comes_to


def test_a_term_tells_its_meaning_and_a_fork_scrolls_to_its_heading(page, lab):
    language, heading = "en", "What `counts` as new?"
    texts = [
        prose(f"One **[[plan]]** is kept. ☕ Go on at [[#{heading}]].", language),
        *["filler\n\n" * 30] * 3,
        f"## {heading}",
        *["more filler\n\n" * 30] * 2,
    ]
    name = lab.write(f"prose.{language}.ipynb", *map(nbformat.v4.new_markdown_cell, texts))
    book = Notebook(page, lab, name).open()
    term = page.locator(".jp-MarkdownCell abbr").first
    term.wait_for()
    assert (
        'what("plan")' in term.get_attribute("title")
        and "[[" not in page.locator(".jp-MarkdownCell").first.inner_text()
    )
    target = page.locator(".jp-MarkdownCell h2").first
    page.locator(".jp-MarkdownCell a", has_text=heading.replace("`", "")).first.click()

    def in_view() -> bool:
        box, frame = target.bounding_box(), page.locator(".jp-NotebookPanel").first.bounding_box()
        return frame["y"] <= box["y"] <= frame["y"] + frame["height"]

    comes_to(page, in_view, True)
    assert book.page.url.startswith("http://127.0.0.1")

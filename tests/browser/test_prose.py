"""Marks in a notebook's text in a real JupyterLab: a term tells its meaning on hover, a fork leads to its heading."""

from __future__ import annotations

import nbformat

from course.cards.knowledge_view import cards_html
from course.questions import knowledge
from grader.authoring.prose import prose
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


def test_a_turned_knowledge_card_keeps_its_rows_and_its_code_in_shape_among_the_styles_of_jupyterlab(page, lab):
    card = cards_html([knowledge.read()[0]["cudnn.enabled"]], turned=True)
    name = lab.write("card.ipynb", f"from IPython.display import HTML\nHTML({card!r})")
    Notebook(page, lab, name).open().run_all()
    page.locator(".tbk dt").first.wait_for()
    one_line = page.eval_on_selector(".tbk dt", "one => 1.5 * parseFloat(getComputedStyle(one).lineHeight)")
    names = page.eval_on_selector_all(
        ".tbk dt",
        "all => all.map(one => { const r = document.createRange(); r.selectNodeContents(one);"
        " return r.getBoundingClientRect().height })",
    )
    assert len(names) == 6 and max(names) < one_line, "a name of a row is broken into lines"
    box, code = page.locator(".tbk pre").bounding_box(), page.locator(".tbk pre code").bounding_box()
    assert code["x"] - box["x"] >= 10, "the code stands off its frame"

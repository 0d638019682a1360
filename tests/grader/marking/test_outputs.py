"""What a kernel sends and a student writes, on its way to a page: well formed, harmless, and read in a moment."""

from __future__ import annotations

import re

import pytest

from grader.marking.outputs import clean, markdown, sound
from grader.marking.said import WORDS, gravest


@pytest.mark.parametrize(
    "forged",
    [
        {},
        {"output_type": None},
        {"output_type": [1]},
        {"output_type": "stream"},
        {"output_type": "stream", "name": "x", "text": ""},
        {"output_type": "stream", "name": "stdout", "text": 3},
        {"output_type": "error", "traceback": "x"},
        {"output_type": "display_data", "data": None},
        {"output_type": "execute_result", "data": [1]},
    ],
)
def test_forged_outputs_are_dropped(forged):
    assert sound(forged) is None


def test_of_an_output_only_known_kinds_and_texts_are_kept():
    import nbformat
    from nbformat.v4 import new_code_cell, new_notebook

    rich = {
        "text/plain": "x\ud800",
        "text/html": 5,
        "text/vnd.mermaid": "x",
        "application/javascript": "x",
        "image/png": "AA==",
    }
    made = [
        sound({"output_type": "execute_result", "execution_count": "x", "data": rich, "metadata": {"filenames": 3}}),
        sound({"output_type": "error", "ename": 1, "evalue": [2], "traceback": [3, "x"]}),
        sound({"output_type": "stream", "name": "stderr", "text": "x\udfff"}),
    ]
    assert made[0].data == {"text/plain": "x?", "image/png": "AA=="} and made[1].traceback == ["x"]
    nbformat.validate(new_notebook(cells=[new_code_cell("", outputs=made)]))


@pytest.mark.parametrize(
    "html",
    [
        "<script>1</script>",
        "<img src=x onerror=1>",
        "<a href='javascript:1'>x</a>",
        "<a href=' jAvascript:alert(1)'>x</a>",
        "<a href='java\tscript:alert(1)'>x</a>",
        "<a href='data:text/html,1'>x</a>",
        "<svg onload=1>",
        "<iframe src='//x.y'></iframe>",
        "<img src='https://x.y/z.png'>",
        "<style>*{}</style>",
        "<div style='background:url(//x.y)'>",
        "<form action='//x.y'><input name=a>",
        "<base href='//x.y'>",
        "<img src='data:text/html;base64,AAAA'>",
        "<meta http-equiv=refresh content='0;url=//x.y'>",
        "<object data=x>",
        "<math><mi xlink:href='javascript:1'>",
        "<details ontoggle=1 open>",
        "<p id='x' onclick='1'>",
    ],
)
def test_nothing_in_a_page_runs_or_fetches(html):
    kept = clean(f"before {html} after").lower()
    bad = r"<script|javascript:|\son\w+=|<svg|<iframe|//x\.y|<style|url\(|<form|<base|<meta|data:text|<object"
    assert not re.search(bad, kept)
    assert kept.startswith("before ") and "after" in kept


def test_what_marks_and_texts_need_stays():
    page = (
        '<h2>x</h2><table><tbody><tr><td style="padding: 3px;">1</td></tr></tbody></table>'
        '<div class="course-mark"><p><b>2</b></p></div><img src="data:image/png;base64,AA=="><a href="https://pytorch.org">x</a>'
    )
    assert clean(page) == page
    code = '<div class="highlight hl-ipython3"><span class="kn">import</span></div><span class="ansi-red-fg">x</span>'
    assert clean(code + '<table class="dataframe"></table>') == code + '<table class="dataframe"></table>'


@pytest.mark.parametrize(
    "html",
    [
        '<p id="90-t-contrast">x</p>',
        '<p class="score">x</p>',
        '<div class="modal in">x</div>',
        '<p class="course-mark navbar-fixed-top">x</p>',
    ],
)
def test_nothing_of_a_student_passes_for_a_part_of_formgraders_page(html):
    assert not re.search("id=|class=", clean(html))
    assert not re.search("id=|class=", markdown({"cell": {}}, f"# 90-t-contrast\n\n{html}"))


@pytest.mark.parametrize(
    "piece", ["<b><p>", "<div>", "<b>x", "<a>", "<", "<p a='1' b='2' ", "<div><b></div>", "<table>x", "&lt;", "<b></x>"]
)
def test_what_a_parser_would_take_hours_for_is_shown_as_it_is_written(piece):
    assert clean("kept words" + piece * 200_000).startswith("<pre>kept words")
    assert markdown({"cell": {}}, "kept words" + "\\begin{a}[x](" * 3_500).startswith("<pre>kept words")


def test_the_gravest_word_is_the_verdict():
    assert gravest([]) == "ok" and gravest({"raised", "memory", "wrong"}) == "memory" and gravest(["", "x"]) == "ok"
    assert all(set(word) == {"en", "zh"} and all(word.values()) for word in WORDS.values())

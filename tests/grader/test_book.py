"""The parts of the book that need no browser: cleaning, the search index, the checks of the site; and the whole build."""

from __future__ import annotations

import re
import tempfile

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from course.cards import offline
from course.cards.offline import words
from course.core.i18n import LANGUAGES
from grader.book import clean, find, site
from grader.book.execute import executed
from grader.project import Project
from tests.conftest import ROOT

pytest.importorskip("sphinx")
HTML = "text/html"


def shown(body):
    return new_output("display_data", {HTML: body})


def cleaned(tmp_path, *cells, lessons=(), **more):
    pictures = clean.Pictures(tmp_path / "pictures", "../pictures")
    notebook = new_notebook(cells=[new_markdown_cell("# Title\ntext"), *cells])
    return clean.page(
        notebook, "<p>bar</p>", lessons, pictures, lambda name, body, cards: f"[{name} after {cards}]{body}", **more
    )


def test_a_term_leads_to_the_glossary_and_another_lesson_to_its_page():
    text = 'A <abbr title="Kept &amp; found.  → what(&quot;cache&quot;)">cache</abbr>, see [map](01_map.ipynb), [all](02_timing.ipynb).'
    assert clean.prose(text, ["01_map"]).strip() == (
        'A <a class="term" href="glossary.html#cache" data-means="Kept &amp; found.">cache</a>, see [map](01_map.md), all.'
    )


def test_widgets_and_what_is_said_to_one_learner_are_left_out(tmp_path):
    widget = new_output("display_data", {"application/vnd.jupyter.widget-view+json": {}, "text/plain": "[x] card"})
    said = shown('<style>.a{}</style><div role="status" style="margin:0">no bet of yours</div>')
    page = cleaned(
        tmp_path, new_code_cell("f()", outputs=[widget, said]), new_code_cell("bets()", outputs=[shown("<p>0 won</p>")])
    )
    assert not any(words in page.text for words in ("card", "no bet", "0 won"))


def test_cards_results_and_pictures_are_found(tmp_path):
    svg = '<img class="tbr-light" alt="two dots" src="data:image/svg+xml;base64,PHN2Zy8+">'
    card = shown(
        '<style>.tbq-static{}</style><div lang="en" class="tbq-static tbq-static-05-bet"><p>Where?</p><p>Run it: <code>x</code></p></div>'
    )
    result = shown(
        f'<style>.tbr{{}}</style><section class="tbr" role="status" lang="en" data-experiment="05-race">{svg}</section>'
    )
    other = shown(card["data"][HTML].replace("05-bet", "05-too"))
    page = cleaned(tmp_path, new_code_cell("f()", outputs=[card, result]), new_code_cell("g()", outputs=[other, other]))
    assert page.cards == ["05-bet", "05-too", "05-too"] and page.styles == [".tbr{}"]
    assert page.text.count('data-deck="1" data-item="05-too"') == 2, "the cards of one cell are one deck"
    assert '<div class="quiz book-card" data-deck="0" data-item="05-bet">' in page.text and "Run it" not in page.text
    case = cleaned(tmp_path, new_code_cell("f()", outputs=[card]), question=lambda card: None)
    assert case.cards == [] and "book-card" not in case.text and "Run it" in case.text, (
        "a game is played in the notebook"
    )
    assert "[05-race after ['05-bet']]" in page.text and 'role="status"' not in page.text
    (kept,) = (tmp_path / "pictures").iterdir()
    assert kept.read_text() == "<svg/>" and f'loading="lazy" src="../pictures/{kept.name}"' in page.text


def test_the_index_holds_sections_without_code_of_the_page():
    page = (
        '<nav>menu</nav><article role="main"><section id="a"><h1>One<a>¶</a></h1>'
        '<p>first<em class="turn">Turn it</em></p><script>no()</script>'
        '<section id="b"><h2>Two</h2><p>工作区 <b>bold</b><i> </i><i>face</i></p>'
        "<table><tr><th>name</th></tr><tr><td><code>a.b</code></td><td>does</td></tr></table></section></section></article>"
    )
    assert find.sections(page) == [["a", "One", "first"], ["b", "Two", "工作区 bold face name"], ["b", "a.b", "does"]]


def site_of(tmp_path, body):
    for code in LANGUAGES:
        (tmp_path / code).mkdir(exist_ok=True)
        (tmp_path / code / "x.html").write_text(body, "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "body, said",
    [
        ('<script src="https://x.y/z.js"></script>', "loads https://x.y/z.js"),
        ('<img src="//x.y/z.png" alt="">', "loads //x.y/z.png"),
        ('<a href="gone.html">x</a>', "leads to gone.html"),
        ('<a href="#gone">x</a>', "leads to #gone"),
        (f"<code>{tempfile.gettempdir()}/tmpx/a.jsonl</code>", f"holds the path {tempfile.gettempdir()}/tmpx/a.jsonl"),
        (f"File {ROOT}/course/core/home.py", "course/core/home.py"),
    ],
)
def test_the_check_finds(tmp_path, body, said):
    assert site.faults(Project(), site_of(tmp_path, "<p id='x'>fine</p><a href='#x'>x</a>")) == []
    assert any(said in fault for fault in site.faults(Project(), site_of(tmp_path, body)))


@pytest.mark.slow
def test_a_page_names_the_usual_folder_of_answers_and_not_the_one_it_was_executed_in(tmp_path):
    project, source = Project(tmp_path), new_notebook()
    source.cells = [new_code_cell("from course.learning.log import default_path\nprint(default_path())")]
    path = project.notebooks / "en" / "lessons" / "x.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(source, path)
    done = nbformat.read(executed(project, [path], tmp_path / "executed")[path], 4)
    assert done.cells[0].outputs[0].text == "~/.torch-backends-course/answers.jsonl\n"


@pytest.mark.long
def test_the_whole_book_is_built_without_a_fault(tmp_path):
    project = Project()
    made = site.build(project, tmp_path, project.lessons())  # raises with every fault
    for code in LANGUAGES:
        assert {f"{one}.html" for one in project.lessons()} < {path.name for path in (made / code).glob("*.html")}
    assert (tmp_path / "book.zip").stat().st_size < 20e6


def test_every_word_that_a_script_of_a_page_asks_for_by_name_exists():
    scripts = [*map(offline.read, offline.CARD_SCRIPTS)]
    scripts += [one.read_text("utf-8") for one in ROOT.glob("book/static/*.js")]
    found = re.findall(r'(?:word|say)\("(\w+)"|key: "(\w+)"', "\n".join(scripts))
    asked = {name for pair in found for name in pair if name}
    assert asked and sorted(asked - words()["en"].keys()) == []

"""The pages of the book beside the lessons, each made of what the course has: nothing is written twice."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from course.cards.knowledge_view import card_html
from course.cards.render import static_html
from course.core.catalog import BY_ID, LESSONS, Lesson
from course.core.i18n import Text, pick, speaking
from course.core.markup import inline, link
from course.questions import glossary, knowledge
from course.questions.items import Item
from course.verbs.portfolio.poster import poster
from grader.authoring import reference
from grader.book.clean import CALL_OF_CARD, STYLE, raw
from grader.project import Project, read_yaml
from grader.project.build import COLAB

WORDS: dict[str, dict[str, Text]] = read_yaml(Path(__file__).with_name("words.yaml"))
SAID, OF_FRONT = WORDS["pages"], WORDS["front"]
TITLES: dict[str, Text] = {**WORDS["titles"], **{name: one["title"] for name, one in reference.WORDS.items()}}
TITLES |= {name: TITLES.pop(name) for name in ("cards", "tools", "poster", "find")}  # these come last
BETS = ("06-bet-ulp", "06-bet-agree", "05-bet-pays")
"""The bets of the first page. Each is asked in its lesson, too, and a bet placed here is a bet placed there."""
FIRST = "00_start"


def toctree(caption: str, names: list[str]) -> str:
    """The pages of one part of the navigation."""
    return "\n".join([f"```{{toctree}}\n:hidden:\n:caption: {caption}\n", *names, "```\n"])


def to(name: str, words: str) -> str:
    """A link to a page of the same language."""
    return f'<a href="{name}.html">{words}</a>'


def head(file: str, code: str, project: Project) -> str:
    """The bar below the title of a notebook. file: in the folder of the course."""
    colab = project.colab(file)
    links = [f'<a href="{colab}">{COLAB[code]}</a>'] if colab else []
    links += [f'<a href="../{file}" download>{SAID["download"][code]}</a>', to("run", SAID["here"][code])]
    return f'<p class="book-bar">{" · ".join(links)}</p>'


def everything(project: Project, code: str, lessons: list[str], bets: str = "") -> dict[str, str]:
    """name -> Markdown of every page that is no lesson. bets: HTML of the first page."""
    makers: dict[str, Callable[[], Iterator[str]]] = {
        "index": lambda: _index(project, code, lessons, bets),
        "run": lambda: _run(project, code),
        "knowledge": lambda: _knowledge(code, lessons),
        "glossary": lambda: _glossary(code, lessons),
        "switches": lambda: iter([raw(reference.sortable(code, lessons))]),
        "messages": lambda: iter([reference.body(project, "messages", code)]),
        "claims": lambda: iter([reference.body(project, "claims", code)]),
        "cards": lambda: iter([_document(project, "cards", code)]),
        "tools": lambda: _tools(project, code),
        "poster": lambda: iter([raw(poster())]),
        "find": lambda: _find(code),
    }
    with speaking(code):
        return {name: f"# {pick(TITLES[name], code)}\n\n" + "\n".join(make()) + "\n" for name, make in makers.items()}


def card_of_front(place: int, item: Item, code: str) -> str:
    """The card of a bet that one tap places, below a heading that is heard alone; without a script its text."""
    with speaking(code):
        shown = CALL_OF_CARD.sub("</div>", STYLE.sub("", static_html(item)))
    head = f'<h2 class="visually-hidden">{pick(OF_FRONT["bet"], code)} {place}</h2>'
    return f'{head}<div class="quiz book-card" data-deck="front" data-item="{item.id}" data-tap>{shown}</div>'


def more(item: Item, code: str, lessons: list[str]) -> str:
    """The link from a result to its lesson; empty where the book does not have it."""
    if item.lesson not in lessons:
        return ""
    question = pick(BY_ID[item.lesson].question, code)
    said = pick(OF_FRONT["more"], code).format(number=item.lesson[:2], question=question)
    return f'<p class="book-on"><a href="{item.lesson}.html">{said}</a></p>'


def _index(project: Project, code: str, lessons: list[str], bets: str) -> Iterator[str]:
    """Three bets of the lessons, one tap each, then the way to one's own machine and the lessons."""
    said = {name: pick(text, code) for name, text in OF_FRONT.items()}
    yield raw(f'<div class="book-front">{bets}</div>')
    yield said["about"].format(run=to("run", pick(TITLES["run"], code))) + "\n"
    get = said["the-course"]
    yield said["own"].format(get=f"[{get}]({project.repository})" if project.repository else get)
    if address := project.colab(f"notebooks/{code}/lessons/{FIRST}.ipynb"):
        yield said["colab"].format(address=address) + "\n"
    yield said["lessons"] + "\n"
    rows = [(one, f"<b>{one[:2]}</b> <span>{inline(pick(BY_ID[one].question, code))}</span>") for one in lessons]
    items = "".join(f'<li><a href="{one}.html">{words}</a></li>' for one, words in rows)
    yield raw(f'<ul class="book-lessons">{items}</ul>')
    yield toctree(
        pick(SAID["lesson"], code), [f"{one[:2]} {pick(BY_ID[one].question, code)} <{one}>" for one in lessons]
    )
    yield toctree(pick(SAID["reference"], code), [name for name in TITLES if name != "index"])


def _run(project: Project, code: str) -> Iterator[str]:
    """How to run the course, and all of docs/install.md; what it links to in the repository is no page of the book."""
    yield pick(SAID["run"], code) + "\n"
    yield _document(project, "install", code)


def _document(project: Project, name: str, code: str) -> str:
    """A page of docs/ below its title; what it links to in the folder of the course stays as words."""
    text = (project.root / "docs" / f"{name}{'' if code == 'en' else '.zh-CN'}.md").read_text("utf-8")
    return re.sub(r"\[([^\]]*)\]\((?!https?:)[^)]*\)", r"\1", text.partition("\n")[2])


def _knowledge(code: str, lessons: list[str]) -> Iterator[str]:
    found = knowledge.read().values()
    for lesson in LESSONS:
        own = [_card(card, code) for card in found if card.lesson == lesson.id]
        if own:
            yield f"## {_heading(lesson, code, lessons)}\n"
            yield raw(f'<div class="tbk">{"".join(own)}</div>')


def _card(card: knowledge.Knowledge, code: str) -> str:
    """A card with its id, and below it what people type who look for it: the book's search finds it by these words."""
    asked = f"<p><small>{pick(SAID['asked'], code)}{html.escape(pick(card.asked, code))}</small></p>"
    head, _, tail = card_html(card).replace("<details", f'<details id="{card.id}"', 1).rpartition("</div></details>")
    return f"{head}{asked}</div></details>{tail}"


def _heading(lesson: Lesson, code: str, lessons: list[str]) -> str:
    name = f"[`{lesson.id}`]({lesson.id}.md)" if lesson.id in lessons else f"`{lesson.id}`"
    return f"{name} {pick(lesson.question, code)}"


def _glossary(code: str, lessons: list[str]) -> Iterator[str]:
    for term in sorted(glossary.read().values(), key=lambda one: pick(one.term, code).lower()):
        notes = [pick(SAID["former"], code) + ", ".join(term.also)] if term.also else []
        notes += [to(term.lesson, term.lesson)] if term.lesson in lessons else []
        notes += [link(term.source, html.escape(urlsplit(term.source).netloc))] if term.source else []
        yield raw(
            f'<section id="{term.id}" class="book-term"><h2>{inline(pick(term.term, code))}</h2><p>{inline(pick(term.means, code))}</p>'
            f"<p>{pick(SAID['example'], code)}{inline(pick(term.example, code))}</p><p><small>{' · '.join(notes)}</small></p></section>"
        )


def _tools(project: Project, code: str) -> Iterator[str]:
    for name in project.tools():
        yield raw(head(f"notebooks/{code}/tools/{name}.ipynb", code, project))
    yield _document(project, "tools", code)


def _find(code: str) -> Iterator[str]:
    said = {name: pick(text, code) for name, text in WORDS["find"].items()}
    label = said.pop("search")
    words = " ".join(f'data-{name}="{text}"' for name, text in said.items())
    yield raw(
        f'<form class="book-find" role="search" {words}><label>{label} <input type="search" name="q" '
        'autocomplete="off"></label></form><p role="status" class="book-count"></p><ol class="book-hits"></ol>'
        '<script src="_static/index.js"></script><script src="_static/rank.js"></script><script src="_static/find.js"></script>'
    )

"""The pages of the book beside the lessons: templates of ``pages/``, filled with what the course has. Nothing is written twice."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from course.cards.knowledge_view import card_html
from course.core.catalog import BY_ID, LESSONS
from course.core.i18n import Text, pick, speaking
from course.core.markup import link
from course.questions import glossary, knowledge
from course.verbs.portfolio.poster import poster
from grader.authoring import reference
from grader.book.clean import prose, raw
from grader.project import Project, read_yaml
from grader.project.build import COLAB
from grader.project.template import render

HERE = Path(__file__).parent
WORDS: dict[str, dict[str, Text]] = read_yaml(HERE / "words.yaml")
SAID = WORDS["pages"]
TITLES: dict[str, Text] = {**WORDS["titles"], **{name: one["title"] for name, one in reference.WORDS.items()}}
TITLES |= {name: TITLES.pop(name) for name in ("cards", "tools", "poster", "find")}  # these come last
BETS = ("06-bet-ulp", "06-bet-agree", "05-bet-pays")
"""The bets of the first page. Each is asked in its lesson, too, and a bet placed here is a bet placed there."""
FIRST = "00_start"


def everything(
    project: Project, code: str, lessons: list[str], bets: Sequence[dict[str, str]] = (), scripts: str = ""
) -> dict[str, str]:
    """name -> Markdown of every page that is no lesson. bets: of the first page, each with its id and the HTML of its card and of its
    result; scripts: the HTML that loads what shows them.
    """
    titles = {name: pick(text, code) for name, text in TITLES.items()}
    numbered = [f"{one[:2]} {pick(BY_ID[one].question, code)} <{one}>" for one in lessons]
    terms = sorted(glossary.read().values(), key=lambda one: pick(one.term, code).lower())
    bars = [head(f"notebooks/{code}/tools/{name}.ipynb", code, project) for name in project.tools()]

    def page(name: str, **values: object) -> str:
        return render(HERE / "pages" / f"{name}.md", code, SAID, **values)

    with speaking(code):
        made = {
            "index": page(
                "index",
                bets=bets,
                scripts=scripts,
                run=titles["run"],
                repository=project.repository,
                colab=project.colab(f"notebooks/{code}/lessons/{FIRST}.ipynb"),
                lessons=[BY_ID[one] for one in lessons],
                own=numbered,
                others=[name for name in TITLES if name != "index"],
            ),
            "run": f"{SAID['run'][code]}\n\n{_document(project, 'install', code)}",
            "knowledge": page("knowledge", lessons=lessons, parts=_knowledge(code)),
            "glossary": page("glossary", lessons=lessons, terms=terms, source=_source),
            "switches": prose(reference.body(project, "switches", code), lessons),
            "messages": reference.body(project, "messages", code),
            "claims": reference.body(project, "claims", code),
            "cards": _document(project, "cards", code),
            "tools": "\n".join([*map(raw, bars), _document(project, "tools", code)]),
            "poster": raw(poster(2)),
            "find": page("find", found={name: text[code] for name, text in WORDS["find"].items()}),
        }
    return {name: f"# {titles[name]}\n\n{text}\n" for name, text in made.items()}


def head(file: str, code: str, project: Project) -> str:
    """The bar below the title of a notebook. file: in the folder of the course."""
    colab = project.colab(file)
    links = [f'<a href="{colab}">{COLAB[code]}</a>'] if colab else []
    links += [
        f'<a href="../{file}" download>{SAID["download"][code]}</a>',
        f'<a href="run.html">{SAID["here"][code]}</a>',
    ]
    return f'<p class="book-bar">{" · ".join(links)}</p>'


def more(lesson: str, code: str) -> str:
    """The link from a result to its lesson."""
    said = SAID["more"][code].format(number=lesson[:2], question=pick(BY_ID[lesson].question, code))
    return f'<p class="book-on"><a href="{lesson}.html">{said}</a></p>'


def _document(project: Project, name: str, code: str) -> str:
    """A page of docs/ below its title; what it links to in the folder of the course stays as words."""
    text = (project.root / "docs" / f"{name}{'' if code == 'en' else '.zh-CN'}.md").read_text("utf-8")
    return re.sub(r"\[([^\]]*)\]\((?!https?:)[^)]*\)", r"\1", text.partition("\n")[2])


def _knowledge(code: str) -> list[tuple]:
    """(lesson, the HTML of its knowledge cards) for each lesson that has some."""
    cards = knowledge.read().values()
    found = [(lesson, [_card(card, code) for card in cards if card.lesson == lesson.id]) for lesson in LESSONS]
    return [one for one in found if one[1]]


def _card(card: knowledge.Knowledge, code: str) -> str:
    """A card with its id, and below it what people type who look for it: the book's search finds it by these words."""
    asked = f"<p><small>{SAID['asked'][code]}{html.escape(pick(card.asked, code))}</small></p>"
    head, _, tail = card_html(card).replace("<details", f'<details id="{card.id}"', 1).rpartition("</div></details>")
    return f"{head}{asked}</div></details>{tail}"


def _source(address: str) -> str:
    return link(address, html.escape(urlsplit(address).netloc))

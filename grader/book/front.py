"""The first page of the book: three bets of the lessons, one tap each, then the way to one's own machine and the lessons."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from course.cards.render import static_html
from course.core.catalog import BY_ID
from course.core.i18n import Text, pick, speaking
from course.core.markup import inline
from course.questions.items import Item
from grader.book.clean import CALL_OF_CARD, STYLE, raw
from grader.project import Project, read_yaml

BETS = ("06-bet-ulp", "06-bet-agree", "05-bet-pays")
"""Each is asked in its lesson, too, and a bet placed here is a bet placed there."""
FIRST = "00_start"
WORDS: dict[str, dict[str, Text]] = read_yaml(Path(__file__).with_name("words.yaml"))
SAID = WORDS["front"]


def card(place: int, item: Item, code: str) -> str:
    """The card of a bet that one tap places, below a heading that is heard alone; without a script its text."""
    with speaking(code):
        shown = CALL_OF_CARD.sub("</div>", STYLE.sub("", static_html(item)))
    head = f'<h2 class="visually-hidden">{pick(SAID["bet"], code)} {place}</h2>'
    return f'{head}<div class="quiz book-card" data-deck="front" data-item="{item.id}" data-tap>{shown}</div>'


def more(item: Item, code: str, lessons: list[str]) -> str:
    """The link from a result to its lesson; empty where the book does not have it."""
    if item.lesson not in lessons:
        return ""
    said = pick(SAID["more"], code).format(number=item.lesson[:2], question=pick(BY_ID[item.lesson].question, code))
    return f'<p class="book-on"><a href="{item.lesson}.html">{said}</a></p>'


def page(project: Project, code: str, lessons: list[str], bets: str, run: str) -> Iterator[str]:
    """The Markdown below the title. bets: HTML of the bets; run: a link to the page on running."""
    yield raw(f'<div class="book-front">{bets}</div>')
    yield pick(SAID["about"], code).format(run=run) + "\n"
    get = pick(SAID["the-course"], code)
    yield pick(SAID["own"], code).format(get=f"[{get}]({project.repository})" if project.repository else get)
    if address := project.colab(f"notebooks/{code}/lessons/{FIRST}.ipynb"):
        yield pick(SAID["colab"], code).format(address=address) + "\n"
    yield pick(SAID["lessons"], code) + "\n"
    with speaking(code):
        items = "".join(map(_lesson, lessons))
    yield raw(f'<ul class="book-lessons">{items}</ul>')


def _lesson(lesson: str) -> str:
    return (
        f'<li><a href="{lesson}.html"><b>{lesson[:2]}</b> <span>{inline(pick(BY_ID[lesson].question))}</span></a></li>'
    )

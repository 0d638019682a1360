"""The practice questions and the knowledge cards as a file that Anki imports: one note each, in Anki's text format.

Anki reads ``#key:value`` lines first (https://docs.ankiweb.net/importing/text-files.html). A note keeps its
guid for ever, so importing a newer file brings known notes up to date, and their schedule stays. Bets are left
out: an experiment settles them, no card can.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable

from course.cards.knowledge_view import back_html, front_html
from course.cards.render import asked_html, listing, task_words
from course.core.catalog import BY_ID
from course.core.i18n import pick, speaking, t
from course.core.markup import inline
from course.learning.reporting import number_words
from course.questions.items import Item
from course.questions.knowledge import Knowledge

KINDS = ("single", "multiple", "number", "order")
COLUMNS = ("guid", "deck", "tags", "Front", "Back")
NOTETYPE = {"en": "Basic", "zh": "问答题"}  # Anki's own names; where there is none, Anki asks which one to use


def exportable(items: Iterable[Item]) -> list[Item]:
    """The questions that can become an Anki card: those with a key."""
    return [item for item in items if item.kind in KINDS and item.keyed and not item.checkpoint]


def guid(item: Item, code: str) -> str:
    """The id of a note: always the same for an item and a language."""
    return f"torch-backends-{code}-{item.id}"


def deck_name(lesson_id: str, code: str) -> str:
    """The deck of a lesson, one tree for a language."""
    root = {"en": "torch.backends", "zh": "torch.backends 中文"}[code]
    lesson = BY_ID.get(lesson_id)
    title = f" {pick(lesson.question, code)}" if lesson else ""
    return f"{root}::{lesson_id.replace('_', ' ')}{title}".replace('"', "'")


def tags(item: Item) -> str:
    """The tags of a note, separated by spaces; ``::`` makes Anki show them as a tree."""
    return f"lesson::{item.lesson} concept::{item.concept} kind::{item.kind}"


def front(item: Item) -> str:
    """HTML of the question, in the language in use."""
    return _field(f"{asked_html(item)}<p><small>{task_words(item)}</small></p>")


def back(item: Item) -> str:
    """HTML of the answer: what is right, then why for every option or wrong number; in the language in use."""
    if item.number:
        right, rows = number_words(item.number), [f"✓ {inline(pick(item.number.why))}"]
        rows += [f"✗ {_span(trap.low, trap.high)}<br>{inline(pick(trap.why))}" for trap in item.number.traps]
    else:
        right = " → ".join(item.order) or t(", ", "、").join(item.correct)
        fits = item.order or item.correct
        rows = [
            f"{'✓' if one.id in fits else '✗'} <b>{one.id})</b> {inline(pick(one.text))}<br>{inline(pick(one.why))}"
            for one in item.options
        ]
    return _field(f"<p>{t('Right:', '正确答案：')} <b>{inline(right)}</b></p>{listing(rows)}")


def _span(low: float, high: float) -> str:
    return f"{low:,.10g}" if low == high else f"{low:,.10g} – {high:,.10g}"


def _field(html: str) -> str:
    """One field: left-aligned, and on one line of the file."""
    parts = re.split(r"(<pre.*?</pre>)", html.expandtabs(4), flags=re.S)
    lines = [part.replace("\n", "<br>" if part.startswith("<pre") else " ") for part in parts]
    return f'<div style="text-align:left">{"".join(lines)}</div>'


def knowledge_note(card: Knowledge, code: str) -> tuple[str, ...]:
    """The columns of a knowledge card's note, in the language in use."""
    return (
        f"torch-backends-{code}-keep-{card.id}",
        deck_name(card.lesson, code),
        f"lesson::{card.lesson} kind::knowledge",
        _field(front_html(card)),
        _field(back_html(card)),
    )


def export(items: Iterable[Item], code: str, cards: Iterable[Knowledge] = ()) -> str:
    """The whole file in the language ``code``, ``"en"`` or ``"zh"``; deterministic."""
    out = io.StringIO()
    out.write("#separator:Tab\n#html:true\n")
    out.write(f"#notetype:{NOTETYPE[code]}\n#columns:" + "\t".join(COLUMNS) + "\n")
    out.write("#guid column:1\n#deck column:2\n#tags column:3\n")
    rows = csv.writer(out, delimiter="\t", lineterminator="\n")
    with speaking(code):
        for item in exportable(items):
            rows.writerow((guid(item, code), deck_name(item.lesson, code), tags(item), front(item), back(item)))
        for card in cards:
            rows.writerow(knowledge_note(card, code))
    return out.getvalue()

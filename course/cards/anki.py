"""The practice questions and the knowledge cards as a file that Anki imports: one note each, in Anki's text format.

Anki reads ``#key:value`` lines first (https://docs.ankiweb.net/importing/text-files.html). A note keeps its
guid for ever, so importing a newer file brings known notes up to date, and their schedule stays. Bets are left
out: an experiment settles them, no card can.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from course.cards.render import task_words
from course.core.catalog import BY_ID
from course.core.i18n import pick, speaking, t
from course.core.markup import code_block, inline, paragraphs
from course.learning.marking import Response, feedback
from course.learning.reporting import number_words
from course.questions.items import Item, Option
from course.questions.knowledge import Knowledge
from course.questions.wording import PAIR, pairs

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
    """HTML of the question: stem, code, what to do, options; in the language in use."""
    parts = [paragraphs(pick(item.stem)), _code(pick(item.code)) if item.code else ""]
    parts.append(f"<p><small>{task_words(item)}</small></p>")
    if item.options:
        rows = []
        for group in pairs(item):
            rows += [f"<small>{pick(PAIR)}</small>"] * (len(group) > 1)
            rows += [f"<b>{one}</b>&ensp;{_text(item.option(one))}" for one in group]
        parts.append(_listing(rows))
    if item.number:
        unit = inline(pick(item.number.unit))
        parts.append(f"<p>{t(f'Unit: {unit}', f'单位：{unit}')}</p>")
    return _field(parts)


def back(item: Item) -> str:
    """HTML of the answer: what is right, then why for every option; in the language in use."""
    return _field({"number": _number_back, "order": _order_back}.get(item.kind, _choice_back)(item))


def _choice_back(item: Item) -> list[str]:
    right = t(", ", "、").join(item.correct)
    lines = []
    for line in feedback(item, Response()):
        option = item.option(line.option)
        lines.append(_explained("✓" if line.right else "✗", option.id, option))
    return [_right(f"<b>{right}</b>"), _listing(lines)]


def _order_back(item: Item) -> list[str]:
    steps = [_explained(f"{place}.", one, item.option(one)) for place, one in enumerate(item.order, 1)]
    rest = [_explained("✗", one.id, one) for one in item.options if one.id not in item.order]
    parts = [_right(f"<b>{' → '.join(item.order)}</b>"), _listing(steps)]
    if rest:
        parts += [f"<p>{t('These lines do not belong:', '这些行不该出现：')}</p>", _listing(rest)]
    return parts


def _number_back(item: Item) -> list[str]:
    number = item.number
    parts = [_right(f"<b>{inline(number_words(number))}</b>"), f"<p>{inline(pick(number.why))}</p>"]
    if number.traps:
        traps = (f"✗ {_range(trap.low, trap.high)}<br>{inline(pick(trap.why))}" for trap in number.traps)
        parts += [f"<p>{t('Tempting, but not right:', '容易想到，但不对：')}</p>", _listing(traps)]
    return parts


def _range(low: float, high: float) -> str:
    if low == high:
        return f"{low:,.10g}"
    return t(f"{low:,.10g} to {high:,.10g}", f"{low:,.10g} 到 {high:,.10g}")


def _right(answer: str) -> str:
    return f"<p>{t('Right:', '正确答案：')} {answer}</p>"


def _explained(mark: str, label: str, option: Option) -> str:
    return f"{mark} <b>{label}</b>&ensp;{_text(option)}<br>{inline(pick(option.why))}"


def _text(option: Option) -> str:
    """The text of an option. The indentation of a line of code stays."""
    kept = '<code style="white-space:pre-wrap;font-size:.85em">'
    return inline(pick(option.text)).replace("<code>", kept)


def _listing(lines: Iterable[str]) -> str:
    rows = "".join(f'<li style="margin:.5em 0">{line}</li>' for line in lines)
    return f'<ul style="list-style:none;padding:0">{rows}</ul>'


def _code(source: str) -> str:
    """Code on one line of the file: its line breaks become ``<br>``."""
    block = code_block(source.expandtabs(4))
    return block.replace("<pre ", '<pre style="text-align:left;overflow-x:auto" ').replace("\n", "<br>")


def _field(parts: list[str]) -> str:
    """One field: left-aligned, and on one line of the file."""
    return f'<div style="text-align:left">{" ".join("".join(parts).split(chr(10)))}</div>'


def knowledge_note(card: Knowledge, code: str) -> tuple[str, ...]:
    """The columns of a knowledge card's note, in the language in use."""
    rows = [f"<b>{name}</b><br>{inline(text)}" for name, text in card.rows()]
    turned = [_listing(rows), _code(pick(card.code)), f"<p><small>{inline(card.source)}</small></p>"]
    return (
        f"torch-backends-{code}-keep-{card.id}",
        deck_name(card.lesson, code),
        f"lesson::{card.lesson} kind::knowledge",
        _field([f"🎴 <b>{inline(pick(card.title))}</b>", f"<p>{inline(pick(card.asks))}</p>"]),
        _field(turned),
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

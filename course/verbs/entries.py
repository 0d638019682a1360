"""What ``what`` and ``keep`` find under a name or a pasted text, and how one entry is shown: a term, a switch, a message."""

from __future__ import annotations

import html

from course.cards.knowledge_view import cards_html
from course.cards.page import page
from course.core.i18n import pick, t
from course.core.markup import code_block, inline, link, plain
from course.flags import DEPENDS, WHEN, Switch
from course.questions import knowledge, messages
from course.questions.answers import Answer
from course.questions.glossary import Term
from course.questions.messages import Message

Rows = list[tuple[str, str]]


def term(one: Term) -> str:
    """HTML of a term."""
    rows = [("", pick(one.means)), (t("For example", "例如"), pick(one.example))]
    if one.also:
        rows.append((t("Also", "也叫"), t(", ", "、").join(one.also)))
    if one.lesson:
        rows.append((t("Lesson", "课"), one.lesson.split("_")[0]))
    return _entry(f"📖 {plain(pick(one.term))}", rows, one.source)


def switch(one: Switch, cards: list[knowledge.Knowledge]) -> str:
    """HTML of a row of the table of switches. cards: the knowledge cards about it."""
    rows = [("", pick(one.text))]
    if one.note:
        rows.append((t("Note", "注意"), pick(one.note)))
    if one.depends:
        rows.append((t("Default", "默认"), pick(one.depends)))
    elif one.default is not DEPENDS:
        rows.append((t("Default", "默认"), f"`{one.default!r}`"))
    if one.changeable:
        rows.append((t("Read by", "谁读它"), pick(one.readers)))
    rows.append((t("Read when", "什么时候读"), pick(WHEN[one.when])))
    if one.new_in:
        rows.append((t("Since torch", "始于 torch"), one.new_in))
    if one.also:
        rows.append((t("Also", "相关的名字"), ", ".join(f"`{one.path_of(name)}`" for name in one.also)))
    if one.nobody:
        rows.append((t("Not in the course", "课程不讲"), pick(one.nobody)))
    shown = [f'`observe("{one.experiment}")`'] if one.experiment else []
    shown += [f'`keep("{card.id}")`' for card in sorted(cards, key=lambda card: card.id != one.name)[:3]]
    if shown:
        rows.append((t("See it", "动手看"), t(", ", "、").join(shown)))
    return _entry(f"🎛️ {one.path}", rows, "")


def message(one: Message, pasted: str = "") -> str:
    """HTML of an error or a warning. pasted: what was looked for; of several wordings, its own is the title."""
    rows = one.rows()
    if one.experiment:
        rows.append((t("See it", "动手看"), f'`observe("{one.experiment}")`'))
    rows.append((t("torch", "torch 版本"), one.versions))
    return _entry(f"🚑 {messages.wording(one, pasted)}", rows, one.source, one.cure_code)


def answer(one: Answer) -> str:
    """HTML of whatever answers a question."""
    if isinstance(one, knowledge.Knowledge):
        return cards_html([one])
    if isinstance(one, Message):
        return message(one)
    if isinstance(one, Term):
        return term(one)
    return switch(one, [card for card in knowledge.read().values() if one.name in card.switches])


def headline(one: Answer) -> str:
    """One line that says what an answer is about."""
    if isinstance(one, knowledge.Knowledge):
        return pick(one.asks)
    return pick(one.means if isinstance(one, (Message, Term)) else one.text)


def call(one: Answer) -> str:
    """The call that shows it: ``keep("seeds")``."""
    if isinstance(one, knowledge.Knowledge):
        return f'`keep("{one.id}")`'
    name = one.says[0].replace("`", "") if isinstance(one, Message) else one.id if isinstance(one, Term) else one.path
    return f"`what({name!r})`" if '"' in name else f'`what("{name}")`'


def _entry(title: str, rows: Rows, source: str, code: str = "") -> str:
    """HTML. rows: (name, text with marks); a row without a name is a paragraph of its own. source: addresses or files."""
    said = [f"<b>{html.escape(name)}</b>{t(': ', '：')}{inline(text)}" if name else inline(text) for name, text in rows]
    blocks = [f"<p>{one}</p>" for one in said]
    if code:
        blocks.append(code_block(code, t("Code of the cure", "解决办法的代码")))
    if source:
        addresses = [one for one in source.split("; ") if one.startswith("https://")]
        links = [link(one, t("read on", "延伸阅读")) for one in addresses]
        blocks.append(f"<p><small>{' · '.join(links) or html.escape(source)}</small></p>")
    return page(title, *blocks)

"""The verbs ``keep``, which shows knowledge cards to take along, and ``what``, which explains a term, a switch or a message."""

from __future__ import annotations

from collections.abc import Iterable

from course.cards.knowledge_view import cards_html
from course.core.i18n import pick, t
from course.core.markup import inline, plain
from course.flags.catalogue import closest, plain_name
from course.flags.names import asks_more, is_prose, named
from course.flags.switch import Switch
from course.questions import answers, glossary, knowledge, messages
from course.verbs import entries, state, taught
from course.verbs.say import in_words, put, say

MOST = 4
"""Entries shown at once; of more only the names are said."""
MUCH = 0.6
"""The part of the words from which an answer is shown rather than the switch that is named with them."""


@in_words
def keep(*names: str) -> None:
    """Show knowledge cards: ``keep("cudnn.benchmark")``; without a name, those of the lessons met so far on one page.

    The name of a card or of a switch, also long or in a line of code. Any other words get what ``what`` says to them.
    """
    cards = list(knowledge.read().values())
    if not names:
        _of_lessons_met(cards)
        return
    for one in map(str, names):
        own = _named_cards(one, cards)
        if own[MOST:]:
            _names_of(one, [card.id for card in own], "keep")
        elif own:
            put(cards_html(own))
        else:
            what(one)


def _named_cards(words: str, cards: list[knowledge.Knowledge]) -> list[knowledge.Knowledge]:
    """The card of this name, else those about the switches that are named; none where the words ask for more than a name."""
    if exact := [card for card in cards if card.id == words.strip().lower()]:
        return exact
    if is_prose(words) or asks_more(words):
        return []
    names = {row.name for row in named(words)}
    return [card for card in cards if card.id in names] or [card for card in cards if names & set(card.switches)]


def _names_of(words: str, found: list[str], verb: str) -> None:
    calls = t(", ", "、").join(f'`{verb}("{one}")`' for one in found)
    say(t(f"For `{words}` see {calls}.", f"和 `{words}` 有关的：{calls}。"))


def _misspelt(words: str) -> list[str]:
    """The switch that a single word probably meant, in a list; empty where none is near."""
    meant = closest(words) if len(words.split()) == 1 else None
    return [meant] if meant else []


def _perhaps(calls: list[str]) -> str:
    """A sentence with what was probably meant; empty where nothing is near."""
    if not calls:
        return ""
    return t(f" Perhaps {' or '.join(calls)}?", f"也许是 {' 或 '.join(calls)}？")


def _of_lessons_met(every: list[knowledge.Knowledge]) -> None:
    """Show the knowledge cards of this lesson and of those in which something was answered or run (all if there are none), and
    how to print them.
    """
    met = {state.now.lesson, *(entry.lesson for entry in state.now.log.entries())}
    cards = [card for card in every if card.lesson in met] or every
    head = t(
        f"🎴 Knowledge cards of the lessons you have met: {len(cards)} of {len(every)}. Press one to turn it.",
        f"🎴 学过的各课的知识卡：{len(cards)} 张（全部共 {len(every)} 张）。点一下就翻面。",
    )
    note = t(
        "To take all cards along: `python -m course.cards anki` writes a file for Anki; `take_home()` a page to print.",
        "想把全部卡片带走：`python -m course.cards anki` 写成 Anki 文件，`take_home()` 写成可以打印的网页。",
    )
    put(f"<p><strong>{head}</strong><br>{inline(note)}</p>" + cards_html(cards))


@in_words
def what(words: str | None = None) -> None:
    """Explain a term, a switch, or an error message: ``what("channels_last")``, ``what("part of the message")``.

    A message is known however it was pasted, with the traceback around it, too. Without words: the terms of this lesson.
    """
    terms = glossary.read()
    if words is None:
        _words_of(state.now.lesson, terms)
        return
    known, words = messages.read(), str(words)
    term, said, rows = glossary.find(words, terms), messages.find(words, known.values()), named(words)
    prose = is_prose(words)
    if term is not None:
        put(entries.term(term))
    elif said:
        for one in said[:MOST]:
            put(entries.message(one, words))
    elif rows and not prose:
        if asks_more(words) and (found := answers.near(words, enough=MUCH)):
            _nearest(words, found, [row for row in rows if row not in found][: MOST - len(found)])
        else:
            _switches(words, rows)
    elif strange := answers.unknown(words):
        _not_here(f"`{strange[0]}`", words, known.values())
    elif not rows and (part := messages.part_of(words, known.values())):
        for one in part:
            put(entries.message(one, words))
    elif messages.is_pasted(words):
        _not_here(t("This message", "这条报错"), words, known.values())
    elif found := answers.near(words):
        _nearest(words, found, [row for row in rows if row not in found][: MOST - len(found)], taught.taught(words))
    elif rows:
        _switches(words, rows)
    elif found := taught.taught(words):
        calls = t(", ", "、").join(found)
        say(t(f"The course asks or shows this: {calls}.", f"课程里问到、演示过：{calls}。"))
    else:
        say(
            t(
                f"“{words}” is neither a term nor a switch nor a message that the course knows.",
                f"词条、开关、报错里都没有“{words}”。",
            )
            + _perhaps([f'`what("{one}")`' for one in glossary.near(words, terms, 2) or _misspelt(words)])
            + t(" `what()` lists the terms.", "`what()` 列出全部词条。")
        )


def _not_here(name: str, words: str, known: Iterable[messages.Message]) -> None:
    """Say that this constant or message is not in the course, and which the course has of the libraries that the words name. Another
    entry would mislead.
    """
    say(t(f"{name} is not in this course.", f"本课程里没有{name}。"))
    if family := messages.of_libraries(words, known)[:MOST]:
        head = t("What it knows of the same library or device: ", "同一个库或设备，它知道的有：")
        say(head + t(", ", "、").join(map(entries.call, family)) + t(".", "。"))


def _nearest(words: str, found: list[answers.Answer], rows: list[Switch], lessons: Iterable[str] = ()) -> None:
    """Show the answer that is nearest to a question; name the others, the switches that the question names, and where the course
    teaches it. Of an answer that is merely the nearest only the name is told.
    """
    if not answers.is_sure(words, found[0]):
        head = t("Perhaps not in this course. Nearest to these words:", "课程里也许没有。和这些话最接近的：")
        say(head, *(f"- {entries.call(one)}: {entries.headline(one)}" for one in [*found, *rows]))
        _see_also(list(lessons))
        return
    say(t("Nearest to these words:", "和这些话最接近的："))
    put(entries.answer(found[0]))
    _see_also([entries.call(one) for one in [*found[1:], *rows]] + list(lessons))


def _see_also(calls: list[str]) -> None:
    if calls:
        say(t("See also ", "另见 ") + t(", ", "、").join(calls) + t(".", "。"))


def _switches(words: str, rows: list[Switch]) -> None:
    """Show the rows with this name, or all where they are few; name the others."""
    exact = [row for row in rows if plain_name(words) == row.name]
    shown = exact or (rows if len(rows) <= MOST else [])
    cards = knowledge.read().values()
    for row in shown:
        put(entries.switch(row, [card for card in cards if row.name in card.switches]))
    if rest := [row.path for row in rows if row not in shown]:
        _names_of(words, rest, "what")


def _words_of(lesson: str | None, terms: dict[str, glossary.Term]) -> None:
    """Explain the terms that this lesson teaches, and name all others."""
    own = [term for term in terms.values() if term.lesson and term.lesson == lesson]
    others = [term for term in terms.values() if term not in own]
    head = t("📖 Words of this lesson", "📖 本课的词") if own else t("📖 Words of the course", "📖 课程里的词")
    told = [f"**{plain(pick(term.term))}**{t(': ', '：')}{pick(term.means)}" for term in own]
    rest = t(", ", "、").join(plain(pick(term.term)) for term in others)
    say(
        f"**{head}**",
        *told,
        t(f"Others: {rest}.", f"其他：{rest}。") if own else rest,
        t('`what("key")` tells one of them.', '`what("key")` 说其中一个。'),
    )

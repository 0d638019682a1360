"""The verbs ``keep``, which shows knowledge cards to take along, and ``what``, which explains a term."""

from __future__ import annotations

import html

from course.cards.knowledge_view import card_text, cards_html
from course.cards.page import page
from course.i18n import pick, t
from course.markup import inline, link, plain
from course.questions import glossary, knowledge
from course.suggest import did_you_mean
from course.verbs import state
from course.verbs.say import in_words, put, say


@in_words
def keep(*names: str) -> None:
    """Show knowledge cards: ``keep("cudnn.benchmark")``; without a name, those of the lessons met so far on one page."""
    cards, _ = knowledge.read()
    if not names:
        _of_lessons_met(list(cards.values()))
        return
    known = [cards[one] for one in names if one in cards]
    if known:
        put(cards_html(known), "\n\n".join(map(card_text, known)))
    for one in names:
        if one not in cards:
            near = did_you_mean(one, cards, 3, 0.4)
            say(
                t(
                    f"There is no knowledge card `{one}`.{near} `keep()` shows those of the lessons you have met.",
                    f"没有名为 `{one}` 的知识卡。{near}用 `keep()` 看学过的各课的知识卡。",
                )
            )


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
        "To print all cards or to take them along: `python -m course.cards page` writes one web page, "
        "`python -m course.cards anki` a file for Anki; both hold these cards too.",
        "想打印全部卡片或带走：`python -m course.cards page` 写成一个网页，`python -m course.cards anki` 写成 Anki 文件，"
        "里面都有这些卡片。",
    )
    put(
        f"<p><strong>{head}</strong><br>{inline(note)}</p>" + cards_html(cards),
        "\n\n".join([head, *map(card_text, cards), plain(note)]),
    )


@in_words
def what(words: str | None = None) -> None:
    """Explain a term: ``what("channels_last")``; without a term, list those of this lesson."""
    terms, _ = glossary.read()
    if words is None:
        _words_of(state.now.lesson, terms)
        return
    term = glossary.find(words, terms)
    if term is not None:
        put(_page(term), _text(term))
        return
    near = t(" Perhaps ", "也许是 ") + t(" or ", " 或 ").join(f'`what("{one}")`' for one in glossary.near(words, terms))
    rest = near + t("?", "？") if glossary.near(words, terms) else ""
    say(
        t(
            f"“{words}” is not in the glossary.{rest} `what()` lists its words.",
            f"词汇表里没有“{words}”。{rest}`what()` 列出全部词条。",
        )
    )


def _page(term: glossary.Term) -> str:
    example = f"<p>{t('For example:', '例如：')} {inline(pick(term.example))}</p>"
    return page(f"📖 {plain(pick(term.term))}", f"<p>{inline(pick(term.means))}</p>", example, _more(term, linked=True))


def _more(term: glossary.Term, linked: bool) -> str:
    """Other names, the lesson that teaches it, the page to read."""
    parts = []
    if term.also:
        parts.append(t("also: ", "也叫：") + t(", ", "、").join(term.also))
    if term.lesson:
        number = term.lesson.split("_")[0]
        parts.append(t(f"lesson {number}", f"第 {number} 课"))
    if not linked:
        return " · ".join([*parts, *filter(None, [term.source])])
    shown = [html.escape(one) for one in parts]
    if term.source:
        shown.append(link(term.source, t("read on", "延伸阅读")))
    return f"<p><small>{' · '.join(shown)}</small></p>" if shown else ""


def _text(term: glossary.Term) -> str:
    more = _more(term, linked=False)
    return "\n".join(
        [
            f"📖 {plain(pick(term.term))}",
            f"  {plain(pick(term.means))}",
            f"  {t('For example: ', '例如：')}{plain(pick(term.example))}",
            *([f"  ({more})"] if more else []),
        ]
    )


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

"""The verbs ``keep``, which shows knowledge cards to take along, and ``what``, which explains a term, a switch or a message."""

from __future__ import annotations

import html
from collections.abc import Sequence
from functools import cache

from course.cards.knowledge_view import cards_html
from course.cards.page import page
from course.core.catalog import BY_ID, LESSONS
from course.core.i18n import Text, pick, t
from course.core.markup import code_block, inline, link, plain
from course.experiment.reports import reports
from course.flags import DEPENDS, WHEN, Switch
from course.flags.catalogue import closest, plain_name
from course.flags.names import asks_more, is_prose, named
from course.questions import answers, glossary, knowledge, messages
from course.questions.answers import Answer, in_both
from course.questions.bank import default_bank
from course.questions.glossary import Term
from course.questions.messages import Message
from course.questions.ranking import Ranking
from course.verbs import state
from course.verbs.say import in_words, put, say

MOST = 4
"""Entries shown at once; of more only the names are said."""


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
    words = str(words)
    term, rows, strange = glossary.find(words, terms), named(words), answers.unknown(words)
    if term is not None:
        put(term_html(term))
    elif said := _messages(words, strange, bool(rows)):
        for one in said[:MOST]:
            put(message_html(one, words))
    elif rows and not is_prose(words) and not asks_more(words):
        _switches(words, rows)
    else:
        _nearest(words, rows, strange)


def _messages(words: str, strange: list[str], names: bool) -> list[Message]:
    """The messages that the words hold, or of which they are a part, unless they say a status that the course does not have.

    names: whether they name a switch, which may stand in a message.
    """
    known = messages.read().values()
    if any(map(messages.STATUS.search, strange)):
        return []
    return messages.find(words, known) or ([] if names or strange else messages.part_of(words, known))


def _nearest(words: str, rows: list[Switch], strange: list[str]) -> None:
    """Show the answer that the words name; of what is merely near them tell how to open it: its cause or its cure may be another.

    rows: switches that the words name. strange: constants that the course does not have.
    """
    found = answers.near(words, most=MOST)
    others = [call(one) for one in answers.mentioned(words) if one not in found]
    if found and answers.is_named(words, found[0]):
        say(t("Nearest to these words:", "和这些话最接近的："))
        put(answer_html(found[0]))
        _see_also([*map(call, found[1:]), *others, *taught(words)])
        return
    if rows and not is_prose(words):
        _switches(words, rows)
        return
    pasted = messages.is_pasted(words)
    said = next(filter(messages.STATUS.search, strange), "" if pasted else "".join(strange[:1]))
    unknown = f"`{said}`" if said else t("This message", "这条报错") if pasted else ""
    if unknown:
        head = t(f"{unknown} is not in this course.", f"本课程里没有{unknown}。")
        found = [one for one in found if not isinstance(one, Message)]
    else:
        head = t("Perhaps not in this course.", "课程里也许没有。")
        others += taught(words)
    listed = [f"- {call(one)}{_title(one)}" for one in found]
    if found and not unknown and answers.is_like(words, found[0]):
        say(t("Nearest to these words; open one:", "和这些话最接近的，打开一个看看："), *listed)
    elif found:
        say(head + t(" Nearest by words:", "字面上最接近的："), *listed)
    elif unknown or others:
        say(head)
    else:
        _strange(words)
    if unknown:
        _kin(words)
    _see_also(others)


def _kin(words: str) -> None:
    """Name the messages of the libraries and devices that the words name, the nearest first."""
    known = messages.of_libraries(words, messages.read().values())
    kin = [one for one in answers.near(words, (Message,), len(known)) if one in known]
    if kin := [*kin, *(one for one in known if one not in kin)][:MOST]:
        told = t(", ", "、").join(map(call, kin))
        say(t(f"Of the same library or device: {told}.", f"同一个库或设备的：{told}。"))


def _strange(words: str) -> None:
    """Say that nothing is near, and which term or switch may have been meant."""
    meant = glossary.near(words, glossary.read(), 2) or [closest(words) if len(words.split()) == 1 else None]
    calls = t(" or ", " 或 ").join(f'`what("{one}")`' for one in filter(None, meant))
    said = t(
        f"“{words}” is neither a term nor a switch nor a message that the course knows.",
        f"词条、开关、报错里都没有“{words}”。",
    )
    perhaps = t(f" Perhaps {calls}?", f"也许是 {calls}？") if calls else ""
    say(said + perhaps + t(" `what()` lists the terms.", "`what()` 列出全部词条。"))
    if not calls:
        _kin(words)


def _see_also(calls: list[str]) -> None:
    if calls:
        say(t("See also ", "另见 ") + t(", ", "、").join(calls) + t(".", "。"))


def _switches(words: str, rows: list[Switch]) -> None:
    """Show the rows with this name, or all where they are few; name the others."""
    exact = [row for row in rows if plain_name(words) == row.name]
    shown = exact or (rows if len(rows) <= MOST else [])
    cards = knowledge.read().values()
    for row in shown:
        put(switch_html(row, [card for card in cards if row.name in card.switches]))
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
        t('`what("key")` explains one of them.', '`what("key")` 解释其中一个。'),
    )


# --- how an entry is shown ---


Rows = list[tuple[str, str]]


def term_html(one: Term) -> str:
    """HTML of a term."""
    rows = [("", pick(one.means)), (t("For example", "例如"), pick(one.example))]
    if one.also:
        rows.append((t("Also", "也叫"), t(", ", "、").join(one.also)))
    if one.lesson:
        rows.append((t("Lesson", "课"), one.lesson.split("_")[0]))
    return _entry(f"📖 {plain(pick(one.term))}", rows, one.source)


def switch_html(one: Switch, cards: list[knowledge.Knowledge]) -> str:
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


def message_html(one: Message, pasted: str = "") -> str:
    """HTML of an error or a warning. pasted: what was looked for; of several wordings, its own is the title."""
    rows = one.rows()
    if one.experiment:
        rows.append((t("See it", "动手看"), f'`observe("{one.experiment}")`'))
    rows.append((t("torch", "torch 版本"), pick(one.versions)))
    return _entry(f"🚑 {messages.wording(one, pasted)}", rows, one.source, one.cure_code)


def answer_html(one: Answer) -> str:
    """HTML of whatever answers a question."""
    if isinstance(one, knowledge.Knowledge):
        return cards_html([one])
    if isinstance(one, Message):
        return message_html(one)
    if isinstance(one, Term):
        return term_html(one)
    return switch_html(one, [card for card in knowledge.read().values() if one.name in card.switches])


def _title(one: Answer) -> str:
    """What a card is called, or asks where its title is its id; the call that shows any other answer says what that is called."""
    if not isinstance(one, knowledge.Knowledge):
        return ""
    title = plain(pick(one.title))
    return t(": ", "：") + (plain(pick(one.asks)) if title == one.id else title)


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


TAUGHT = 0.6
"""The part of the words from which a question, a report or a lesson is worth naming."""


def taught(words: str, most: int = 2) -> list[str]:
    """Where the course asks, shows or teaches what the words say most of, the best first: calls in backticks, names of lessons."""
    found = [hit.key for hit in _lessons().hits(words) if hit.share >= TAUGHT]
    return [t(f"lesson {one[:2]}", f"第 {one[:2]} 课") if one in BY_ID else f"`{one}`" for one in found[:most]]


@cache
def _lessons() -> Ranking[str]:
    """call -> texts, in both languages."""
    bank = default_bank()
    texts: dict[str, tuple[Sequence[Text], Sequence[Text]]] = {}
    beliefs = bank.misconceptions()
    for item in bank.items():
        verb = "predict" if item.kind == "predict" else "review"
        said = [text for one in item.options for text in (one.text, one.why)]
        said += [item.number.why] if item.number else []
        for belief in (beliefs[one.misconception] for one in item.options if one.misconception in beliefs):
            said += [belief, belief.get("truth", "")]
        texts[f'{verb}("{item.id}")'] = (item.stem,), said
    for one in bank.interview():
        texts[f'interview("{one.id}")'] = (one.stem,), (one.short, *one.full)
    for one in reports():
        call = f'observe("{one.experiments[0]}")'
        front, body = texts.get(call, ((), ()))
        texts[call] = front, (*body, one.what, one.does_not_show, one.machine)
    for one in LESSONS:
        texts[one.id] = (one.question,), ()
    return Ranking({call: (list(in_both(*front)), " ".join(in_both(*body))) for call, (front, body) in texts.items()})

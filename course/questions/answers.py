"""What answers a question in a person's own words: knowledge cards, messages, terms and rows of switches, ranked together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from course.core.i18n import LANGUAGES, Text, pick
from course.core.suggest import nearest
from course.flags import TABLE, Switch
from course.flags.names import is_prose, named
from course.questions import glossary, knowledge, messages
from course.questions.glossary import Term
from course.questions.knowledge import Knowledge
from course.questions.messages import Message
from course.questions.ranking import Hit, Ranking

Answer = Knowledge | Message | Term | Switch
COUNTS: dict[type, float] = {Knowledge: 1, Message: 0.8, Term: 0.6, Switch: 0.4}
"""A card answers a question, a term only explains a word of it: how much the points of each kind count."""
ABOUT = 2
"""How much more a card counts that is about a switch or a term which the question names."""
ENOUGH = 0.2
"""The part of the words, by weight, from which an answer is worth naming."""
LIKE = 0.6
"""How much a question must be like a phrase of an answer, so that the course is likely to know what was asked."""


def near(words: str, kinds: tuple[type, ...] = tuple(COUNTS), most: int = 3) -> list[Answer]:
    """The answers of these kinds that are nearest to the words, the best first; empty where none says enough of them."""
    every, asked = _every(), _names(words)
    found = [(hit.points, every[hit.key]) for hit in _hits(words) if hit.share >= ENOUGH]
    scored = [
        (points * COUNTS[type(one)] * (ABOUT if isinstance(one, Knowledge) and asked & _about(one) else 1), one)
        for points, one in found
        if isinstance(one, kinds)
    ]
    return [one for _, one in sorted(scored, key=lambda pair: -pair[0])[:most]]


def is_like(words: str, one: Answer) -> bool:
    """Whether a question is like one of the phrases by which people look for this answer."""
    return any(hit.alike >= LIKE for hit in _hits(words) if hit.key == _key(one))


def mentioned(words: str) -> list[Switch | Term]:
    """The switches that the words name, and the terms that are written with an underscore, such as channels_last."""
    terms = (glossary.find(name, glossary.read()) for name in re.findall(r"\w+_\w+", words))
    return [*named(words), *filter(None, terms)]


def is_named(words: str, one: Answer) -> bool:
    """Whether the words name this answer, so that it may be told: they are a phrase of its front, or one name that it explains, or a
    switch or a term with a symptom. In a whole sentence a switch may stand beside the point, as in a program's message.
    """
    if messages.is_pasted(words):
        return False
    short = not is_prose(words)
    if short and re.fullmatch(r"[\w.-]+", words.strip()):
        return words.strip().lower() in "\n".join((*_front(one), *_body(one))).lower()
    if short and not isinstance(one, Message) and _about(one) & _names(words):
        return True
    return _ranking().is_phrase(_key(one), words)


def _names(words: str) -> set[str]:
    return {name for one in mentioned(words) for name in _about(one)}


def _about(one: Answer) -> set[str]:
    """The names of the switches that an answer is about; of a term its own."""
    if isinstance(one, (Switch, Term)):
        return {_key(one)[1]}
    return set(one.switches)


def unknown(words: str) -> list[str]:
    """The constants in these words, such as CUBLAS_STATUS_NOT_SUPPORTED, that no answer names, perhaps misspelt or in part."""
    given = dict.fromkeys(messages.constants(words))
    known = messages.constants(_texts())
    return [
        name for name in given if name not in _texts() and not named(name) and not nearest(name, known, cutoff=0.92)
    ]


@cache
def _texts() -> str:
    return "\n".join(text for one in _every().values() for text in (*_front(one), *_body(one)))


@cache
def _every() -> dict[tuple[type, str], Answer]:
    found: list[Answer] = [*knowledge.read().values(), *messages.read().values(), *glossary.read().values()]
    found += [row for row in TABLE.values() if row.kind != "internal"]
    return {_key(one): one for one in found}


def _key(one: Answer) -> tuple[type, str]:
    return type(one), one.name if isinstance(one, Switch) else one.id


@cache
def _ranking() -> Ranking[tuple[type, str]]:
    """Both languages stand in one index: a question may be asked in either, whatever the language in use."""
    return Ranking({key: (list(filter(None, _front(one))), " ".join(_body(one))) for key, one in _every().items()})


@lru_cache(maxsize=1)
def _hits(words: str) -> list[Hit[tuple[type, str]]]:
    """The texts that say a word of a question, the best first: asked twice for each question."""
    return _ranking().hits(words)


def in_both(*texts: Text) -> Iterator[str]:
    yield from (pick(text, code) for text in texts if text for code in LANGUAGES)


def _front(one: Answer) -> Iterator[str]:
    """The phrases by which a person looks for it."""
    if isinstance(one, Knowledge):
        yield from (one.id, *in_both(one.title, one.asks))
        yield from (phrase.strip() for asked in in_both(one.asked) for phrase in re.split("[;；]", asked))
    elif isinstance(one, Message):
        yield from one.says
    elif isinstance(one, Term):
        yield from one.names()
    else:
        yield from (one.path, *map(one.path_of, one.also))


def _body(one: Answer) -> Iterator[str]:
    if isinstance(one, Knowledge):
        yield from in_both(*(getattr(one, field) for field, _ in knowledge.ROWS))
        yield from one.switches
    elif isinstance(one, Message):
        yield from in_both(*(getattr(one, field) for field, _ in messages.ROWS))
        yield from one.switches
    elif isinstance(one, Term):
        yield from in_both(one.means, one.example)
    else:
        yield from in_both(one.text, one.note)

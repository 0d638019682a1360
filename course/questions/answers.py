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
ABOUT = 1.5
"""A question that names a switch or a term such as channels_last asks about it: how much more its own answers count."""
OWN = 2
"""How much more the card of that switch counts."""
OTHER = 0.5
"""How much an answer counts that is about other switches than those that a question names; in a few words it is left out."""
ENOUGH = 0.3
"""The part of the words, by weight, from which a text is worth showing."""
ALIKE, NEARLY_ALL = 0.45, 0.85
"""From here on an answer is told; below, only its name."""


def near(words: str, kinds: tuple[type, ...] = tuple(COUNTS), most: int = 3, enough: float = ENOUGH) -> list[Answer]:
    """The answers of these kinds that are nearest to the words, the best first; empty where none says enough of them."""
    every, asked = _every(), {row.name for row in named(words)}
    asked |= {term.id for name in re.findall(r"\w+_\w+", words) if (term := glossary.find(name, glossary.read()))}
    found = [(hit.points, every[hit.key]) for hit in _hits(words) if hit.share >= enough and _shares(hit, words)]
    prose = is_prose(words)
    scored = [
        (points * COUNTS[type(one)] * nearness, one)
        for points, one in found
        if isinstance(one, kinds)
        and not _elsewhere(one, words)
        and ((nearness := _nearness(asked, one, words)) > OTHER or prose)
    ]
    return [one for _, one in sorted(scored, key=lambda pair: -pair[0])[:most]]


def is_sure(words: str, one: Answer) -> bool:
    """Whether this answer is more than the nearest of all: it is about a switch that the words name; or it has every name with an
    underscore, and one of its phrases is like the words, or it says nearly all of them, as a message without such a name must.
    What names an Apple or AMD device is not surely answered by what does not.
    """
    said = "\n".join((*_front(one), *_body(one))).lower()
    if any(device.search(words) and not device.search(said) for device in _DEVICES.values()):
        return False
    if not isinstance(one, Message) and _about(one) & {row.name for row in named(words)} or not words.split()[1:]:
        return True
    names = re.findall(r"[a-z]\w*_\w+", words.lower())
    if any(name not in said for name in names):
        return False
    whole = isinstance(one, Message) and not names
    hits = (hit for hit in _hits(words) if _every()[hit.key] is one)
    return any(
        hit.share >= NEARLY_ALL and hit.alike >= ALIKE / 2 or hit.most and hit.alike >= ALIKE and not whole
        for hit in hits
    )


def _nearness(asked: set[str], one: Answer, words: str) -> float:
    """How much the points of an answer count for a question that names these switches or terms."""
    if isinstance(one, Knowledge) and one.id.startswith("mkldnn") and _ONEDNN.search(words):
        return ABOUT
    if not asked or not (about := _about(one)):
        return 1
    if isinstance(one, Knowledge) and one.id in asked:
        return OWN
    return ABOUT if asked & about else 1 if isinstance(one, Term) else OTHER


def _about(one: Answer) -> set[str]:
    """The names of the switches that an answer is about; of a term its own."""
    if isinstance(one, (Switch, Term)):
        return {one.name if isinstance(one, Switch) else one.id}
    return set(one.switches)


_DEVICES = {
    "mps": re.compile(r"(?<![a-z])(?:mps|apple|metal|mac|macbook|macos|m[1-5])(?![a-z])|苹果", re.I),
    "amd": re.compile(r"(?<![a-z])(?:amd|rocm|hip|radeon|miopen)(?![a-z])", re.I),
}
"""What makes a question one about these devices; other GPUs have other answers."""
_ONEDNN = re.compile("mkldnn|mkl-dnn|onednn|one-dnn", re.I)
_CPU = re.compile(r"(?<![a-z.])cpus?(?![a-z])|处理器", re.I)
_GPU = re.compile(r"(?<![a-z])(?:gpus?|cuda|cudnn|mps|mac|macbook|apple|m[1-5]|nvidia|rocm)(?![a-z])|显卡|苹果", re.I)


def _shares(hit: Hit, words: str) -> bool:
    """Whether an answer shares enough: one common word of several is no match, except a card whose front says it."""
    return not hit.alone or hit.key[0] is Knowledge and _ranking().in_front(hit.key, words)


def _elsewhere(one: Answer, words: str) -> bool:
    """Whether an answer is about a device alone that the words do not name, or about a GPU while they speak of a CPU."""
    asks = pick(one.asks, "en") if isinstance(one, Knowledge) else ""
    if _CPU.search(words) and not _GPU.search(words) and _GPU.search(asks) and not _CPU.search(asks):
        return True
    name = one.group if isinstance(one, Message) else one.name if isinstance(one, Switch) else one.id
    device = re.split("[.-]", name)[0]
    return device in _DEVICES and " " in words.strip() and not _DEVICES[device].search(words)


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
    return {(type(one), one.name if isinstance(one, Switch) else one.id): one for one in found}


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

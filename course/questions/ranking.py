"""Which texts answer a question in a person's own words: rare words count more (BM25), and a phrase that people type counts most.

Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009 (https://doi.org/10.1561/1500000019).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cache
from math import log
from typing import Generic, TypeVar

from course.core.catalog import FOLDER
from course.questions.bank import read_yaml

SYNONYMS = FOLDER / "synonyms.yaml"
Key = TypeVar("Key", bound=Hashable)
SMALL = frozenset(
    "a about after all also although am an and any are as at be been but by can cannot could did do does doing done each either"
    " even ever every for from get gets getting give gives given go goes going got had has have help here how i if in into is it"
    " its itself just like make makes me mean means might more much my need never no not now of on one only or other our own"
    " please put should so some still such take takes than that the their them then there these they thing this those to too"
    " true false try use used using very want was we well were what when where whether which while who why will with without would yes you"
    " your didn doesn don isn wasn won".split()
)
"""Words of any question: they say nothing about what it is about."""
_CHINESE = re.compile("[\u4e00-\u9fff]+")
SMALL_ZH = re.compile(
    "为什么|为啥|怎么办|怎么样|怎么|怎样|如何|什么|是不是|能不能|会不会|要不要|有没有|到底|究竟|请问|您好|你好|求助|大佬|可以|应该|需要|"
    "是否|还是|但是|反而|明明|而且|或者|因为|所以|这是|这个|那个|如果|已经|问题|原因|情况|时候|解决|[的了吗呢吧啊呀么我你您他它是在有和与把被就都也很到让给对]"
)
_K1, _B = 1.2, 0.6
"""How soon a word said again stops counting, and how much a long text is held back: the usual values of BM25."""
_UNKNOWN = 0.5
"""The weight of a word of a question that no text holds: nobody can say it."""
_ALIKE = 1.5
"""What a phrase of the front that equals the question adds, against all its words found."""
_FRONT = 3
"""A word of the front counts as much as this many in the body."""


def tokens(text: str) -> list[str]:
    """The words of a text to look for: without their endings, names also in their parts, Chinese by pairs of signs."""
    found = []
    for name in re.findall(r"[a-z_][a-z0-9_.]*|\d+[a-z][a-z0-9]*|\d{4,}", text.lower()):
        parts = [part for part in re.split(r"[._]+", name) if part]
        found += [name.strip("._")] if parts[1:] else []
        found += [last] if "_" in (last := name.strip("._").rpartition(".")[2]) and last != name.strip("._") else []
        found += [_stem(part) for part in parts if part not in SMALL and (part[1:] or parts[1:])]
    spaced = " " + re.sub(r"[^a-z0-9_\u4e00-\u9fff]+", " ", text.lower()) + " "
    said = filter(None, map(_idea_of, re.findall(r"[a-z0-9_]+", text.lower())))
    found += {*said, *(mark for phrase, mark in _ideas()[2] if phrase in spaced)}
    for run in _CHINESE.findall(text):
        for piece in filter(None, SMALL_ZH.split(run)):
            found += [piece[at : at + 2] for at in range(max(1, len(piece) - 1))]
    return found


@cache
def _ideas() -> tuple[dict[str, str], list[tuple[str, str]], list[tuple[str, str]]]:
    """(word -> mark, (beginning of a word, mark), (phrase, mark)) of the lines of words that mean the same."""
    words, beginnings, phrases = {}, [], []
    for line in read_yaml(SYNONYMS) or ():
        mark = f"={line[0]}"
        for one in map(str, line):
            if _CHINESE.search(one):
                phrases.append((one, mark))
            elif re.search(r"[ -]", one):
                phrases.append((f" {re.sub('[ -]', ' ', one)} ".replace("* ", ""), mark))
            elif one.endswith("*"):
                beginnings.append((one[:-1], mark))
            else:
                words[one] = mark
    return words, beginnings, phrases


@cache
def _idea_of(word: str) -> str:
    """The mark of the line that a word stands in; empty where it stands in none."""
    words, beginnings, _ = _ideas()
    return words.get(word) or next((mark for beginning, mark in beginnings if word.startswith(beginning)), "")


def _stem(word: str) -> str:
    return re.sub(r"(?<=...)(?:ings?|ers?|ed|es|s|ly|e)$", "", word)


@dataclass(frozen=True)
class Hit(Generic[Key]):
    """One text found. share: the part of the question, by weight, that it says, 0 to 1. alike: how much the question is like one of
    its phrases, 0 to 1.
    """

    key: Key
    points: float
    share: float
    alike: float


class Ranking(Generic[Key]):
    """Ranks texts. texts: key -> (phrases of its front, body)."""

    def __init__(self, texts: Mapping[Key, tuple[list[str], str]]) -> None:
        self._phrases = {key: [frozenset(tokens(one)) for one in front] for key, (front, _) in texts.items()}
        self._counts: dict[Key, Counter[str]] = {}
        for key, (front, body) in texts.items():
            counts = Counter(tokens(body))
            for word in (word for phrase in front for word in tokens(phrase)):
                counts[word] += _FRONT
            self._counts[key] = counts
        self._holding = Counter(word for counts in self._counts.values() for word in counts)
        self._length = sum(sum(counts.values()) for counts in self._counts.values()) / max(1, len(self._counts))

    def _weight(self, word: str) -> float:
        """How much a word says: a rare one most."""
        held = self._holding[word]
        return log(1 + (len(self._counts) - held + 0.5) / (held + 0.5))

    def hits(self, question: str) -> list[Hit[Key]]:
        """The texts that say a word of the question, the best first."""
        wanted = sorted(set(tokens(question)))
        alone = not _CHINESE.search(question) and len(question.split()) == 1  # perhaps a name, misspelt
        weights = {word: self._weight(word) if alone or self._holding[word] else _UNKNOWN for word in wanted}
        whole = sum(weights.values())
        found = []
        for key, counts in self._counts.items():
            held = [word for word in weights if word in counts]
            if not held:
                continue
            long = 1 - _B + _B * sum(counts.values()) / self._length
            points = sum(weights[word] * counts[word] * (_K1 + 1) / (counts[word] + _K1 * long) for word in held)
            alike = self._alike(key, weights)
            points += _ALIKE * whole * alike
            share = sum(weights[word] for word in held) / whole
            found.append(Hit(key, points * (1 + share) / 2, share, alike))
        return sorted(found, key=lambda hit: -hit.points)

    def is_phrase(self, key: Key, question: str) -> bool:
        """Whether the question has the words of a phrase of the front of this text, and no others."""
        return frozenset(tokens(question)) in self._phrases[key]

    def _alike(self, key: Key, weights: dict[str, float]) -> float:
        """0 to 1: the cosine, by weight, of the question and the phrase of this text that is most like it."""
        here = sum(weight**2 for weight in weights.values()) ** 0.5
        best = 0.0
        for phrase in self._phrases[key]:
            shared = sum(weights[word] ** 2 for word in phrase if word in weights)
            if shared:
                best = max(best, shared / here / sum(self._weight(word) ** 2 for word in phrase) ** 0.5)
        return best

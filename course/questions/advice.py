"""Advice for the author of a question: hints that give the key away, texts that are too long.

Faults found by ``item_lint.lint`` stop a build; advice is only printed, and the author decides.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from course.i18n import LANGUAGES, Text, pick
from course.questions.finding import Finding
from course.questions.items import Item

LONGEST = {"stem": (70, 220), "option": (25, 60), "why": (60, 160)}
"""Part of an item -> most words in English, most characters in Chinese."""
_EXACT = re.compile(r"\d|`")
_WORDS_OF_PYTHON = re.compile(r"^\s*(import|from|def|class|with|for|while|if) ", re.M)


def advice(item: Item, others: Iterable[Item] = ()) -> list[Finding]:
    """The advice on an item. others: items whose texts might give the answer away."""
    found = [*_lengths(item), *_exact(item), *_code(item), *_doubled(item)]
    return found + list(_revealed(item, others))


def positions(items: Sequence[Item]) -> Finding | None:
    """A finding where nearly half of the right options of a bank are at the same position, else None."""
    places = Counter(
        item.options.index(item.option(item.correct[0])) for item in items if item.kind == "single" and item.correct
    )
    total = sum(places.values())
    if total < 20 or max(places.values()) < 0.45 * total:
        return None
    place, count = places.most_common(1)[0]
    return Finding(
        "one-position", f"over the whole bank {count} of {total} right options are at {'abcdefgh'[place]}; spread them."
    )


def _lengths(item: Item) -> Iterator[Finding]:
    texts: list[tuple[str, str, Text]] = [("stem", "the stem", item.stem)]
    for one in item.options:
        texts += [("option", f"option {one.id}", one.text), ("why", f"the why of option {one.id}", one.why)]
    for part, name, text in texts:
        words, characters = LONGEST[part]
        if len(pick(text, "en").split()) > words:
            yield Finding("text-long", f"{name} has more than {words} English words.")
        if len(pick(text, "zh")) > characters:
            yield Finding("text-long", f"{name} has more than {characters} Chinese characters.")


def _exact(item: Item) -> Iterator[Finding]:
    right, wrong = ([one for one in item.options if bool(one.correct) is state] for state in (True, False))
    if item.kind != "single" or len(right) != 1 or not wrong:
        return
    for code in LANGUAGES:
        if _EXACT.search(pick(right[0].text, code)) and not any(_EXACT.search(pick(o.text, code)) for o in wrong):
            yield Finding(
                "right-option-exact",
                f"only the right option holds a figure or code in {code}: the most exact one is easily guessed.",
            )


def _code(item: Item) -> Iterator[Finding]:
    source = pick(item.code) if item.code else ""
    if _WORDS_OF_PYTHON.search(source):
        try:
            compile(source, item.id, "exec", dont_inherit=True)
        except SyntaxError as error:
            yield Finding("code-syntax", f"the code is not valid Python (line {error.lineno}: {error.msg}).")


def _doubled(item: Item) -> Iterator[Finding]:
    beliefs = Counter(one.misconception for one in item.options if one.misconception)
    if item.kind == "single" and len(item.options) > 3 and beliefs and len(beliefs) == 1:
        yield Finding(
            "one-misconception", f"every wrong option stands for {next(iter(beliefs))}: another belief would tell more."
        )


def _revealed(item: Item, others: Iterable[Item]) -> Iterator[Finding]:
    if item.kind != "single" or not item.correct:
        return
    for code, least in (("en", 24), ("zh", 12)):
        text = pick(item.option(item.correct[0]).text, code).strip(".。").lower()
        for other in others if len(text) > least else ():
            if other.id != item.id and text in pick(other.stem, code).lower():
                yield Finding("gives-away", f"the stem of {other.id} gives its right option away.")
                return

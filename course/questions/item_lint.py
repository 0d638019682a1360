"""Rules for good questions, beyond the schema: ``lint(bank)`` returns a finding for each violation."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from course.core.i18n import LANGUAGES, Text, pick
from course.questions.bank import Bank
from course.questions.finding import Finding
from course.questions.items import Item, every

_HAN = re.compile(r"[\u4e00-\u9fff]")
_HALF_WIDTH = re.compile(r"[\u4e00-\u9fff][,;:?!]|[,;?!][\u4e00-\u9fff]")
_CODE = re.compile(r"`[^`]*`")
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def lint(bank: Bank) -> list[Finding]:
    """All faults of the bank: those of the schema, of each item, of each lesson. Empty if there are none."""
    found = [Finding("schema", fault) for fault in bank.faults()]
    known = bank.misconceptions()
    items = [*bank.items(), *(one for item in bank.items(checkpoint=True) for one in every(item))]
    found += lint_items(items, known)
    lessons: dict[tuple[str, bool], list[Item]] = defaultdict(list)
    for item in items:
        lessons[item.lesson, item.checkpoint].append(item)
    for (lesson, checkpoint), group in sorted(lessons.items()):
        found += lint_lesson(lesson, group, checkpoint)
    return found


def lint_items(items: Iterable[Item], misconceptions: Mapping[str, Text], own: bool = False) -> list[Finding]:
    """The faults of single items; checkpoint items need their key merged in first.

    own: the items are an instructor's own, in which a misconception may be a sentence instead of an id.
    """
    found = []
    for item in items:
        checks = [_languages(item)]
        if item.kind in ("single", "multiple", "predict"):
            checks.append(_options(item))
        if item.keyed or item.kind == "predict":
            checks.append(_reasons(item, misconceptions, own))
        found += [finding.at(item.id) for check in checks for finding in check]
    return found


def _texts(item: Item) -> Iterator[tuple[str, Text]]:
    yield "stem", item.stem
    for one in item.options:
        yield f"option {one.id}", one.text
        if one.why:
            yield f"why of option {one.id}", one.why
    if item.number:
        yield "unit", item.number.unit
        for name, text in [("why", item.number.why), *(("why of a trap", trap.why) for trap in item.number.traps)]:
            if text:
                yield name, text


def _languages(item: Item) -> Iterator[Finding]:
    for name, text in _texts(item):
        yield from language_faults(name, text)


def language_faults(name: str, text: Text) -> Iterator[Finding]:
    """The faults of a text in its two languages. name: how the sentences name the text."""
    if isinstance(text, str):
        if _HAN.search(text) or re.search(r"[A-Za-z]{2,}", _CODE.sub("", text)):
            yield Finding("one-language", f"{name} is a sentence in one language only; write {{en: ..., zh: ...}}.")
        return
    if _HAN.search(text["en"]):
        yield Finding("chinese-in-english", f"{name}: the English text contains Chinese characters.")
    prose = _CODE.sub("", text["zh"])
    if len(re.findall(r"[A-Za-z]{3,}", prose)) > 2 and not _HAN.search(prose):
        yield Finding("not-chinese", f"{name}: the Chinese text is not Chinese.")
    if hit := _HALF_WIDTH.search(prose):
        yield Finding("half-width", f"{name}: half-width punctuation in Chinese at “{hit.group()}”; use ，；：？！.")


def _same(item: Item) -> Iterator[Finding]:
    for code in LANGUAGES:
        texts: dict[str, str] = {}
        for one in item.options:
            bare = re.sub(r"\s+", " ", pick(one.text, code)).strip(" .。").lower()
            if bare in texts:
                yield Finding("same-options", f"options {texts[bare]} and {one.id} say the same in {code}.")
            texts.setdefault(bare, one.id)


def _options(item: Item) -> Iterator[Finding]:
    yield from _same(item)
    right, wrong = ([one for one in item.options if one.correct is state] for state in (True, False))
    wrong = wrong or [one for one in item.options if one.correct is None and right]
    if item.kind != "single" or not right or not wrong:
        return
    for code in LANGUAGES:
        longest = max(_length(one.text, code) for one in wrong)
        if _length(right[0].text, code) > max(longest * 1.1, longest + 3):
            yield Finding(
                "right-option-longest",
                f"the right option is the longest in {code}; shorten it or lengthen a wrong one.",
            )


def _length(text: Text, code: str) -> int:
    return len(pick(text, code).replace("`", "").replace("**", ""))


def _unknown(misconception: str | None, misconceptions: Mapping[str, Text], own: bool) -> bool:
    """Whether a misconception is not in the list. own: a sentence instead of an id is allowed."""
    return (
        bool(misconception) and misconception not in misconceptions and not (own and not _ID.fullmatch(misconception))
    )


def _reasons(item: Item, misconceptions: Mapping[str, Text], own: bool) -> Iterator[Finding]:
    for one in item.options:
        if not one.why:
            yield Finding("why-missing", f"option {one.id} has no why.")
        distractor = item.kind == "order" and one.id not in item.order
        if item.kind in ("single", "multiple") and one.correct and one.misconception:
            yield Finding("misconception-of-right", f"right option {one.id} names a misconception; it states none.")
        if _unknown(one.misconception, misconceptions, own):
            yield Finding(
                "unknown-misconception",
                f"option {one.id}: {one.misconception} is not in misconceptions.yaml; add it there.",
            )
        if distractor and one.pairs_with and one.pairs_with not in item.order:
            yield Finding(
                "unknown-pair", f"distractor {one.id} pairs with {one.pairs_with}, which is not in the right order."
            )
    if item.kind == "order" and tuple(o.id for o in item.options if o.id in item.order) == item.order:
        yield Finding("order-not-mixed", "the options stand in their right order already; mix them.")
    if item.number:
        yield from _number(item, misconceptions, own)


def _number(item: Item, misconceptions: Mapping[str, Text], own: bool) -> Iterator[Finding]:
    number = item.number
    if not number.why:
        yield Finding("why-missing", "the number has no why.")
    if not number.low <= number.value <= number.high:
        yield Finding("value-outside", f"the value {number.value} is not within {number.low} and {number.high}.")
    for trap in number.traps:
        if trap.low > trap.high:
            yield Finding("trap-reversed", f"a trap has low {trap.low} above high {trap.high}.")
        if trap.low <= number.high and trap.high >= number.low:
            yield Finding("trap-overlaps", f"the trap {trap.low}..{trap.high} overlaps the right answer.")
        if _unknown(trap.misconception, misconceptions, own):
            yield Finding(
                "unknown-misconception",
                f"misconception {trap.misconception} of a trap is not in misconceptions.yaml; add it there.",
            )


def lint_lesson(lesson: str, items: list[Item], checkpoint: bool = False) -> list[Finding]:
    """The faults of a lesson as a whole: where the right options stand."""
    found = []
    what = "checkpoint" if checkpoint else "practice"
    places = Counter(
        item.options.index(item.option(item.correct[0])) for item in items if item.kind == "single" and item.correct
    )
    total = sum(places.values())
    if total >= 4 and max(places.values()) * 2 > total:
        place = "abcdefgh"[places.most_common(1)[0][0]]
        found.append(
            Finding(
                "one-position",
                f"{lesson}: in {max(places.values())} of {total} {what} items the right option is at {place}; spread it.",
            )
        )
    return found

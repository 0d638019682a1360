"""Rules for good questions beyond the schema, each broken one a `Finding`: for single questions, and for every variant of one.

A question with variants is written once and asked in a hundred forms. No person reads all of them, so `lint_variants` does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations

from course.core.i18n import LANGUAGES, Text, pick
from course.questions.items import BankError, Item, within

SEEDS = 200
WIDEST = 1.3  # a tolerance may accept numbers at most so many times apart
MOST_ALIKE = {
    "number": 0.25,
    "single": 0.45,
    "multiple": 0.45,
}  # of all pairs of papers may have the right answer in common
LEAST = 5  # different variants
_HAN = re.compile(r"[\u4e00-\u9fff]")
_HALF_WIDTH = re.compile(r"[\u4e00-\u9fff][,;:?!]|[,;?!][\u4e00-\u9fff]")
_CODE = re.compile(r"`[^`]*`")
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class Finding(str):
    """A sentence that ends with the code of its rule: ``05-one: option b has no why. [why-missing]``.

    rule: a short code that stays the same when the sentence is reworded. ``text``: the sentence without it.
    """

    rule: str
    text: str

    def __new__(cls, rule: str, text: str) -> Finding:
        made = super().__new__(cls, f"{text} [{rule}]")
        made.rule, made.text = rule, text
        return made

    def at(self, place: str) -> Finding:
        """The same finding with the place in front: a file and line, or an item."""
        return Finding(self.rule, f"{place}: {self.text}")


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


# --- every variant of a question ---


def lint_variants(
    make: Callable[[str], Item], beliefs: Mapping[str, Text], seeds: int = SEEDS, own: bool = False
) -> list[Finding]:
    """The faults of the variants of one question, each once, with the values of the first variant that has it. Empty if there
    are none.

    make: function from a seed to the item with its key, "" for the standard one; beliefs: the known misconceptions; own: see
    ``lint_items``.
    """
    found: dict[str, Finding] = {}
    seen: dict[str, Item] = {}
    for number in range(seeds + 1):
        try:
            item = make(f"lint {number}" if number else "")
        except BankError as error:
            return [Finding("schema", fault) for fault in str(error).split("\n")]
        known = str(item.values)
        if known in seen:
            continue
        seen[known] = item
        for one in (*lint_items([item], beliefs, own), *(one.at(item.id) for one in _spread(item))):
            what = re.sub(r"[-+.\d]+", "0", one.text.removeprefix(item.id))
            found.setdefault(what, Finding(one.rule, f"{one.text} (drawn: {_values(item)})"))
    return [*found.values(), *_together(list(seen.values()))]


def _values(item: Item) -> str:
    return ", ".join(f"{name} = {value}" for name, value in item.values.items())


def _spread(item: Item) -> Iterator[Finding]:
    """The faults of a number item beyond the rules for all items."""
    number = item.number
    if number is None or number.value is None:
        return
    if number.low > 0 and number.high / number.low > WIDEST or number.low <= 0 < number.high:
        yield Finding(
            "number-too-wide", f"accepts {number.low:g} to {number.high:g}, which hardly asks for a number; narrow it"
        )
    for one, other in combinations(number.traps, 2):
        if within(one.low, other.low, other.high) or within(other.low, one.low, one.high):
            yield Finding(
                "traps-coincide", f"the traps {one.low:g} and {other.low:g} coincide; keep them apart with `where`"
            )


def _together(items: list[Item]) -> Iterator[Finding]:
    name = items[0].key
    if len(items) < LEAST:
        yield Finding("too-few-variants", f"{name}: only {len(items)} different variants; draw from more values")
    most = MOST_ALIKE.get(items[0].kind, 1.0)
    if items[0].checkpoint and (share := alike(items)) > most:
        yield Finding(
            "variants-alike",
            f"{name}: in {share:.0%} of all pairs the right answer of one is right for the other; draw from more values",
        )


def alike(items: Iterable[Item]) -> float:
    """The share of pairs of variants in which the right answer to one is also right for the other."""
    pairs = list(combinations(items, 2))
    return sum(_copied(one, other) for one, other in pairs) / len(pairs) if pairs else 1.0


def _copied(one: Item, other: Item) -> bool:
    if one.number is not None:
        return within(one.number.value, other.number.low, other.number.high)
    return (one.order, one.correct) == (other.order, other.correct)

"""Check every variant of a question like a question of its own, and all variants together.

A question with variants is written once and asked in a hundred forms. No person reads all of them, so this check does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations

from course.core.i18n import Text
from course.questions.finding import Finding
from course.questions.item_lint import lint_items
from course.questions.items import BankError, Item, within

SEEDS = 200
WIDEST = 1.3  # a tolerance may accept numbers at most so many times apart
MOST_ALIKE = {
    "number": 0.25,
    "single": 0.45,
    "multiple": 0.45,
}  # of all pairs of papers may have the right answer in common
LEAST = 5  # different variants


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
        for one in (*lint_items([item], beliefs, own), *(one.at(item.id) for one in _number(item))):
            what = re.sub(r"[-+.\d]+", "0", one.text.removeprefix(item.id))
            found.setdefault(what, Finding(one.rule, f"{one.text} (drawn: {_values(item)})"))
    return [*found.values(), *_together(list(seen.values()))]


def _values(item: Item) -> str:
    return ", ".join(f"{name} = {value}" for name, value in item.values.items())


def _number(item: Item) -> Iterator[Finding]:
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

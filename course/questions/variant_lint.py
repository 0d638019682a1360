"""Every variant of a question looked at as if it were the only one, and all of them together.

A question with variants is one question written once and asked a hundred times: nobody reads them all, so this does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations

from course.i18n import Text
from course.questions.finding import Finding
from course.questions.item_lint import lint_items
from course.questions.items import BankError, Item, within

SEEDS = 200
WIDEST = 1.3  # a tolerance that accepts numbers so many times apart no longer asks for a number
MOST_ALIKE = 0.25  # of all pairs of papers may have a right number in common
LEAST = 5  # different variants
MOST_SAID = 3  # faults of single variants named


def lint_variants(make: Callable[[str], Item], beliefs: Mapping[str, Text], seeds: int = SEEDS) -> list[Finding]:
    """What is wrong with the variants of one question, each finding with the values at which it shows.

    make: seed -> the keyed item, "" for the standard one; beliefs: the known misconceptions. Empty when all is well.
    """
    found: dict[str, Finding] = {}
    seen: dict[str, Item] = {}
    for number in range(seeds + 1):
        try:
            item = make(f"lint {number}" if number else "")
        except BankError as error:
            return [Finding("schema", str(error))]
        known = str(item.values)
        if known in seen:
            continue
        seen[known] = item
        for one in (*lint_items([item], beliefs), *(one.at(item.id) for one in _number(item))):
            found.setdefault(one.text.split("..")[0], Finding(one.rule, f"{one.text} (drawn: {_values(item)})"))
    return [*list(found.values())[:MOST_SAID], *_together(list(seen.values()))]


def _values(item: Item) -> str:
    return ", ".join(f"{name} = {value}" for name, value in item.values.items())


def _number(item: Item) -> Iterator[Finding]:
    """What a number needs beside the rules of every item."""
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
    if items[0].checkpoint and items[0].number is not None and (share := alike(items)) > MOST_ALIKE:
        yield Finding(
            "variants-alike",
            f"{name}: in {share:.0%} of all pairs the right number of one is right for the other; draw from more values",
        )


def alike(items: Iterable[Item]) -> float:
    """The share of pairs of different variants whose right number is also right in the other one."""
    numbers = [item.number for item in items]
    pairs = [(one, other) for one, other in combinations(numbers, 2)]
    if not pairs:
        return 1.0
    return sum(within(one.value, other.low, other.high) for one, other in pairs) / len(pairs)

"""Which false beliefs a learner's answers and bets have shown, and which of them are overcome."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from course.core.i18n import Text
from course.learning.bets import Bet
from course.learning.entry import Entry
from course.learning.marking import misconceptions_of, response_of
from course.questions.bank import Bank
from course.questions.items import Item, redrawn


@dataclass(frozen=True)
class Belief:
    """A false belief that at least one answer showed. concepts, lessons: where the learner still holds it; empty once it is
    overcome.
    """

    id: str
    statement: Text
    concepts: frozenset[str]
    lessons: frozenset[str]

    @property
    def alive(self) -> bool:
        return bool(self.concepts)


def beliefs(entries: Iterable[Entry], bank: Bank, bets: Iterable[Bet]) -> list[Belief]:
    """Every belief shown so far: those still held first, the most widespread at the top.

    A belief counts as held while the latest answer to a question shows it. After a lost bet it counts as held until a later
    right answer to a question that has it as a wrong option, or to the bet asked again.
    """
    items = {item.id: item for item in bank.items()}
    offers = {item.id: _offered(item) for item in items.values()}
    known: dict[tuple[object, ...], list[str]] = {}
    shown: set[str] = set()
    latest: dict[str, list[str]] = {}
    refuted: dict[str, str] = {}
    for entry in entries:
        item = items.get(entry.item)
        if entry.event != "answer" or item is None:
            continue
        if entry.verdict == "correct":
            refuted.update(dict.fromkeys(offers[item.id], entry.time))
        if item.kind == "predict":
            continue
        case = (item.id, entry.variant, entry.options, entry.number)
        if case not in known:
            asked = redrawn(item, entry.variant or "") if item.varies else item
            known[case] = misconceptions_of(asked, response_of(entry))
        latest[item.id] = known[case]
        shown.update(known[case])
    places: dict[str, list[Item]] = defaultdict(list)
    for identity, held in latest.items():
        for one in held:
            places[one].append(items[identity])
    for bet in bets:
        option = bet.item.option(bet.choice)
        if bet.state != "lost" or option is None or not option.misconception or bet.settled is None:
            continue
        shown.add(option.misconception)
        if refuted.get(option.misconception, "") <= f"{bet.settled:%Y-%m-%dT%H:%M:%S.%fZ}":
            places[option.misconception].append(bet.item)
    statements = bank.misconceptions()
    found = [
        Belief(
            one,
            statements[one],
            frozenset(item.concept for item in places[one]),
            frozenset(item.lesson for item in places[one]),
        )
        for one in shown
        if one in statements
    ]
    return sorted(found, key=lambda one: (-len(one.concepts), one.id))


def _offered(item: Item) -> set[str]:
    """The beliefs that the wrong options of an item stand for."""
    traps = item.number.traps if item.number else ()
    return {one.misconception for one in (*item.options, *traps) if one.misconception}

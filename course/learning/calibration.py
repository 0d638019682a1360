"""The bets: each with its confidence and outcome, the hit rate of each confidence, which lost bets come back.

Pure functions on log entries. A bet counts when a conclusive measurement settled it after it was placed. Inconclusive
bets, open bets and bets placed when the result was known are listed but do not count.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from course.core.i18n import Text, both, pick
from course.learning.bets import bet_of, known_before, settled_of
from course.learning.entry import Entry
from course.learning.marking import mark_bet, response_of
from course.questions.bank import Bank
from course.questions.items import Item, Number

RETURN_AFTER = timedelta(days=7)


@dataclass(frozen=True)
class Bet:
    """One prediction. state: won, lost, inconclusive (measured, not decided), open (not measured yet) or late
    (placed when the result was known). choice, outcome: an option, or for a bet on a scale a number; record: what
    settled it; changed: conclusive runs came out differently, the latest counts; because: the learner's own reason. A bet in a
    game says in setting what it is on, and in source what settled it.
    """

    item: Item
    placed: datetime
    choice: str | float
    confidence: int | None
    state: str
    outcome: str | float | None = None
    record: str | None = None
    settled: datetime | None = None
    changed: bool = False
    because: str = ""
    setting: Text = ""
    source: Text = ""


def placed_bets(entries: Iterable[Entry], bank: Bank) -> list[Bet]:
    """All bets in the log, oldest first; those on questions the bank does not have are left out."""
    by_item: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        if entry.event in ("bet", "settled"):
            by_item[entry.item].append(entry)
    found = []
    for item in bank.items():
        if item.kind == "predict" and (own := by_item.get(item.id)):
            placed = bet_of(item, own)
            if placed is not None:
                found.append(_bet(item, placed, own))
    return sorted(found, key=lambda bet: bet.placed)


def _bet(item: Item, placed: Entry, own: list[Entry]) -> Bet:
    runs = [entry for entry in own if entry.event == "settled"]
    decided = [entry for entry in runs if entry.options or entry.number]
    outcome = settled_of(item, own)
    state = {"correct": "won", "inconclusive": "inconclusive" if runs else "open"}.get(
        mark_bet(item, response_of(placed), outcome).state, "lost"
    )
    if known_before(item, own):
        state = "late"
    last = decided[-1] if decided else runs[-1] if runs else None
    return Bet(
        item,
        placed.when,
        placed.number if item.slider else placed.options[0],
        placed.confidence,
        state,
        outcome,
        last.record if last else None,
        last.when if last else None,
        len({(entry.options, entry.number) for entry in decided}) > 1,
        placed.because or "",
    )


@dataclass(frozen=True)
class Level:
    """One confidence, None where none was said: how many settled bets had it, and how many of them were right."""

    confidence: int | None
    right: int
    total: int


def levels(bets: Iterable[Bet]) -> list[Level]:
    """The settled bets by confidence, the surest first; a confidence without a bet is left out."""
    groups: dict[int | None, list[bool]] = defaultdict(list)
    for bet in bets:
        if bet.state in ("won", "lost"):
            groups[bet.confidence].append(bet.state == "won")
    return [Level(one, sum(groups[one]), len(groups[one])) for one in (3, 2, 1, None) if one in groups]


# --- wrong bets return ---


@dataclass(frozen=True)
class Return:
    """A lost bet that comes back: the question asks what was measured. due: aware datetime."""

    item: str
    lesson: str
    due: datetime


def returns(entries: Iterable[Entry], bank: Bank, lesson: str | None = None) -> list[Return]:
    """Every lost bet that will come back, soonest first; with ``lesson``, only those from lessons before it.

    A lost bet returns a week after it was settled, and a week after each wrong answer, until it is answered
    right.
    """
    entries = list(entries)
    lost = {bet.item.id: bet for bet in placed_bets(entries, bank) if bet.state == "lost"}
    due = {identity: bet.settled + RETURN_AFTER for identity, bet in lost.items() if bet.settled}
    for entry in entries:
        if entry.event == "answer" and entry.item in due and entry.when >= lost[entry.item].settled:
            if entry.verdict == "correct":
                del due[entry.item]
            else:
                due[entry.item] = entry.when + RETURN_AFTER
    found = [Return(one, lost[one].item.lesson, when) for one, when in due.items()]
    return sorted(
        (one for one in found if lesson is None or one.lesson[:2] < lesson[:2]), key=lambda one: (one.due, one.item)
    )


def returning(entries: Iterable[Entry], bank: Bank, today: datetime, lesson: str | None = None) -> list[str]:
    """Ids of the lost bets to ask about at ``today`` (aware datetime), longest overdue first."""
    return [one.item for one in returns(entries, bank, lesson) if one.due <= today]


def asked_again(item: Item, entries: Iterable[Entry], today: datetime) -> Item:
    """A lost bet that is due, or was asked again before, as a question about what was measured; else the item
    as it is.
    """
    if item.kind != "predict":
        return item
    entries = [entry for entry in entries if entry.item == item.id]
    placed, outcome = bet_of(item, entries), settled_of(item, entries)
    if placed is None or outcome is None or mark_bet(item, response_of(placed), outcome).state == "correct":
        return item
    decided = [entry.when for entry in entries if entry.event == "settled" and (entry.options or entry.number)][-1]
    again = any(entry.event == "answer" and entry.when >= decided for entry in entries)
    if not again and decided + RETURN_AFTER > today:
        return item
    day = f"{placed.when.astimezone():%Y-%m-%d}"
    asked = "多少" if item.slider else "哪一个"
    intro = both(
        f"You bet on this on {day}, and the measurement came out otherwise. What came out?",
        f"你在 {day} 为它下过注，测量结果却不是那样。当时测出来的是{asked}？",
    )
    stem = {code: f"**{intro[code]}**\n\n{pick(item.stem, code)}" for code in intro}
    if item.slider:
        scale, factor = item.slider, item.slider.factor
        asked = Number(scale.unit, outcome, outcome / factor, outcome * factor, scale.why)
        return replace(item, kind="number", stem=stem, number=asked, slider=None)
    options = tuple(replace(one, correct=one.id == outcome) for one in item.options)
    return replace(item, kind="single", stem=stem, options=options)

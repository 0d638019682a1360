"""A bet in the log: which one counts, what its experiment found, and how it is settled. ``session`` places it."""

from __future__ import annotations

import math
from collections.abc import Iterable

from course.core.verdict import Verdict
from course.learning.entry import Entry
from course.learning.log import AnswerLog
from course.learning.marking import Response, mark_bet, response_of
from course.questions.items import Item


def bet_of(item: Item, entries: Iterable[Entry]) -> Entry | None:
    """The bet on an item: the first one in the log, because a bet is locked; None where there is none."""
    known = {one.id for one in item.options}
    return next(
        (
            entry
            for entry in entries
            if entry.item == item.id
            and entry.event == "bet"
            and ((entry.number or 0) > 0 if item.slider else entry.options and known >= set(entry.options))
        ),
        None,
    )


def _settlements(item: Item, entries: Iterable[Entry]) -> list[Entry]:
    """The results of an item's experiment, oldest first."""
    return [entry for entry in entries if entry.item == item.id and entry.event == "settled"]


def settled_of(item: Item, entries: Iterable[Entry]) -> str | float | None:
    """The result of the latest conclusive experiment: an option or, for a bet on a scale, a number; None where there is none."""
    found = _settlements(item, entries)
    if item.slider:
        return next((entry.number for entry in reversed(found) if (entry.number or 0) > 0), None)
    return next((entry.options[0] for entry in reversed(found) if entry.options), None)


def known_before(item: Item, entries: Iterable[Entry]) -> bool:
    """Whether an experiment had named the result of an item before the bet on it was placed."""
    entries = [entry for entry in entries if entry.item == item.id]
    placed = bet_of(item, entries)
    decided = [one for one in _settlements(item, entries) if one.options or one.number]
    return placed is not None and any(one.time < placed.time for one in decided)


def settle(item: Item, winner: str | float | None, log: AnswerLog, record: str | None = None) -> Verdict:
    """Settle the bet on a predict item with the result of an experiment; returns the verdict on the bet.

    winner: the option that came true or, for a bet on a scale, the number that was measured; None: inconclusive. record: the
    record of the measurement in words, written to the log. Writes a ``settled`` entry, unless the log has the same already.
    Without a bet the verdict is not attempted; the result is still written, so that the card can show it. Raises
    ValueError for a result that does not fit the item.
    """
    options, number = _outcome(item, winner)
    bet = bet_of(item, log.entries())
    verdict = mark_bet(item, response_of(bet) if bet else Response(), winner)
    last = _settlements(item, log.entries())[-1:]
    same = last and (last[0].options, last[0].number, last[0].verdict) == (options, number, verdict.state)
    if not same:
        log.append(
            "settled",
            item.id,
            options=options,
            number=number,
            verdict=verdict.state,
            points=verdict.points,
            lesson=item.lesson,
            record=record,
        )
    return verdict


def _outcome(item: Item, winner: str | float | None) -> tuple[tuple[str, ...], float | None]:
    """A result in the form of the log: (options, number). Raises ValueError where it does not fit the item."""
    if winner is None:
        return (), None
    if item.slider:
        if isinstance(winner, str) or not 0 < winner < math.inf:
            raise ValueError(f"{item.id} is a bet on a scale; the experiment must find a number above 0 or None")
        return (), float(winner)
    if not isinstance(winner, str) or item.option(winner) is None:
        raise ValueError(f"{item.id} has no option {winner!r}; the experiment must name one of its options or None")
    return (winner,), None

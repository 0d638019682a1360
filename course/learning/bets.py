"""The bets in the log: which one counts, what its experiment found, how it is settled, the hit rate of each confidence, and which
lost bets come back. ``session`` places a bet.

A bet counts when a conclusive measurement settled it after it was placed. Inconclusive bets, open bets and bets placed when the
result was known are listed but do not count.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from course.core.i18n import both, pick
from course.core.verdict import Verdict, not_attempted
from course.learning.entry import Entry
from course.learning.log import AnswerLog
from course.learning.marking import mark_bet, response_of
from course.questions.bank import Bank
from course.questions.items import Item

RETURN_AFTER = timedelta(days=7)


def bet_of(item: Item, entries: Iterable[Entry]) -> Entry | None:
    """The bet on an item: the first one in the log, because a bet is locked; None where there is none."""
    known = {one.id for one in item.options}
    own = (entry for entry in entries if entry.item == item.id and entry.event == "bet")
    return next((entry for entry in own if entry.options and known >= set(entry.options)), None)


def decided(item: Item, entries: Iterable[Entry]) -> list[Entry]:
    """The conclusive results of an item's experiment, oldest first."""
    return [entry for entry in entries if entry.item == item.id and entry.event == "settled" and entry.options]


def settled_of(item: Item, entries: Iterable[Entry]) -> str | None:
    """The option that the latest conclusive experiment found; None where there is none."""
    found = decided(item, entries)
    return found[-1].options[0] if found else None


def known_before(item: Item, entries: Iterable[Entry]) -> bool:
    """Whether an experiment had named the result of an item before the bet on it was placed."""
    entries = [entry for entry in entries if entry.item == item.id]
    placed = bet_of(item, entries)
    return placed is not None and any(one.time < placed.time for one in decided(item, entries))


def settle(item: Item, winner: str | None, log: AnswerLog, record: str | None = None) -> Verdict:
    """Settle the bet on a predict item with the result of an experiment; returns the verdict on the bet.

    winner: the option that came true; None: inconclusive. record: the record of the measurement in words, written to the log.
    Without a bet the verdict is not attempted; the result is still written, so that the card can show it. Raises ValueError for a
    result that is no option of the item.
    """
    if winner is not None and item.option(winner) is None:
        raise ValueError(f"{item.id} has no option {winner!r}; the experiment must name one of its options or None")
    bet = bet_of(item, log.entries())
    verdict = mark_bet(item, response_of(bet), winner) if bet else not_attempted(max_points=item.points)
    note_result(item.id, item.lesson, winner, log, record, verdict.state, verdict.points)
    return verdict


def note_result(
    item_id: str,
    lesson: str,
    winner: str | None,
    log: AnswerLog,
    record: str | None = None,
    state: str = "not attempted",
    points: float = 0.0,
) -> None:
    """Write a ``settled`` entry, unless the log has the same already. state, points: the verdict on the bet; that of one not placed."""
    options = () if winner is None else (winner,)
    last = [entry for entry in log.entries() if entry.item == item_id and entry.event == "settled"][-1:]
    if not last or (last[0].options, last[0].verdict) != (options, state):
        log.append("settled", item_id, options=options, verdict=state, points=points, lesson=lesson, record=record)


@dataclass(frozen=True)
class Bet:
    """One prediction. state: won, lost, inconclusive (measured, not decided), open (not measured yet) or late
    (placed when the result was known). choice, outcome: an option; record: what settled it; because: the learner's own reason.
    """

    item: Item
    placed: datetime
    choice: str
    confidence: int | None
    state: str
    outcome: str | None = None
    record: str | None = None
    settled: datetime | None = None
    because: str = ""


def placed_bets(entries: Iterable[Entry], bank: Bank) -> list[Bet]:
    """All bets in the log, oldest first; those on questions the bank does not have are left out."""
    by_item: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        if entry.event in ("bet", "settled"):
            by_item[entry.item].append(entry)
    items = [item for item in bank.items() if item.kind == "predict" and item.id in by_item]
    found = [_bet(item, placed, own) for item in items if (placed := bet_of(item, own := by_item[item.id])) is not None]
    return sorted(found, key=lambda bet: bet.placed)


def _bet(item: Item, placed: Entry, own: list[Entry]) -> Bet:
    runs, outcome = [entry for entry in own if entry.event == "settled"], settled_of(item, own)
    won = {"correct": "won", "inconclusive": "inconclusive" if runs else "open"}
    state = won.get(mark_bet(item, response_of(placed), outcome).state, "lost")
    if known_before(item, own):
        state = "late"
    last = [*runs, *decided(item, own)][-1:]
    record, settled = (last[0].record, last[0].when) if last else (None, None)
    choice, why = placed.options[0], placed.because or ""
    return Bet(item, placed.when, choice, placed.confidence, state, outcome, record, settled, why)


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


def asked_again(item: Item, entries: Iterable[Entry], today: datetime) -> Item:
    """A lost bet that is due, or was asked again before, as a question about what was measured; else the item
    as it is.
    """
    if item.kind != "predict":
        return item
    entries = [entry for entry in entries if entry.item == item.id]
    placed, results = bet_of(item, entries), decided(item, entries)
    if placed is None or not results or placed.options[:1] == results[-1].options[:1]:
        return item
    outcome, settled = results[-1].options[0], results[-1].when
    again = any(entry.event == "answer" and entry.when >= settled for entry in entries)
    if not again and settled + RETURN_AFTER > today:
        return item
    day = f"{placed.when.astimezone():%Y-%m-%d}"
    intro = both(
        f"You bet on this on {day}, and the measurement came out otherwise. What came out?",
        f"你在 {day} 为它下过注，测量结果却不是那样。当时测出来的是哪一个？",
    )
    stem = {code: f"**{intro[code]}**\n\n{pick(item.stem, code)}" for code in intro}
    options = tuple(replace(one, correct=one.id == outcome) for one in item.options)
    return replace(item, kind="single", stem=stem, options=options)

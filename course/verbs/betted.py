"""The learner's bets on an experiment, as data and in words, for the block that shows the result."""

from __future__ import annotations

from collections.abc import Sequence

from course.core.i18n import pick, t
from course.core.verdict import Verdict
from course.experiment.base import Experiment
from course.experiment.bets_view import answer_words, outcome_words
from course.figures.shown import Betted
from course.learning.bets import bet_of, settle
from course.questions.items import Item
from course.verbs import state


def items_of(experiment: Experiment) -> list[Item]:
    """The bets that this experiment decides."""
    return [
        item
        for item in state.now.bank.items(experiment.lesson)
        if item.kind == "predict" and item.experiment == experiment.name
    ]


def placed(items: Sequence[Item]) -> dict[str, str]:
    """The placed bets: item id -> the option that the learner bet on."""
    found = {}
    for item in items:
        bet = bet_of(item, state.now.log.entries())
        if bet is not None:
            found[item.id] = bet.options[0]
    return found


def settled(item: Item, winner: str | None, evidence: str) -> Verdict:
    """Write the result of a bet to the log and draw its card again; returns the verdict. evidence: the record in words."""
    verdict = settle(item, winner, state.now.log, evidence)
    if item.id in state.now.cards:
        state.now.cards[item.id].settle()
    return verdict


def others(item: Item, mine: str | None, winner: str | None) -> tuple[tuple[str, str], ...]:
    """(option, explanation) for every option except the one that came true; ``mine``, the one that was bet on, comes first."""
    options = sorted(item.options, key=lambda one: one.id != mine)
    return tuple((pick(one.text), pick(one.why)) for one in options if one.id != winner)


def betted(item: Item, bet: str, winner: str | None, verdict: Verdict) -> Betted:
    """A bet together with its result."""
    mine = answer_words(item, bet)
    if winner is None:
        return Betted(mine, still=t("nothing here decided it", "这次结果不足以定胜负"))
    out = outcome_words(item, winner, verdict.state == "correct")
    why = pick(item.option(winner).why)
    rest = others(item, bet, winner)
    return Betted(mine, out, t("It came out", "结果是"), why=why, others=rest)

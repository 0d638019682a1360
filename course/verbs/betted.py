"""The learner's bets on an experiment, as data and in words, for the block that shows the result."""

from __future__ import annotations

from collections.abc import Sequence

from course.experiment.base import Experiment
from course.experiment.result import Betted
from course.i18n import pick, t
from course.learning.marking import Response
from course.learning.session import bet_of, response_of, settle
from course.questions.items import Item
from course.verbs import state
from course.verdict import Verdict


def items_of(experiment: Experiment) -> list[Item]:
    """The bets that this experiment decides."""
    return [
        item
        for item in state.now.bank.items(experiment.lesson)
        if item.kind == "predict" and item.experiment == experiment.name
    ]


def placed(items: Sequence[Item]) -> dict[str, str | float]:
    """The placed bets: item id -> the option or, on a scale, the number that the learner bet on."""
    found = {}
    for item in items:
        bet = bet_of(item, state.now.log.entries())
        if bet is not None:
            found[item.id] = bet.number if item.slider else bet.options[0]
    return found


def settled(item: Item, winner: str | float | None, evidence: str) -> Verdict:
    """Write the result of a bet to the log and draw its card again; returns the verdict. evidence: the record in words."""
    verdict = settle(item, winner, state.now.log, evidence)
    if item.id in state.now.cards:
        state.now.cards[item.id].settle()
    return verdict


def phrase(item: Item, response: Response) -> str:
    """An answer in words, without a full stop at the end. Marks for code and bold stay."""
    if item.slider:
        return f"{response.number:.3g} {pick(item.slider.unit)}"
    return pick(item.option(response.options[0]).text).rstrip(".。")


def outcome(item: Item, winner: str | float) -> Response:
    """The result of an experiment in the form of an answer."""
    return Response(number=float(winner)) if item.slider else Response((str(winner),))


def others(item: Item, winner: str | float | None) -> tuple[tuple[str, str], ...]:
    """(option, explanation) for every option except the one that came true; the one that was bet on comes first."""
    mine = placed([item]).get(item.id)
    options = sorted(item.options, key=lambda one: one.id != mine)
    return tuple((pick(one.text), pick(one.why)) for one in options if one.id != winner)


def betted(item: Item, winner: str | float | None, verdict: Verdict) -> Betted | None:
    """A bet together with its result; None without a bet."""
    bet = bet_of(item, state.now.log.entries())
    if bet is None:
        return None
    mine = phrase(item, response_of(bet))
    if winner is None:
        return Betted(mine, still=t("nothing here decided it", "这次结果不足以定胜负"))
    out = phrase(item, outcome(item, winner))
    if verdict.state == "correct":
        out = (
            t(f"{out}, near enough: your bet holds", f"{out}，够接近，算你押中")
            if item.slider
            else t("as you bet", "和你押的一样")
        )
    why = pick(item.slider.why if item.slider else item.option(str(winner)).why)
    rest, lost = others(item, winner), not item.slider and verdict.state != "correct"
    return Betted(mine, out, t("It came out", "结果是"), why=why, others=rest, lost=lost)

"""One attempt at a case of the tuning game, read from its moves: the runs, the hand-in, what came out of the bets, the points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from course.core.i18n import Text, both
from course.game import play, score
from course.game.cases import EVIDENCE, Case
from course.game.moves import Move
from course.learning import bets
from course.learning.entry import now
from course.lessons.l10_tuning_master.tuning_outcome import FEW, Table, came_out
from course.lessons.l10_tuning_master.tuning_plan import (
    Config,
    Outcome,
    Plan,
    as_played,
    config_in,
    in_words,
    key,
    plan_of,
)
from course.questions.items import Item, Option

HINT_POINTS = 0.5
"""What a hint costs."""


@dataclass(frozen=True)
class Bet:
    """A configuration, what was bet on it, how sure, and when. outcome: what came of it (None while nothing did); today: what
    today's configuration gave in the same measurement. came: what the bet should have said (see ``came_out``).
    """

    config: Config
    bet: str
    confidence: int
    outcome: Outcome | None
    today: Outcome
    came: str | None
    evidence: Mapping[str, Any]
    when: datetime = field(default_factory=now, compare=False)


class Attempt(play.Attempt):
    """One attempt. handed: the hand-in that was decided; waits: one that the measurement could not decide, of which nothing is shown.
    back: the run that is given back, the first in which too few rounds told nothing. table: what came of every setting.
    """

    def __init__(self, case: Case, done: Iterable[Move] = (), plan: Plan | None = None) -> None:
        super().__init__(case, done)
        self._asked = plan or plan_of(case)
        self.runs = tuple(
            self._bet(one, one.evidence["outcome"], one.evidence.get("today") or one.evidence["outcome"])
            for one in self.of_kind("run")
            if one.evidence.get("outcome")
        )
        self.back = next((one for one in self.runs if one.outcome.get("verdict") == FEW and not one.came), None)
        self.handed: Bet | None = None
        self.waits: Bet | None = None
        self.table = Table(self._asked, {})
        for one in self.of_kind("hand-in"):
            if one.choice and not self.handed:
                self._hand_in(one)

    def _bet(self, one: Move, outcome: Outcome | None, today: Outcome) -> Bet:
        line, said = (*one.choice, "", "")[:2]
        came = came_out(self._asked, outcome, today) if outcome else None
        return Bet(config_in(line), said, one.confidence or 1, outcome, today, came, one.evidence, one.when)

    def _hand_in(self, one: Move) -> None:
        """A hand-in whose measurement decided nothing waits for another one."""
        hand, seen = one.choice[0], one.evidence.get("table") or {}
        here = Table(as_played(self._asked, seen), seen)
        if {here.today, hand} <= set(seen) and here.decided(hand):
            self.handed, self.waits, self.table = self._bet(one, seen[hand], seen[here.today]), None, here
        else:
            self.waits = self._bet(one, None, {})

    @property
    def plan(self) -> Plan:
        """The panel; after the hand-in that of the machine that decided it."""
        return self.table.plan

    @property
    def spent(self) -> int:
        """Runs used up."""
        return len(self.runs) - (self.back is not None)

    @property
    def closed(self) -> bool:
        """Whether it is decided, and the cause found."""
        return self.handed is not None and self.cause_found

    def open_bets(self) -> list[Bet]:
        """The bets on settings that were not known yet."""
        runs = [run for n, run in enumerate(self.runs) if not known(self.plan, self.runs[:n], run.config)]
        if self.handed and not known(self.plan, self.runs, self.handed.config):
            return [*runs, self.handed]
        return runs

    def bets(self) -> tuple[bets.Bet, ...]:
        """Each bet is a question whose options are the outcomes to bet on."""
        case, plan = self.case, self.plan
        options = tuple(Option(name, text) for name, text in plan.bets().items())
        asked = Item(case.id, case.lesson, case.id, "predict", case.title, options)
        return tuple(
            bets.Bet(
                asked,
                bet.when,
                bet.bet,
                bet.confidence,
                "inconclusive" if bet.came is None else "won" if bet.came == bet.bet else "lost",
                bet.came,
                settled=bet.when,
                setting=in_words(plan, dict(bet.config.items() - plan.today.items())),
                source=bet.evidence.get("machine") or EVIDENCE[bet.evidence.get("evidence", "live")],
            )
            for bet in self.open_bets()
        )

    def score(self) -> score.Score | None:
        """The points; None before the hand-in is decided."""
        if self.handed is None:
            return None
        hand = key(self.handed.config)
        reached = max(0.0, self.table.points(hand) - HINT_POINTS * self.hints)
        bets = [(bet.confidence, bet.came and bet.came == bet.bet) for bet in self.open_bets()]
        shown = evidence(self)
        return score.Score(
            (
                score.Part(both("outcome", "结果"), reached, 5, _outcome_words(self.table.gained(hand), self.hints)),
                score.Part(both("evidence", "证据"), sum(shown.values()), 2, _evidence_words(self, shown)),
                score.Part(both("bets", "下注"), score.bet_points(bets), 2),
                score.Part(both("cause", "原因"), score.tries_points(self.causes_right), 1),
            )
        )


def known(plan: Plan, runs: Sequence[Bet], config: Config) -> bool:
    """Whether there is nothing left to bet on: today's configuration, or one that a run decided."""
    return key(config) == key(plan.today) or any(one.config == config and one.came for one in runs)


def _outcome_words(gain: float | None, hints: int) -> Text:
    """How good the outcome is, and what hints cost."""
    cost = f"{HINT_POINTS * hints:g}"
    hinted = both(f"; less {cost} for hints", f"；提示扣 {cost}") if hints else both("", "")
    if gain is None:
        return both(f"a requirement is broken{hinted['en']}", f"违反了要求{hinted['zh']}")
    if gain == 1:
        return both(f"among the best{hinted['en']}", f"最好的一档{hinted['zh']}")
    share = f"{100 * gain:.0f}"
    return both(f"{share} % of the best possible gain{hinted['en']}", f"最多能省的，你省到了 {share}%{hinted['zh']}")


def evidence(one: Attempt) -> dict[str, float]:
    """What was known before the hand-in, in points; empty where the hand-in brings nothing.

    measured: a run of the setting handed in, or, where all is left as it is, of its strongest rival. shown: a run beside it that
    differs only in a control that the cause is about; today's setting runs along each time. waste: runs of what was decided already.
    """
    table, today, hand = one.table, one.table.today, key(one.handed.config)
    if not table.points(hand):
        return {}
    about = set(one.plan.about)
    told = {key(run.config) for run in one.runs if tells(one.plan, run)}
    wanted = {hand} if hand != today else set(table.best_of([name for name in table.permitted() if name != today]))
    measured = bool(told & wanted)
    pairs = [config_in(name).items() ^ one.handed.config.items() for name in {*told, today}]
    differ = [{name for name, _ in pair} for pair in pairs]
    shown = measured and (not about or any(len(names) == 1 and names <= about for names in differ))
    again = sum(
        any(run.config == earlier.config and earlier.came for earlier in one.runs[:place])
        for place, run in enumerate(one.runs)
    )
    return {"measured": float(measured), "shown": float(shown), "waste": -min(0.5 * again, float(measured + shown))}


def tells(plan: Plan, run: Bet) -> bool:
    """Whether a run is evidence: it decided, or it kept what today breaks, however wide its interval."""
    return bool(run.came or run.outcome["verdict"] != FEW and came_out(plan, run.today, run.today) == "breaks")


def _evidence_words(one: Attempt, found: Mapping[str, float]) -> Text:
    """What earned the evidence, and what did not."""
    if not found:
        return both("counts only if the outcome is above 0", "结果大于 0 才计分")
    alone = key(one.handed.config) == one.table.today
    said = [EVIDENCE_SAID["rival" if alone else "measured", bool(found["measured"])]]
    said.append(EVIDENCE_SAID["shown", bool(found["shown"])])
    said += [EVIDENCE_SAID["waste", True]] if found["waste"] else []
    return both("; ".join(text["en"] for text in said), "；".join(text["zh"] for text in said))


EVIDENCE_SAID = {
    ("measured", True): both("what you handed in was measured", "交的方案测过"),
    ("measured", False): both("no clear result for what you handed in", "交的方案没有测出明确结果"),
    ("rival", True): both("today's strongest rival was measured", "现在这套设置的最强对手测过"),
    ("rival", False): both(
        "no clear result for the strongest rival of today's setting", "现在这套设置的最强对手没有测出明确结果"
    ),
    ("shown", True): both("a setting one control away was measured", "只差一个控件的对照也测过"),
    ("shown", False): both(
        "no clear result for a neighbour that differs only in the control behind the cause",
        "只差那个关键控件的对照没有测出明确结果",
    ),
    ("waste", True): both(
        "half a point off for each run of a setting whose result was already known", "重测结果已知的设置，每次扣半分"
    ),
}

"""One learner at one case of the tuning game: runs, bets, the hand-in.

What measures is handed in by the lesson; nothing here imports torch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from course.game import score
from course.game.cases import Case
from course.game.play import MoveError, Play
from course.i18n import Text, t
from course.learning.log import AnswerLog
from course.learning.marking import confidence_of
from course.lessons.l10_tuning_master.tuning import (
    Attempt,
    Bet,
    Config,
    Plan,
    Table,
    as_played,
    attempt_of,
    bet_note,
    config_of,
    key,
    plan_of,
    ruled,
    score_of,
)
from course.suggest import did_you_mean
from course.tables import clip

Tell = Callable[[str], None]
"""Takes a few words on what is being done now."""


@dataclass(frozen=True)
class Measured:
    """What a measurement gives: outcomes by key; evidence: a key of ``cases.EVIDENCE``; machine: in words."""

    outcomes: Table
    evidence: str
    machine: Text = ""


Measure = Callable[[Case, "Sequence[Config] | None", Tell], Measured]
"""Measures these configurations against today's (None: all of them), today's included, and says what it does meanwhile."""


class Tuning(Play):
    """One learner at one case. Raises MoveError for a move that cannot be made; then nothing is written."""

    def __init__(self, case: Case, log: AnswerLog, measure: Measure | None = None, plan: Plan | None = None) -> None:
        super().__init__(case, log)
        self.plan, self._measure = plan or plan_of(case), measure

    @property
    def attempt(self) -> Attempt:
        return attempt_of(self.now)

    def runs_left(self) -> int:
        return max(0, self.plan.runs - self.attempt.spent)

    def may_ask_hint(self) -> bool:
        return self.attempt.handed is None

    def may_name_cause(self) -> bool:
        return self.attempt.handed is not None

    def score(self) -> score.Score | None:
        """The score of this attempt; None before the hand-in."""
        one = self.attempt
        return score_of(self.case, as_played(self.plan, one.table), one)

    def run(self, config: Config, bet: str, confidence: int | str, tell: Tell = lambda words: None) -> Bet:
        """Measure one configuration against today's (or ask the rules). The result is in the log before it is shown."""
        if self.attempt.handed:
            raise MoveError(
                t(
                    f"This case is handed in. `{self.case.call}.again()` opens a new try.",
                    f"方案已经交了。`{self.case.call}.again()` 可以重新来一次。",
                )
            )
        if not self.runs_left():
            raise MoveError(
                t("No runs are left: hand in what you think is best.", "次数用完了：交上你认为最好的方案吧。")
            )
        config, bet, confidence = self.config(config), self.bet(bet), self.confidence(confidence)
        found = self._outcomes([config], tell)
        evidence = {
            "outcome": dict(found.outcomes[key(config)]),
            "today": dict(found.outcomes[key(self.plan.today)]),
            "evidence": found.evidence,
            "machine": found.machine,
        }
        self.write("run", (key(config), bet), confidence=confidence, evidence=evidence)
        return self.attempt.runs[-1]

    def hand_in(self, config: Config, bet: str, confidence: int | str, tell: Tell = lambda words: None) -> Bet:
        """Hand in one configuration; then every combination is measured."""
        if self.attempt.handed:
            raise MoveError(t("This case is handed in already.", "方案已经交过了。"))
        config, bet, confidence = self.config(config), self.bet(bet), self.confidence(confidence)
        found = self._outcomes(None, tell)
        table = {name: dict(one) for name, one in found.outcomes.items()}
        evidence = {"table": table, "evidence": found.evidence, "machine": found.machine}
        self.write("hand-in", (key(config), bet), confidence=confidence, evidence=evidence)
        return self.attempt.handed

    def _outcomes(self, configs: Sequence[Config] | None, tell: Tell) -> Measured:
        if self.plan.rules:
            return Measured(ruled(self.plan), "rule")
        if self._measure is None:
            raise MoveError(t("Nothing can be measured here.", "这里没法测量。"))
        return self._measure(self.case, configs, tell)

    # --- what a learner names ---

    def config(self, named: Config) -> dict[str, str]:
        """The whole configuration; a control that is not named stays as it is today. Raises MoveError for a slip."""
        named, known = config_of(named), {one.id: one for one in self.plan.controls}
        for name, value in named.items():
            if name not in known:
                near = did_you_mean(name, known, cutoff=0.4)
                raise MoveError(
                    t(
                        f"There is no control `{name}` on this panel.{near} There are: {', '.join(known)}.",
                        f"面板上没有 `{name}`。{near}可用的有：{'、'.join(known)}。",
                    )
                )
            if value not in known[name].values:
                values = list(known[name].values)
                near = did_you_mean(value, values, cutoff=0.4)
                raise MoveError(
                    t(
                        f"`{name}` cannot be {value!r}.{near} It can be: {', '.join(values)}.",
                        f"`{name}` 不能设为 {value!r}。{near}可选：{'、'.join(values)}。",
                    )
                )
        return {name: named.get(name, self.plan.today[name]) for name in known}

    def bet(self, said: str) -> str:
        """The bet. Raises MoveError where there is none yet, or none of that name."""
        bets = self.plan.bets()
        if (bet := str(said)) in bets:
            return bet
        names = t(", ".join(bets), "、".join(f"{name}（{words['zh']}）" for name, words in bets.items()))
        if said:
            near = did_you_mean(bet, bets, cutoff=0.5)
            raise MoveError(
                t(
                    f"`{clip(bet)}` is no bet.{near} There are: {names}.",
                    f"没有 `{clip(bet)}` 这种押法。{near}可选：{names}。",
                )
            )
        ask = t("First your bet: what will come out?", "先下注：你觉得结果会怎样？")
        raise MoveError(t(f"{ask} One of {names}. {bet_note()}", f"{ask}可选：{names}。{bet_note()}"))

    def confidence(self, said: int | str) -> int:
        """How sure, 1 to 3. Raises MoveError for anything else."""
        level = confidence_of(said)
        if level is None:
            raise MoveError(
                t(
                    "How sure are you? One of guess, fairly, certain.",
                    "你有多大把握？可选：guess（猜的）、fairly（比较有把握）、certain（很确定）。",
                )
            )
        return level

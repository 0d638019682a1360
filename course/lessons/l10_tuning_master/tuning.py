"""One learner at one case of the tuning game: the attempt as its moves tell it with its points, and the moves: run and hand in.

What measures is handed in by the lesson; nothing here imports torch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from course.core.i18n import Text, both, t
from course.core.suggest import did_you_mean
from course.core.tables import clip
from course.game import play
from course.game.cases import Case
from course.game.moves import Move
from course.game.play import MoveError, Part
from course.learning.log import AnswerLog
from course.learning.marking import confidence_of
from course.lessons.l10_tuning_master.panel import (
    FEW,
    Config,
    Outcome,
    Outcomes,
    Plan,
    Table,
    came_out,
    config_in,
    config_of,
    key,
    plan_of,
    ruled,
)

HINT_POINTS = 0.5
"""What a hint costs."""
BET_NOTE = both(
    "Bet on every setting whose result you have not seen yet, before a run and before you hand in. "
    "Today's setting is known and takes no bet.",
    "还没见过结果的设置都要先下注，测量和交方案都一样。现在的设置结果已知，不用押。",
)
"""On what a bet is asked."""


@dataclass(frozen=True)
class Bet:
    """A configuration, what was bet on it, and how sure. outcome: what came of it; today: what today's configuration gave in
    the same measurement. came: what the bet should have said (see ``came_out``).
    """

    config: Config
    bet: str
    confidence: int
    outcome: Outcome
    today: Outcome
    came: str | None
    evidence: Mapping[str, Any]

    @property
    def untold(self) -> bool:
        """Whether too few rounds told nothing."""
        return self.outcome.get("verdict") == FEW and not self.came


class Attempt(play.Attempt):
    """One attempt. handed: the hand-in. table: what came of every setting."""

    def __init__(self, case: Case, done: Iterable[Move] = ()) -> None:
        super().__init__(case, done)
        self.plan = plan_of(case)
        self.runs = tuple(
            self._bet(one, one.evidence["outcome"], one.evidence.get("today") or one.evidence["outcome"])
            for one in self.of_kind("run")
            if one.evidence.get("outcome")
        )
        self.handed: Bet | None = None
        self.table = Table(self.plan, {})
        for one in self.of_kind("hand-in"):
            if one.choice and not self.handed:
                self._hand_in(one)

    def _bet(self, one: Move, outcome: Outcome, today: Outcome) -> Bet:
        line, said = (*one.choice, "", "")[:2]
        came = came_out(self.plan, outcome, today)
        return Bet(config_in(line), said, one.confidence or 1, outcome, today, came, one.evidence)

    def _hand_in(self, one: Move) -> None:
        """A hand-in without a table that decides it is passed over."""
        hand, seen = one.choice[0], one.evidence.get("table") or {}
        here = Table(self.plan, seen)
        if {here.today, hand} <= set(seen) and here.decided(hand):
            self.handed, self.table = self._bet(one, seen[hand], seen[here.today]), here

    @property
    def spent(self) -> int:
        """Runs used up; one that told nothing is not."""
        return sum(not one.untold for one in self.runs)

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

    def score(self) -> play.Score | None:
        """The points; None before the hand-in is decided."""
        if self.handed is None:
            return None
        hand = key(self.handed.config)
        reached = max(0.0, self.table.points(hand) - HINT_POINTS * self.hints)
        bets = [(bet.confidence, bet.came and bet.came == bet.bet) for bet in self.open_bets()]
        return play.Score(
            (
                Part(both("outcome", "结果"), reached, 5, _outcome_words(self.table.gained(hand), self.hints)),
                Part(both("evidence", "证据"), evidence(self), 2, EVIDENCE_SAID),
                Part(both("bets", "下注"), play.bet_points(bets), 2),
                Part(both("cause", "原因"), play.tries_points(self.causes_right), 1),
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


def evidence(one: Attempt) -> int:
    """What was known before the hand-in, in points (see EVIDENCE_SAID); today's setting runs along each time."""
    table, today, hand = one.table, one.table.today, key(one.handed.config)
    about = set(one.plan.about)
    told = {key(run.config) for run in one.runs if tells(one.plan, run)}
    wanted = {hand} if hand != today else set(table.best_of([name for name in table.permitted() if name != today]))
    if not table.points(hand) or not told & wanted:
        return 0
    pairs = [config_in(name).items() ^ one.handed.config.items() for name in {*told, today}]
    differ = [{name for name, _ in pair} for pair in pairs]
    return 1 + (not about or any(len(names) == 1 and names <= about for names in differ))


def tells(plan: Plan, run: Bet) -> bool:
    """Whether a run is evidence: it decided, or it kept what today breaks, however wide its interval."""
    return bool(run.came or run.outcome["verdict"] != FEW and came_out(plan, run.today, run.today) == "breaks")


EVIDENCE_SAID = both(
    "first, a clear run of what you handed in (of its strongest rival, where that is today's setting); then, one of a neighbour that "
    "differs only in the control behind the cause",
    "先看交的方案有没有测出明确结果（交的就是现在的设置时，看它的最强对手）；再看只差那个关键控件的对照测了没有",
)
"""For what evidence gives its points, where the outcome is above 0."""


# --- the moves --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measured:
    """What a measurement gives: outcomes by key; evidence: a key of ``cases.EVIDENCE``; machine: in words."""

    outcomes: Outcomes
    evidence: str
    machine: Text = ""


Measure = Callable[[Case, "Sequence[Config] | None"], Measured]
"""Measures these configurations against today's (None: all of them), today's included."""
Recorded = Callable[[Case], Measured]
"""Gives the whole table of a case as another machine recorded it."""
Busy = Callable[[Case], bool]
"""Whether what this case measures would suffer now, because other programs are at work."""


class Tuning(play.Play):
    """One learner at one case. Raises MoveError for a move that cannot be made; then nothing is written."""

    def __init__(
        self,
        case: Case,
        log: AnswerLog,
        measure: Measure | None = None,
        recorded: Recorded | None = None,
        busy: Busy = lambda case: False,
    ) -> None:
        super().__init__(case, log)
        self.plan, self._measure, self._recorded, self._busy = plan_of(case), measure, recorded, busy
        self.undecided = False
        """Whether the last hand-in was not kept, because its measurement decided nothing."""

    def read(self, done: Sequence[Move]) -> Attempt:
        return Attempt(self.case, done)

    def runs_left(self) -> int:
        return max(0, self.plan.runs - self.attempt.spent)

    def may_ask_hint(self) -> bool:
        return self.attempt.handed is None

    def may_name_cause(self) -> bool:
        return self.attempt.handed is not None

    def is_busy(self) -> bool:
        """Whether the machine is too busy now, and a recording could answer in its place."""
        return self._recorded is not None and self._busy(self.case)

    def ready(
        self, config: Config, bet: str, confidence: int | str, handing: bool
    ) -> tuple[dict[str, str], str, int | None]:
        """The configuration, the bet and how sure, checked for a hand-in or a run. Raises MoveError, before anything is measured."""
        if self.attempt.handed:
            again = f"`{self.case.call}.again()`"
            raise MoveError(
                f"This case is handed in. {again} opens a new try.", f"方案已经交了。{again} 可以重新来一次。"
            )
        if not handing and not self.runs_left():
            raise MoveError("No runs are left: hand in what you think is best.", "次数用完了：交上你认为最好的方案吧。")
        if bet:
            self.bet(bet)  # before what is said of the settings: "off" alone was meant for one of them
        config = self.config(config)
        if key(config) == key(self.plan.today) and not handing:
            raise MoveError(
                "That is today's setting: every run measures it as well. Set at least one control to something else.",
                "这就是现在的设置，每次测量都会把它一起测。至少先改一个控件。",
            )
        if key(config) == key(self.plan.today) and not self.attempt.runs:
            raise MoveError(
                "That is what runs today, and you have not looked at anything else yet. Leaving it alone may well be right: "
                "try one other setting first.",
                "这就是现在的设置，而你还没看过别的。也许真的不用动，不过先试一套别的再说。",
            )
        if known(self.plan, self.attempt.runs, config):
            if handing:
                return config, "", None
            raise MoveError("You have measured that one: its result is known.", "这套已经测过了，结果已知。")
        return config, self.bet(bet), self.confidence(confidence)

    def run(self, config: Config, bet: str, confidence: int | str, recording: bool = False) -> Bet:
        """Measure one configuration against today's (or ask the rules). The result is in the log before it is shown.
        recording: another machine's recording answers, where this one is busy.
        """
        config, bet, confidence = self.ready(config, bet, confidence, False)
        found = self._outcomes(config, [config], recording)
        evidence = {
            "outcome": dict(found.outcomes[key(config)]),
            "today": dict(found.outcomes[key(self.plan.today)]),
            "evidence": found.evidence,
            "machine": found.machine,
        }
        self.write("run", (key(config), bet), confidence=confidence, evidence=evidence)
        return self.attempt.runs[-1]

    def hand_in(self, config: Config, bet: str = "", confidence: int | str = "", recording: bool = False) -> Bet:
        """Hand in one configuration; then every combination is measured. Raises MoveError where that decided nothing: nothing of it
        is kept or shown, and it may be made again. recording: another machine's recording decides.
        """
        config, bet, confidence = self.ready(config, bet, confidence, True)
        found = self._outcomes(config, None, recording)
        self.undecided = not Table(self.plan, found.outcomes).decided(key(config))
        if self.undecided:
            raise MoveError(
                "⏸️ **Not handed in.** The machine was too busy to tell the settings apart, so nothing is shown and nothing is used up. "
                "Close other programs and hand in again, this setting or another; "
                f"or let the recording of another machine decide: `{self.case.call}.hand_in(..., recording=True)`.",
                "⏸️ **还没交成。** 机器太忙，分不出高下，所以什么都不揭晓，也什么都不扣。"
                f"关掉别的程序再交一次，换一套也行；或者用另一台机器录好的结果来判：`{self.case.call}.hand_in(..., recording=True)`。",
            )
        table = {name: dict(one) for name, one in found.outcomes.items()}
        evidence = {"evidence": found.evidence, "machine": found.machine, "table": table}
        self.write("hand-in", (key(config), bet), confidence=confidence, evidence=evidence)
        return self.attempt.handed

    def _outcomes(self, config: Config, configs: Sequence[Config] | None, recording: bool) -> Measured:
        """By rule, measured or recorded. Raises MoveError where nothing is known of the configuration."""
        if self.plan.rules:
            return Measured(ruled(self.plan), "rule")
        found = self._recorded(self.case) if recording else self._measure(self.case, configs)
        if key(config) not in found.outcomes:
            raise MoveError(
                "That machine cannot run this setting, so nothing is known of it. Take another one.",
                "那台机器跑不了这套设置，结果无从知道。换一套吧。",
            )
        return found

    # --- what a learner names ---

    def config(self, named: Config) -> dict[str, str]:
        """The whole configuration; a control that is not named stays as it is today. Raises MoveError for a slip."""
        named, known = config_of(named), {one.id: one for one in self.plan.controls}
        for name, value in named.items():
            if name not in known:
                near = did_you_mean(name, known, cutoff=0.4)
                raise MoveError(
                    f"There is no control `{name}` on this panel.{near} There are: {', '.join(known)}.",
                    f"面板上没有 `{name}`。{near}可用的有：{'、'.join(known)}。",
                )
            if value not in known[name].values:
                values = list(known[name].values)
                near = did_you_mean(value, values, cutoff=0.4)
                raise MoveError(
                    f"`{name}` cannot be {value!r}.{near} It can be: {', '.join(values)}.",
                    f"`{name}` 不能设为 {value!r}。{near}可选：{'、'.join(values)}。",
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
                f"`{clip(bet)}` is no bet.{near} There are: {names}.",
                f"没有 `{clip(bet)}` 这种押法。{near}可选：{names}。",
            )
        ask = t("First your bet: what will come out?", "先下注：你觉得结果会怎样？")
        raise MoveError(f"{ask} One of {names}. {BET_NOTE['en']}", f"{ask}可选：{names}。{BET_NOTE['zh']}")

    def confidence(self, said: int | str) -> int:
        """How sure, 1 to 3. Raises MoveError for anything else."""
        level = confidence_of(said)
        if level is None:
            raise MoveError(
                "How sure are you? One of guess, fairly, certain.",
                "你有多大把握？可选：guess（猜的）、fairly（比较有把握）、certain（很确定）。",
            )
        return level

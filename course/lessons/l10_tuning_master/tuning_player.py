"""One learner at one case of the tuning game: runs, bets, the hand-in.

What measures is handed in by the lesson; nothing here imports torch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from course.core.i18n import Text, t
from course.core.suggest import did_you_mean
from course.core.tables import clip
from course.game.cases import Case
from course.game.moves import Move
from course.game.play import MoveError, Play
from course.learning.log import AnswerLog
from course.learning.marking import confidence_of
from course.lessons.l10_tuning_master.tuning_attempt import Attempt, Bet, known
from course.lessons.l10_tuning_master.tuning_outcome import Table, ruled
from course.lessons.l10_tuning_master.tuning_plan import Config, Outcomes, Plan, bet_note, config_of, key, plan_of

Tell = Callable[[str], None]
"""Takes a few words on what is being done now."""


@dataclass(frozen=True)
class Measured:
    """What a measurement gives: outcomes by key; evidence: a key of ``cases.EVIDENCE``; machine: in words."""

    outcomes: Outcomes
    evidence: str
    machine: Text = ""


Measure = Callable[[Case, "Sequence[Config] | None", Tell], Measured]
"""Measures these configurations against today's (None: all of them), today's included, and says what it does meanwhile."""
Recorded = Callable[[Case], Measured]
"""Gives the whole table of a case as another machine recorded it."""
Busy = Callable[[Case], bool]
"""Whether what this case measures would suffer now, because other programs are at work."""


class Tuning(Play):
    """One learner at one case. Raises MoveError for a move that cannot be made; then nothing is written."""

    def __init__(
        self,
        case: Case,
        log: AnswerLog,
        measure: Measure | None = None,
        plan: Plan | None = None,
        recorded: Recorded | None = None,
        busy: Busy = lambda case: False,
    ) -> None:
        super().__init__(case, log)
        self.plan, self._measure, self._recorded, self._busy = plan or plan_of(case), measure, recorded, busy
        self._was_busy = False

    def read(self, done: Sequence[Move]) -> Attempt:
        return Attempt(self.case, done, self.plan)

    def runs_left(self) -> int:
        return max(0, self.plan.runs - self.attempt.spent)

    def may_ask_hint(self) -> bool:
        return self.attempt.handed is None

    def may_name_cause(self) -> bool:
        return self.attempt.handed is not None

    def is_busy(self) -> bool:
        """Whether the machine is too busy now, and a recording could answer in its place; it may, in the next move."""
        self._was_busy = self._recorded is not None and self._busy(self.case)
        return self._was_busy

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
        if isinstance(bet, Mapping):
            raise self._how_passed(bet, handing)
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
        return (config, *self.stake(config, bet, confidence))

    def _how_passed(self, given: Config, handing: bool) -> MoveError:
        """For settings that were passed as a dictionary, where the bet is expected."""
        settings = clip(", ".join(f'{name}="{value}"' for name, value in config_of(given).items()))
        call = f"{self.case.call}.{'hand_in' if handing else 'run'}({settings}, bet=..., confidence=...)"
        return MoveError(
            f"Settings are passed by their names, not as a dictionary: `{call}`.",
            f"设置要按名字传，不要放进字典：`{call}`。",
        )

    def run(
        self, config: Config, bet: str, confidence: int | str, tell: Tell = lambda words: None, recording: bool = False
    ) -> Bet:
        """Measure one configuration against today's (or ask the rules). The result is in the log before it is shown.
        recording: another machine's recording answers, where this one is busy.
        """
        config, bet, confidence = self.ready(config, bet, confidence, False)
        found = self._of_recording(config) if recording else self._outcomes([config], tell)
        self._was_busy = False
        evidence = {
            "outcome": dict(found.outcomes[key(config)]),
            "today": dict(found.outcomes[key(self.plan.today)]),
            "evidence": found.evidence,
            "machine": found.machine,
        }
        self.write("run", (key(config), bet), confidence=confidence, evidence=evidence)
        return self.attempt.runs[-1]

    def hand_in(
        self,
        config: Config,
        bet: str = "",
        confidence: int | str = "",
        tell: Tell = lambda words: None,
        recording: bool = False,
    ) -> Bet | None:
        """Hand in one configuration; then every combination is measured. Gives None where that decided nothing: the hand-in
        waits, nothing of it is kept or shown, and it may be made again. recording: another machine's recording decides.
        """
        config, bet, confidence = self.ready(config, bet, confidence, True)
        found = self._of_recording(config) if recording else self._outcomes(None, tell)
        self._was_busy = False
        evidence = {"evidence": found.evidence, "machine": found.machine}
        if Table(self.plan, found.outcomes).decided(key(config)):
            evidence["table"] = {name: dict(one) for name, one in found.outcomes.items()}
        self.write("hand-in", (key(config), bet), confidence=confidence, evidence=evidence)
        return self.attempt.handed

    def _of_recording(self, config: Config) -> Measured:
        """The recorded table. Raises MoveError where this machine can measure, or the recording does not know the configuration."""
        if self._recorded is None or not (self.attempt.waits or self._was_busy or self.is_busy()):
            raise MoveError(
                "This machine is not busy: measure as usual. The recording answers only when this machine cannot tell.",
                "这台机器不忙，照常测就行。只有它测不出来时，才用录好的结果回答。",
            )
        found = self._recorded(self.case)
        if key(config) not in found.outcomes:
            raise MoveError(
                "The recorded machine has other controls than yours, so it cannot decide here. Close other programs and hand in again.",
                "录数据的那台机器的控件和你的不一样，没法由它来判。关掉别的程序，再交一次吧。",
            )
        return found

    def _outcomes(self, configs: Sequence[Config] | None, tell: Tell) -> Measured:
        if self.plan.rules:
            return Measured(ruled(self.plan), "rule")
        if self._measure is None:
            raise MoveError("Nothing can be measured here.", "这里没法测量。")
        return self._measure(self.case, configs, tell)

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

    def stake(self, config: Config, bet: str, confidence: int | str) -> tuple[str, int | None]:
        """The bet on a configuration, and how sure; none where what comes out is known."""
        if known(self.plan, self.attempt.runs, config):
            return "", None
        return self.bet(bet), self.confidence(confidence)

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
        raise MoveError(f"{ask} One of {names}. {bet_note()}", f"{ask}可选：{names}。{bet_note()}")

    def confidence(self, said: int | str) -> int:
        """How sure, 1 to 3. Raises MoveError for anything else."""
        level = confidence_of(said)
        if level is None:
            raise MoveError(
                "How sure are you? One of guess, fairly, certain.",
                "你有多大把握？可选：guess（猜的）、fairly（比较有把握）、certain（很确定）。",
            )
        return level

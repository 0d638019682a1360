"""The tuning game as a game of the course (see ``course.game``): its player, where a learner stands, what is wrong with a case."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from course.core import cpu_load
from course.core.i18n import Text, both, pick, t
from course.core.markup import plain
from course.core.units import time_change
from course.game.board import OPEN
from course.game.cases import Case
from course.game.play import Read
from course.learning.log import AnswerLog
from course.lessons.l10_tuning_master import panel
from course.lessons.l10_tuning_master.desk import Desk
from course.lessons.l10_tuning_master.panel import Config
from course.lessons.l10_tuning_master.tuning import Attempt, Measured, Tuning

if TYPE_CHECKING:
    from course.core.records import Record


def player(case: Case, log: AnswerLog) -> Desk:
    """What ``case("voice")`` gives."""
    return Desk(Tuning(case, log, measure, recorded, busy))


def reader(case: Case) -> Read:
    """How the moves of an attempt are read."""
    return lambda done: Attempt(case, done)


def words(found: Sequence[Attempt]) -> Text:
    """The state of a case that is open."""
    last = found[-1]
    if last.handed and not last.closed:
        return both("handed in; the cause is open", "方案已交，原因待答")
    if last.runs:
        runs = last.plan.runs
        return both(f"{last.spent} of {runs} runs used", f"已用 {last.spent}/{runs} 次测量")
    return OPEN


def hook(attempt: Attempt) -> str:
    """The advice that was quoted, and the best that the learner got without breaking a requirement; whether the two agree is the bet."""
    quote = plain(pick(attempt.case.quote.text))
    told = t(f"They told us: “{quote}” ", f"都说：“{quote}”")
    bets = [*attempt.runs, attempt.handed]
    found = [bet.outcome["ratio"] for bet in bets if bet.came == "faster"]
    if not found:
        return told + t("Right here, or wrong? Your bet?", "放在这里，对还是不对？你押哪个？")
    best = time_change(min(found))
    return told + t(
        f"We got {best}. With that advice, or against it? Your bet?", f"我们{best}。是照做，还是反着来？你押哪个？"
    )


def measure(case: Case, configs: Sequence[Config] | None) -> Measured:
    """Measure these configurations (None: all) here, or look them up in the nearest recording.

    Raises ExperimentError where the time of the case is out before anything is measured, KeyboardInterrupt where it was stopped.
    """
    from course.core.machine import can
    from course.experiment import base

    experiment = base.get(case.id)
    if not can(experiment.needs) or os.environ.get("COURSE_REPLAY") == "1":
        return recorded(case)
    seconds = panel.plan_of(case).seconds[0 if configs is not None else 1]
    record = base.run_experiment(experiment, seconds, base.PATIENCE * seconds, configs=configs)
    if record.interrupted:
        raise KeyboardInterrupt
    if not record.rows:
        raise base.ExperimentError(
            t(
                f"Nothing was measured within {seconds:g} s, so this does not count. Other programs keep the machine busy: "
                "close them and measure again.",
                f"{seconds:g} 秒内什么都没测到，这次不算。机器正忙着别的程序：关掉它们，再测一次。",
            )
        )
    return _measured(record)


def busy(case: Case) -> bool:
    """Whether a measurement of this case would suffer from other programs now; COURSE_REPLAY, 0 or 1, says that none is to ask."""
    from course.core.machine import can
    from course.experiment import base

    if case.evidence == "rule" or os.environ.get("COURSE_REPLAY") or not can(base.get(case.id).needs):
        return False
    return cpu_load.busy()


def recorded(case: Case) -> Measured:
    """The whole table of a live case from the nearest recording."""
    from course.experiment import base

    record = base.recording(base.get(case.id))
    if record is None:
        raise base.ExperimentError(
            t(
                "This machine cannot measure this case, and there is no recording of it yet. Take another one: `board()`.",
                "这台机器测不了这个病例，也还没有别人录好的结果。换一个吧：`board()`。",
            )
        )
    return _measured(record)


def _measured(record: Record) -> Measured:
    """The outcomes of a record."""
    outcomes = {row["config"]: panel.outcome_of(row) for row in record.rows}
    return Measured(outcomes, "live" if record.live else "recording", record.label())

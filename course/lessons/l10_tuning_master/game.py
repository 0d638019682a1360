"""The tuning game as a game of the course (see ``course.game``): its player, where a learner stands, what is wrong with a case."""

from __future__ import annotations

import os
from collections.abc import Sequence

from course.game.cases import Case
from course.i18n import t
from course.learning.log import AnswerLog
from course.lessons.l10_tuning_master import tuning
from course.lessons.l10_tuning_master.tuning import Config, Plan
from course.lessons.l10_tuning_master.tuning_desk import Desk
from course.lessons.l10_tuning_master.tuning_player import Measured, Tell, Tuning

standing, faults = tuning.standing, tuning.faults


def player(case: Case, log: AnswerLog) -> Desk:
    """What ``case("voice")`` gives."""
    return Desk(Tuning(case, log, measure, plan_here(case)))


def plan_here(case: Case) -> Plan:
    """The panel as this machine can offer it: no threads on a single core, no int8 without an engine for it."""
    plan = tuning.plan_of(case)
    if case.evidence == "rule":
        return plan
    from course.lessons.l10_tuning_master import bench, workloads

    values = {one.id: one.values for one in plan.controls}
    lacking = {("dtype", "int8")} if "int8" in values.get("dtype", ()) and not workloads.int8_works() else set()
    return plan.without({"threads"} if bench.cores() == 1 else set(), lacking)


def measure(case: Case, configs: Sequence[Config] | None, tell: Tell) -> Measured:
    """Measure these configurations (None: all) here, or look them up in the nearest recording."""
    from course.experiment import base
    from course.experiment.base import ExperimentError
    from course.machine import can

    experiment = base.get(case.id)
    if can(experiment.needs) and os.environ.get("COURSE_REPLAY") != "1":
        plan = plan_here(case)
        seconds = plan.seconds[0 if configs is not None else 1]
        record = base.run_experiment(experiment, seconds, configs=configs, tell=tell)
        if record.interrupted or not record.rows:
            raise KeyboardInterrupt
    else:
        record = base.load_or_run(case.id)
        if record is None:
            raise ExperimentError(
                t(
                    "This machine cannot measure this case, and there is no recording of it yet. Take another one: `board()`.",
                    "这台机器测不了这个病例，也还没有录制。换一个吧：`board()`。",
                )
            )
    outcomes = {
        row["config"]: {name: row[name] for name in ("ratio", "low", "high", "verdict")}
        | {"facts": {name[5:]: value for name, value in row.items() if name.startswith("fact_")}}
        for row in record.rows
    }
    return Measured(outcomes, "live" if record.live else "recording", record.label())

"""Experiments of lesson 10: every combination of a live case, measured against what the team runs today.

One experiment a case, of the same name; the game takes its table from it, and ``observe("10-voice")`` shows it outside the game.
Panels and limits stand in ``cases.yaml``, so that running one (not listing it) needs PyYAML.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from course.experiment.base import Budget, experiment
from course.experiment.reading import Reading
from course.game import cases
from course.i18n import LANGUAGES, Text, pick, speaking, t
from course.lessons.l10_tuning_master import bench, game, tuning_outcome, tuning_plan
from course.lessons.l10_tuning_master.workloads import WORKLOADS
from course.markup import plain

LESSON = "10_tuning_master"
SECONDS = 6


def live_experiment(name: str, needs: str = "cpu", seconds: float = SECONDS) -> None:
    """Register the experiment of a live case. seconds: those of its hand-in, in ``cases.yaml``."""

    def measured(budget: Budget, configs: Any = None, tell: Any = lambda words: None) -> Iterable[dict[str, Any]]:
        plan = game.plan_here(cases.find(name))
        return bench.rows(WORKLOADS[name], plan, configs, budget, tell)

    measured.__qualname__ = f"measured[{name}]"
    experiment(name=name, lesson=LESSON, needs=needs, seconds=seconds, whole=True, read=read_case(name))(measured)


def read_case(name: str) -> Callable[[list[dict]], Reading]:
    """The reading of a case: the best settings that keep every requirement. Drawn: all, the fastest at the top."""

    def read(rows: list[dict]) -> Reading:
        table = {row["config"]: tuning_outcome.outcome_of(row) for row in rows}
        plan = tuning_plan.as_played(tuning_plan.plan_of(cases.find(name)), table)
        today = tuning_plan.key(plan.today)
        drawn = [_drawn(plan, config, table, today) for config in sorted(table, key=lambda one: table[one]["ratio"])]
        outcome, best = _outcome(plan, table, today) if today in table else (None, None)
        if best is None:
            return Reading(outcome, drawn=drawn)
        changes = _in_both(lambda: _changes(plan, tuning_plan.config_in(best)))
        named = _fits(changes, alone=outcome == "unclear")
        return Reading(outcome, {"changes": changes if named else "best", "ratio": table[best]["ratio"]}, drawn)

    return read


def _outcome(plan: tuning_plan.Plan, table: tuning_plan.Table, today: str) -> tuple[str | None, str | None]:
    """What came out, and the settings that it is about, where they are not today's."""
    best = tuning_outcome.best_set(plan, table, today)
    if not best:
        return "none kept", None
    first = min(best, key=lambda name: table[name]["ratio"])
    if not tuning_outcome.decided(plan, table, today, first):
        return None, None
    if today not in best:
        return "unclear" if table[first]["verdict"] == "undecided" else "best", first
    faster = [one for one in table.values() if one["verdict"] == "faster"]
    breaks = faster and all(tuning_outcome.broken(plan, one, table[today]) for one in faster)
    return "faster breaks" if breaks else "nothing", None


def _drawn(plan: tuning_plan.Plan, config: str, table: tuning_plan.Table, today: str) -> dict[str, Any]:
    """A row of the picture: the settings in words, their time, and whether they are today's or break a requirement."""
    one = table[config]
    row = {
        "config": config,
        "words": _in_both(lambda: plain(tuning_plan.in_words(plan, tuning_plan.config_in(config)))),
        "remark": "today" * (config == today),
        **{key: one[key] for key in ("ratio", "low", "high")},
    }
    if today in table and tuning_outcome.broken(plan, one, table[today]):
        row["remark"] = "today, broken" if config == today else "broken"
    return row | dict.fromkeys(("low", "high")) if one["verdict"] == tuning_outcome.FEW else row


def _changes(plan: tuning_plan.Plan, config: dict[str, str]) -> str:
    """What differs from today: each control with its value, or the value alone where it says enough."""
    told = []
    for control in plan.controls:
        value = config.get(control.id, plan.today[control.id])
        if value != plan.today[control.id]:
            name, words = pick(control.name), plain(pick(control.values[value])).replace("()", "")
            alone = control.id in ("grad", "dtype", "layout") or value == "all"
            told.append(words if alone else name + t(" ", " " * (name[-1].isascii() or words[0].isascii())) + words)
    said = t(", ", "、").join(told)
    first = said.replace(",", " ").split()[0]
    return said[0].upper() + said[1:] if first.islower() and first.isalpha() else said


def _fits(changes: Text, alone: bool) -> bool:
    """Whether a headline can name the changes: they are short, and alone: no other number stands beside theirs."""
    signs = sum(0.5 if sign.isascii() else 1 for sign in changes["zh"] if sign != " ")
    number = any(re.search(r"(?<![A-Za-z\d_.])\d", text) for text in changes.values())
    bracket = any(re.search("[()（）=]", text) for text in changes.values())
    return len(changes["en"].split()) <= 10 and signs <= 19 and not bracket and (alone or not number)


def _in_both(said: Callable[[], str]) -> Text:
    """What a function says, in both languages."""
    found = {}
    for code in LANGUAGES:
        with speaking(code):
            found[code] = said()
    return found


live_experiment("10-museum")
live_experiment("10-voice", "mkldnn", 4)
live_experiment("10-archive", "mkldnn", 9)
live_experiment("10-photo", "mkldnn")
live_experiment("10-birds", "mkldnn", 10)
live_experiment("10-bank")
live_experiment("10-payday")
live_experiment("10-laptop", seconds=10)
live_experiment("10-ci", seconds=24)
live_experiment("10-search")

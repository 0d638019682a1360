"""Experiments of lesson 10: every combination of a live case, measured against what the team runs today.

One experiment a case, of the same name; the game takes its table from it, and ``observe("10-voice")`` shows it outside the game.
Panels and limits stand in ``cases.yaml``, so that running one (not listing it) needs PyYAML.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from course.core.i18n import LANGUAGES, Text, pick, speaking, t
from course.core.markup import plain
from course.experiment.base import Budget, experiment
from course.experiment.reading import Reading
from course.game import cases
from course.lessons.l10_tuning_master import bench, game, panel
from course.lessons.l10_tuning_master.workloads import WORKLOADS

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
        found = {row["config"]: panel.outcome_of(row) for row in rows}
        plan = panel.as_played(panel.plan_of(cases.find(name)), found)
        table = panel.Table(plan, found)
        drawn = [_drawn(table, config) for config in sorted(found, key=lambda one: found[one]["ratio"])]
        outcome, best = _outcome(table) if table.today in found else (None, None)
        if best is None:
            return Reading(outcome, drawn=drawn)
        changes = _in_both(lambda: _changes(plan, panel.config_in(best)))
        named = _fits(changes, alone=outcome == "unclear")
        return Reading(outcome, {"changes": changes if named else "best", "ratio": found[best]["ratio"]}, drawn)

    return read


def _outcome(table: panel.Table) -> tuple[str | None, str | None]:
    """What came out, and the settings that it is about, where they are not today's."""
    best, outcomes = table.best_set(), table.outcomes
    if not best:
        return "none kept", None
    first = min(best, key=lambda name: outcomes[name]["ratio"])
    if not table.decided(first):
        return None, None
    if table.today not in best:
        return "unclear" if outcomes[first]["verdict"] == "undecided" else "best", first
    faster = [name for name, one in outcomes.items() if one["verdict"] == "faster"]
    breaks = faster and all(table.came_out(name) == "breaks" for name in faster)
    return "faster breaks" if breaks else "nothing", None


def _drawn(table: panel.Table, config: str) -> dict[str, Any]:
    """A row of the picture: the settings in words, their time, and whether they are today's or break a requirement."""
    one = table.outcomes[config]
    broken = table.today in table.outcomes and table.came_out(config) == "breaks"
    row = {
        "config": config,
        "words": _in_both(lambda: plain(panel.in_words(table.plan, panel.config_in(config)))),
        "remark": ", ".join(filter(None, ["today" * (config == table.today), "broken" * broken])),
        **{key: one[key] for key in ("ratio", "low", "high")},
    }
    return row | dict.fromkeys(("low", "high")) if one["verdict"] == panel.FEW else row


def _changes(plan: panel.Plan, config: dict[str, str]) -> str:
    """What differs from today: each control with its value, or the value alone where it says enough."""
    told = []
    for control in plan.controls:
        value = config.get(control.id, plan.today[control.id])
        if value != plan.today[control.id]:
            name, words = pick(control.name), plain(pick(control.values[value])).replace("()", "")
            alone = control.id in ("grad", "dtype") or value == "all"
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
live_experiment("10-bank")
live_experiment("10-payday")
live_experiment("10-laptop", seconds=10)

"""Experiments of lesson 10: every combination of a live case, measured against what the team runs today.

One experiment a case, of the same name; the game takes its table from it, and ``observe("10-voice")`` shows it outside the game.
Panels and limits stand in ``cases.yaml``, so that running one (not listing it) needs PyYAML.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from math import ceil
from typing import Any

from course.core.i18n import LANGUAGES, both, speaking, t
from course.core.markup import plain
from course.core.records import Record
from course.core.tables import Table
from course.core.units import time_words, times
from course.experiment.base import Budget, experiment, get
from course.experiment.new_process import rows_of
from course.experiment.reading import Reading
from course.figures.curves import cost_curve
from course.figures.svg import SvgPicture
from course.game import cases
from course.lessons.l10_tuning_master import panel, workloads

LESSON = "10_tuning_master"
SECONDS = 6


def live_experiment(name: str, needs: str = "cpu", seconds: float = SECONDS) -> None:
    """Register the experiment of a live case. seconds: those of its hand-in, in ``cases.yaml``."""

    def measured(budget: Budget, configs: Any = None) -> Iterable[dict[str, Any]]:
        plan = panel.plan_of(cases.find(name))
        return workloads.rows(workloads.WORKLOADS[name], plan, configs, budget)

    measured.__qualname__ = f"measured[{name}]"
    experiment(name=name, lesson=LESSON, needs=needs, seconds=seconds, whole=True, read=read_case(name))(measured)


def read_case(name: str) -> Callable[[list[dict]], Reading]:
    """The reading of a case: the best settings that keep every requirement. Drawn: all, the fastest at the top."""

    def read(rows: list[dict]) -> Reading:
        found = {row["config"]: panel.outcome_of(row) for row in rows}
        plan = panel.plan_of(cases.find(name))
        table = panel.Table(plan, found)
        drawn = [_drawn(table, config) for config in sorted(found, key=lambda one: found[one]["ratio"])]
        outcome, best = _outcome(table) if table.today in found else (None, None)
        if best is None:
            return Reading(outcome, drawn=drawn)
        return Reading(outcome, {"ratio": found[best]["ratio"]}, drawn)

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
    words = {}
    for code in LANGUAGES:
        with speaking(code):
            words[code] = plain(panel.in_words(table.plan, panel.config_in(config)))
    row = {
        "config": config,
        "words": words,
        "remark": ", ".join(filter(None, ["today" * (config == table.today), "broken" * broken])),
        **{key: one[key] for key in ("ratio", "low", "high")},
    }
    return row | dict.fromkeys(("low", "high")) if one["verdict"] == panel.FEW else row


live_experiment("10-museum")
live_experiment("10-voice", "mkldnn", 4)
live_experiment("10-archive", "mkldnn", 9)
live_experiment("10-bank")
live_experiment("10-payday")
live_experiment("10-laptop", seconds=10)


# --- torch.compile: what it costs a process, and after how many calls it is paid back --------------------------------------

STATES = ("plain", "empty", "kept")


@experiment(name="10-compile-price", lesson=LESSON, needs="compiler", seconds=30)
def compile_price(budget: Budget) -> Iterator[dict[str, Any]]:
    """Two small blocks in three new processes: as written, compiled with an empty cache on disk, compiled with that cache."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as cache:
        for state in budget.loop(STATES, desc=both("compiling", "编译"), least=len(STATES)):
            found = rows_of(
                "course.lessons.l10_tuning_master.workloads", "job", state != "plain", budget.seconds / 20,
                variables={"TORCHINDUCTOR_CACHE_DIR": cache}, timeout_s=300,
            )  # fmt: skip
            for row in found:
                yield {"state": state, **row}


def read_compile_price(rows: list[dict]) -> Reading | None:
    if any("refused" in row for row in rows):
        return Reading("refused")
    by = {row["state"]: row for row in rows}
    if set(by) != set(STATES):
        return None
    calls = _paid_back(by)
    if set(calls) != {"empty", "kept"}:
        return Reading("no payback")
    return Reading("at once" if calls["empty"] < 2 else "after calls", calls)


def _paid_back(rows: dict[str, dict[str, Any]]) -> dict[str, int]:
    """State -> calls after which it has saved what its first call took longer; not where a call gains nothing for sure.

    A single round makes no interval (its ends coincide), so it shows no gain.
    """
    plain, told = rows["plain"], {}
    for state in ("empty", "kept"):
        row = rows.get(state)
        if row and "refused" not in row and row["low_ms"] < row["high_ms"] < plain["low_ms"] < plain["high_ms"]:
            told[state] = max(1, ceil((row["first_s"] - plain["first_s"]) / (plain["call_ms"] - row["call_ms"]) * 1e3))
    return told


def draw_compile_price(record: Record, bets: dict) -> SvgPicture | Table:
    """Time of one process over its calls, compiled and not; where nothing is paid back for sure, the times as a table."""
    rows, name = {row["state"]: row for row in record.rows}, get(record.experiment).telling.name
    paid = _paid_back(rows) if "plain" in rows else {}
    if set(paid) == {"empty", "kept"}:
        plain, empty = rows["plain"], rows["empty"]
        calls = times(paid["empty"])
        return cost_curve(
            empty["first_s"] - plain["first_s"],
            plain["call_ms"] / 1e3,
            empty["call_ms"] / 1e3,
            (name("plain"), t("compiled", "编译")),
            (t("not paid back yet", "还没回本"), t("pays", "划算"), t(f"after {calls} calls", f"调用 {calls} 次")),
        )
    lines = [["", t("first call", "第一次调用"), t("a later call", "之后的调用")]]
    for row in record.rows:
        refused = [t("does not work here", "这里用不了"), ""]
        told = refused if "refused" in row else [time_words(row["first_s"]), time_words(row["call_ms"] / 1e3)]
        lines.append([name(row["state"]), *told])
    return Table(lines)

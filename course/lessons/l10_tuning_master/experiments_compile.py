"""An experiment of lesson 10: what torch.compile costs a process on this machine, and after how many calls it is paid back."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from math import ceil
from typing import Any

from course.core.i18n import both, t
from course.core.records import Record
from course.core.tables import Table
from course.experiment.base import Budget, experiment, get
from course.experiment.new_process import rows_of
from course.experiment.reading import Reading
from course.figures.curves import cost_curve
from course.figures.svg import SvgPicture
from course.figures.words import time_words, times
from course.lessons.l10_tuning_master.experiments import LESSON

STATES = ("plain", "empty", "kept")


@experiment(name="10-compile-price", lesson=LESSON, needs="compiler", seconds=30)
def compile_price(budget: Budget) -> Iterator[dict[str, Any]]:
    """Two small blocks in three new processes: as written, compiled with an empty cache on disk, compiled with that cache."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as cache:
        for state in budget.loop(STATES, desc=both("compiling", "编译"), least=len(STATES)):
            found = rows_of(
                "course.lessons.l10_tuning_master.compiling", "job", state != "plain", budget.seconds / 20,
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

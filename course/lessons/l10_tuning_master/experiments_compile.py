"""An experiment of lesson 10: what torch.compile costs a process on this machine, and after how many calls it is paid back."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import Any

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.words import NOTHING, TOO_NOISY, sci
from course.figures.curves import cost_curve
from course.figures.kinds import time_words
from course.figures.svg import SvgPicture
from course.i18n import Text, both, pick, t
from course.lessons.l10_tuning_master.experiments import LESSON
from course.records import Record
from course.tables import Table

STATES = {
    "plain": both("as written", "原样"),
    "empty": both("compiled, empty cache", "编译，缓存是空的"),
    "kept": both("compiled, kept cache", "编译，缓存还在"),
}


def _rows(record: Record) -> dict[str, dict[str, Any]]:
    return {row["state"]: row for row in record.rows}


def _paid_back(rows: dict[str, dict[str, Any]]) -> dict[str, float]:
    """State -> calls after which it has saved what its first call took longer; not where a call gains nothing for sure.

    A single round makes no interval (its ends coincide), so it shows no gain.
    """
    plain, told = rows["plain"], {}
    for state in ("empty", "kept"):
        row = rows.get(state)
        if row and "refused" not in row and row["low_ms"] < row["high_ms"] < plain["low_ms"] < plain["high_ms"]:
            told[state] = max(1.0, (row["first_s"] - plain["first_s"]) / (plain["call_ms"] - row["call_ms"]) * 1e3)
    return told


def headline_compile_price(record: Record) -> Text:
    rows = _rows(record)
    if any("refused" in row for row in record.rows):
        return both("torch.compile does not work on this machine.", "这台机器上 torch.compile 用不了。")
    if set(rows) != set(STATES):
        return TOO_NOISY
    calls = _paid_back(rows)
    if set(calls) != {"empty", "kept"}:
        return both("Compiled calls are not clearly faster: no payback here.", "编译之后没有明显变快，这里回不了本。")
    if calls["empty"] < 2:
        return both("torch.compile pays for itself at the first call.", "torch.compile 第一次调用就回本。")
    return both(
        f"torch.compile pays for itself after about {sci(calls['empty'])} calls.",
        f"torch.compile 大约调用 {sci(calls['empty'])} 次才回本。",
    )


def say_compile_price(record: Record) -> Text:
    rows = _rows(record)
    refused = next((row["refused"] for row in record.rows if "refused" in row), None)
    if refused is not None:
        return both(
            f"torch.compile cannot work here. It says: {refused}. "
            "On a CPU it needs a C++ compiler that works and the header files of Python (Debian, Ubuntu: g++, python3-dev).",
            f"torch.compile 在这里用不了，报错是：{refused}。"
            "在 CPU 上它需要能用的 C++ 编译器和 Python 的头文件（Debian、Ubuntu：g++、python3-dev）。",
        )
    if set(rows) != set(STATES):
        return NOTHING
    plain, empty, kept = (rows[state] for state in STATES)
    price = both(
        "The first call, which compiles, "
        f"took {empty['first_s']:.1f} s with an empty cache and {kept['first_s']:.1f} s with a kept one; "
        f"as written {plain['first_s']:.2g} s. ",
        f"第一次调用要编译：缓存是空的，用了 {empty['first_s']:.1f} s；缓存还在，用了 {kept['first_s']:.1f} s；"
        f"不编译只要 {plain['first_s']:.2g} s。",
    )
    calls = _paid_back(rows)
    if set(calls) != {"empty", "kept"}:
        gain = both(
            "Compiled calls are not clearly faster both times, so no number of calls can be named that pays it back.",
            "编译了两次，之后的调用并不是两次都明显变快，所以说不出调用多少次才能回本。",
        )
    else:
        first, second = map(sci, calls.values())
        took = f"{plain['call_ms']:.2g} → {empty['call_ms']:.2g} ms"
        gain = both(
            f"A later call: {took}. Paid back after about {first} calls in one process; with the kept cache, after {second}.",
            f"之后每次调用：{took}。一个进程里调用约 {first} 次才回本；缓存还在的话，约 {second} 次。",
        )
    return both(*(price[code] + gain[code] for code in ("en", "zh")))


def draw_compile_price(record: Record, bets: dict) -> SvgPicture | Table:
    """Time of one process over its calls, compiled and not; where nothing is paid back for sure, the times as a table."""
    rows = _rows(record)
    paid = _paid_back(rows) if "plain" in rows else {}
    if set(paid) == {"empty", "kept"}:
        plain, empty = rows["plain"], rows["empty"]
        calls = sci(paid["empty"])
        return cost_curve(
            empty["first_s"] - plain["first_s"],
            plain["call_ms"] / 1e3,
            empty["call_ms"] / 1e3,
            (pick(STATES["plain"]), t("compiled", "编译")),
            (t("not paid back yet", "还没回本"), t("pays", "划算"), t(f"after {calls} calls", f"调用 {calls} 次")),
        )
    lines = [["", t("first call", "第一次调用"), t("a later call", "之后的调用")]]
    for row in record.rows:
        refused = [t("does not work here", "这里用不了"), ""]
        told = refused if "refused" in row else [time_words(row["first_s"]), time_words(row["call_ms"] / 1e3)]
        lines.append([pick(STATES[row["state"]]), *told])
    return Table(lines)


@experiment(
    name="10-compile-price",
    lesson=LESSON,
    needs="compiler",
    seconds=30,
    title=both("torch.compile: a price per process, a gain per call", "torch.compile：按进程付钱，按调用赚钱"),
)
def compile_price(budget: Budget) -> Iterator[dict[str, Any]]:
    """Two small blocks in three new processes: as written, compiled with an empty cache on disk, compiled with that cache."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as cache:
        for state in budget.loop(list(STATES), desc=both("compiling", "编译"), least=len(STATES)):
            found = rows_of(
                "course.lessons.l10_tuning_master.compiling", "job", state != "plain", budget.seconds / 20,
                variables={"TORCHINDUCTOR_CACHE_DIR": cache}, timeout_s=300,
            )  # fmt: skip
            for row in found:
                yield {"state": state, **row}

"""An experiment of lesson 10: what torch.compile costs a process on this machine, and after how many calls it is paid back."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import Any

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.words import NOTHING, sci
from course.i18n import Text, both, pick, t
from course.lessons.l10_tuning_master.experiments import LESSON
from course.records import Record

STATES = {
    "plain": both("as written", "原样"),
    "empty": both("compiled, empty cache", "编译，缓存是空的"),
    "kept": both("compiled, kept cache", "编译，缓存还在"),
}
FIRST = 2000  # calls in the picture, at least


def _rows(record: Record) -> dict[str, dict[str, Any]]:
    return {row["state"]: row for row in record.rows}


def _paid_back(rows: dict[str, dict[str, Any]]) -> dict[str, float]:
    """State -> calls after which it has saved what its first call took longer; empty where a call gains nothing for sure."""
    plain, told = rows["plain"], {}
    for state in ("empty", "kept"):
        row = rows.get(state)
        if row and "refused" not in row and row["high_ms"] < plain["low_ms"]:
            told[state] = max(1.0, (row["first_s"] - plain["first_s"]) / (plain["call_ms"] - row["call_ms"]) * 1e3)
    return told


def say_price(record: Record) -> Text:
    rows = _rows(record)
    refused = next((row["refused"] for row in record.rows if "refused" in row), None)
    if refused is not None:
        return both(
            f"torch.compile cannot work here: {refused}. On a CPU it needs a C++ compiler (Linux: g++, macOS: clang++).",
            f"torch.compile 在这里用不了：{refused}。在 CPU 上它需要 C++ 编译器（Linux：g++，macOS：clang++）。",
        )
    if set(rows) != set(STATES):
        return NOTHING
    plain, empty, kept = (rows[state] for state in STATES)
    price = both(
        f"Compiling took {empty['first_s']:.1f} s with an empty cache and {kept['first_s']:.1f} s with a kept one. ",
        f"编译用了 {empty['first_s']:.1f} s（缓存是空的）和 {kept['first_s']:.1f} s（缓存还在）。",
    )
    calls = _paid_back(rows)
    if all(row["low_ms"] >= plain["high_ms"] for row in (empty, kept)):
        gain = both("A call is slower for it, so it is never paid back.", "单次调用反而变慢了，所以永远回不了本。")
    elif not calls:
        gain = both(
            "Inconclusive whether it is ever paid back: in this run no call is clearly faster.",
            "能不能回本无法判定：这一次，单次调用没有明显变快。",
        )
    elif len(calls) == 1:
        ((state, number),) = calls.items()
        one, times = STATES[state], sci(number)
        gain = both(
            f"Only one of the two gets clearly faster ({one['en']}: paid back after about {times} calls in one process); "
            "the other overlaps with the code as written. Run it again when the machine is quiet.",
            f"只有一次明显变快（{one['zh']}：一个进程里调用约 {times} 次回本），另一次和原样的耗时有重叠。等机器空闲时再测一遍。",
        )
    else:
        first, second = map(sci, calls.values())
        took = f"{plain['call_ms']:.2g} → {empty['call_ms']:.2g} ms"
        gain = both(
            f"A call: {took}. Paid back after about {first} calls in one process, with the kept cache after {second}.",
            f"单次调用：{took}。一个进程里调用约 {first} 次才回本，缓存还在的话约 {second} 次。",
        )
    return both(*(price[code] + gain[code] for code in ("en", "zh")))


def draw_price(record: Record, ax: Any) -> None:
    """Seconds of one process against the calls it makes, one line a state; they cross where compiling is paid back."""
    from course.figures.plots import lines

    rows = {state: row for state, row in _rows(record).items() if "refused" not in row}
    paid = _paid_back(rows) if "plain" in rows else {}
    most = max([FIRST, *(1.5 * calls for calls in paid.values())])
    calls = [most * part / 4 for part in range(5)]
    series = {
        pick(STATES[state]): [row["first_s"] + number * row["call_ms"] / 1e3 for number in calls]
        for state, row in rows.items()
    }
    lines(
        ax,
        [number / 1e3 for number in calls],
        series,
        xlabel=t("calls in one process (thousands)", "一个进程里的调用次数（千次）"),
        ylabel=t("seconds in all", "总时间（秒）"),
    )


@experiment(
    name="10-compile-price",
    lesson=LESSON,
    needs="cpu",
    seconds=30,
    title=both(
        "torch.compile: the price once a process, the gain once a call", "torch.compile：按进程付钱，按调用赚钱"
    ),
    finding=say_price,
    draw=draw_price,
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

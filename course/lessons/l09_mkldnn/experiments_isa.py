"""Experiments of lesson 09 about instruction sets and threads."""

from __future__ import annotations

import platform
from collections.abc import Iterator

import torch

from course.core.i18n import both, t
from course.core.records import Record
from course.core.tables import Table
from course.experiment.base import Budget, experiment
from course.experiment.drawing import draw
from course.experiment.new_process import rows_of
from course.experiment.reading import Reading
from course.experiment.rows import kind_of, race_row
from course.experiment.telling import telling
from course.figures.svg import SvgPicture
from course.figures.words import ratio_words
from course.lessons.l09_mkldnn.experiments import LESSON

PROBES = "course.lessons.l09_mkldnn.probes"
HALF_RUNGS = ("DEFAULT", "AVX512_CORE", "AVX2")
X86 = ("x86_64", "AMD64", "amd64", "i386", "i686")


def _on_rungs(budget: Budget, probe: str, rungs: tuple[str, ...], repeats: int) -> Iterator[dict]:
    """Rows of `probe`, each from a new process, the rungs taking turns.

    A CPU that is not x86 has another ladder and is left as it is.
    """
    if platform.machine() not in X86:
        rungs = ("DEFAULT",)
    plan = [(repeat, name) for repeat in range(repeats) for name in rungs]
    for repeat, name in budget.loop(plan, desc=both("new processes", "新进程")):
        found = rows_of(PROBES, probe, variables={"ONEDNN_MAX_CPU_ISA": name} if name != "DEFAULT" else {})
        yield from [{"rung": name, "process": repeat, **row} for row in found]


# --- 09-bf16 ------------------------------------------------------------------------------------------------


@experiment(name="09-bf16", lesson=LESSON, needs="mkldnn", seconds=15, whole=True)
def bf16(budget: Budget) -> Iterator[dict]:
    """As the CPU is, with the newest instructions hidden from oneDNN, and with AVX-512 hidden as well."""
    return _on_rungs(budget, "half", HALF_RUNGS, 1)


def read_bf16(rows: list[dict]) -> Reading:
    """The bet is about the row without bfloat16 instructions; a CPU that is not x86 has none to hide."""
    kinds = {row["rung"]: kind_of(row) for row in rows}
    hidden = {"faster": "a", "same": "b", "slower": "c"}.get(kinds.get("AVX512_CORE", ""))
    outcome = "c needs instructions" if hidden == "c" and kinds.get("DEFAULT") == "faster" else hidden
    if list(kinds) == ["DEFAULT"] and kinds["DEFAULT"] != "undecided":
        outcome = f"alone {kinds['DEFAULT']}"
    ratios = {row["rung"]: row["ratio"] for row in rows}
    slower = ratios.get("AVX512_CORE", 1.0)
    numbers = {"slower": slower, "hidden": 1 / slower, "fast": 1 / ratios.get("DEFAULT", 1.0)}
    return Reading(outcome, numbers, bets={"09-bet-bf16": hidden})


def draw_bf16(record: Record, bets: dict) -> SvgPicture | Table:
    """Rows of ratios; on a CPU that is not x86 a table, in which the bet has a line."""
    said = telling(LESSON, "09-bf16")
    if not record.complete or any(row["rung"] == "AVX512_CORE" for row in record.rows):
        return draw(said, Reading(), record.rows, bets)
    lines = [["", t("bfloat16 against float32", "bfloat16 比 float32")]]
    lines += [[said.name(row["rung"]), ratio_words(row["ratio"])] for row in record.rows]
    lines.append([said.name("AVX512_CORE"), t("cannot be hidden on this CPU", "这颗 CPU 上藏不了")])
    return Table(lines, bets={(len(lines) - 2, 1)} if "09-bet-bf16" in bets else ())


# --- 09-threads ---------------------------------------------------------------------------------------------


@experiment(name="09-threads", lesson=LESSON, needs="mkldnn", seconds=24)
def threads(budget: Budget) -> Iterator[dict]:
    """All threads against one, several new processes each, in turn: the interval is over processes."""
    from course.timing import compare

    count = torch.get_num_threads()
    for size in budget.loop(("small", "large"), desc=both("sizes", "规模")):
        found = compare(
            {"one": f"{PROBES}:{size}_one_thread", "all": f"{PROBES}:{size}_all_threads"},
            baseline="one",
            max_time=10.0,
            fresh_process=True,
        )
        yield {
            "size": size,
            "threads": count,
            **race_row(found),
            "one_ms": found.medians_ms["one"],
            "all_ms": found.medians_ms["all"],
        }


def read_threads(rows: list[dict]) -> Reading | None:
    found = {row["size"]: row for row in rows}
    if set(found) != {"small", "large"}:
        return None
    if found["small"]["threads"] < 2:
        return Reading("one thread")
    if any(map(_waits, rows)):
        return Reading("waiting")
    small, large = (kind_of(found[size]) for size in ("small", "large"))
    if "undecided" in (small, large):
        return None
    return Reading("both" if small == large else "mixed", {"small": DOES[small], "large": DOES[large]})


WAITING = 20  # no teamwork of a few microseconds explains such a ratio
DOES = {"faster": both("help", "变快"), "slower": both("slow down", "变慢"), "same": both("do nothing for", "没变化")}


def _waits(row: dict) -> bool:
    """Whether a factor, or what is known of it, is too large to be work."""
    return row["ratio"] > WAITING or bool(row["low"]) and row["high"] > WAITING * row["low"]

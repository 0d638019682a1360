"""Experiments of lesson 01: what a switch of torch.backends reaches, and what it does not.

Whatever leaves traces (freezing, children, overwritten functions) runs in a new process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from course.core.i18n import both, t
from course.core.records import Record
from course.core.tables import Table
from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.reading import Reading

LESSON = "01_map"
PROBES = "course.lessons.l01_map.probes"
# what was written, the switch that was meant, the value
MISSPELT = (
    ("cudnn.benchmarks", "cudnn.benchmark", True),
    ("cudnn.enable", "cudnn.enabled", False),
    ("cudnn.determinstic", "cudnn.deterministic", True),
    ("cudnn.allow_tf_32", "cudnn.allow_tf32", False),
    ("mkldnn.enable", "mkldnn.enabled", False),
    ("mkldnn.determenistic", "mkldnn.deterministic", True),
    ("miopen.imediate", "miopen.immediate", True),
    ("quantized.engin", "quantized.engine", "x86"),
    ("opt_einsum.enable", "opt_einsum.enabled", False),
    ("cuda.allow_tf32", "cuda.matmul.allow_tf32", True),
    ("cuda.matmul.allow_fp32", "cuda.matmul.allow_tf32", True),
    ("fp32_percision", "fp32_precision", "ieee"),
)


def _two_sides(sides: tuple[str, str], rows: Sequence[tuple[str, int]], bets: Mapping[int, int]) -> Table:
    """A line for each row, which came out on one of two sides. bets: row -> the side that was bet on."""
    lines = [[name, *(word if at == side else "" for at, word in enumerate(sides))] for name, side in rows]
    marks = {(number, 1 + side): "told" for number, (_, side) in enumerate(rows)}
    return Table([["", *sides], *lines], marks, {(number, 1 + side) for number, side in bets.items()})


# --- 01-typos -----------------------------------------------------------------------------------------------


def _owner(path: str) -> tuple[Any, str]:
    """The object that holds the last name of a dotted path below torch.backends, and that name."""
    *middle, last = path.split(".")
    owner = torch.backends
    for name in middle:
        owner = getattr(owner, name)
    return owner, last


def _try(path: str, value: Any) -> str:
    """Assign and take back; the error's class name, or "" where Python accepted it."""
    owner, name = _owner(path)
    try:
        setattr(owner, name, value)
    except (AttributeError, RuntimeError) as error:
        return type(error).__name__
    delattr(owner, name)
    return ""


@experiment(name="01-typos", lesson=LESSON, needs="cpu", seconds=1, whole=True)
def typos(budget: Budget) -> list[dict]:
    """Assign to twelve names that do not exist and note which assignment raises; all are taken back."""
    rows = []
    for wrote, meant, value in budget.loop(MISSPELT, desc=both("misspelling", "逐个赋值")):
        owner, name = _owner(wrote)
        if not hasattr(owner, name):
            error = _try(wrote, value)
            rows.append({"wrote": wrote, "meant": meant, "raised": int(bool(error)), "error": error})
    return rows


def read_typos(rows: list[dict]) -> Reading:
    """How many lines got an error; the count is a line of its own below them."""
    raised = sum(row["raised"] for row in rows)
    option = "a" if raised == len(rows) else "b" if raised > len(rows) / 4 else "c" if raised else "d"
    drawn = [{**row, "told": ["error"] * row["raised"]} for row in rows]
    count = {"wrote": "count", "meant": "", "error": str(raised), "told": ["error"]}
    numbers = {"silent": len(rows) - raised, "all": len(rows)}
    return Reading("told", numbers, [*drawn, count], {"01-bet-typos": option})


# --- 01-who-sees --------------------------------------------------------------------------------------------


def draw_who_sees(record: Record, bets: dict) -> Table:
    names = {
        "thread": t("another thread: the same memory", "另一个线程：同一块内存"),
        "fork": t("a forked child: a copy of it", "fork 的子进程：复制一份"),
        "spawn": t("a spawned child: a new Python", "spawn 的子进程：全新的 Python"),
    }
    places = [place for place in names if _seen(record.rows, place) is not None]
    sees = {"a": (), "b": ("thread",), "c": ("thread", "fork"), "d": tuple(names)}.get(bets.get("01-bet-who-sees", ""))
    mine = {} if sees is None else {number: int(place not in sees) for number, place in enumerate(places)}
    rows = [(names[place], int(not _seen(record.rows, place))) for place in places]
    return _two_sides((t("reads True", "读到 True"), t("reads False", "读到 False")), rows, mine)


@experiment(name="01-who-sees", lesson=LESSON, needs="cpu", seconds=8)
def who_sees(budget: Budget) -> list[dict]:
    """Turn cudnn.benchmark in one place and read it in a thread, a forked child and a spawned child."""
    return rows_of(PROBES, "who_sees")


def read_who_sees(rows: list[dict]) -> Reading | None:
    """A system without fork has no row for it; then the bet stays open."""
    thread, fork, spawn = (_seen(rows, place) for place in ("thread", "fork", "spawn"))
    if thread is None or spawn is None:
        return None
    option = {(0, 0, 0): "a", (1, 0, 0): "b", (1, 1, 0): "c", (1, 1, 1): "d"}.get((thread, fork, spawn))
    return Reading(option or "mixed", bets={"01-bet-who-sees": option})


def _seen(rows: list[dict], read_in: str) -> int | None:
    """What was read there after the main thread had set the switch; None without a row."""
    return next((row["sees"] for row in rows if row["set_in"] == "main" and row["read_in"] == read_in), None)


# --- 01-flags-trap ------------------------------------------------------------------------------------------


@experiment(name="01-flags-trap", lesson=LESSON, needs="cpu", seconds=4)
def flags_trap(budget: Budget) -> list[dict]:
    """Read four cuDNN switches before, inside and after the documented context manager."""
    return rows_of(PROBES, "flags_trap")


def read_flags_trap(rows: list[dict]) -> Reading:
    """How many switches changed inside without being named, and whether all came back."""
    others = sum(not row["named"] and row["inside"] != row["before"] for row in rows)
    back = all(row["after"] == row["before"] for row in rows)
    outcome = "others" if back else "not back"
    moments = ("before", "inside", "after")
    drawn = [
        {"switch": row["switch"], **{moment: str(bool(row[moment])) for moment in moments}}
        | ({"inside": f"{bool(row['inside'])}, named"} if row["named"] else {})
        | {"told": [moment for moment in moments if not row["named"] and row[moment] != row["before"]]}
        for row in rows
    ]
    drawn.append({"switch": "count", "inside": str(others), "told": ["inside"]})
    settled = {0: "a", 1: "b", 2: "c", 3: "d"}.get(others)
    return Reading(outcome, {"others": others}, drawn, {"01-bet-flags": settled})


# --- 01-frozen ----------------------------------------------------------------------------------------------


def draw_frozen(record: Record, bets: dict) -> Table:
    """A bet on setters is a bet on the functions: every plain assignment was to be refused."""
    opens = {"a": (), "b": ("with",), "c": ("with", "function", "setter")}.get(bets.get("01-bet-frozen", ""))
    mine = {} if opens is None else {number: int(row["kind"] in opens) for number, row in enumerate(record.rows)}
    sides = (t("refused", "被拒绝"), t("still works", "仍然有效"))
    return _two_sides(sides, [(row["door"], row["open"]) for row in record.rows], mine)


@experiment(name="01-frozen", lesson=LESSON, needs="cpu", seconds=5)
def frozen(budget: Budget) -> list[dict]:
    """Freeze the switches in a new process, then try ten ways to move one."""
    return rows_of(PROBES, "frozen_entry_points")


def read_frozen(rows: list[dict]) -> Reading:
    opened = [row["kind"] for row in rows if row["open"]]
    outcome = "a" if not opened else "b" if set(opened) == {"with"} else "c"
    return Reading(outcome, {"ways": len(opened)})


# --- 01-not-a-switch ----------------------------------------------------------------------------------------


@experiment(name="01-not-a-switch", lesson=LESSON, needs="cpu", seconds=5)
def not_a_switch(budget: Budget) -> list[dict]:
    """Turn them in a new process, and ask before and after what they were meant to change."""
    return rows_of(PROBES, "not_switches")


def read_not_a_switch(rows: list[dict]) -> Reading:
    """The headline and the bet are about the line that was to switch MPS off."""
    drawn = [{**row, "then": _afterwards(row), "told": ["then"] * row["changed"]} for row in rows]
    line = next((row for row in drawn if row["tried"] == "mps.is_available = False"), None)
    outcome = line and ("b" if not line["accepted"] else "c" if line["then"] == "fails" else "a")
    return Reading(outcome, drawn=drawn)


def _afterwards(row: dict) -> str:
    """What became of that which the line was to change."""
    if row["changed"]:
        return "fails" if "Error" in row["after"] else "says"
    return {"torch.initial_seed()": "same seed", "torch.ones(1).device": "same device"}.get(row["asked"], "same answer")

"""Experiments of lesson 16 about int8: four engines, who decides which of them computes, and sums that saturate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.reading import Reading
from course.experiment.rows import kind_of
from course.i18n import Text, both
from course.lessons.l16_rest.experiments import LESSON, MEASURING

PROBES = "course.lessons.l16_rest.probes_int8"

# --- 16-engines ---------------------------------------------------------------------------------------------


@experiment(name="16-engines", lesson=LESSON, needs="cpu", seconds=4, whole=True)
def engines(budget: Budget) -> list[dict]:
    """Time of a quantized linear layer over its time in float32, for every engine of this build, in a new process."""
    return [row for part in budget.loop(["engines"], desc=MEASURING) for row in rows_of(PROBES, part, budget.seconds)]


def read_engines(rows: list[dict]) -> Reading | None:
    kinds = [kind_of(row) for row in rows]
    if "undecided" in kinds:
        return None
    slower = kinds.count("slower")
    if slower in (0, len(kinds)):
        return Reading("all slower" if slower else "none slower")
    if "faster" not in kinds:
        return Reading("some slower, none faster")
    return Reading("faster and slower", {"gain": 1 / min(row["ratio"] for row in rows)})


# --- 16-packed ----------------------------------------------------------------------------------------------


@experiment(name="16-packed", lesson=LESSON, needs="cpu", seconds=4, whole=True)
def packed(budget: Budget) -> list[dict]:
    """In a new process: an int8 weight packed under either of two engines and run under either; whose bits come out."""
    return [row for part in budget.loop(["packed_and_run"], desc=MEASURING) for row in rows_of(PROBES, part)]


def read_packed(rows: list[dict]) -> Reading:
    """Whose bits come out where the engine changed between packing and running; the bet is on a weight packed by qnnpack."""
    drawn, likes, asked = [], set(), set()
    for at, row in enumerate(rows):
        crossed, like = row["packed"] != row["engine"], row["like"]
        whose = {"maker": row["packed"], "runner": row["engine"]}.get(like, like) if crossed else row["packed"]
        place = "asked" if crossed and row["packed"] == "qnnpack" else at
        told = ["whose"] * crossed
        drawn.append({"place": place, "packed": row["packed"], "engine": row["engine"], "whose": whose, "told": told})
        likes |= {like} if crossed else set()
        asked |= {like} if place == "asked" else set()
    option = {"runner": "a", "maker": "b", "error": "c"}.get(asked.pop()) if len(asked) == 1 else None
    outcome = likes.pop() if len(likes) == 1 else "different" if likes else "one engine"
    return Reading(outcome, drawn=drawn, bets={"16-bet-packed": option})


# --- 16-half-answer -----------------------------------------------------------------------------------------

LIMITS = {"as it is": "", "FBGEMM AVX2": "FBGEMM_ENABLE_INSTRUCTIONS", "oneDNN AVX2": "ONEDNN_MAX_CPU_ISA"}
"""What is held to older instructions, and the variable that does it."""
EXACT = 0.02


@experiment(name="16-half-answer", lesson=LESSON, needs="cpu", seconds=8, whole=True)
def half_answer(budget: Budget) -> Iterator[dict]:
    """Largest inputs times largest weights in int8 by each engine, in new processes held to older instructions or not."""
    for limit in budget.loop(LIMITS, desc=both("new processes", "新进程"), least=len(LIMITS)):
        found = rows_of(PROBES, "shares", variables={LIMITS[limit]: "AVX2"} if LIMITS[limit] else {})
        yield from [{"limit": limit, **row} for row in found]


def _cell(row: dict) -> str | Text:
    """What a sum came out as, as a share of the true one."""
    if row["said"]:
        return "warned"
    if abs(row["share"] - 1) <= EXACT:
        return "right"
    share = f"{row['share']:.0%}"
    return "half" if 0.4 < row["share"] < 0.6 else both(share, share)


def read_half_answer(rows: list[dict]) -> Reading:
    """Sums of 8 bits that are wrong; where they are, those of 7 bits stand beside them. The bet is on x86 held to AVX2."""
    wrong = [row for row in rows if row["bits"] == 8 and abs(row["share"] - 1) > EXACT]
    engines = {row["engine"] for row in wrong}
    lines: dict[str, dict[str, Any]] = {}
    for row in sorted(rows, key=lambda row: (row["engine"] != "x86", row["engine"], -row["bits"])):
        if row["bits"] == 8 or row["engine"] in engines:
            empty = {"case": f"{row['engine']} {row['bits']}", "engine": row["engine"], "bits": row["bits"], "told": []}
            line = lines.setdefault(empty["case"], empty | dict.fromkeys(LIMITS, "–"))
            line[row["limit"]] = _cell(row)
            line["told"] += [row["limit"]] * (line[row["limit"]] != "right")
    asked = lines.get("x86 8", {}).get("FBGEMM AVX2", "–")
    bets = {"16-bet-old-cpu": None if asked == "–" else {"warned": "c", "right": "a"}.get(str(asked), "b")}
    if not wrong:
        outcome = "right"
    elif any(row["said"] for row in wrong):
        outcome = "warned"
    elif any(row["limit"] == "as it is" for row in wrong):
        outcome = "wrong here"
    else:
        outcome = "half" if all(0.4 < row["share"] < 0.6 for row in wrong) else "wrong with older instructions"
    return Reading(outcome, drawn=list(lines.values()), bets=bets)

"""Experiments of lesson 16: the order of an einsum, the engines of int8, threads of a server, a frozen model."""

from __future__ import annotations

from collections.abc import Iterator

from course.core.i18n import Text, both
from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.reading import FEW, Reading, groups, kind_of
from course.lessons.l16_rest.probes import FLUSH_ORDERS
from course.timing.stats import median, median_interval

LESSON = "16_rest"
PROBES = "course.lessons.l16_rest.probes"
MEASURING = both("measuring in a new process", "在新进程里测量")


# --- 16-einsum ----------------------------------------------------------------------------------------------


@experiment(name="16-einsum", lesson=LESSON, needs="opt_einsum", seconds=6, whole=True)
def einsum(budget: Budget) -> Iterator[dict]:
    """Five einsums raced with opt_einsum.enabled on against off, in a new process, one thread."""
    for part in budget.loop(["einsums"], desc=MEASURING):
        yield from rows_of(PROBES, part, budget.seconds)


def read_einsum(rows: list[dict]) -> Reading:
    """The case that gains most, and whether any other loses; the bet is on the tiny one."""
    kinds = {row["case"]: kind_of(row) for row in rows}
    drawn = [{**row, "bits": "" if row["same_bits"] else "other bits"} for row in rows]
    bets = {"16-bet-tiny": {"faster": "a", "same": "b", "slower": "c"}.get(kinds.get("tiny", ""))}
    best = min(rows, key=lambda row: row["ratio"])
    numbers = {"gain": 1 / best["ratio"]}
    if not {"vector last", "tiny"} <= set(kinds) or "undecided" in (kind_of(best), kinds["tiny"]):
        return Reading(None, numbers, drawn, bets)
    if kind_of(best) != "faster":
        return Reading("nothing faster", numbers, drawn, bets)
    return Reading("faster" + ", the tiny one slower" * (kinds["tiny"] == "slower"), numbers, drawn, bets)


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
    if len(likes) == 1 and likes <= {"maker", "runner", "error"}:
        outcome = likes.pop()
    else:
        outcome = "open" if likes else "one engine"
    return Reading(outcome, drawn=drawn, bets={"16-bet-packed": option})


IN_TURN = both("new processes", "新进程")

# --- 16-flushed ---------------------------------------------------------------------------------------------


@experiment(name="16-flushed", lesson=LESSON, needs="cpu", seconds=10)
def flushed(budget: Budget) -> Iterator[dict]:
    """torch.set_flush_denormal at five moments, each in a new process: which part of one product is flushed to zero."""
    orders = budget.loop(FLUSH_ORDERS, desc=IN_TURN, least=len(FLUSH_ORDERS))
    for order in orders:
        yield from rows_of(PROBES, "flushed", order)


def read_flushed(rows: list[dict]) -> Reading:
    """What happened to either half of the tensor; the bet is on the switch set after the threads have started."""

    def half(share: float) -> str | Text:
        said = f"{share:.0%}"
        return "kept" if share > 0.99 else "flushed" if share < 0.01 else both(f"{said} kept", f"留下 {said}")

    drawn = [
        {"order": row["order"], **{key: half(row[key]) for key in ("first", "second")}}
        | {"told": [key for key in ("first", "second") if row[key] < 0.99]}
        for row in rows
    ]
    if rows[1:] and not any(row["supported"] for row in rows[1:]):
        return Reading("no support", drawn=drawn, bets={"16-bet-flush": None})
    late = [row["kept"] for row in rows if row["supported"] and row["order"] == "threads, then set"]
    option = {1.0: "a", 0.0: "b", 0.5: "c"}.get(late[0], "d") if late else None
    outcome = "part" if option in ("c", "d") else option
    return Reading(outcome, drawn=drawn, bets={"16-bet-flush": option})


# --- 16-two-threads -----------------------------------------------------------------------------------------


@experiment(name="16-two-threads", lesson=LESSON, needs="two_cores", seconds=12)
def two_threads(budget: Budget) -> Iterator[dict]:
    """Rounds of up to 600 convolutions on one and on two threads in turn, alone and beside a busy loop, in a new process."""
    probes = budget.loop(["beside_a_neighbour"], desc=MEASURING)
    for part in probes:
        yield from rows_of(PROBES, part, budget.seconds)


KINDS = {"typical": "median_ms", "slowest": "p99_ms"}


def read_two_threads(rows: list[dict]) -> Reading:
    """Two threads over one, round by round, alone and beside a neighbour; the bet is on the neighbour."""
    drawn, kinds = [], []
    for neighbours in (0, 1):
        mine = [row for row in rows if row["neighbours"] == neighbours]
        rounds = [{row["threads"]: row for row in one} for one in groups(mine, "round").values()]
        whole, beside = [pair for pair in rounds if {1, 2} <= set(pair)], "busy" if neighbours else "alone"
        for kind, key in KINDS.items():
            row = {"case": f"{beside} {kind}", "beside": beside, "kind": kind}
            if len(whole) < FEW:
                drawn.append(row | {"ratio": 1.0, "low": None, "high": None, "rounds": len(rounds)})
                continue
            ratios = [pair[2][key] / pair[1][key] for pair in whole]
            span = median_interval(ratios)
            row |= {"ratio": median(ratios), "low": span.low, "high": span.high, "rounds": len(whole)}
            drawn.append(row)
            kinds += [kind_of(row)] if neighbours else []
    options = {("faster", "faster"): "a", ("slower", "slower"): "b", ("faster", "slower"): "c", ("same", "same"): "d"}
    if option := options.get(tuple(kinds)):
        return Reading(option, drawn=drawn)
    slow = kinds[1:] == ["slower"]
    return Reading("slow calls slower" if slow else None, drawn=drawn, bets={"16-bet-neighbour": None})


# --- 16-frozen ----------------------------------------------------------------------------------------------

LOAD = "load_state_dict(other)"


@experiment(name="16-frozen", lesson=LESSON, needs="compiler", seconds=60)
def frozen(budget: Budget) -> Iterator[dict]:
    """A small model compiled without and with freezing, in new processes: which of seven later changes arrive."""
    kinds = budget.loop((False, True), desc=both("compiling", "编译"), least=2)
    for kind in kinds:
        yield from rows_of(PROBES, "changes", kind, timeout_s=300)


def read_frozen(rows: list[dict]) -> Reading:
    """Which changes arrive in the model compiled without freezing, and with it; the bet is on new weights that are loaded."""
    answers = {(row["change"], row["frozen"]): row["answers"] for row in rows}
    drawn = []
    for change in dict.fromkeys(row["change"] for row in rows):
        free, frozen = (answers.get((change, kind), "–") for kind in (0, 1))
        told = ["frozen"] * (frozen in ("old", "neither"))
        drawn.append({"change": change, "free": free, "frozen": frozen, "told": told})
    return Reading({"new": "a", "old": "b", "neither": "c"}.get(answers.get((LOAD, 1), "")), drawn=drawn)

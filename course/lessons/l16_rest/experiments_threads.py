"""Experiments of lesson 16 about threads and processes: flushed denormals, a busy neighbour, older instructions, the launcher."""

from __future__ import annotations

from collections.abc import Iterator

from course.core.i18n import Text, both
from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.reading import Reading
from course.experiment.rows import FEW, groups, kind_of
from course.lessons.l16_rest.experiments import LESSON, MEASURING, PROBES
from course.lessons.l16_rest.probes import FLUSH_ORDERS
from course.timing.stats import median, median_interval

THREADS = "course.lessons.l16_rest.probes_threads"
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
    return Reading({1.0: "a", 0.0: "b", 0.5: "c"}.get(late[0], "d") if late else None, drawn=drawn)


# --- 16-two-threads -----------------------------------------------------------------------------------------


@experiment(name="16-two-threads", lesson=LESSON, needs="two_cores", seconds=12)
def two_threads(budget: Budget) -> Iterator[dict]:
    """Rounds of up to 600 convolutions on one and on two threads in turn, alone and beside a busy loop, in a new process."""
    probes = budget.loop(["beside_a_neighbour"], desc=MEASURING)
    for part in probes:
        yield from rows_of(THREADS, part, budget.seconds)


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

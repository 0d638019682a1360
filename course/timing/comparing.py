"""`compare`: which of several functions is faster, decided on paired blocks in random order."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from course.timing import validation
from course.timing.clock import Clock, given_clock
from course.timing.processes import compare_in_processes
from course.timing.race import Plan, Race
from course.timing.results import Comparison

HERE_S, PROCESSES_S = 5.0, 20.0
"""Budget in seconds: in this process, and with new processes for each candidate."""


def compare(
    candidates: Mapping[str, Callable[..., Any]],
    baseline: str | None = None,
    ci: float = 0.005,
    max_time: float | None = None,
    gate: float = 0.02,
    *,
    device: Any = None,
    clock: str | Clock = "auto",
    same: bool | float = True,
    fresh_process: bool = False,
    seed: int | None = None,
) -> Comparison:
    """Compare functions that take no arguments; ratio = time(candidate) / time(baseline), < 1 is faster.

    Each round times one block of every function in random order, all of the same number of calls: on a CPU at least
    25 us, elsewhere 0.3 ms, or one call. Blocks next to each other share the machine's speed, so their ratios are steady
    where single times are not; the interval is the signed-rank interval of their logarithms. Stops when the interval is within
    +/- ci and a difference larger than ci is told, or when it clears the gate, or after max_time seconds (default 5; three rounds
    of warm-up included, the first calls and the search for the number of calls not).
    faster or slower: the interval keeps off 1 and the ratio is further than ci from it; same: the interval lies within
    1 +/- gate. Looks at the data after 12, 24, 48, ... rounds with stricter intervals, so that stopping early keeps
    false alarms at 5 % in all. Fewer than 12 rounds carry no interval: low and high are None.

    baseline: a key of `candidates` (default: the first). device: default, where the tensors of the first calls are. clock: "auto" or
    "wall" (see `clock_for`), or a `Clock`. seed: of the random order. same: the first results are compared (shapes, types, values up to
    half their digits) and a difference is said in the notes; a number is a tolerance instead (share of the largest value), False asks
    for no comparison.

    A switch of torch, the default dtype and gradients that a function leaves with another value are put back after every block,
    whoever ran it, and named in the notes; so is what the first call of a function keeps for later ones.

    fresh_process: new processes for every candidate, several in turn, as many as fit into max_time (default 20 s,
    starting included), for states that one process keeps (cuDNN's plan of a shape) and for what differs from process
    to process (where memory lies). The process is the unit then: one ratio a pair of processes, and the interval is
    over these; differences below the gate are never called faster or slower. Where one thread is enough, the processes
    of a pair stay on one processor, drawn anew for each pair (Linux). Candidates are "module:function" strings or
    functions of a file that can be imported (no lambda, nothing defined in a notebook: write it to a file with %%writefile).
    Raises TimingError, with a sentence, for arguments that cannot be compared.
    """
    base = validation.require_candidates(candidates, baseline)
    max_time = (PROCESSES_S if fresh_process else HERE_S) if max_time is None else max_time
    tolerances = {} if isinstance(same, bool) else {"same": same}
    validation.require_positive(ci=ci, max_time=max_time, gate=gate, **tolerances)
    plan = Plan(base, ci, max_time, gate, same, random.Random(seed))
    if fresh_process:
        return compare_in_processes(candidates, plan, device, clock)
    for name, f in candidates.items():
        validation.require_callable(name, f)
    chosen = given_clock(device, clock)
    with validation.hidden_prints() as sink:
        found = Race(plan, candidates, chosen).run(sink)
    object.__setattr__(found, "functions", dict(candidates))
    return found

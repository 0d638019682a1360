"""`compare`: which of several functions is faster, decided on paired blocks in random order. `measure`: how long a call takes, with its
first call apart and an interval."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping
from typing import Any

from course.core.i18n import t
from course.timing import sameness, stats, validation
from course.timing.clock import Clock, given_clock
from course.timing.processes import compare_in_processes
from course.timing.results import Comparison, Measurement, Paired, drifted
from course.timing.rounds import PARALLEL, UNEVEN, Rounds
from course.timing.stats import Plan

HERE_S, PROCESSES_S = 5.0, 20.0
"""Budget in seconds: in this process, and with new processes for each candidate."""
SETTLED_CALLS, SETTLED_SHARE = 64, 0.2
"""No conclusion before so many calls of each function, or so much of the budget: a function may warm up late."""


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
    race = _Race(plan, candidates, chosen)
    race.go(t("comparing", "比较中"))
    found = race.result()
    object.__setattr__(found, "functions", dict(candidates))
    return found


def measure(
    f: Callable[..., Any],
    *,
    max_time: float = 1.0,
    device: Any = None,
    clock: str | Clock = "auto",
    name: str | None = None,
) -> Measurement:
    """Time `f()` for at most `max_time` seconds after its first call: median, interval, samples.

    After three blocks that warm up, it times blocks (on a CPU of at least 25 us, elsewhere of 0.3 ms; at most 20,000). device: default,
    where the tensors of the first call are.
    clock: "auto" or "wall" (see `clock_for`), or a `Clock`. On an accelerator there are two numbers: the device's own time of a call, and
    `issue_ms`, which Python takes to issue one.

    The interval is that of the median within this run. Switches, default dtype and gradients that `f` leaves with another value are
    put back and named in the notes, also after an interrupt. Raises TimingError, with a sentence, for arguments that cannot be measured.
    """
    label = name or str(getattr(f, "__name__", type(f).__name__)).strip("<>")  # "<lambda>" is told as lambda
    validation.require_positive(max_time=max_time)
    validation.require_callable(label, f)
    chosen = given_clock(device, clock)
    run = Rounds({label: f}, chosen, max_time, random.Random())
    run.go(t("measuring", "测量中"))
    samples, first, issuing = run.seconds[label] or [run.first[label]], run.first[label], run.clock.issue_s(f)
    interval, quality = stats.interval_or_none(samples), stats.quality(samples)
    if run.effort and run.clock.device == "cpu" and quality == "noisy":
        run.notes += run.effort.note()
    return Measurement(
        name=label,
        median_ms=stats.median(samples) * 1e3,
        low_ms=interval.low * 1e3 if interval else None,
        high_ms=interval.high * 1e3 if interval else None,
        samples_ms=tuple(s * 1e3 for s in samples),
        first_call_ms=first * 1e3,
        quality=quality,
        calls_per_sample=run.calls[label],
        issue_ms=None if issuing is None else issuing * 1e3,
        **run.facts(),
    )


class _Race(Rounds):
    """The state of one comparison while it is being measured."""

    def __init__(self, plan: Plan, functions: Mapping[str, Callable[..., Any]], clock: Clock) -> None:
        super().__init__(functions, clock, plan.max_time, plan.order)
        self.plan, self.names = plan, [name for name in functions if name != plan.baseline]
        self.compares, self.final, self.next_look = plan.same is not False, True, stats.FIRST_LOOK

    def is_clear(self, spent: float, rounds: int) -> bool:
        """Looks after 12, 24, 48, ... rounds."""
        late = rounds * min(self.calls.values()) < SETTLED_CALLS and spent < SETTLED_SHARE * self.max_time
        if rounds < self.next_look or late:
            return False
        self.next_look = 2 * rounds
        self.final = not all(map(self._settled, self.names))
        return not self.final

    def _ratios(self, name: str) -> list[float]:
        return [a / b for a, b in zip(self.seconds[name], self.seconds[self.plan.baseline], strict=True)]

    def _error(self, final: bool) -> float:
        return (stats.LAST_ERROR if final else stats.INTERIM_ERROR) / len(self.names)

    def _settled(self, name: str) -> bool:
        """Whether more rounds would change nothing."""
        ratio, interval = stats.ratio_interval(self._ratios(name), self._error(False))
        return stats.settled(interval, ratio, self.plan.ci, self.plan.gate)

    def _starved(self, name: str) -> bool:
        """Whether threads of this function, or of the baseline, mostly waited for a core: the slowest tenth of its blocks took far longer
        than the fastest."""
        if not self.effort or self.clock.device != "cpu" or self.effort.busy() <= PARALLEL:
            return False
        both = self.seconds[name], self.seconds[self.plan.baseline]
        return any(stats.enough(len(one)) and stats.quantile(one, 0.9) > UNEVEN * min(one) for one in both)

    def result(self) -> Comparison:
        """What was found, with the verdict on each candidate."""
        pairs = {name: self._paired(name) for name in self.names}
        medians = {name: stats.median(seconds) for name, seconds in self.seconds.items()}
        if self.effort and self.clock.device == "cpu" and any(p.verdict == "undecided" for p in pairs.values()):
            self.notes += self.effort.note(any(map(self._starved, self.names)))
        self.notes += sameness.notes(pairs)
        issuing = {name: s for name, f in self.functions.items() if (s := self.clock.issue_s(f)) is not None}
        if slow := [name for name, seconds in issuing.items() if seconds > medians[name]]:
            self.notes.append(_launch_note(slow))
        return Comparison(
            issue_ms={name: s * 1e3 for name, s in issuing.items()},
            baseline=self.plan.baseline,
            pairs=pairs,
            medians_ms={name: s * 1e3 for name, s in medians.items()},
            calls=dict(self.calls),
            rounds=len(self.seconds[self.plan.baseline]),
            **self.facts(),
        )

    def _paired(self, name: str) -> Paired:
        """The verdict on a candidate. Where threads wait for a core nothing is decided, and the interval holds what most rounds said."""
        plan, ratios, error = self.plan, self._ratios(name), self._error(self.final)
        ratio, interval = stats.median(ratios), None
        if stats.enough(len(ratios)):
            ratio, whole = stats.ratio_interval(ratios, error)
            interval = stats.shown(stats.widened(whole), len(ratios))
        starving = self._starved(name)
        if starving and interval:
            low, high = stats.quantile(ratios, 0.1), stats.quantile(ratios, 0.9)
            interval = stats.Interval(min(interval.low, low), max(interval.high, high))
        drift = drifted(stats.drift(ratios, plan.gate), "{:.3g}".format, ("the ratio", "比值"))
        verdict = stats.decide(interval, ratio, plan.ci, plan.gate, stats.PLACE)
        verdict = "undecided" if drift or starving else verdict
        results = self.results.get(plan.baseline, []), self.results.get(name, [])
        return sameness.paired(name, plan, ratios, ratio, interval, verdict, results, drift=drift)


def _launch_note(names: Collection[str]) -> str:
    """The remark on candidates that are launch-bound."""
    said = ", ".join(map(str, names))
    return t(
        f"Launch-bound, the GPU waits for Python: {said}. Compared is the GPU's own time; a program that only calls them one after "
        "another takes the time Python needs to issue the calls (.issue_ms).",
        f"受限于 kernel 启动（launch-bound，GPU 在等 Python）：{said}。这里比的是 GPU 自己的时间；如果程序只是一次接一次地调用它们，"
        "耗时取决于 Python 发出调用的时间（.issue_ms）。",
    )

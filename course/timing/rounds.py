"""The rounds of `compare` and of `measure`: one block of every function in random order, until the result is clear or the budget
is used up."""

from __future__ import annotations

import contextlib
import io
import math
import random
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

from course.core.bars import end_progress, progress, reach
from course.core.cpu_load import BUSY, Since
from course.core.i18n import t
from course.timing import sameness, stats, validation
from course.timing.clock import Clock, alike, calls_for
from course.timing.leftovers import Kept, Left, left_notes, within_reach

WARM_UPS, WARM_UP_SHARE = 3, 0.1
"""Rounds that warm up and do not count, in at most this part of the budget."""
MOST_ROUNDS = 20_000
PARALLEL = 1.1
"""If fewer CPU threads than this work on average, one thread did everything."""
UNEVEN = 10
"""On a busy machine the slow tenth of a function in one thread took up to 5 times as long as its fastest block, that of one in
several threads 40 to 1,400 times (load 15 on two cores).
"""

_end: ContextVar[float] = ContextVar("course_timing_deadline", default=math.inf)
"""When the caller wants all measurements to end, whatever their `max_time`."""


@contextlib.contextmanager
def rounds_end_within(seconds: float) -> Iterator[None]:
    """Inside, every comparison and measurement of this process ends its rounds when these seconds are out, with what it has."""
    token = _end.set(min(_end.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _end.reset(token)


def out_of_time(needed: float = 0.0) -> bool:
    """Whether the seconds are out, or will be before so many more have passed: no further round then."""
    return time.monotonic() + needed >= _end.get()


class Rounds:
    """The state of a measurement while it is under way. order: draws the random order.

    Of each function, by name: first (seconds of the first call), results (a digest of what that returned), calls (in a block),
    seconds (of a call, one a round). notes: remarks.
    """

    compares = False
    """Whether the results of the first calls are compared."""

    def __init__(
        self, functions: Mapping[str, Callable[..., Any]], clock: Clock, max_time: float, order: random.Random
    ) -> None:
        self.functions, self.clock, self.max_time, self.order = functions, clock, max_time, order
        self.kept = {name: Kept(within_reach(f)) for name, f in functions.items()}
        self.left_over = Left(one for kept in self.kept.values() for one in kept.objects.values())
        self.left: dict[str, list[str]] = {}
        self.first: dict[str, float] = {}
        self.results: dict[str, Any] = {}
        self.calls = dict.fromkeys(functions, 1)
        self.seconds: dict[str, list[float]] = {name: [] for name in functions}
        self.notes: list[str] = []
        self.effort: Effort | None = None

    def is_clear(self, spent: float, rounds: int) -> bool:
        """Whether more rounds would change nothing."""
        return False

    def go(self, title: str) -> None:
        """Measure; what the functions print is not shown. title: of the bar."""
        self.began = self.clock.now()
        bar, warmed = progress(self.max_time, title), 0
        try:
            with contextlib.redirect_stdout(io.StringIO()) as sink:  # thousands of lines would drown the result
                self._first_calls()
                self.started = self.clock.now()
                if self._fits():
                    self._find_calls()
                    self.effort = Effort()
                    self.started = self.clock.now()
                    while self._spent() < WARM_UP_SHARE * self.max_time and warmed < WARM_UPS and not out_of_time():
                        self._one_round()
                        warmed += 1
                    self._rounds(bar)
        finally:
            end_progress(bar)
            self.left_over.put_back()  # an interrupt or an error may have come in the middle of a block
        for name, kept in self.kept.items():
            self.notes += kept.notes(name)
        self.notes += left_notes(self.left) + validation.print_note(sink.getvalue())

    def _spent(self) -> float:
        """Seconds since the first calls and the search for the number of calls: what happens once is not in the budget."""
        return self.clock.now() - self.started

    def facts(self) -> dict[str, Any]:
        """What a result says of how it was measured."""
        facts = {"device": self.clock.device, "clock": self.clock.kind, "threads": threads()}
        return facts | {"seconds": self.clock.now() - self.began, "notes": tuple(self.notes)}

    def _first_calls(self) -> None:
        """Each function once: its first time, a digest of what it returns, what it changes."""
        for name, f in self.functions.items():
            kept: list[Any] = []
            with validation.named_errors(name, 1):
                self.first[name] = self.clock.for_first_calls().block(validation.checked(name, f, kept), 1)
            if self.compares:
                self.results[name] = sameness.digest(kept.pop())
            self.kept[name].first_call_done()
            self.left[name] = self.left_over.put_back()
        self.clock = self.clock.settled()

    def _fits(self) -> bool:
        """Whether a round fits into the budget, and as many as a result needs before the deadline; if not, one round (or the first
        calls) is all there is."""
        only = self.first if out_of_time(sum(self.first.values())) else self._one_round()
        needed = sum(only.values())
        if needed < self.max_time and not out_of_time(stats.FEWEST_ROUNDS * needed):
            return True
        self.seconds = {name: [seconds] for name, seconds in only.items()}
        return False

    def _find_calls(self) -> None:
        """How many calls a block of each function has."""
        self._search()
        if waiting := [name for name, f in self.functions.items() if self.clock.waits(f)]:
            self.notes.append(_waits_note(waiting))
            self.clock = self.clock.for_first_calls()  # one clock for all
            self._search()
        self.calls = alike(self.calls)

    def _search(self) -> None:
        for name, f in self.functions.items():
            with validation.named_errors(name, 2):
                self.calls[name] = calls_for(self.clock, f)
            if self.left[name]:
                self.left_over.put_back()

    def _one_round(self) -> dict[str, float]:
        """One block of every function in random order: seconds of a call."""
        names = list(self.functions)
        self.order.shuffle(names)
        found = {}
        for name in names:
            with validation.named_errors(name, 2):
                found[name] = self.clock.block(self.functions[name], self.calls[name]) / self.calls[name]
            if any(self.left.values()):
                self.left_over.restore()  # after every block alike: it leaves cold caches to the next
        return found

    def _rounds(self, bar: Any) -> None:
        spent = self._spent()
        while True:
            began = spent
            for name, seconds in self._one_round().items():
                self.seconds[name].append(seconds)
            spent, rounds = self._spent(), min(map(len, self.seconds.values()))
            reach(bar, spent, self.max_time)
            late = spent >= self.max_time or out_of_time(spent - began)
            if late or rounds >= MOST_ROUNDS or self.is_clear(spent, rounds):
                return


def _waits_note(names: Collection[str]) -> str:
    """The remark on functions that wait for the device in each call."""
    said = ", ".join(map(str, names))
    return t(
        f"Each call of {said} waits for the device (.item(), .cpu(), a print of a tensor), so the wall says the time, the wait included.",
        f"{said} 每次调用都在等设备（.item()、.cpu()、打印张量），所以用墙钟计时，等待也算在内。",
    )


# --- what else happens meanwhile: threads at work, other programs ---


def threads() -> int:
    """Threads torch uses inside one operator on the CPU, in this process; 1 without torch."""
    torch = sys.modules.get("torch")  # a process that never loaded it has no threads of it
    return int(torch.get_num_threads()) if torch else 1


class Effort:
    """Watches the threads of this process, and other programs, from now on."""

    def __init__(self) -> None:
        self._all, self._own, self._load = time.process_time(), time.thread_time(), Since()

    def busy(self) -> float:
        """How many CPU threads worked, on average, while this one did; 1.0 after less than 1 ms of CPU time, too little to tell.

        Threads of OpenMP that wait by spinning count as working; other programs do not.
        """
        own = time.thread_time() - self._own
        return max(1.0, (time.process_time() - self._all) / own) if own >= 1e-3 else 1.0

    def note(self, starved: bool = False) -> list[str]:
        """The remark on times that jump: that other programs keep the machine busy, if they do. starved: threads wait for a core."""
        share, threads, said = (self._load.others() if self._load.before else 0.0), self.busy(), []
        if share >= BUSY:
            said.append(
                t(
                    f"Other programs take {share:.0%} of this machine, so times jump: close them, or measure when it is quiet.",
                    f"其他程序占了这台机器的 {share:.0%}，所以耗时忽快忽慢：请关掉它们，或等机器空闲时再测。",
                )
            )
        if threads > (PARALLEL if said or starved else 1.3):
            said.append(
                t(
                    f"It keeps {threads:.1f} CPU threads at work, and each call waits for the slowest of them: where other programs "
                    "hold the cores, call torch.set_num_threads(1) first.",
                    f"它平均占用 {threads:.1f} 个 CPU 线程，每次调用都要等最慢的那个：如果核被其他程序"
                    "占着，请先调用 torch.set_num_threads(1)。",
                )
            )
        return said

"""Clocks: how long a block of calls takes on a CPU or an accelerator.

Two kinds. `wall` reads perf_counter before and after the block, each time when all devices have finished.
`events` puts a start and an end mark into the full queue of one NVIDIA GPU (resolution about 0.5 us).
Waiting is `torch.cuda.synchronize` or `torch.mps.synchronize`, each device by name;
`torch.accelerator.synchronize` knows one device only and raises on a build without any, so it is not used.
"""

from __future__ import annotations

import statistics
import sys
import time
import timeit
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from course.core.where import ACCELERATORS, accelerators_here, available, devices_in, noted, work_of
from course.timing.validation import refuse

MIN_BLOCK_S = 0.0003
"""Shortest block that is timed as one sample, in seconds."""
SHORT_BLOCK_S = 25e-6
"""The same for a CPU: the shorter the blocks, the less often the machine changes its speed between the two of a
pair."""
MOST_FILL_S, TRIES = 0.5, 4
"""Longest filling of a device's queue, in seconds; after so many blocks in a row that found it empty, it is told why."""
LONGEST_SEARCH_S = 0.02
"""A block that keeps the machine for so long is long enough, however little of that the device computes."""
HICCUP_S = 0.01
"""A block of so many seconds is timed once, not three times: it is hardly ever a short block that other programs
delayed."""

ALIKE = 4
"""If the numbers of calls that functions need for a block differ by no more than this factor, all get the same number."""
CYCLES = 2e9
"""Cycles of a GPU in a second, about."""

Function = Callable[..., Any]


class Clock:
    """What `measure` and `compare` need of a clock. One of your own has `block`, and `now` where it does not go by perf_counter.

    device, kind: for the result. block_s: shortest block in seconds.
    """

    device, kind, block_s = "cpu", "wall", MIN_BLOCK_S

    def now(self) -> float:
        """Seconds on a clock that never goes back, for budgets."""
        return time.perf_counter()

    def block(self, f: Function, calls: int) -> float:
        """Seconds that `calls` calls of `f` take, device work included."""
        raise NotImplementedError

    def for_first_calls(self) -> Clock:
        """The clock for first calls: the wall, since most of what happens only once is not the device's work."""
        return self

    def settled(self) -> Clock:
        """The clock for all calls after the first ones."""
        return self

    def waits(self, f: Function) -> bool:
        """Whether each call of `f` was seen to wait for the device, so that the wall says its time."""
        return False

    def issue_s(self, f: Function) -> float | None:
        """Seconds Python takes to issue one call of `f` to a device; None on a CPU, or where the wall says the time."""
        return None


class WallClock(Clock):
    """perf_counter around timeit's loop, fenced by `fence` (waits until the devices are idle; None on a CPU)."""

    def __init__(self, device: str, fence: Callable[[], Any] | None = None) -> None:
        self.device, self._fence, self._timers = device, fence, dict[int, timeit.Timer]()
        self.block_s = MIN_BLOCK_S if fence else SHORT_BLOCK_S

    def reader(self) -> Callable[[], float]:
        """What is read before and after a block, in seconds."""
        now, fence = time.perf_counter, self._fence
        return (lambda: (fence(), now())[1]) if fence else now

    def block(self, f: Function, calls: int) -> float:
        if id(f) not in self._timers:
            self._timers[id(f)] = timeit.Timer(f, timer=self.reader())
        return self._timers[id(f)].timeit(calls)


class Seeking(WallClock):
    """For first calls where nobody named a device: times by the wall, waits for every accelerator, notes where the work is.

    `settled()` is the clock for all that follows.
    """

    def __init__(self, kind: str) -> None:
        super().__init__("cpu", fence_of(accelerators_here(), only_in_use=True))
        self._kind, self._found = kind, set[str]()

    def block(self, f: Function, calls: int) -> float:
        """Seconds of `calls` calls; a few us an operation more than without the noting."""
        with noted(self._found):
            return super().block(lambda: self._found.update(devices_in(f())), calls)

    def settled(self) -> Clock:
        """The clock for the devices seen."""
        return clock_for(work_of(self._found), self._kind)


@dataclass
class _Queue:
    """What is known of a function's calls: seconds of filling they need, blocks in a row that found the queue empty, most calls of
    a block, whether a call waits for the device, seconds that Python took to issue one call of each block.
    """

    fill_s: float = 1e-4
    empty: int = 0
    most: int | None = None
    waits: bool = False
    issue_s: list[float] = field(default_factory=list)


class EventClock(WallClock):
    """Start and end marks in the queue of one GPU that is kept full: only the GPU's time is between them.

    `fill(seconds)` gives the GPU something else to do, the calls are issued behind it, and after the last one the start mark must
    still be waiting: else the GPU waited for Python in between, and the block is repeated behind a longer filling. A function whose
    calls wait for the GPU never passes this test; its time is that of the wall.

    `mark` puts an event into the current stream of the GPU, so work `f` puts into other streams is not seen: time such a function with
    clock="wall".
    """

    kind = "events"

    def __init__(
        self, device: str, fence: Callable[[], Any], fill: Callable[[float], Any], mark: Callable[[], Any]
    ) -> None:
        super().__init__(device, fence)
        self._wall, self._fill, self._mark = WallClock(device, fence), fill, mark
        self._queues: dict[int, _Queue] = {}

    def _queue(self, f: Function) -> _Queue:
        return self._queues.setdefault(id(f), _Queue())

    def for_first_calls(self) -> Clock:
        return self._wall

    def waits(self, f: Function) -> bool:
        return self._queue(f).waits

    def issue_s(self, f: Function) -> float | None:
        """The median of the blocks; None before the first one."""
        seconds = self._queue(f).issue_s
        return statistics.median(seconds) if seconds and not self.waits(f) else None

    def block(self, f: Function, calls: int) -> float:
        """Seconds of the GPU for `calls` calls, in as many blocks as its queue holds."""
        total, queue = 0.0, self._queue(f)
        while calls:
            part = min(calls, queue.most or calls)
            seconds = self._attempt(f, part, queue)
            if seconds is not None:
                total, calls = total + seconds, calls - part
        return total

    def _attempt(self, f: Function, calls: int, queue: _Queue) -> float | None:
        """Seconds of the GPU for `calls` calls; None where its queue ran empty."""
        if queue.waits:
            return self._wall.block(f, calls)
        issuing = timeit.Timer(f, timer=time.perf_counter)
        self._fill(queue.fill_s)
        start = self._mark()
        issued = issuing.timeit(calls)
        end = self._mark()
        full = not start.query()
        end.synchronize()
        if full:
            queue.empty = 0
            queue.issue_s.append(issued / calls)
            return float(start.elapsed_time(end)) * 1e-3
        queue.empty += 1
        queue.fill_s = min(2 * max(queue.fill_s, issued), MOST_FILL_S)
        if queue.empty >= TRIES:
            queue.empty = 0
            queue.most, queue.waits = max(1, calls // 2), calls == 1
        return None


def clock_for(device: Any = None, kind: str = "auto") -> Clock:
    """A clock for `device` (a name, a torch.device, a list of them, or None: the accelerator in use).

    kind: auto (events on one NVIDIA GPU, else wall) | wall. Raises TimingError for a device this machine lacks or an unknown
    kind.
    """
    if kind not in ("auto", "wall"):
        raise refuse(
            f'clock must be "auto", "wall" or a Clock, not {kind!r}.',
            f'clock 只能是 "auto"、"wall" 或一个 Clock，而不是 {kind!r}。',
        )
    names = checked(device)
    accelerators = [name for name in names if name != "cpu"]
    fence = fence_of(accelerators)
    if fence and len(names) == 1 and names[0].startswith("cuda") and kind != "wall":
        return gpu_clock(names[0], fence)
    return WallClock("+".join(names), fence)


def given_clock(device: Any, clock: str | Clock) -> Clock:
    """Returns `clock` if it is a Clock, or the clock of that name: for `device`, or where none is named, for the devices on which the
    first calls turn out to work. Raises TimingError for anything else.
    """
    if isinstance(clock, Clock):
        return clock
    if device is not None or clock not in ("auto", "wall"):
        return clock_for(device, clock)
    here = "torch" in sys.modules and accelerators_here()  # without torch nothing is on an accelerator
    return Seeking(clock) if here else clock_for("cpu", clock)


def calls_for(clock: Clock, f: Function) -> int:
    """How many calls make a block of at least the clock's `block_s`.

    Each number is judged by the shortest of three blocks, because other programs only ever make a block longer.
    """
    target, calls = clock.block_s, 1
    while True:
        began = clock.now()
        seconds = clock.block(f, calls)
        if clock.now() - began >= max(LONGEST_SEARCH_S, target):
            return calls
        if seconds < HICCUP_S:
            seconds = min(seconds, clock.block(f, calls), clock.block(f, calls))
        if seconds >= target:
            return calls
        grow = target / max(seconds, 1e-9) * 1.1
        calls = max(calls + 1, min(calls * 10, int(calls * grow) + 1))


def alike(needed: Mapping[str, int]) -> dict[str, int]:
    """How many calls a block of each function gets: the same number, but for functions that take far longer than the quickest."""
    most = max(needed.values())
    return {name: most if ALIKE * calls >= most else calls for name, calls in needed.items()}


# --- what is asked of a device; each branch asks first whether this build of torch has it ------------------------


def checked(device: Any) -> list[str]:
    """The devices named, as strings (None: the accelerator in use, else the CPU). Raises TimingError for one this machine lacks."""
    if device is None:
        return [next(iter(accelerators_here()), "cpu")]
    names = [str(d) for d in ([device] if isinstance(device, str) or not isinstance(device, Sequence) else device)]
    for name in names:
        kind = name.split(":")[0]
        if kind not in ("cpu", *ACCELERATORS) or not available(kind):
            raise refuse(
                f'This machine has no device "{name}" for the timer. Leave device out, or use device="cpu".',
                f'这台机器没有计时器能用的设备“{name}”。请去掉 device 参数，或者写 device="cpu"。',
            )
    return names


def fence_of(names: Sequence[str], only_in_use: bool = False) -> Callable[[], Any] | None:
    """A function that waits until these accelerators are idle; None for none. only_in_use: it does not start CUDA where nobody did."""
    waiting = [_fence(name, only_in_use) for name in names]
    return (lambda: [wait() for wait in waiting]) if waiting else None


def _fence(device: str, only_in_use: bool) -> Callable[[], Any]:
    import torch

    if device == "mps":
        return torch.mps.synchronize
    if only_in_use:
        return lambda: torch.cuda.synchronize() if torch.cuda.is_initialized() else None
    return torch.cuda.synchronize if ":" not in device else lambda: torch.cuda.synchronize(device)


def gpu_clock(device: str, fence: Callable[[], Any]) -> EventClock:
    """The clock of an NVIDIA GPU, by its events in its current stream."""
    import torch

    def fill(seconds: float) -> None:
        with torch.cuda.device(device):
            torch.cuda._sleep(int(seconds * CYCLES))

    def mark() -> Any:
        event = torch.cuda.Event(enable_timing=True)
        event.record(torch.cuda.current_stream(device))
        return event

    return EventClock(device, fence, fill, mark)

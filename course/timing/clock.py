"""Clocks: how long a block of calls takes on a CPU or an accelerator.

Two kinds. `wall` reads perf_counter_ns before and after the block, each time when all devices have finished.
`events` puts a start and an end mark into the full queue of one device (resolution about 0.5 us).
Waiting is `torch.cuda.synchronize` or `torch.mps.synchronize`, each device by name;
`torch.accelerator.synchronize` knows one device only and raises on a build without any, so it is not used.
Importing this file never fails: each branch asks first whether this build of torch has the device.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import itertools
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from course.i18n import t
from course.timing.validation import TimingError, named_errors
from course.timing.where import accelerators_here, available, devices_in, noted, work_of

KINDS = ("cpu", "cuda", "mps")
MIN_BLOCK_S = 0.0003
"""Shortest block that is timed as one sample, in seconds."""
SHORT_BLOCK_S = 25e-6
"""The same for a CPU: the shorter the blocks, the less often the machine changes its speed between the two of a
pair."""
MOST_FILL_S, TRIES = 0.5, 4
"""Longest filling of a device's queue, in seconds; after so many blocks in a row that found it empty, it is told why."""
LONGEST_SEARCH_S = 0.02
"""A block that keeps the machine for so long is long enough, however little of that the device computes."""
CYCLES = 2e9
"""Cycles of a GPU in a second, about."""
FILLER_BYTES = 256 << 20
"""Zeros that fill the queue of a device without `_sleep`, about a millisecond of work."""
HICCUP_S = 0.01
"""A block of so many seconds is timed once, not three times: it is hardly ever a short block that other programs
delayed."""


class Clock(Protocol):
    """What `measure` and `compare` need of a clock.

    A clock may also have `block_s` (shortest block in seconds; default MIN_BLOCK_S) and `cpu_may_count` (whether CPU
    time may take its place, see `course.timing.preemption`; default False).
    """

    device: str
    kind: str
    cache: str

    def now(self) -> float:
        """Seconds on a clock that never goes back, for budgets."""

    def block(self, f: Callable[[], Any], calls: int) -> float:
        """Seconds that `calls` calls of `f` take, device work included."""


class WallClock:
    """perf_counter_ns, fenced by `fence` (waits until the devices are idle; None on a CPU)."""

    kind = "wall"

    def __init__(
        self, device: str, fence: Callable[[], None] | None = None, flush: Callable[[], Any] | None = None
    ) -> None:
        self.device, self._fence, self._flush = device, fence, flush
        self.cache = "cold" if flush else "hot"
        self.block_s = MIN_BLOCK_S if fence or flush else SHORT_BLOCK_S
        self.cpu_may_count = False

    def now(self) -> float:
        return time.perf_counter()

    def block(self, f: Callable[[], Any], calls: int) -> float:
        """Seconds for `calls` calls; with a cold cache each call is timed alone after a flush."""
        if self._flush is None:
            return self._timed(f, calls)
        total = 0.0
        for _ in range(calls):
            self._flush()
            total += self._timed(f, 1)
        return total

    def _timed(self, f: Callable[[], Any], calls: int) -> float:
        collecting = gc.isenabled()
        repeats, fence = itertools.repeat(None, calls), self._fence
        if fence:
            fence()
        gc.disable()
        try:
            return (_fenced_ns(f, repeats, fence) if fence else _plain_ns(f, repeats)) * 1e-9
        finally:
            if collecting:
                gc.enable()


def _plain_ns(f: Callable[[], Any], repeats: Iterable[None], now: Callable[[], int] = time.perf_counter_ns) -> int:
    """ns of the bare loop: local names only, the clock read once before and once after, as timeit does."""
    start = now()
    for _ in repeats:
        f()
    return now() - start


def _fenced_ns(
    f: Callable[[], Any],
    repeats: Iterable[None],
    fence: Callable[[], None],
    now: Callable[[], int] = time.perf_counter_ns,
) -> int:
    """The same, with the wait for the devices included in the time."""
    start = now()
    for _ in repeats:
        f()
    fence()
    return now() - start


class ThreadClock(WallClock):
    """Processor time of the calling thread, so that other programs are not in it; for work that one thread of a CPU does."""

    def __init__(self) -> None:
        super().__init__("cpu")
        self.block_s = MIN_BLOCK_S

    def _timed(self, f: Callable[[], Any], calls: int) -> float:
        return _plain_ns(f, itertools.repeat(None, calls), time.thread_time_ns) * 1e-9


class Seeking(WallClock):
    """For first calls where nobody named a device: times by the wall, waits for every accelerator, notes where the work is.

    `settled()` is the clock for all that follows.
    """

    def __init__(self, kind: str, cache: str) -> None:
        super().__init__("cpu", _all_of([_fence_of(name, only_in_use=True) for name in accelerators_here()]))
        self._asked, self._found = (kind, cache), set[str]()

    def block(self, f: Callable[[], Any], calls: int) -> float:
        """Seconds of `calls` calls; a few us an operation more than without the noting."""
        with noted(self._found):
            return self._timed(lambda: self._found.update(devices_in(f())), calls)

    def settled(self) -> Clock:
        """The clock for the devices seen. Raises TimingError for events asked of work on the CPU."""
        return clock_for(work_of(self._found), *self._asked)


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
    """Start and end events in the queue of one device that is kept full: only the device's time is between them.

    `fill(seconds)` gives the device something else to do, the calls are issued behind it, and after the last one the start mark must
    still be waiting: else the device waited for Python in between, and the block is repeated behind a longer filling. A function whose
    calls wait for the device never passes this test; its time is that of the wall.

    `make_event` returns an event with timing on. The marks go into the current stream of that device, so work `f` puts into other
    streams is not seen: time such a function with clock="wall". stream: gives that stream where the device has an index.
    """

    kind = "events"

    def __init__(
        self,
        device: str,
        fence: Callable[[], None],
        make_event: Callable[[], Any],
        fill: Callable[[float], Any],
        flush: Callable[[], Any] | None = None,
        stream: Callable[[], Any] | None = None,
    ) -> None:
        super().__init__(device, fence, flush)
        self.wall = WallClock(device, fence, flush)
        self._event, self._fill, self._stream = make_event, fill, stream
        self._queues: dict[int, _Queue] = {}

    def _queue(self, f: Callable[..., Any]) -> _Queue:
        return self._queues.setdefault(id(f), _Queue())

    def waits(self, f: Callable[..., Any]) -> bool:
        """Whether each call of `f` was seen to wait for the device."""
        return self._queue(f).waits

    def issue_s(self, f: Callable[..., Any]) -> float | None:
        """Seconds Python takes to issue one call of `f`, the median of the blocks; None before the first one."""
        seconds = sorted(self._queue(f).issue_s)
        return seconds[len(seconds) // 2] if seconds else None

    def block(self, f: Callable[[], Any], calls: int) -> float:
        """Seconds of the device for `calls` calls, in as many blocks as its queue holds; with a cold cache each call alone."""
        total, queue = 0.0, self._queue(f)
        while calls:
            part = 1 if self._flush else min(calls, queue.most or calls)
            seconds = self.attempt(f, part, f)
            if seconds is not None:
                total, calls = total + seconds, calls - part
        return total

    def attempt(self, run: Callable[[], Any], calls: int, f: Callable[..., Any]) -> float | None:
        """Seconds of the device for `calls` calls of `run`, which calls `f`; None where its queue ran empty."""
        queue = self._queue(f)
        if queue.waits:
            return self.wall.block(run, calls)
        start, end = self._event(), self._event()
        where = (self._stream(),) if self._stream else ()
        repeats = itertools.repeat(None, calls)
        collecting = gc.isenabled()
        gc.disable()
        try:
            self._fill(queue.fill_s)
            if self._flush:
                self._flush()
            start.record(*where)
            began = time.perf_counter()
            for _ in repeats:
                run()
            issued = time.perf_counter() - began
            end.record(*where)
            full = not start.query()
        finally:
            if collecting:
                gc.enable()
        end.synchronize()
        if full:
            queue.empty = 0
            queue.issue_s.append(issued / calls)
            return start.elapsed_time(end) * 1e-3
        queue.empty += 1
        queue.fill_s = min(2 * max(queue.fill_s, issued), MOST_FILL_S)
        if queue.empty >= TRIES:
            queue.empty = 0
            queue.most, queue.waits = max(1, calls // 2), calls == 1
        return None


def launch_bound(issue_s: float | None, device_s: float) -> bool:
    """Whether the device waits for Python: issuing a call takes longer than running it."""
    return issue_s is not None and issue_s > device_s


def settled(clock: Clock) -> Clock:
    """The clock for all calls after the first ones."""
    found: Clock = clock.settled() if hasattr(clock, "settled") else clock
    return found


def for_first_calls(clock: Clock) -> Clock:
    """The clock for first calls: the wall, since most of what happens only once is not the device's work."""
    found: Clock = getattr(clock, "wall", clock)
    return found


def waits(clock: Clock, f: Callable[..., Any]) -> bool:
    """Whether the calls of `f` wait for the device, so that the wall says their time."""
    return bool(hasattr(clock, "waits") and clock.waits(f))


def issue_s(clock: Clock, f: Callable[..., Any]) -> float | None:
    """Seconds Python takes to issue one call of `f` to a device; None on a CPU, or where the wall says the time."""
    return clock.issue_s(f) if hasattr(clock, "issue_s") and not waits(clock, f) else None


def waits_note(names: Sequence[str]) -> str:
    """The remark on functions that wait for the device in each call."""
    said = ", ".join(map(str, names))
    return t(
        f"Each call of {said} waits for the device (.item(), .cpu(), a print of a tensor), so the wall says the time, the wait included.",
        f"{said} 每次调用都在等设备（.item()、.cpu()、打印张量），所以用墙钟计时，等待也算在内。",
    )


def default_device() -> str:
    """The accelerator in use, else `cpu`."""
    return next(iter(accelerators_here()), "cpu")


def _fence_of(device: str, only_in_use: bool = False) -> Callable[[], None]:
    """A function that waits until the accelerator `device` is idle. only_in_use: it does not start CUDA where nobody did."""
    import torch

    if device == "mps":
        return torch.mps.synchronize
    if only_in_use:
        return lambda: torch.cuda.synchronize() if torch.cuda.is_initialized() else None
    return torch.cuda.synchronize if ":" not in device else lambda: torch.cuda.synchronize(device)


def _filler(device: str) -> Callable[[float], Any]:
    """A function that gives the device about so many seconds of other work, in its current stream."""
    import torch

    kind, _, index = device.partition(":")
    if kind == "cuda" and hasattr(torch.cuda, "_sleep"):

        def sleep(seconds: float) -> None:
            with torch.cuda.device(int(index)) if index else contextlib.nullcontext():
                torch.cuda._sleep(int(seconds * CYCLES))

        return sleep
    room = torch.empty(FILLER_BYTES, dtype=torch.uint8, device=device)

    def zero(seconds: float) -> None:
        for _ in range(1 + int(seconds * 1e3)):
            room.zero_()

    return zero


def _devices(device: Any) -> list[str]:
    """The devices involved, as checked strings. Raises TimingError for one this machine lacks."""
    if device is None:
        return [default_device()]
    listed = list(device) if isinstance(device, Sequence) and not isinstance(device, str) else [device]
    names = [str(d) for d in listed]
    if not names:
        raise TimingError(
            t(
                "The list of devices is empty. Leave device out, or name one.",
                "设备列表是空的。请去掉 device 参数，或者写明一个设备。",
            )
        )
    for name in names:
        kind = name.split(":")[0]
        if kind not in KINDS:
            raise TimingError(
                t(
                    f'Unknown device "{name}"; the timer knows {", ".join(KINDS)}.',
                    f"不认识设备“{name}”；计时器支持 {'、'.join(KINDS)}。",
                )
            )
        if not available(kind):
            raise TimingError(
                t(
                    f'This machine has no "{kind}" device. Leave device out, or use device="cpu".',
                    f'这台机器没有“{kind}”设备。请去掉 device 参数，或者写 device="cpu"。',
                )
            )
    return names


def clock_for(device: Any = None, kind: str = "auto", cache: str = "hot") -> Clock:
    """A clock for `device` (a name, a torch.device, a list of them, or None: the accelerator in use).

    kind: auto (events on one cuda or mps device, else wall, and on a CPU whose processor is taken away in most
    rounds CPU time where it may count: see `course.timing.preemption`) | wall | events.
    cache: hot | cold (before every call a buffer of twice the last-level cache is written).
    Raises TimingError for a device this machine lacks or an unknown kind.
    """
    if kind not in ("auto", "wall", "events") or cache not in ("hot", "cold"):
        raise TimingError(
            t(
                f'clock must be "auto", "wall" or "events" and cache "hot" or "cold", not {kind!r}, {cache!r}.',
                f'clock 只能是 "auto"、"wall" 或 "events"，cache 只能是 "hot" 或 "cold"，而不是 {kind!r}、{cache!r}。',
            )
        )
    names = _devices(device)
    accelerators = [n for n in names if n != "cpu"]
    flush = _flusher(accelerators[0] if accelerators else "cpu") if cache == "cold" else None
    label = "+".join(names)
    if len(accelerators) == 1 and kind != "wall":
        only = accelerators[0]
        return EventClock(label, _fence_of(only), _event_maker(only), _filler(only), flush, _stream_of(only))
    if kind == "events":
        raise TimingError(
            t(
                'Events live in the queue of one accelerator; here use clock="wall".',
                '事件只存在于单个加速器的队列里；这里请用 clock="wall"。',
            )
        )
    fences = [_fence_of(name) for name in accelerators]
    clock = WallClock(label, _all_of(fences) if fences else None, flush)
    clock.cpu_may_count = kind == "auto" and not fences and not flush
    return clock


def given_clock(device: Any, clock: str | Clock, cache: str) -> Clock:
    """Returns `clock` if it is a Clock, or the clock of that name: for `device`, or where none is named, for the devices on which the
    first calls turn out to work. Raises TimingError for anything else.
    """
    if not isinstance(clock, str) and hasattr(clock, "block"):
        return clock
    if device is not None:
        return clock_for(device, clock, cache)
    if "torch" not in sys.modules or not accelerators_here():  # without torch nothing is on an accelerator
        return clock_for("cpu", clock, cache)
    clock_for("cpu", "auto" if clock == "events" else clock, cache)  # for its complaints
    return Seeking(str(clock), cache)


def _all_of(fences: Sequence[Callable[[], None]]) -> Callable[[], None]:
    def fence() -> None:
        for wait in fences:
            wait()

    return fence


def _event_maker(device: str) -> Callable[[], Any]:
    import torch

    event = torch.mps.event.Event if device == "mps" else torch.cuda.Event
    return lambda: event(enable_timing=True)


def _stream_of(device: str) -> Callable[[], Any] | None:
    """A function that returns the current stream of a device such as "cuda:1", because a mark would otherwise go to the device in
    use. None for "cuda".
    """
    import torch

    return (lambda: torch.cuda.current_stream(device)) if device.startswith("cuda:") else None


def _flusher(device: str) -> Callable[[], Any]:
    """A function that writes a buffer of twice the last-level cache of `device` (64 MiB where its size is unknown)."""
    import torch

    size = 0
    if device.startswith("cuda"):
        size = getattr(torch.cuda.get_device_properties(device), "L2_cache_size", 0)
    elif device == "cpu":
        size = cpu_cache_bytes()
    buffer = torch.empty(min(max(2 * size, 64 << 20), 512 << 20), dtype=torch.uint8, device=device)
    return buffer.zero_


def cpu_cache_bytes() -> int:
    """Largest cache Linux reports for the first core, in bytes; 0 where unknown."""
    import pathlib

    sizes = [0]
    for path in pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        text = path.read_text("ascii").strip()
        if text[:-1].isdigit():
            sizes.append(int(text[:-1]) * {"K": 1 << 10, "M": 1 << 20}.get(text[-1], 1))
    return max(sizes)


def calls_for(clock: Clock, f: Callable[[], Any], target_s: float | None = None) -> int:
    """How many calls make a block of at least `target_s` seconds (default: the clock's `block_s`).

    Each number is judged by the shortest of three blocks, because other programs only ever make a block longer.
    """
    if clock.cache == "cold" or getattr(clock, "alone", False):  # the time between the calls is not in the block
        return 1
    target = getattr(clock, "block_s", MIN_BLOCK_S) if target_s is None else target_s
    calls = 1
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


class PerCall:
    """A clock that runs `setup` before every call and does not time it.

    The function gets what setup returns as its argument, unless that is None. Every call is timed alone. The seconds of
    a block are their sum, which includes about 0.1 us a call for reading the clock twice.
    """

    alone = True

    def __init__(self, clock: Clock, setup: Callable[[], Any]) -> None:
        self._clock, self._setup, self._runs = clock, setup, 0
        self.device, self.kind, self.cache = clock.device, clock.kind, clock.cache

    @property
    def wall(self) -> PerCall:
        """The same with the clock for first calls."""
        return PerCall(for_first_calls(self._clock), self._setup)

    def settled(self) -> PerCall:
        """The same with the clock for all calls after the first ones."""
        return PerCall(settled(self._clock), self._setup)

    def waits(self, f: Callable[..., Any]) -> bool:
        """Whether each call of `f` waits for the device."""
        return waits(self._clock, f)

    def issue_s(self, f: Callable[..., Any]) -> float | None:
        """Seconds Python takes to issue one call of `f`."""
        return issue_s(self._clock, f)

    def now(self) -> float:
        return self._clock.now()

    def block(self, f: Callable[..., Any], calls: int) -> float:
        """Seconds of `calls` calls, each after its own setup."""
        return sum(self._once(f) for _ in itertools.repeat(None, calls))

    def _once(self, f: Callable[..., Any]) -> float:
        """Seconds of one call; where a device's queue ran empty, of another one after another setup."""
        while True:
            self._runs += 1
            with named_errors("setup", self._runs):
                given = self._setup()
            run = f if given is None else functools.partial(f, given)
            if not isinstance(self._clock, EventClock):
                return self._clock.block(run, 1)
            seconds = self._clock.attempt(run, 1, f)
            if seconds is not None:
                return seconds


def with_setup(clock: Clock, setup: Callable[[], Any] | None) -> Clock:
    """The clock; with `setup`, one that runs setup untimed before every call."""
    return clock if setup is None else PerCall(clock, setup)


def somebody_watches() -> bool:
    """Whether somebody can see a progress bar: in a terminal or a notebook, not in a log file."""
    if sys.stderr is None:
        return False
    return "ipykernel" in sys.modules or sys.stderr.isatty()


class _Part:
    """The bar of one piece of something longer: moves the bar of the whole on."""

    def __init__(self, whole: Any) -> None:
        self.whole, self.n, self.total = whole, 0.0, 0.0

    def update(self, seconds: float) -> None:
        self.n += seconds
        room = self.whole.total - self.whole.n  # tqdm forgets a total that is passed
        self.whole.update(max(0.0, min(seconds, room)))

    def close(self) -> None:
        """Nothing: the whole goes on."""


_wholes: list[Any] = []


@contextlib.contextmanager
def whole_progress(budget_s: float, title: str) -> Iterator[Any]:
    """One bar for all that is measured in the block."""
    bar = progress(budget_s, title)
    _wholes.append(bar)
    try:
        yield bar
    finally:
        _wholes.remove(bar)
        end_progress(bar)


def progress(budget_s: float, title: str) -> Any:
    """A progress bar over `budget_s` seconds; silent for budgets up to 2 s, or where nobody watches."""
    from tqdm.auto import tqdm

    if _wholes:
        return _Part(_wholes[-1])
    return tqdm(
        total=round(budget_s, 1),
        desc=title,
        unit="s",
        leave=False,
        disable=budget_s <= 2 or not somebody_watches(),
        delay=1,
        bar_format="{desc}: {bar} {n:.1f}/{total:.1f} s",
    )


def end_progress(bar: Any) -> None:
    """Remove the bar. If it is done early, the bar would otherwise stay in red, as after a failure."""
    bar.total = bar.n
    bar.close()

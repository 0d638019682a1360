"""Clocks: how long a block of calls takes on a CPU or an accelerator.

Two kinds. `wall` reads perf_counter_ns before and after the block, each time when all devices have finished.
`events` puts a start and an end mark into the queue of one device (resolution about 0.5 us).
Waiting is `torch.cuda.synchronize`, `torch.xpu.synchronize` or `torch.mps.synchronize`, each device by name;
`torch.accelerator.synchronize` knows one device only and raises on a build without any, so it is not used.
Importing this file never fails: each branch asks first whether this build of torch has the device.
"""

from __future__ import annotations

import functools
import gc
import itertools
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from course.i18n import t
from course.timing.validation import TimingError, named_errors

KINDS = ("cpu", "cuda", "mps", "xpu")
MIN_BLOCK_S = 0.0003
"""Shortest block that is timed as one sample, in seconds."""
SHORT_BLOCK_S = 25e-6
"""The same for a CPU: the shorter the blocks, the less often the machine changes its speed between the two of a
pair."""
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


class EventClock(WallClock):
    """Start and end events in the queue of one device. `make_event` returns an event with timing on.

    The marks go into the current stream of that device, so work `f` puts into other streams is not seen:
    time such a function with clock="wall". stream: gives that stream where the device has an index.
    """

    kind = "events"

    def __init__(
        self,
        device: str,
        fence: Callable[[], None],
        make_event: Callable[[], Any],
        flush: Callable[[], Any] | None = None,
        stream: Callable[[], Any] | None = None,
    ) -> None:
        super().__init__(device, fence, flush)
        self._event, self._stream = make_event, stream

    def _timed(self, f: Callable[[], Any], calls: int) -> float:
        start, end = self._event(), self._event()
        where = (self._stream(),) if self._stream else ()
        repeats = itertools.repeat(None, calls)
        collecting = gc.isenabled()
        gc.disable()
        try:
            start.record(*where)
            for _ in repeats:
                f()
            end.record(*where)
        finally:
            if collecting:
                gc.enable()
        end.synchronize()
        return start.elapsed_time(end) * 1e-3


def available(kind: str) -> bool:
    """Whether this build of torch and this machine have a device of this kind."""
    if kind == "cpu":
        return True
    import torch

    if kind == "mps":
        return bool(torch.backends.mps.is_available())
    module = getattr(torch, kind, None)
    return bool(module is not None and module.is_available())


def default_device() -> str:
    """The accelerator in use, else `cpu`."""
    return next((kind for kind in ("cuda", "xpu", "mps") if available(kind)), "cpu")


def _fence_of(device: str) -> Callable[[], None] | None:
    """A function that waits until `device` is idle; None for the CPU, whose calls return when done."""
    kind = device.split(":")[0]
    if kind == "cpu":
        return None
    import torch

    if kind == "mps":
        return torch.mps.synchronize
    module = getattr(torch, kind)
    return module.synchronize if ":" not in device else lambda: module.synchronize(device)


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

    kind: auto (events on one cuda, xpu or mps device, else wall, and on a CPU whose processor is taken away in most
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
        fence, event = _fence_of(accelerators[0]), _event_maker(accelerators[0])
        assert fence is not None
        return EventClock(label, fence, event, flush, _stream_of(accelerators[0]))
    if kind == "events":
        raise TimingError(
            t(
                'Events live in the queue of one accelerator; here use clock="wall".',
                '事件只存在于单个加速器的队列里；这里请用 clock="wall"。',
            )
        )
    fences = [f for f in map(_fence_of, accelerators) if f]
    clock = WallClock(label, _all_of(fences) if fences else None, flush)
    clock.cpu_may_count = kind == "auto" and not fences and not flush
    return clock


def given_clock(device: Any, clock: str | Clock, cache: str) -> Clock:
    """Returns `clock` if it is a Clock, or the clock that `clock_for` makes of its name. Raises TimingError for
    anything else.
    """
    return clock_for(device, clock, cache) if isinstance(clock, str) or not hasattr(clock, "block") else clock


def _all_of(fences: Sequence[Callable[[], None]]) -> Callable[[], None]:
    def fence() -> None:
        for wait in fences:
            wait()

    return fence


def _event_maker(device: str) -> Callable[[], Any]:
    import torch

    module = getattr(torch, device.split(":")[0])
    event = module.event.Event if device.startswith("mps") else module.Event
    return lambda: event(enable_timing=True)


def _stream_of(device: str) -> Callable[[], Any] | None:
    """A function that returns the current stream of a device such as "cuda:1", because a mark would otherwise go to the device in
    use. None for "cuda".
    """
    import torch

    kind, _, index = device.partition(":")
    return (lambda: getattr(torch, kind).current_stream(device)) if index and kind != "mps" else None


def _flusher(device: str) -> Callable[[], Any]:
    """A function that writes a buffer of twice the last-level cache of `device` (64 MiB where its size is unknown)."""
    import torch

    size = 0
    if device.startswith("cuda"):
        size = getattr(torch.cuda.get_device_properties(device), "L2_cache_size", 0)
    elif device.startswith("xpu"):
        size = getattr(torch.xpu.get_device_properties(device), "last_level_cache_size", 0)
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
        seconds = clock.block(f, calls)
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

    def now(self) -> float:
        return self._clock.now()

    def block(self, f: Callable[..., Any], calls: int) -> float:
        """Seconds of `calls` calls, each after its own setup."""
        total = 0.0
        for _ in itertools.repeat(None, calls):
            self._runs += 1
            with named_errors("setup", self._runs):
                given = self._setup()
            total += self._clock.block(f if given is None else functools.partial(f, given), 1)
        return total


def with_setup(clock: Clock, setup: Callable[[], Any] | None) -> Clock:
    """`clock`, or where there is a setup a PerCall of it."""
    return clock if setup is None else PerCall(clock, setup)


def somebody_watches() -> bool:
    """Whether somebody can see a progress bar: in a terminal or a notebook, not in a log file."""
    if sys.stderr is None:
        return False
    return "ipykernel" in sys.modules or sys.stderr.isatty()


def progress(budget_s: float, title: str) -> Any:
    """A progress bar over `budget_s` seconds; silent for budgets up to 2 s, or where nobody watches."""
    from tqdm.auto import tqdm

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

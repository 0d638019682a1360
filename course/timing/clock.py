"""Clocks: how long a block of calls takes on a CPU or an accelerator.

Two kinds. `wall`: perf_counter_ns around the block, with every device involved waited for before and after.
`events`: start and end marks in the device's own queue (resolution about 0.5 us), one device only.
A build without the device never raises on import: every branch asks first.
"""

from __future__ import annotations

import gc
import itertools
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from course.i18n import t
from course.timing.guard import TimingError

KINDS = ("cpu", "cuda", "mps", "xpu")
MIN_BLOCK_S = 0.0003
"""Shortest block that is timed as one sample, in seconds."""


class Clock(Protocol):
    """What `measure` and `compare` need of a clock."""

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

    def __init__(self, device: str, fence: Callable[[], None] | None = None,
                 flush: Callable[[], Any] | None = None) -> None:
        self.device, self._fence, self._flush = device, fence, flush
        self.cache = "cold" if flush else "hot"

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
        if self._fence:
            self._fence()
        gc.disable()
        try:
            repeats = itertools.repeat(None, calls)
            start = time.perf_counter_ns()
            for _ in repeats:
                f()
            if self._fence:
                self._fence()
            return (time.perf_counter_ns() - start) * 1e-9
        finally:
            if collecting:
                gc.enable()


class EventClock(WallClock):
    """Start and end events in the queue of one device. `make_event` returns an event with timing on."""

    kind = "events"

    def __init__(self, device: str, fence: Callable[[], None], make_event: Callable[[], Any],
                 flush: Callable[[], Any] | None = None) -> None:
        super().__init__(device, fence, flush)
        self._event = make_event

    def _timed(self, f: Callable[[], Any], calls: int) -> float:
        start, end = self._event(), self._event()
        repeats = itertools.repeat(None, calls)
        collecting = gc.isenabled()
        gc.disable()
        try:
            start.record()
            for _ in repeats:
                f()
            end.record()
        finally:
            if collecting:
                gc.enable()
        end.synchronize()
        return start.elapsed_time(end) * 1e-3


def available(kind: str) -> bool:
    """Whether this build of torch and this machine have a device of this kind."""
    import torch

    if kind == "cpu":
        return True
    if kind == "mps":
        return bool(torch.backends.mps.is_available())
    module = getattr(torch, kind, None)
    return bool(module is not None and module.is_available())


def default_device() -> str:
    """The accelerator in use, else `cpu`."""
    return next((kind for kind in ("cuda", "xpu", "mps") if available(kind)), "cpu")


def _fence_of(device: str) -> Callable[[], None] | None:
    """A function that waits until `device` is idle; None for the CPU, whose calls return when done."""
    import torch

    kind = device.split(":")[0]
    if kind == "cpu":
        return None
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
    for name in names:
        kind = name.split(":")[0]
        if kind not in KINDS:
            raise TimingError(t(
                f'Unknown device "{name}"; the timer knows {", ".join(KINDS)}.',
                f"不认识设备 “{name}”；计时器支持 {'、'.join(KINDS)}。",
            ))
        if not available(kind):
            raise TimingError(t(
                f'This machine has no "{kind}" device. Leave device out, or use device="cpu".',
                f"这台机器没有 “{kind}” 设备。请去掉 device 参数，或者写 device=\"cpu\"。",
            ))
    return names


def clock_for(device: Any = None, kind: str = "auto", cache: str = "hot") -> Clock:
    """A clock for `device` (a name, a torch.device, a list of them, or None: the accelerator in use).

    kind: auto (events on one cuda, xpu or mps device, else wall) | wall | events.
    cache: hot | cold (before every call a buffer of twice the last-level cache is written).
    Raises TimingError for a device this machine lacks or an unknown kind.
    """
    if kind not in ("auto", "wall", "events") or cache not in ("hot", "cold"):
        raise TimingError(t(
            f'clock must be "auto", "wall" or "events" and cache "hot" or "cold", not {kind!r}, {cache!r}.',
            f'clock 只能是 "auto"、"wall" 或 "events"，cache 只能是 "hot" 或 "cold"，'
            f"而不是 {kind!r}、{cache!r}。",
        ))
    names = _devices(device)
    accelerators = [n for n in names if n != "cpu"]
    flush = _flusher(accelerators[0] if accelerators else "cpu") if cache == "cold" else None
    label = "+".join(names)
    if len(accelerators) == 1 and kind != "wall":
        fence, event = _fence_of(accelerators[0]), _event_maker(accelerators[0])
        assert fence is not None
        return EventClock(label, fence, event, flush)
    if kind == "events":
        raise TimingError(t(
            "Events live in the queue of one accelerator; here use clock=\"wall\".",
            "事件只存在于单个加速器的队列里；这里请用 clock=\"wall\"。",
        ))
    fences = [f for f in map(_fence_of, accelerators) if f]
    return WallClock(label, _all_of(fences) if fences else None, flush)


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


def _flusher(device: str) -> Callable[[], Any]:
    """Writes a buffer of twice the last-level cache of `device` (64 MiB where its size is unknown)."""
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
        text = path.read_text().strip()
        if text[:-1].isdigit():
            sizes.append(int(text[:-1]) * {"K": 1 << 10, "M": 1 << 20}.get(text[-1], 1))
    return max(sizes)


def as_cuda_graph(f: Callable[[], Any]) -> Callable[[], Any]:
    """`f` captured once in a CUDA graph: calling the result replays its kernels without launching each.

    `f` must use the same tensors every time and never wait for the GPU. Raises TimingError without CUDA.
    """
    import torch

    if not available("cuda"):
        raise TimingError(t("A CUDA graph needs a CUDA device.", "CUDA graph 需要 CUDA 设备。"))
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            f()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        f()
    return graph.replay


def calls_for(clock: Clock, f: Callable[[], Any], target_s: float = MIN_BLOCK_S) -> int:
    """How many calls make a block of at least `target_s` seconds, found by doubling."""
    if clock.cache == "cold":
        return 1
    calls = 1
    while True:
        seconds = clock.block(f, calls)
        if target_s <= seconds < 20 * target_s:  # a hiccup looks like a slow function: ask twice
            seconds = min(seconds, clock.block(f, calls))
        if seconds >= target_s:
            return calls
        grow = target_s / max(seconds, 1e-9) * 1.1
        calls = max(calls + 1, min(calls * 10, int(calls * grow) + 1))


def threads(clock: Clock) -> int:
    """Threads torch uses inside one operator on the CPU, in the process where `clock` runs."""
    import torch

    return int(getattr(clock, "threads", None) or torch.get_num_threads())


def overhead_ns(clock: Clock, calls: int) -> float:
    """What the timer itself adds, in ns a call: an empty block of `calls` calls, best of three."""
    nothing = [].__len__
    return min(clock.block(nothing, calls) for _ in range(3)) / calls * 1e9


def progress(budget_s: float, title: str) -> Any:
    """A progress bar over `budget_s` seconds; silent for budgets up to 2 s."""
    from tqdm.auto import tqdm

    return tqdm(total=round(budget_s, 1), desc=title, unit="s", leave=False, disable=budget_s <= 2,
                delay=1, bar_format="{desc}: {bar} {n:.1f}/{total:.1f} s")


def end_progress(bar: Any) -> None:
    """Take the bar away. Being done before the time is out is no failure, so it must not stay there in red."""
    bar.total = bar.n
    bar.close()

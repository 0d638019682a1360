"""`peaks`: the fastest arithmetic and the fastest memory traffic this machine shows when asked.

Measured, never looked up. Both are the best of many probes spread over the budget, so that a neighbour who
is busy for a moment does not lower them: the best square matrix product, and the best of read (sum), copy and
triad (z = x + 3 y) on buffers far larger than the last-level cache.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from functools import lru_cache
from typing import Any

import torch

from course import machine
from course.i18n import t
from course.roofline import keep
from course.roofline.memory import buffer_bytes, cache_bytes, free_bytes
from course.roofline.roof import Peaks, from_rates
from course.roofline.words import RooflineError, enough_memory, is_out_of_memory, too_little_memory
from course.timing import clock_for, guard
from course.timing.clock import Clock, calls_for, end_progress, progress

DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
SIZES = {"cpu": (256, 512, 1024, 2048, 4096), "gpu": (1024, 2048, 4096, 8192, 16384)}
"""Edges of the square matrices tried, smallest first; the larger ones only where they are quick enough."""
QUIET = 0.85
"""Least share of the processor time it could use that this process must get for its peaks to be believed."""
BLOCK_S = 0.002
"""Shortest block timed as one probe, in seconds."""


def peaks(device: Any = None, dtype: torch.dtype = torch.float32, threads: int | None = None,
          max_time: float = 3.0, *, refresh: bool = False) -> Peaks:
    """The measured peaks of `device` (default: the accelerator in use, else the CPU).

    dtype: of the matrix product; the memory peak is always that of float32 buffers. threads: CPU threads
    (default: as set now; set back afterwards). max_time: seconds for measuring; at least one round of probes
    is always finished. refresh: measure again although a result for this machine, type and thread count
    was kept.
    Raises RooflineError or TimingError, in words, for an unknown device or type, or too little memory.
    """
    if dtype not in DTYPES:
        names = ", ".join(_name(known) for known in DTYPES)
        raise RooflineError(t(f"dtype must be one of {names}, not {dtype}.",
                              f"dtype 只能是 {names} 之一，而不是 {dtype}。"))
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
        raise RooflineError(t(f"threads must be a whole number from 1 on, not {threads!r}.",
                              f"threads 必须是不小于 1 的整数，而不是 {threads!r}。"))
    guard.require_positive(max_time=max_time)
    clock = clock_for(device)
    if "+" in clock.device:
        raise RooflineError(t("Peaks belong to one device: name a single one, such as \"cpu\" or \"cuda\".",
                              "峰值属于单个设备：请只写一个，例如 \"cpu\" 或 \"cuda\"。"))
    with _threads(threads):
        asked = {"device": clock.device, "dtype": _name(dtype), "threads": torch.get_num_threads(),
                 "precision": matmul_precision(clock.device)}
        about = _passport(clock.device)
        kept, notes = keep.find(asked, about)
        if kept is not None and not refresh:
            return Peaks(**kept, machine=about, notes=notes)
        work, traffic, got = _measured(clock, dtype, max_time)
    found = from_rates(work, traffic, machine=about, created=_now(), **asked)
    more = keep.add(found) if got >= QUIET else (t(
        f"This process got only {got:.0%} of the processor time it could use meanwhile: the machine was busy "
        "with other work, or the threads had to share a core. These peaks are too low and are not kept; "
        "measure again when it is quieter, or with threads=1.",
        f"测量期间本进程只拿到了可用处理器时间的 {got:.0%}：机器正忙于其他工作，或者多个线程挤在同一个核上。"
        "这些峰值偏低，不会保存；请在机器空闲时重新测量，或者用 threads=1。",
    ),)
    return Peaks(**(vars(found) | {"notes": (*notes, *more)}))


def _measured(clock: Clock, dtype: torch.dtype, max_time: float) -> tuple[float, float, float]:
    """Best FLOP/s and best bytes/s: every probe in turn, round after round, until the time is out.

    And the share of the processor time it could use that this process got while those two were found (the
    smaller share of the two; 1 on an accelerator).
    """
    began = clock.now()
    bar = progress(max_time, t("measuring the peaks", "测量峰值"))
    shown = 0.0
    try:
        with enough_memory(clock.device), torch.no_grad():
            probes = [*_products(clock, dtype, max_time), *_streams(clock)]
            best = {"work": (0.0, 0.0), "traffic": (0.0, 0.0)}
            while True:
                started = clock.now()
                for kind, amount, f, calls in probes:
                    before = time.process_time()
                    seconds = max(clock.block(f, calls), 1e-9)
                    got = _share(clock, time.process_time() - before, seconds)
                    best[kind] = max(best[kind], (amount * calls / seconds, got))
                spent = min(clock.now() - began, max_time)
                bar.update(spent - shown)
                shown = spent
                if spent + (clock.now() - started) > max_time:  # another round would not fit
                    (work, one), (traffic, other) = best["work"], best["traffic"]
                    return work, traffic, min(one, other)
    finally:
        end_progress(bar)


def _share(clock: Clock, processor_s: float, seconds: float) -> float:
    """Processor time got / processor time the threads of this process could have used."""
    if clock.device != "cpu":
        return 1.0
    return min(1.0, processor_s / seconds / min(torch.get_num_threads(), _cores()))


Probe = tuple[str, float, Callable[[], Any], int]
"""Kind (work | traffic), FLOPs or bytes of one call, the call, calls a block."""


def _products(clock: Clock, dtype: torch.dtype, max_time: float) -> Iterator[Probe]:
    """Square matrix products; sizes whose single call would take over a twelfth of the time are left out."""
    per_flop = 0.0
    for edge in SIZES["cpu" if clock.device == "cpu" else "gpu"]:
        flops = 2.0 * edge**3
        if per_flop * flops > max_time / 12:
            return
        try:
            a = torch.full((edge, edge), 0.5, dtype=dtype, device=clock.device)
            out = torch.empty_like(a)
            torch.mm(a, a, out=out)
        except (RuntimeError, TypeError) as error:
            if is_out_of_memory(error):
                if per_flop:
                    return  # the smaller ones fit
                raise too_little_memory(clock.device) from error
            raise RooflineError(t(
                f"{clock.device} has no matrix product for {_name(dtype)} here: "
                f"{str(error).splitlines()[0]}. Try dtype=torch.float32.",
                f"这里的 {clock.device} 不支持 {_name(dtype)} 的矩阵乘法：{str(error).splitlines()[0]}。"
                "请试试 dtype=torch.float32。",
            )) from error
        f = _product(a, out)
        calls = calls_for(clock, f, BLOCK_S)
        per_flop = clock.block(f, calls) / calls / flops
        yield "work", flops, f, calls


def _product(a: torch.Tensor, out: torch.Tensor) -> Callable[[], Any]:
    return lambda: torch.mm(a, a, out=out)


def _streams(clock: Clock) -> list[Probe]:
    """Read, copy and triad on float32 buffers; bytes are those the operation needs, each counted once."""
    size = buffer_bytes(cache_bytes(clock.device), free_bytes(clock.device), clock.device)
    x, y, z = (torch.ones(size // 4, device=clock.device) for _ in range(3))
    total = torch.empty((), device=clock.device)
    operations: list[tuple[int, Callable[[], Any]]] = [
        (1, lambda: torch.sum(x, 0, out=total)),
        (2, lambda: y.copy_(x)),
        (3, lambda: torch.add(x, y, alpha=3.0, out=z)),
    ]
    return [("traffic", float(buffers * 4 * x.numel()), f, calls_for(clock, f, BLOCK_S))
            for buffers, f in operations]


def matmul_precision(device: str) -> str:
    """What torch may do to float32 inside a matrix product on this device, as set now; "" where unknown."""
    backend = {"cpu": "mkldnn", "cuda": "cuda"}.get(device.split(":")[0], "")
    node = getattr(getattr(torch.backends, backend, None), "matmul", None)
    try:
        return str(getattr(node, "fp32_precision", ""))
    except (RuntimeError, AttributeError):
        return ""


@lru_cache(maxsize=1)
def _cores() -> int:
    return int(machine.passport()["cores"] or 1)


@contextlib.contextmanager
def _threads(count: int | None) -> Iterator[None]:
    before = torch.get_num_threads()
    if count is not None:
        torch.set_num_threads(count)
    try:
        yield
    finally:
        if count is not None:
            torch.set_num_threads(before)


def _passport(device: str) -> dict[str, Any]:
    """The passport, with the name of the device that is measured."""
    about = machine.passport()
    if device == "cpu":
        about |= {"device": "cpu", "device_name": about["cpu"], "capability": None, "driver": None}
    elif device.startswith("cuda"):
        about["device_name"] = torch.cuda.get_device_name(device)
    return about


def _name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


def _now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

"""`peaks`: the fastest arithmetic and the fastest memory traffic that this machine reaches in a measurement.

Measured, never looked up. Both are the best of many probes (course.roofline.probes), each tried again and again
over the budget, so that a neighbour who is busy for a moment does not lower them.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import replace
from datetime import datetime, timezone
from functools import lru_cache
from typing import Any, NamedTuple

import torch

from course import flags, machine
from course.i18n import t
from course.roofline import probes, stored_peaks
from course.roofline.memory import enough_memory
from course.roofline.roof import Peaks
from course.roofline.words import RooflineError
from course.timing import clock_for, validation
from course.timing.clock import Clock, ThreadClock, end_progress, progress
from course.timing.deadline import out_of_time

DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
QUIET = 0.85
"""Least share of the processor time it could use that this process must get for its peaks to be believed."""
HOPELESS = 0.85
"""After the second round a probe below this part of the best one is not tried again."""
LONGEST = 1 / 24
"""Longest call of a probe, as a part of the budget."""


def peaks(
    device: Any = None,
    dtype: torch.dtype = torch.float32,
    threads: int | None = None,
    max_time: float = 3.0,
    *,
    refresh: bool = False,
) -> Peaks:
    """The measured peaks of `device` (default: the accelerator in use, else the CPU).

    dtype: of the arithmetic; the memory peak is always that of float32 buffers. threads: CPU threads
    (default: as set now; set back afterwards). max_time: seconds for measuring; at least one round of probes
    is always finished. refresh: measure again although a result for this machine, type and thread count
    was kept. Data are random; both precisions of float32, of products and of convolutions, are as set now and kept with the result.
    Raises RooflineError or TimingError, in words, for an unknown device or type, or too little memory.
    """
    if dtype not in DTYPES:
        names = ", ".join(_name(known) for known in DTYPES)
        raise RooflineError(
            t(f"dtype must be one of {names}, not {dtype}.", f"dtype 只能是 {names} 之一，而不是 {dtype}。")
        )
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
        raise RooflineError(
            t(
                f"threads must be a whole number from 1 on, not {threads!r}.",
                f"threads 必须是不小于 1 的整数，而不是 {threads!r}。",
            )
        )
    validation.require_positive(max_time=max_time)
    clock = clock_for(device)
    if "+" in clock.device:
        raise RooflineError(
            t(
                'Peaks belong to one device: name a single one, such as "cpu" or "cuda".',
                '峰值属于单个设备：请只写一个，例如 "cpu" 或 "cuda"。',
            )
        )
    with flags.using({} if threads is None else {"torch.num_threads": threads}):
        asked = {
            "device": clock.device,
            "dtype": _name(dtype),
            "threads": torch.get_num_threads(),
            "precision": precision_of(clock.device, "matmul"),
            "convolution_precision": precision_of(clock.device, "conv"),
        }
        about = _passport(clock.device)
        stored, notes = stored_peaks.find(asked, about)
        if stored is not None and not refresh:
            return Peaks(**stored, machine=about, notes=notes)
        products, convolutions, traffic = _measured(undisturbed(clock), dtype, max_time)
    work = max(products, convolutions or products)
    found = Peaks(
        work.rate, traffic.rate, machine=about, created=_now(), work_by=work.name, traffic_by=traffic.name,
        products_per_s=products.rate, convolutions_per_s=convolutions.rate if convolutions else 0.0, **asked,
    )  # fmt: skip
    got = min(work.got, traffic.got)
    more = stored_peaks.add(found) if got >= QUIET else (_busy(got),)
    return replace(found, notes=(*notes, *more))


def _busy(got: float) -> str:
    """Why these peaks are not kept."""
    return t(
        f"This process got only {got:.0%} of the processor time it could use meanwhile: "
        "the machine was busy with other work, or the threads had to share a core. "
        "These peaks are too low and are not kept; measure again when it is quieter, or with threads=1.",
        f"测量期间本进程只拿到了可用处理器时间的 {got:.0%}：机器正忙于其他工作，或者多个线程挤在同一个核上。"
        "这些峰值偏低，不会保存；请在机器空闲时重新测量，或者用 threads=1。",
    )


def undisturbed(clock: Clock) -> Clock:
    """The clock; on a CPU with one thread that of this thread, whose time other programs do not lengthen."""
    return ThreadClock() if clock.device == "cpu" and torch.get_num_threads() == 1 else clock


class Best(NamedTuple):
    """rate: FLOP/s or bytes/s. name: of the probe. got: share of the processor time it could use that this process got.

    (1 on an accelerator.)
    """

    rate: float
    name: str
    got: float


def _measured(clock: Clock, dtype: torch.dtype, max_time: float) -> tuple[Best, Best | None, Best]:
    """The best product, the best convolution (None where there is none for this type) and the best traffic.

    Every probe in turn, round after round, until the time is out.
    """
    began = clock.now()
    bar = progress(max_time, t("measuring the peaks", "测量峰值"))
    shown = 0.0
    try:
        with enough_memory(clock.device), torch.no_grad():
            tried = [*probes.work(clock, dtype, max_time * LONGEST), *probes.streams(clock)]
            best: dict[str, dict[str, Best]] = {probe.kind: {} for probe in tried}
            for at in itertools.count():
                started = clock.now()
                for probe in tried:
                    _try(clock, probe, best[probe.kind])
                top = {kind: max(found.values()) for kind, found in best.items()}
                if at == 1:
                    tried = [one for one in tried if best[one.kind][one.name].rate >= HOPELESS * top[one.kind].rate]
                spent = min(clock.now() - began, max_time)
                bar.update(spent - shown)
                shown = spent
                if spent + (clock.now() - started) > max_time or out_of_time():  # another round would not fit
                    return top["products"], top.get("convolutions"), top["traffic"]
    finally:
        end_progress(bar)


def _try(clock: Clock, probe: probes.Probe, best: dict[str, Best]) -> None:
    """One block of a probe; kept where it is the best of its own."""
    began, before = time.perf_counter(), time.process_time()
    seconds = max(clock.block(probe.call, probe.calls), 1e-9)
    processor, wall = time.process_time() - before, max(time.perf_counter() - began, 1e-9)
    could = wall * min(torch.get_num_threads(), _cores())
    got = min(1.0, processor / could) if clock.device == "cpu" else 1.0
    found = Best(probe.amount * probe.calls / seconds, probe.name, got)
    best[probe.name] = max(best.get(probe.name, found), found)


def precision_of(device: str, operation: str) -> str:
    """What torch may do to float32 inside a product (`matmul`) or a convolution (`conv`) here, as set now; "" where unknown."""
    backends = {"cpu": {"matmul": "mkldnn", "conv": "mkldnn"}, "cuda": {"matmul": "cuda", "conv": "cudnn"}}
    backend = backends.get(device.split(":")[0], {}).get(operation, "")
    node = getattr(getattr(torch.backends, backend, None), operation, None)
    try:
        return str(getattr(node, "fp32_precision", ""))
    except (RuntimeError, AttributeError):
        return ""


@lru_cache(maxsize=1)
def _cores() -> int:
    return int(machine.passport()["cores"] or 1)


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

"""What probes of GPU experiments share: the device (without one they run on the CPU, which tests their form alone), and which kernels
ran: the profiler's list, compared by whole names, and the part of a name that differs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from time import perf_counter
from typing import Any, TypeVar

import torch

from course.core.profiled import WHOLE, events_of, is_kernel, runs_on_cuda

T = TypeVar("T")
SIGN = " | "
"""Between the names of a set in one field of a row."""


def device() -> str:
    """cuda where there is one, else cpu."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def wait() -> None:
    """Until the GPU has finished; nothing on a CPU."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def within(seconds: float, items: Iterable[T], least: int = 1) -> Iterator[T]:
    """The items until the seconds are out; the first ``least`` always come. For probes in a process of their own."""
    end = perf_counter() + (seconds if math.isfinite(seconds) else 1e9)
    for number, item in enumerate(items):
        if number >= least and perf_counter() > end:
            return
        yield item


# --- kernels ---


def seen(call: Callable[[], Any], warm_ups: int = 3, calls: int = 5) -> list[dict[str, Any]]:
    """The kernels (of work on a CPU: operations) of a call: whole name, how often, mean in µs; the longest in all first."""
    on_gpu = runs_on_cuda(call)
    for _ in range(warm_ups):
        call()

    def repeated() -> None:
        for _ in range(calls):
            call()

    return summed((event for event in events_of(repeated, on_gpu) if event.name != WHOLE), on_gpu)


def summed(events: Iterable[Any], on_gpu: bool) -> list[dict[str, Any]]:
    """The events of one kind of device by name; the longest in all first."""
    totals: dict[str, list[float]] = {}
    for event in events:
        if is_kernel(event) == on_gpu and (time_us := event.time_range.elapsed_us()) > 0:
            totals.setdefault(event.name, []).append(time_us)
    found = [
        {"kernel": name, "calls": len(times), "mean_us": sum(times) / len(times)} for name, times in totals.items()
    ]
    return sorted(found, key=lambda row: -row["calls"] * row["mean_us"])


def joined_set(rows: Iterable[dict[str, Any]]) -> str:
    """The kernels of a library as one text, in the order of the alphabet: two texts are equal when the sets are.

    Copies and PyTorch's own element-wise kernels (`at::native`) are left out, unless there are no others.
    """
    names = {row["kernel"] for row in rows}
    of_library = {name for name in names if not re.match(r"(void )?at::native|Mem(cpy|set)", name)}
    return SIGN.join(sorted(of_library or names))


def differing_parts(names: Iterable[str], most: int = 60) -> dict[str, str]:
    """name -> the part of it that the others do not share, between … where something is left out.

    A single name comes back without ``void`` and arguments. most: longer parts lose their middle.
    """
    listed = list(dict.fromkeys(names))
    if len(listed) < 2:
        return {name: _clipped(name.removeprefix("void ").split("(")[0], most) for name in listed}
    parts = [re.findall(r"[A-Za-z0-9]+|_+|[^A-Za-z0-9_]+", name) for name in listed]
    start = _common(parts)
    rest = [one[start:] for one in parts]
    end = _common([one[::-1] for one in rest])
    return {
        name: ("…" if start else "") + _clipped("".join(one[: len(one) - end]) or "–", most) + ("…" if end else "")
        for name, one in zip(listed, rest, strict=True)
    }


def _common(parts: Sequence[Sequence[str]]) -> int:
    """How many pieces all the lists begin with."""
    count = 0
    for column in zip(*parts, strict=False):
        if len(set(column)) > 1:
            break
        count += 1
    return count


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most // 2] + "…" + text[-(most // 2) :]

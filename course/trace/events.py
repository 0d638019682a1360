"""Where the time of one call goes: torch.profiler's events as plain rows, with the lines of your code, as table and picture.

>>> from course.trace import trace_of
>>> found = trace_of(lambda: model(x))       # doctest: +SKIP
>>> print(found)                             # doctest: +SKIP
>>> found.timeline()                         # doctest: +SKIP
"""

from __future__ import annotations

import contextlib
import html
import linecache
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import Any

from course.core import arguments
from course.core.i18n import t
from course.core.plain_text import text_of
from course.core.profiled import events_of, is_kernel, runs_on_cuda
from course.core.tables import as_html, clip, wide
from course.core.units import format_ms
from course.figures.block import Block
from course.figures.timeline import timeline_plot

Row = dict[str, Any]

CALL = "trace: the call"
LINE = "trace: line "
PREPARES = (
    "aten::empty", "aten::empty_like", "aten::empty_strided", "aten::resize_", "aten::as_strided", "aten::as_strided_",
    "aten::view", "aten::_unsafe_view", "aten::reshape", "aten::_reshape_alias", "aten::select", "aten::slice", "aten::narrow",
    "aten::unsqueeze", "aten::squeeze", "aten::transpose", "aten::t", "aten::permute", "aten::expand", "aten::alias",
    "aten::detach", "aten::lift_fresh", "aten::result_type", "aten::unbind", "aten::flatten", "aten::split", "aten::chunk",
)  # fmt: skip
"""Operations without arithmetic on the elements: they make room or look at the same memory in another way."""
SHOWN = 6
"""Rows of a printed table."""
WIDEST = 60
"""Characters of a line of code, or of a kernel's name, that are printed: the figures beside it stay on the same line of a notebook."""
WARM_UPS, CALLS = 2, 5


def trace_of(function: Callable[[], Any], calls: int = CALLS, warm_ups: int = WARM_UPS) -> Trace:
    """Profile one call of `function`, which takes no arguments, and say where its time goes.

    It runs ``warm_ups`` times unseen (on a machine with a GPU once more, to see where its tensors are), ``calls`` times against
    the clock, ``calls`` times under torch.profiler and once more with its lines noted; of the timed and of the profiled calls the
    shortest is kept, which was disturbed least. Nothing of it is changed. A function that works through something, such as a
    loader, makes it anew inside. Raises TimingError, in words, for what cannot be called, and whatever the function itself raises.
    """
    from course.timing.validation import require_callable  # not for who only reads a log

    arguments.whole("calls", calls, 1)
    require_callable("function", function)
    _refuse_a_running_profiler()
    on_cuda = runs_on_cuda(function)
    for _ in range(warm_ups):
        function()
    plain_ms = min(_timed(function) for _ in range(calls))
    rows = min((_recorded(function, on_cuda) for _ in range(calls)), key=span_of)
    devices: set[str] = set()
    lined = _recorded(function, on_cuda, _lines_noted(devices))
    same = [row["name"] for row in rows] == [row["name"] for row in lined]
    if same:  # the same operations in the same order: the undisturbed times, the lines of the other run
        lined = [{**row, "line": other["line"], "code": other["code"]} for row, other in zip(rows, lined, strict=True)]
    return Trace(lined, plain_ms, tuple(sorted(devices - {"cpu", "cuda"})))


def _refuse_a_running_profiler() -> None:
    import torch

    from course.timing import TimingError

    if torch.autograd._profiler_enabled():
        raise TimingError(
            t(
                "A profiler is running already, and two cannot be nested: leave the `with profile(...)` block first.",
                "已经有一个 profiler 在运行，而它不能嵌套：请先离开 `with profile(...)` 块。",
            )
        )


def _timed(function: Callable[[], Any]) -> float:
    """Milliseconds of one call, waiting for a GPU."""
    _wait()
    start = perf_counter()
    function()
    _wait()
    return (perf_counter() - start) * 1e3


def _wait() -> None:
    """Until a GPU, of whatever make, has finished; nothing on a machine without one."""
    import torch

    if torch.accelerator.is_available():
        torch.accelerator.synchronize()


def _recorded(function: Callable[[], Any], on_cuda: bool, noting: Any = None) -> list[Row]:
    """The rows of one call under the profiler, within the context `noting`."""

    def call() -> None:
        with noting or contextlib.nullcontext():
            function()

    return rows_of(events_of(call, on_cuda, CALL))


# --- lines ------------------------------------------------------------------------------------------------------


def _lines_noted(devices: set[str]) -> Any:
    """A mode in which every call of torch stands in the profile under the line of your code that made it.

    devices: gets the kinds of device of the tensors that came out.
    """
    import torch
    from torch.overrides import TorchFunctionMode
    from torch.profiler import record_function

    class Noted(TorchFunctionMode):
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            with record_function(LINE + _place(sys._getframe(1))):
                result = function(*args, **(kwargs or {}))
            if isinstance(result, torch.Tensor):
                devices.add(result.device.type)
            return result

    return Noted()


def _inside() -> tuple[str, ...]:
    import torch

    return (str(Path(torch.__file__).parent) + os.sep, __file__)


def _place(frame: FrameType | None) -> str:
    """file:line of the innermost frame that is neither torch's nor ours."""
    passed_over = _inside()
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(passed_over):
            return f"{file}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


# --- events into rows -------------------------------------------------------------------------------------------


def rows_of(events: Iterable[Any]) -> list[Row]:
    """Events of torch.profiler as plain rows in order of their start.

    name; start_us from the first event on; us: with what it calls, self_us: without; depth: 0 for what no other
    operation calls; device: cpu or cuda; kind: call (the whole), label (a block that somebody named), work, prepare (room
    and views), pass (more than half of its time is spent in what it calls), kernel (on a GPU); line, code: where it was
    called and what stands there, empty where nobody noted it.
    """
    found: list[Row] = []
    open_until: list[tuple[float, Row | None, str]] = []  # end, row (None: only a label), line
    listed = sorted(events, key=lambda one: (one.time_range.start, -one.time_range.end))
    origin = listed[0].time_range.start if listed else 0.0
    for event in listed:
        start, end = event.time_range.start, event.time_range.end
        row: Row = {
            "name": event.name,
            "start_us": start - origin,
            "us": end - start,
            "self_us": end - start,
            "depth": 0,
        }
        if is_kernel(event):
            found.append({**row, "device": "cuda", "kind": "kernel", "line": "", "code": ""})
            continue
        while open_until and open_until[-1][0] <= start:
            open_until.pop()
        line = open_until[-1][2] if open_until else ""
        if event.name.startswith(LINE):
            open_until.append((end, None, event.name.removeprefix(LINE) or line))
            continue
        kind = "prepare" if event.name in PREPARES else "work"
        if getattr(event, "is_user_annotation", False):
            kind = "call" if event.name == CALL else "label"
        above = next((one for _, one, _ in reversed(open_until) if one is not None), None)
        if above is not None:
            above["self_us"] -= row["us"]
            row["depth"] = above["depth"] + (above["kind"] != "call")
        found.append({**row, "device": "cpu", "kind": kind, "line": line, "code": code_at(line)})
        open_until.append((end, found[-1], line))
    for row in found:
        if row["kind"] == "work" and row["self_us"] < row["us"] / 2:
            row["kind"] = "pass"
    return found


def code_at(line: str) -> str:
    """What stands at file:line, also in a notebook's cell; empty where it cannot be read."""
    file, _, number = line.rpartition(":")
    return linecache.getline(file, int(number)).strip() if number.isdigit() else ""


def span_of(rows: Sequence[Row]) -> float:
    """Microseconds of the whole call under the profiler."""
    return next((row["us"] for row in rows if row["kind"] == "call"), 0.0)


def parts_of(rows: Sequence[Row]) -> dict[str, float]:
    """Microseconds of the call by what was done: work, prepare, pass, and outside of any operation (labels are none)."""
    parts = dict.fromkeys(("work", "prepare", "pass"), 0.0)
    for row in rows:
        if row["kind"] in parts:
            parts[row["kind"]] += row["self_us"]
    return {**parts, "outside": sum(row["self_us"] for row in rows if row["kind"] in ("call", "label"))}


def totals(rows: Iterable[Row], key: str, device: str = "cpu") -> list[Row]:
    """The operations added up by `key` (name, or line with its code): calls, us, self_us; the largest self_us first."""
    found: dict[str, Row] = {}
    for row in rows:
        if row["kind"] == "call" or row["device"] != device or not row[key]:
            continue
        one = found.setdefault(row[key], {key: row[key], "code": row["code"], "calls": 0, "us": 0.0, "self_us": 0.0})
        one["calls"] += 1
        one["us"] += row["us"]
        one["self_us"] += row["self_us"]
    return sorted(found.values(), key=lambda one: -one["self_us"])


def covered_us(rows: Iterable[Row]) -> float:
    """Microseconds in which at least one of these ran."""
    total, reached = 0.0, float("-inf")
    for start, end in sorted((row["start_us"], row["start_us"] + row["us"]) for row in rows):
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total


# --- the answer -------------------------------------------------------------------------------------------------


class Trace:
    """One call as rows (see `rows_of`), with the time it takes when nobody looks: plain_ms, the shortest of some.

    unseen: devices that took part and that torch.profiler does not look into, such as mps.
    """

    def __init__(self, rows: Sequence[Row], plain_ms: float, unseen: Sequence[str] = ()) -> None:
        self._rows, self.plain_ms, self.unseen = [dict(row) for row in rows], plain_ms, tuple(unseen)

    def rows(self) -> list[Row]:
        """Plain data, in order of the start."""
        return [dict(row) for row in self._rows]

    @property
    def profiled_ms(self) -> float:
        """The same call under the profiler."""
        return span_of(self._rows) / 1e3

    @property
    def overhead(self) -> float:
        """The least share of the call, 0 to 1, that was no computing: Python, PyTorch's way to the operations, a wait.

        What is left of the call without the time inside operations that do work. Each of these also needs about a
        microsecond to get going, which is not counted, so it is a least. None of it means anything where a GPU works on its own.
        """
        call_ms = min(self.plain_ms, self.profiled_ms)  # where the second is shorter, something disturbed the first
        work_ms = parts_of(self._rows)["work"] / 1e3
        return max(0.0, 1 - work_ms / call_ms) if call_ms > 0 else 0.0

    def by_name(self) -> list[Row]:
        """Operations added up by name: calls, us, self_us; of a GPU's kernels where there are any."""
        return totals(self._rows, "name", self._device())

    def by_line(self) -> list[Row]:
        """Operations added up by the line of your code that called them: line, code, calls, us, self_us."""
        return totals(self._rows, "line")

    def timeline(self) -> Block:
        """The call as a picture, from left to right; see course.figures.timeline."""
        return timeline_plot(self._rows, self.sentence())

    def _device(self) -> str:
        return "cuda" if any(row["device"] == "cuda" for row in self._rows) else "cpu"

    def sentence(self) -> str:
        """Where the time goes, in words."""
        names, lines, span = self.by_name(), self.by_line(), span_of(self._rows) or 1.0
        said = [
            t(
                f"One call takes {format_ms(self.plain_ms)}; with the profiler looking, {format_ms(self.profiled_ms)}.",
                f"一次调用耗时 {format_ms(self.plain_ms)}；开着 profiler 时是 {format_ms(self.profiled_ms)}。",
            )
        ]
        if not names:
            english = "No operation of PyTorch ran in it: its time goes into Python or into waiting."
            said.append(t(english, "里面没有运行任何 PyTorch 操作：时间花在 Python 上，或者在等待。"))
            return t(" ", "").join(said)
        top, kernels = names[0], [row for row in self._rows if row["device"] == "cuda"]
        share, calls = f"{top['self_us'] / span:.0%}", f"{top['calls']} call{'s' * (top['calls'] > 1)}"
        english = f"Most of it: {top['name']}, {share} in {calls}."
        said.append(t(english, f"占得最多的是 {top['name']}：{top['calls']} 次，共 {share}。"))
        if self.unseen:
            device = ", ".join(self.unseen)
            english = f"Part of it ran on {device}, which this profiler does not look into: what you see is the CPU's side alone."
            said.append(t(english, f"其中一部分在 {device} 上运行，这个 profiler 看不到里面：这里只有 CPU 这一侧。"))
        elif kernels:
            busy = f"{covered_us(kernels) / span:.0%}"
            said.append(t(f"The GPU was busy for {busy} of the time.", f"GPU 有 {busy} 的时间在干活。"))
        else:
            english = f"At least {self.overhead:.0%} of it is not computing: Python, PyTorch's way to the operations, or a wait."
            said.append(t(english, f"至少 {self.overhead:.0%} 不是在计算：是 Python、PyTorch 一层层转手，或者在等待。"))
        if lines:
            number, share = lines[0]["line"].rpartition(":")[2], f"{lines[0]['self_us'] / span:.0%}"
            waits = self.unseen or kernels
            english = "The CPU spent most, working or waiting, in line" if waits else "The line that pays most:"
            chinese = "CPU 花得最多（在干活或在等）的一行是第" if waits else "花得最多的一行是第"
            code = lines[0]["code"]
            said.append(t(f"{english} {number}, `{code}`, {share}.", f"{chinese} {number} 行：`{code}`，{share}。"))
        return t(" ", "").join(said)

    def _tables(self) -> list[list[list[str]]]:
        """The operations, and the lines of code where they were noted."""
        span = span_of(self._rows) or 1.0
        lines = [
            {**one, "line": "{}:{}  {}".format(Path(file).name, number, one["code"])}
            for one in self.by_line()[:SHOWN]
            for file, _, number in [one["line"].rpartition(":")]
        ]
        listed = (t("operation", "操作"), "name", self.by_name()[:SHOWN]), (t("line", "行"), "line", lines)
        heads = t("calls", "次数"), t("own time", "自身耗时"), t("share", "占比")
        return [
            [[first, *heads]]
            + [
                [
                    clip(one[key], WIDEST),
                    str(one["calls"]),
                    format_ms(one["self_us"] / 1e3),
                    f"{one['self_us'] / span:.0%}",
                ]
                for one in rows
            ]
            for first, key, rows in listed
            if rows
        ]

    def __str__(self) -> str:
        return text_of(self._repr_html_())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        tables = "".join(map(as_html, self._tables()))
        return f'<p style="max-width:760px"><strong>{html.escape(self.sentence())}</strong></p>{wide(tables)}'

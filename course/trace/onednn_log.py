"""oneDNN's own report of what it runs, read into a table; and the fair race of a call with oneDNN on and off.

>>> from course.trace.onednn_log import log_of, on_off
>>> print(log_of(lambda: layer(x)))          # doctest: +SKIP
>>> print(on_off(lambda: layer(x)))          # doctest: +SKIP
"""

from __future__ import annotations

import html
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from course.core import arguments
from course.core.i18n import t
from course.core.tables import as_html, wide
from course.flags import using

if TYPE_CHECKING:
    from course.timing import Comparison

PRINTED = re.compile(r"onednn_verbose,[^\n]*\n?")
"""A line of the report, wherever it begins: what was printed before it may have no end of its own."""
FIELDS = 9  # engine, primitive, implementation, kind, memory, attributes, auxiliary, problem, time


@dataclass(frozen=True)
class Line:
    """One primitive of the report. event: exec, or create:cache_hit / create:cache_miss. time_ms: milliseconds.

    formats: what each array looks like in memory, such as {"src": "f32 abcd"}; problem: the sizes.
    """

    event: str
    primitive: str
    implementation: str
    kind: str
    formats: dict[str, str]
    attributes: str
    problem: str
    time_ms: float


def parse(text: str) -> list[Line]:
    """The primitives in a report of oneDNN; headers and anything else that was printed are passed over."""
    return [line for line in map(parse_line, PRINTED.findall(text)) if line is not None]


def parse_line(text: str) -> Line | None:
    """One line of the report, or None for a header or for text that is not oneDNN's."""
    fields = text.strip().split(",")
    start = next((i for i, word in enumerate(fields) if word == "exec" or word.startswith("create:")), None)
    if start is None or len(fields) < start + 1 + FIELDS:
        return None
    _, primitive, implementation, kind, memory, attributes = fields[start + 1 : start + 7]
    try:
        time_ms = float(fields[-1])
    except ValueError:
        return None
    return Line(fields[start], primitive, implementation, kind, _formats(memory), attributes, fields[-2], time_ms)


def _formats(memory: str) -> dict[str, str]:
    """{"src": "f32 abcd", ...} of `src:f32:a:blocked:abcd::f0 wei:...`; what is undefined is left out."""
    found = {}
    for one in memory.split():
        name, kind, *rest = [*one.split(":"), ""]
        if kind != "undef":
            found[name] = f"{kind} {rest[2] if len(rest) > 2 else ''}".strip()
    return found


class Log:
    """The report of one call: a sequence of Line, shown as a table. raw: the primitive lines as printed;
    header: the lines in which oneDNN introduces itself, once a process.
    """

    def __init__(self, text: str) -> None:
        printed = [one.rstrip("\n") for one in PRINTED.findall(text)]
        self.raw = tuple(one for one in printed if parse_line(one))
        self.header = tuple(one for one in printed if ",info," in one)
        self.lines = parse(text)

    def __iter__(self) -> Iterator[Line]:
        return iter(self.lines)

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, place: int) -> Line:
        return self.lines[place]

    def _table(self) -> list[list[str]]:
        head = [
            t("event", "事件"), "primitive", t("implementation", "实现"), t("memory formats", "内存布局"),
            t("problem", "问题规模"), "ms",
        ]  # fmt: skip
        rows = [
            [
                one.event.removeprefix("create:"), one.primitive, one.implementation,
                ", ".join(f"{name} {kind}" for name, kind in one.formats.items()), one.problem, f"{one.time_ms:.4g}",
            ]
            for one in self.lines
        ]  # fmt: skip
        return [head, *rows]

    def __str__(self) -> str:
        none = t("No line: oneDNN ran nothing in this call.", "一行也没有：这次调用里 oneDNN 什么也没跑。")
        return "\n".join("  ".join(row) for row in self._table()) if self.lines else none

    __repr__ = __str__

    def _repr_html_(self) -> str:
        if not self.lines:
            return f"<p>{html.escape(str(self))}</p>"
        return wide(as_html(self._table(), figures=False))


_told: set[str] = set()


def recorded_log(call: str) -> Log:
    """The log of one call of the experiment 09-logs, as another machine printed it, for a build without oneDNN.

    Says once where it comes from. Empty where this build has oneDNN (the log to read is your own), or without a
    recording. call: conv, "cache 1" to "cache 4", "lstm 1", "lstm 64".
    """
    from torch.backends import mkldnn

    from course.core.i18n import pick
    from course.core.machine import passport
    from course.core.records import nearest

    record = None if mkldnn.is_available() else nearest("09-logs", passport())
    if record is None:
        return Log("")
    if record.created not in _told:
        _told.add(record.created)
        print(
            t("This build of PyTorch has no oneDNN, so the logs are a ", "这个 PyTorch 不带 oneDNN，所以日志是")
            + pick(record.label())
        )
    return Log("\n".join(row["line"] for row in record.rows if row["call"] == call))


def log_of(function: Callable[[], Any], creation: bool = False, threads: int = 1) -> Log:
    """Run `function` once, on one thread unless told otherwise, and return what oneDNN reported.

    creation: also whether each primitive was found in the cache or made. The report goes to the process's
    standard output, which is taken for the duration of the call; what else was printed there is printed
    again. Empty on a build without oneDNN.
    """
    from torch.backends import mkldnn

    arguments.function("function", function)
    if not mkldnn.is_available():
        function()
        return Log("")
    level = mkldnn.VERBOSE_ON_CREATION if creation else mkldnn.VERBOSE_ON
    with tempfile.TemporaryFile() as file:
        sys.stdout.flush()
        kept = os.dup(1)
        os.dup2(file.fileno(), 1)
        try:
            with using({"torch.num_threads": threads}), mkldnn.verbose(level):
                function()
            sys.stdout.flush()
        finally:
            os.dup2(kept, 1)
            os.close(kept)
        file.seek(0)
        text = file.read().decode(errors="replace")
    print(PRINTED.sub("", text), end="")
    return Log(text)


def time_in(lines: Iterable[Line], primitive: str | None = None) -> float:
    """Milliseconds spent executing `primitive` (None: any) in these lines; creation is not counted."""
    return sum(one.time_ms for one in lines if one.event == "exec" and primitive in (None, one.primitive))


def on_off(function: Callable[[], Any], max_time: float = 1.0, threads: int = 1) -> Comparison:
    """Race `function` with oneDNN "on" against "off": ratio = time on / time off, so below 1 oneDNN helps.

    Forward only, on one thread unless told otherwise (where a busy machine disturbs least). Switch and
    thread count are as before afterwards. Raises TimingError, in words, when the function cannot be timed.
    """
    import torch

    from course.timing import compare

    mkldnn = torch.backends.mkldnn

    def turned(value: bool) -> Callable[[], None]:
        def call() -> None:
            mkldnn.enabled = value
            function()
            mkldnn.enabled = True

        return call

    with using({"torch.num_threads": threads, "mkldnn.enabled": True}), torch.inference_mode():
        return compare({"off": turned(False), "on": turned(True)}, baseline="off", max_time=max_time)

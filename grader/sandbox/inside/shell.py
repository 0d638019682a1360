"""The shell that runs a submission: IPython, which sends every output as a frame to the grader.

Frames it sends: ``{"output": {...}}`` an nbformat output, ``{"update": ...}`` of one that is shown already,
``{"clear": true}``, ``{"cut": true}`` when the cell has sent all it may, ``{"done": {...}}`` after a cell. A student's code
may forge these frames: they are only outputs, and nothing in this process decides a mark.
"""

from __future__ import annotations

import base64
import builtins
import getpass
import io
import os
import random
import signal
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any

from inside import wire
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import StdinNotImplementedError
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

BLOCK = 8192  # characters of a stream that are sent together
MOST_NATIVE = 1 << 20  # bytes of output that C code and subprocesses of a cell write
PIECE = 1 << 16  # characters of text in one frame


class Outlet:
    """Sends frames, and stops sending outputs of a cell that has sent more than it may. Use ``put``."""

    def __init__(self) -> None:
        self.connection: socket.socket | None = None
        self.owner = self.left = 0

    def put(self, kind: str, content: Any) -> None:
        """Send one frame, unless the cell has sent too much already."""
        size = len(str(content))
        if kind != "done" and self.left < 0 or os.getpid() != self.owner:  # a process the cell has forked
            return
        self.left -= size
        if kind != "done" and self.left < 0:
            kind, content = "cut", True
        wire.send(self.connection, {kind: content})


OUTLET = Outlet()


class Stream(io.TextIOBase):
    """sys.stdout or sys.stderr: sends text in blocks. ``fileno`` gives the file descriptor for code that needs one."""

    encoding, errors = "utf-8", "replace"

    def __init__(self, name: str, descriptor: int) -> None:
        self.name, self._descriptor, self._parts, self._size = name, descriptor, [], 0

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._parts.append(text)
        self._size += len(text)
        if self._size >= BLOCK:
            self.flush()
        return len(text)

    def flush(self) -> None:
        text, self._parts, self._size = "".join(self._parts), [], 0
        if os.getpid() != OUTLET.owner:
            os.write(self._descriptor, text.encode("utf-8", "replace"))
            return
        for start in range(0, len(text), PIECE):
            OUTLET.put("output", {"output_type": "stream", "name": self.name, "text": text[start : start + PIECE]})


def flush() -> None:
    """Send the text written so far, so that it comes before the next output."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            pass


class Publisher(DisplayPublisher):
    """display() and clear_output(). What update_display() shows later counts as output and is not kept."""

    def publish(self, data, metadata=None, source=None, *, update=False, **_) -> None:
        flush()
        output = {"output_type": "display_data", "data": data, "metadata": metadata or {}}
        OUTLET.put("update" if update else "output", output)

    def clear_output(self, wait: bool = False) -> None:
        flush()
        OUTLET.put("clear", True)


class Hook(DisplayHook):
    """The value of a cell's last expression."""

    def write_output_prompt(self) -> None:
        self._data = {}, {}

    def write_format_data(self, format_dict, md_dict=None) -> None:
        self._data = format_dict, md_dict or {}

    def finish_displayhook(self) -> None:
        data, metadata = self._data
        flush()
        if data:
            OUTLET.put(
                "output",
                {
                    "output_type": "execute_result",
                    "data": data,
                    "metadata": metadata,
                    "execution_count": self.prompt_count,
                },
            )


class Shell(InteractiveShell):
    """IPython without a terminal and without a history file. See IPython for the methods."""

    display_pub_class, displayhook_class = Publisher, Hook

    def showtraceback(self, *arguments, **options) -> None:
        error = sys.exc_info()[1]
        for _ in range(10):  # the error, and those it was raised from
            if error is None:
                break
            _shorten(error.__traceback__)
            error = error.__cause__ or error.__context__
        super().showtraceback(*arguments, **options)

    def _showtraceback(self, etype, evalue, stb) -> None:
        flush()
        OUTLET.put(
            "output",
            {
                "output_type": "error",
                "ename": getattr(etype, "__name__", "Exception"),
                "evalue": _said(evalue),
                "traceback": [str(line) for line in stb],
            },
        )

    def ask_exit(self) -> None:
        os._exit(0)

    def enable_gui(self, gui=None) -> None:
        """Does nothing: there is no event loop, and plots are drawn when a cell ends."""

    def raw_input(self, prompt: str = "", *_, **__) -> str:
        raise StdinNotImplementedError("nobody can answer input() while a notebook is graded")


def _shorten(trace: Any) -> None:
    """Cut the middle out of the traceback of an endless recursion: IPython searches all modules for each of its steps."""
    steps = []
    while trace is not None:
        steps.append(trace)
        trace = trace.tb_next
    if len(steps) > 30:
        steps[14].tb_next = steps[-15]


def _said(error: object) -> str:
    try:
        return str(error)[:10_000]
    except BaseException:  # a student's __str__ may do anything
        return type(error).__name__


def make() -> Shell:
    """Make the shell, once in the warm process; every fork gets its own copy of it."""
    settings = Config()
    settings.HistoryManager.enabled = False
    settings.InteractiveShell.colors = "nocolor"
    shell = Shell.instance(config=settings)
    builtins.input = getpass.getpass = shell.raw_input
    if "matplotlib_inline.backend_inline" in sys.modules:  # plots become pictures in the cell's output
        from IPython.core.pylabtools import select_figure_formats

        select_figure_formats(shell, {"png"})
        shell.events.register("post_execute", sys.modules["matplotlib_inline.backend_inline"].flush_figures)
    return shell


def serve(shell: Shell, connection: socket.socket, limits: dict[str, Any]) -> None:
    """Called in the isolated fork: run the cells that arrive on ``connection`` until the grader closes it."""
    OUTLET.connection, OUTLET.owner = connection, os.getpid()
    signal.signal(signal.SIGINT, _too_late)
    _reseed()
    connection.set_inheritable(False)
    for descriptor in (1, 2):
        with tempfile.TemporaryFile() as file:
            os.dup2(file.fileno(), descriptor)
    with open(os.devnull, "rb") as null:
        os.dup2(null.fileno(), 0)
    natives = [open(descriptor, "r+b", buffering=0, closefd=False) for descriptor in (1, 2)]
    sys.stdout, sys.stderr = Stream("stdout", 1), Stream("stderr", 2)
    frames = wire.Frames()
    while True:
        try:
            message = wire.receive(connection, frames)
        except wire.Closed:
            os._exit(0)
        if "files" in message:
            _put(message["files"])
            continue
        OUTLET.left = limits["output_chars"]
        error = _run(shell, message["run"])
        if os.getpid() != OUTLET.owner:
            flush()
            os._exit(0)  # the cell has forked, and the next cells are for the first process alone
        flush()
        for name, file in zip(("stdout", "stderr"), natives, strict=True):
            _native(name, file)
        OUTLET.put("done", {"error": error})


def _run(shell: Shell, source: str) -> str | None:
    """Run one cell; returns the name of the exception that ended it."""
    try:
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            result = shell.run_cell(source, store_history=True)
        finally:
            signal.signal(signal.SIGINT, _too_late)
        error = result.error_before_exec or result.error_in_exec
    except BaseException as raised:  # an interrupt, or something of IPython's own was broken by the cell
        error = raised
        flush()
    return None if error is None else type(error).__name__


def _too_late(*_: object) -> None:
    """Ignores an interrupt that arrives between cells: it was meant for a cell that has just ended."""


def _native(name: str, file: Any) -> None:
    """Send what C libraries and subprocesses have written to this file descriptor during the cell."""
    try:
        file.seek(0)
        text = (file.read(MOST_NATIVE) or b"").decode("utf-8", "replace")
        file.seek(0)
        file.truncate()
    except (OSError, ValueError):
        return
    for start in range(0, len(text), PIECE):
        OUTLET.put("output", {"output_type": "stream", "name": name, "text": text[start : start + PIECE]})


def _put(files: list[dict[str, str]]) -> None:
    """Write the files that were handed in with the notebook into the working folder."""
    for file in files:
        path = Path(file["path"])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(file["data"]))


def _reseed() -> None:
    """Seed Python's and numpy's random generators anew: a fork inherits their state."""
    random.seed()
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()

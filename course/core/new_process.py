"""Run functions in a new Python process: what they do to switches, plans and caches stays there.

>>> from course.core.new_process import call
>>> call("mylab:run", 3)                                    # doctest: +SKIP

On Linux the process may be forked from one that has imported torch and done nothing else, which takes milliseconds where the
import takes seconds. It is as a new Python is: no switch, plan, cache, thread pool of torch or CUDA context exists before the fork.
The process of the caller, with its threads and its CUDA, is never forked.
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import gc
import importlib
import json
import math
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
import types
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from course.core.i18n import language, set_language
from course.core.machine import can_fork

ROOT = Path(__file__).resolve().parents[2]
LATE = ("ONEDNN_", "DNNL_", "COURSE_", "PYTEST_")
"""How variables begin that importing torch does not read: oneDNN reads its own when it is first used."""
START_S, END_S = 120.0, 2.0
"""Seconds after which a process that does not start, or does not end by itself, is killed."""


class NewProcessError(RuntimeError):
    """A call in a new process gave no answer. kind: the type of what it raised ("" where the process ended or was too slow). name: of
    that process, among several that take turns."""

    kind = name = ""


def call(
    target: str, *arguments: Any, variables: Mapping[str, str | None] | None = None, timeout_s: float = math.inf
) -> Any:
    """What the function `target`, "module:function", returns for these arguments in a new process of its own.

    Arguments and the answer are JSON data. See `NewProcess` for variables, and for what is raised.
    """
    with NewProcess(variables) as process:
        return process.call(target, *arguments, timeout_s=timeout_s)


@contextlib.contextmanager
def taking_turns(
    target: str, tasks: Mapping[str, Sequence[Any]], warm: bool = True, timeout_s: float = math.inf
) -> Iterator[dict[str, NewProcess]]:
    """A new process for each name, all alive together, in the order of the names; each has called `target` with the arguments of its task
    and, as the last one, the number of a processor (None: unknown) to stay on where one thread does the work. It is the same for all, drawn
    at random: two virtual processors were seen to differ by a factor of 2 for a second. Raises NewProcessError with the name.
    """
    allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [None]
    processor = random.Random().choice(allowed)  # the user's own random numbers stay as they are
    with contextlib.ExitStack() as stack:
        processes = {name: stack.enter_context(NewProcess(warm=warm)) for name in tasks}
        for name, task in tasks.items():
            processes[name].ask(target, *task, processor)
        for name, process in processes.items():
            try:
                process.answer(timeout_s)
            except NewProcessError as error:
                error.name = name
                raise
        yield processes


def stay_on(processor: int | None) -> None:
    """Run on this processor alone from now on, where that is known and allowed."""
    if processor is not None:
        with contextlib.suppress(OSError):  # a container may forbid it
            os.sched_setaffinity(0, {processor})


class NewProcess:
    """A new Python process that calls functions, one after the other, until the block ends (`with NewProcess() as process:`).

    It has the working directory, sys.path and language of this one. variables: environment variables for it alone; None removes one.
    warm: it may be forked from a process that has imported torch (Linux; where no variable differs that the import reads).
    """

    def __init__(self, variables: Mapping[str, str | None] | None = None, warm: bool = True) -> None:
        environment = environment_with(variables or {})
        self._over, self.pid = False, 0
        self._folder = tempfile.TemporaryDirectory(prefix="new_process-")
        self._popen: subprocess.Popen[str] | None = None
        warm = warm and can_fork() and _early(environment) == _early(environment_with({}))
        try:
            try:
                self._begin(environment, warm)
            except NewProcessError:
                if not warm:
                    raise
                self._begin(environment, False)  # a container may forbid the fork, or lack the memory
        except BaseException:
            self.kill()
            raise

    def __enter__(self) -> NewProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, target: str, *arguments: Any, timeout_s: float = math.inf) -> Any:
        """What `target`, "module:function", returns there. Arguments and the answer are JSON data.

        Raises NewProcessError: for what the function raised (`kind` is its type), for a process that ended, and after `timeout_s`
        seconds. An interrupt, or too long a wait, ends the process.
        """
        self.ask(target, *arguments)
        return self.answer(timeout_s)

    def ask(self, target: str, *arguments: Any) -> None:
        """The first half of `call`: several processes can be asked before the first one has answered."""
        self._send({"target": target, "arguments": arguments, "language": language()})

    def answer(self, timeout_s: float = math.inf) -> Any:
        """The second half of `call`."""
        try:
            found = json.loads(self._line(timeout_s))
        except BaseException:
            self.kill()
            raise
        if "error" in found:
            failed = NewProcessError(found["error"])
            failed.kind = found["kind"]
            raise failed
        return found["value"]

    def printed(self) -> str:
        """What it has printed so far, also from C."""
        return Path(self._file("out")).read_text("utf-8", "replace") if os.path.exists(self._file("out")) else ""

    def close(self) -> None:
        """Let it end; kill it if it does not within END_S seconds."""
        if not self._over:
            with contextlib.suppress(OSError, NewProcessError):
                self._requests.close()
                self._line(END_S)
        self.kill()

    def kill(self) -> None:
        """End it at once."""
        if not self._over:
            self._over = True
            self._stop()
        for pipe in (getattr(self, "_requests", None), getattr(self, "_answers", None)):
            with contextlib.suppress(OSError, AttributeError):
                pipe.close()
        if self._popen:
            self._popen.wait()
        self._folder.cleanup()

    def _file(self, name: str) -> str:
        return os.path.join(self._folder.name, name)

    def _begin(self, environment: Mapping[str, str], warm: bool) -> None:
        """Start it, and wait until it says so."""
        self._over = False
        with open(self._file("err"), "wb") as errors:
            (self._forked if warm else self._started)(errors, environment)
        self._send({"environment": environment, "here": os.getcwd(), "path": ["", *sys.path], "out": self._file("out")})
        self.pid = int(json.loads(self._line(START_S))["pid"])

    def _started(self, errors: Any, environment: Mapping[str, str]) -> None:
        """A new Python."""
        self._popen = subprocess.Popen(
            [sys.executable, "-c", "from course.core.new_process import serve; serve()"], env=dict(environment), start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, encoding="utf-8",
        )  # fmt: skip
        assert self._popen.stdin and self._popen.stdout
        self._requests, self._answers = self._popen.stdin, self._popen.stdout

    def _forked(self, errors: Any, environment: Mapping[str, str]) -> None:
        """A fork of the process that has torch. Where there is none, the first line from there is empty."""
        (read, to), (back, write) = os.pipe(), os.pipe()
        self._requests, self._answers = open(to, "w", encoding="utf-8"), open(back, encoding="utf-8")
        theirs = array.array("i", [read, write, errors.fileno()])
        with contextlib.suppress(OSError):
            _fork_server(environment).sendmsg([b"!"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, theirs)])
        os.close(read)
        os.close(write)

    def _send(self, message: Mapping[str, Any]) -> None:
        with contextlib.suppress(OSError):  # a broken pipe: the answer says why
            self._requests.write(json.dumps(message) + "\n")
            self._requests.flush()

    def _line(self, timeout_s: float) -> str:
        """The next line from there. Raises NewProcessError."""
        late = threading.Event()
        timer = threading.Timer(min(timeout_s, threading.TIMEOUT_MAX), lambda: (late.set(), self._stop()))
        timer.daemon = True
        if math.isfinite(timeout_s):
            timer.start()
        try:
            line = self._answers.readline()
        finally:
            timer.cancel()
        if line:
            return line
        self._over = True
        if late.is_set():
            raise NewProcessError(f"no answer within {timeout_s:g} s")
        said = Path(self._file("err")).read_text("utf-8", "replace").strip().split("\n")[-1][:300]
        raise NewProcessError(said or "it ended and said nothing, most often because the memory was full")

    def _stop(self) -> None:
        """Kill what does not answer, so that reading from it ends."""
        with contextlib.suppress(OSError):
            self._popen.kill() if self._popen else os.kill(self.pid, signal.SIGKILL) if self.pid else _end_server()


def environment_with(variables: Mapping[str, str | None]) -> dict[str, str]:
    """The variables of a new process: those of this one, where to find the course, and these."""
    paths = filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])
    merged = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **variables}
    return {name: value for name, value in merged.items() if value is not None}


def _early(environment: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    """The variables that may be read while torch is imported."""
    return frozenset((name, value) for name, value in environment.items() if not name.startswith(LATE))


# --- the process that forks: at most one, started at the first need, ended with this process ------------------

_servers: dict[tuple[int, frozenset[tuple[str, str]]], tuple[subprocess.Popen[bytes], socket.socket]] = {}
"""By the process that asks (a fork of it has none) and the variables it was started with."""


def _fork_server(environment: Mapping[str, str]) -> socket.socket:
    """The socket of the process that forks, started where none is alive that fits."""
    key = os.getpid(), _early(environment)
    if key not in _servers or _servers[key][0].poll() is not None:
        _end_server()
        ours, theirs = socket.socketpair()
        with theirs:
            code = "from course.core.new_process import fork_for_others; fork_for_others()"
            command = [sys.executable, "-c", code, str(theirs.fileno())]
            process = subprocess.Popen(
                command, env=dict(key[1]), stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()], start_new_session=True
            )
        _servers[key] = process, ours
    return _servers[key][1]


def _end_server() -> None:
    """End it and what it forked."""
    for (asker, _), (process, control) in _servers.items():
        control.close()
        if asker == os.getpid():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    _servers.clear()


def fork_for_others() -> None:
    """Import torch, then fork for each message with three descriptors: requests, answers, errors. Ends with the process that asks."""
    import torch  # noqa: F401

    gc.freeze()  # else each fork soon looks through all of torch for garbage, 0.1 s, and copies the pages
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    control = socket.socket(fileno=int(sys.argv[1]))
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 1, 3)
        if not message:
            os.killpg(0, signal.SIGKILL)  # with all that was forked
        if not os.fork():
            control.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for number, descriptor in enumerate(descriptors):
                os.dup2(descriptor, number)
            for descriptor in descriptors:
                os.close(descriptor)
            draw_anew()
            sys.argv = ["-c"]
            serve()
        for descriptor in descriptors:
            os.close(descriptor)


def draw_anew() -> None:
    """Random numbers of a fork are those of a new process."""
    random.seed()
    if torch := sys.modules.get("torch"):
        torch.random.default_generator.seed()
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed()


# --- the new process ------------------------------------------------------------------------------------------


def serve() -> None:
    """Answer requests, a line of JSON each, until the input ends. Does not return."""
    requests, answers = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    start = json.loads(requests.readline())
    os.environ.clear()
    os.environ.update(start["environment"])
    os.chdir(start["here"])
    sys.path[:] = start["path"]
    out = os.open(start["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for descriptor, number in ((os.open(os.devnull, os.O_RDONLY), 0), (out, 1)):
        os.dup2(descriptor, number)
        os.close(descriptor)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.modules["__main__"] = types.ModuleType("__main__")
    _say(answers, pid=os.getpid())
    for line in requests:
        _say(answers, **answered(json.loads(line)))
    os._exit(0)


def answered(request: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to one request."""
    set_language(request["language"])
    try:
        found = {"value": function_of(request["target"])(*request["arguments"])}
        json.dumps(found)
    except BaseException as error:  # noqa: BLE001  (told to the process that asked)
        traceback.print_exc()
        found = {"error": str(error) or type(error).__name__, "kind": type(error).__name__}
    sys.stdout.flush()
    sys.stderr.flush()
    with contextlib.suppress(OSError, TypeError):  # what C has printed; Windows has no such library
        ctypes.CDLL(None).fflush(None)
    return found


def function_of(target: str) -> Any:
    """What `target`, "module:function", names."""
    module, _, path = target.partition(":")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


def execute(code: str, *arguments: Any) -> Any:
    """Run code as `python -c` does; its value is what it gave to `answer(value)`. It finds the arguments in the list `arguments`."""
    given: list[Any] = []
    space = vars(sys.modules["__main__"])
    space.update(arguments=list(arguments), answer=given.append)
    exec(code, space)
    if not given:
        raise RuntimeError("it gave no answer")
    return given[-1]


def _say(answers: TextIO, **message: Any) -> None:
    answers.write(json.dumps(message) + "\n")
    answers.flush()

"""New processes that have imported torch and not used it, forked from one that did no more than that.

Importing torch takes 2 to 10 seconds, a fork milliseconds: an experiment of twelve processes waits for one import.
What is measured does not notice: no switch, plan, cache, thread pool or CUDA context exists before the fork.
`python -m course.experiment.warm_process` is the process that forks. It ends with its standard input.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
import types
from collections.abc import Mapping
from pathlib import Path

from course.machine import can_fork

ROOT = Path(__file__).resolve().parents[2]
LATE = ("ONEDNN_", "DNNL_", "COURSE_", "PYTEST_")
"""How variables begin that importing torch does not read: oneDNN reads its own when it is first used."""
LOOK_S = 0.005


# --- asked for a process -------------------------------------------------------------------------------------


def can_run(environment: Mapping[str, str]) -> bool:
    """Whether a fork answers as a new Python with these variables would: on Linux, if none that torch may read differs."""
    path = {"PYTHONPATH": environment["PYTHONPATH"]} if "PYTHONPATH" in environment else {}
    return can_fork() and _early(environment) == _early({**os.environ, **path})


def run(code: str, argument: str, environment: Mapping[str, str], timeout_s: float) -> tuple[int, str, str]:
    """Exit code, output and errors of ``python -c code argument``, in a fork. Raises subprocess.TimeoutExpired, and
    ChildProcessError where nothing can be forked.

    Whatever ends the waiting (the timeout, an interrupt) ends the fork.
    """
    with _lock, tempfile.TemporaryDirectory() as folder:
        server = _server(environment)
        try:
            print(json.dumps([code, argument, dict(environment), os.getcwd(), folder]), file=server.stdin, flush=True)
            if not select.select([server.stdout], [], [], timeout_s)[0]:
                raise subprocess.TimeoutExpired(code, timeout_s)
            answer = server.stdout.readline()
        except BrokenPipeError:
            answer = ""
        except BaseException:
            _end(server)
            raise
        if not answer:
            _end(server)
            raise ChildProcessError("the process that forks has ended")
        return int(answer), *(Path(folder, name).read_text("utf-8", "replace") for name in ("out", "err"))


_lock = threading.Lock()
_servers: dict[tuple[int, frozenset[tuple[str, str]]], subprocess.Popen[str]] = {}
"""At most one: by the process that asks (a fork of it has none) and the variables it was started with."""


def _early(environment: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    """The variables that may be read while torch is imported."""
    return frozenset((name, value) for name, value in environment.items() if not name.startswith(LATE))


def _server(environment: Mapping[str, str]) -> subprocess.Popen[str]:
    """The process that forks, started where none is alive that fits."""
    key = os.getpid(), _early(environment)
    if key not in _servers or _servers[key].poll() is not None:
        for (asker, _), server in _servers.items():
            if asker == os.getpid():
                _end(server)
        _servers.clear()
        _servers[key] = subprocess.Popen(
            [sys.executable, "-m", __name__], env=dict(key[1]), start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
        )  # fmt: skip
    return _servers[key]


def _end(server: subprocess.Popen[str]) -> None:
    """End it and what it forked."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(server.pid, signal.SIGKILL)
    server.wait()


# --- the process that forks ----------------------------------------------------------------------------------


def main() -> None:
    """A fork for each line of the standard input; its exit code is the answer."""
    import torch  # noqa: F401

    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            become(*json.loads(line))
        while not (ended := os.waitpid(pid, os.WNOHANG))[0]:
            if select.select([0], [], [], LOOK_S)[0]:  # nobody asks before the answer: the input has ended
                os.kill(pid, signal.SIGKILL)
        print(os.waitstatus_to_exitcode(ended[1]), flush=True)


def become(code: str, argument: str, environment: dict[str, str], folder: str, out_folder: str) -> None:
    """In the fork: what ``python -c code argument`` does. Does not return."""
    exit_code = 0
    try:
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(folder)
        for number, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(Path(out_folder, name), os.O_WRONLY | os.O_CREAT), number)
        sys.path[0], sys.argv = "", ["-c", argument]
        main = sys.modules["__main__"] = types.ModuleType("__main__")
        sys.modules["torch"].random.default_generator.seed()
        if numpy := sys.modules.get("numpy"):
            numpy.random.seed()
        exec(code, vars(main))
    except BaseException:
        traceback.print_exc()
        exit_code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    ctypes.CDLL(None).fflush(None)
    os._exit(exit_code)


if __name__ == "__main__":
    main()

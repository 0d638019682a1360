"""The warm process: loads everything that checkpoints import, then forks itself for every submission.

Started as ``python -m inside DESCRIPTOR``. On the socket DESCRIPTOR it sends ``{"ready": ...}`` or ``{"failed": reason}``
once. Then it receives requests: ``{"limits": {...}}`` together with a file descriptor asks for a fork, which uses that
descriptor as its connection; ``{"fate": pid}`` asks how a fork has ended.
"""

from __future__ import annotations

import array
import contextlib
import gc
import importlib
import json
import os
import resource
import signal
import socket
import sys

from inside import isolate, linux, shell, wire

PRELOAD = """
inside.probe numpy torch torch.nn.functional torch.optim torch._dynamo torch.utils.data torch.utils.flop_counter
matplotlib.pyplot matplotlib_inline.backend_inline ipywidgets yaml tqdm.auto asyncio multiprocessing
concurrent.futures dataclasses statistics course course.questions.bank course.learning.sheet course.cards.cards
course.timing course.flops course.flags course.core.records course.exercises.exercise course.figures
course.core.machine
""".split()


def main() -> None:
    """Load everything, say that this process is ready, serve until the grader closes the connection."""
    control = socket.socket(fileno=int(sys.argv[1]))
    sys.path[:] = [path for path in sys.path if path not in ("", os.getcwd())]  # `-m` puts the folder first
    gc.disable()  # while libraries are loaded next to nothing is garbage, and looking for it takes a sixth of the time
    for name in (*PRELOAD, *importlib.import_module("course").VERBS.values()):
        importlib.import_module(name)
    warm = shell.make()
    isolate.note_memory()
    gc.collect()
    gc.freeze()  # a fork that collects garbage would copy every page of what is loaded here
    gc.enable()
    linux.prctl(linux.SET_CHILD_SUBREAPER, 1)
    if (threads := len(os.listdir("/proc/self/task"))) != 1:
        wire.send(control, {"failed": f"the warm process has {threads} threads; a fork of it would hang"})
        return
    wire.send(control, {"ready": True})
    serve(control, warm)


def serve(control: socket.socket, warm: shell.Shell) -> None:
    """Fork on request, and say how forks have ended, until the other side closes ``control``."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        text, ancillary, _, _ = control.recvmsg(65536, socket.CMSG_LEN(4))
        if not text:
            return
        request = json.loads(text)
        if "fate" in request:
            wire.send(control, {"fate": fate(request["fate"])})
            continue
        reap()
        connection = socket.socket(fileno=array.array("i", ancillary[0][2][:4])[0])
        fork(request, connection, control, warm)
        connection.close()


def fork(request: dict, connection: socket.socket, control: socket.socket, warm: shell.Shell) -> None:
    """Fork a process for one submission; it forks again, into its own namespaces, and is locked down."""
    if os.fork():
        return
    try:
        control.close()
        isolate.enter_namespaces()
        if os.fork():
            os._exit(0)
        os.setsid()  # a signal to the group would reach the warm process: groups go through namespaces
        number = isolate.outer_pid()
        isolate.end_first_without_memory()
        isolate.lock_down(request["limits"])
        os.chdir(isolate.HOME)
        sys.path.append("")  # a submission can import its own modules; libraries come first
        wire.send(connection, {"hello": number})
        shell.serve(warm, connection, request["limits"])
    except BaseException as error:
        try:
            wire.send(connection, {"failed": f"{type(error).__name__}: {error}"})
        finally:
            os._exit(70)
    os._exit(0)


def reap() -> None:
    """Collect the forks of before that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def fate(child: int) -> dict | None:
    """How this fork ended, which is about to end; None where it was collected already.

    cpu_limit_s: its limit on processor time when it ended; a process can lower its own limit.
    """
    try:
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        limit = resource.prlimit(child, resource.RLIMIT_CPU)[1]
        _, status, used = os.wait4(child, 0)
    except ChildProcessError:
        return None
    return {
        "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
        "cpu_s": used.ru_utime + used.ru_stime,
        "cpu_limit_s": limit,
    }


if __name__ == "__main__":
    main()

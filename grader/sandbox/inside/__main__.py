"""The warm process: everything a checkpoint imports, loaded once; then a fork for every submission.

Started as ``python -m inside DESCRIPTOR SANDBOX(0|1) LISTENER``. On the socket come ``{"limits": {...}, "folder":
...}``, each with one descriptor, the fork's own connection, and ``{"fate": pid}``: how that fork ended.
``{"ready": ...}`` or ``{"failed": reason}`` goes back once. Whoever connects to LISTENER (a descriptor, or -1 for
none) gets a fork that serves like this one: a second warm process for the time of a fork.
"""

from __future__ import annotations

import array
import gc
import json
import os
import resource
import selectors
import signal
import socket
import sys

from inside import isolate, linux, shell, wire

PRELOAD = (
    "numpy",
    "torch",
    "torch.nn.functional",
    "torch.optim",
    "torch._dynamo",
    "torch.utils.data",
    "torch.utils.flop_counter",
    "matplotlib.pyplot",
    "matplotlib_inline.backend_inline",
    "ipywidgets",
    "yaml",
    "tqdm.auto",
    "asyncio",
    "multiprocessing",
    "concurrent.futures",
    "dataclasses",
    "statistics",
    "course",
    "course.questions.bank",
    "course.learning.sheet",
    "course.cards.cards",
    "course.verbs",
    "course.timing",
    "course.flops",
    "course.crosscheck",
    "course.flags",
    "course.records",
    "course.exercise",
    "course.figures",
    "course.machine",
)


def preload() -> list[str]:
    """Import what checkpoints use; returns what is not there. Leaves exactly one thread."""
    import importlib

    missing = []
    for name in PRELOAD:
        try:
            importlib.import_module(name)
        except ImportError:
            missing.append(name)
    return missing


def threads() -> int:
    return len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 1


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    sandboxed = sys.argv[2] == "1"
    sys.path[:] = [path for path in sys.path if path not in ("", os.getcwd())]  # `-m` puts the folder first
    gc.disable()  # while libraries are loaded next to nothing is garbage, and looking for it takes a sixth of the time
    missing = preload()
    warm = shell.make()
    if sys.platform == "linux":
        isolate.remember()
    gc.collect()
    gc.freeze()  # a fork that collects garbage would copy every page of what is loaded here
    gc.enable()
    if sandboxed:
        linux.prctl(linux.SET_CHILD_SUBREAPER, 1)
    if threads() != 1:
        wire.send(control, {"failed": f"the warm process has {threads()} threads; a fork of it would hang"})
        return
    wire.send(control, {"ready": {"missing": missing, "torch": sys.modules.get("torch") is not None}})
    listener = socket.socket(fileno=int(sys.argv[3])) if sys.argv[3] != "-1" else None
    serve(control, warm, sandboxed, listener)


def serve(control: socket.socket, warm: shell.Shell, sandboxed: bool, listener: socket.socket | None = None) -> None:
    """Fork on request until the other side closes; reap what ended and say how."""
    fates: dict[int, dict] = {}
    wake, alarm = socket.socketpair()
    wake.setblocking(False)
    alarm.setblocking(False)
    signal.set_wakeup_fd(alarm.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    waiting = selectors.DefaultSelector()
    waiting.register(control, selectors.EVENT_READ)
    waiting.register(wake, selectors.EVENT_READ)
    if listener is not None:
        waiting.register(listener, selectors.EVENT_READ)
    ours = [control, wake, alarm, waiting, *([listener] if listener is not None else [])]
    while True:
        for key, _ in waiting.select():
            if key.fileobj is wake:
                try:
                    wake.recv(4096)
                except BlockingIOError:
                    pass
                continue
            if key.fileobj is listener:
                connection, _ = listener.accept()
                twin(connection, ours, warm)
                connection.close()
                continue
            text, ancillary, _, _ = control.recvmsg(65536, socket.CMSG_LEN(4))
            if not text:
                return
            request = json.loads(text)
            if "fate" in request:
                reap(fates, request["fate"])
                wire.send(control, {"fate": fates.get(request["fate"])})
                continue
            fates.clear()
            connection = socket.socket(fileno=array.array("i", ancillary[0][2][:4])[0])
            fork(request, connection, ours, warm, sandboxed)
            connection.close()
        reap(fates)


def twin(connection: socket.socket, ours: list, warm: shell.Shell) -> None:
    """A fork that serves ``connection``, in a pid namespace of its own: when it ends, so do its forks."""
    if os.fork():
        return
    try:
        signal.set_wakeup_fd(-1)
        for other in ours:
            other.close()
        isolate.divide(linux.NEWUSER | linux.NEWPID)
        if os.fork():
            os._exit(0)
        wire.send(connection, {"ready": {}})
        serve(connection, warm, sandboxed=True)
    except BaseException as error:
        try:
            wire.send(connection, {"failed": f"{type(error).__name__}: {error}"})
        finally:
            os._exit(70)
    os._exit(0)


def fork(request: dict, connection: socket.socket, ours: list, warm: shell.Shell, sandboxed: bool) -> None:
    """One fork; in the sandbox a second one, which is the first process of its own pid namespace."""
    if os.fork():
        return
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for other in ours:
            other.close()
        if sandboxed:
            isolate.divide()
            if os.fork():
                os._exit(0)
            os.setsid()  # a signal to the group would reach the warm process: groups go through namespaces
            number = isolate.number()
            isolate.offer()
            isolate.close(request["limits"])
            os.chdir(isolate.HOME)
        else:
            if sys.platform == "linux":
                linux.prctl(linux.PDEATHSIG, signal.SIGKILL)
                isolate.restrict(request["limits"])
            os.setpgid(0, 0)
            number = 0
            os.chdir(request["folder"])
        sys.path.append("")  # modules handed in can be imported, and never stand before a library
        wire.send(connection, {"hello": number})
        shell.serve(warm, connection, request["limits"])
    except BaseException as error:
        try:
            wire.send(connection, {"failed": f"{type(error).__name__}: {error}"})
        finally:
            os._exit(70)
    os._exit(0)


def reap(fates: dict[int, dict], awaited: int = 0) -> None:
    """Bury the forks that ended, and note how; stay for ``awaited``, which is about to end.

    cpu_limit_s: what it had left of its processor time in the end, for it can lower that itself.
    """
    while True:
        patience = 0 if awaited and awaited not in fates else os.WNOHANG
        try:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT | patience)
        except ChildProcessError:
            return
        if ended is None:
            return
        limit = resource.prlimit(ended.si_pid, resource.RLIMIT_CPU)[1]
        child, status, used = os.wait4(ended.si_pid, 0)
        fates[child] = {
            "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
            "cpu_s": used.ru_utime + used.ru_stime,
            "cpu_limit_s": limit,
        }


if __name__ == "__main__":
    main()

"""Run code in a forked child process: its changes to objects, modules and settings do not reach this process."""

from __future__ import annotations

import functools
import gc
import os
import pickle
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing import Pipe
from typing import Any

import torch

from course.i18n import both, pick

START = 30.0
"""Seconds within which a child must start."""


class ChildDied(RuntimeError):
    """The child ended without a result: it was killed, ran out of memory, or took too long.

    why: in both languages. signal: number of the signal that killed it, or 0. late: whether its time was over.
    """

    why: Mapping[str, str] = {}
    signal, late = 0, False


def words_of(error: BaseException | None) -> str:
    """The message of an exception; "" where its own `__str__` fails."""
    try:
        return str(error)
    except Exception:
        return ""


def can_fork() -> bool:
    """Whether this system can fork."""
    return hasattr(os, "fork")


def can_compute_in_child() -> bool:
    """Whether a forked child can multiply matrices. On macOS it crashes: Apple's BLAS keeps threads, which a fork does not copy."""
    return can_fork() and sys.platform != "darwin"


def in_child(task: Callable[[], Any], max_time: float | None = None) -> Any:
    """Call `task()` in a forked child on one thread; returns its result or raises its exception (both must pickle).

    max_time: seconds after which the child is ended. Raises ChildDied if there is no result.

    A child may crash or hang inside `os.fork()`, before its first instruction: in a thread, Python there frees what the other
    threads held, such as torch's caches with process groups in them. One that crashed there is forked again, at most twice;
    one that has not started after START seconds is ended.
    """
    for _ in range(2):
        try:
            return _once(task, max_time)
        except _DiedInFork:
            continue
    return _once(task, max_time)


class _DiedInFork(ChildDied):
    """The child was killed before it could start its task."""


def _once(task: Callable[[], Any], max_time: float | None) -> Any:
    """One child: it says that it has started, then sends its answer."""
    reading, writing = Pipe(duplex=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns where other threads run
        pid = os.fork()
    if not pid:
        _answer(task, writing)
    writing.close()
    started, answer, late = False, None, True
    try:
        if reading.poll(max_time or START):
            started = reading.recv_bytes() == _STARTED
        if started and reading.poll(max_time):
            answer = reading.recv_bytes()
    except (EOFError, OSError):
        late = False
    finally:
        reading.close()
        os.kill(pid, signal.SIGKILL)
        status = os.waitpid(pid, 0)[1]
    if answer is None:
        killed = 0 if late or not os.WIFSIGNALED(status) else os.WTERMSIG(status)
        kind = _DiedInFork if killed and not started else ChildDied
        why = _why(killed, late)
        died = kind(pick(why))
        died.why, died.signal, died.late = why, killed, late
        raise died
    good, value, cause = pickle.loads(answer)
    if good:
        return value
    raise value from cause


def _why(killed: int, late: bool) -> dict[str, str]:
    if killed:
        return both(f"signal {killed}", f"信号 {killed}")
    return both("time is over", "时间用完") if late else both("no answer", "没有回答")


_STARTED = b"started"


def _answer(task: Callable[[], Any], writing: Any) -> None:
    """Runs in the child: say that it has started, call the task, write its result or exception to the pipe."""
    try:
        writing.send_bytes(_STARTED)
        gc.disable()  # a collection would touch, and so copy, all memory shared with the parent
        torch.set_num_threads(1)  # OpenMP's own threads are not there after a fork
        try:
            answer = (True, task(), None)
        except BaseException as error:
            answer = (False, error, error.__cause__)
        writing.send_bytes(_pickled(*answer))
    finally:
        os._exit(0)


def _pickled(good: bool, value: Any, cause: Any) -> bytes:
    """Pickle a result or an exception with its cause. An exception that cannot be pickled is replaced by a similar one, or by
    its message.
    """
    for reason in (cause, RuntimeError(words_of(cause)), None):
        try:
            data = pickle.dumps((good, value, reason))
            pickle.loads(data)
            return data
        except Exception:
            continue
    return pickle.dumps((False, RuntimeError(f"{type(value).__name__}: {words_of(value)}"), None))


def watch_threads(seen: Callable[[], None]) -> None:
    """Called in a child: from now on call `seen` whenever code gives work to another thread.

    Thread pools run their work at once in this thread, because their own threads do not exist after a fork.
    """
    home, start = threading.get_ident(), threading.Thread.start

    @functools.wraps(start)
    def watched(thread: threading.Thread) -> None:
        if threading.get_ident() == home and not type(thread).__module__.startswith("tqdm"):
            seen()
        start(thread)

    def submit(_pool: Any, job: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        try:
            done.set_result(job(*args, **kwargs))
        except Exception as error:
            done.set_exception(error)
        return done

    threading.excepthook = lambda _: None  # print no error of a thread: the count reports that there was one
    threading.Thread.start = watched  # type: ignore[method-assign]
    ThreadPoolExecutor.submit = submit  # type: ignore[method-assign,assignment]

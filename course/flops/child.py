"""A forked child: whatever code does there to objects, modules and settings is gone when it ends."""

from __future__ import annotations

import functools
import gc
import os
import pickle
import signal
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import torch


class ChildDied(RuntimeError):
    """The child ended without an answer: killed, out of memory, or over its time."""


def can_fork() -> bool:
    """Whether this system has forked children."""
    return hasattr(os, "fork")


def in_child(task: Callable[[], Any], max_time: float | None = None) -> Any:
    """What `task()` gives back or raises (both must pickle), computed in a forked child on one thread.

    max_time: seconds after which the child is ended. Raises ChildDied if it gave no answer.
    """
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns where other threads run
        pid = os.fork()
    if not pid:
        _answer(task, writing)
    os.close(writing)
    try:
        data, late = _read(reading, max_time)
    finally:
        os.close(reading)
        os.kill(pid, signal.SIGKILL)
        status = os.waitpid(pid, 0)[1]
    if not data:
        raise ChildDied(
            "time is over" if late else f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "no answer"
        )
    good, value, cause = pickle.loads(data)
    if good:
        return value
    raise value from cause


def _read(reading: int, max_time: float | None) -> tuple[bytes, bool]:
    """All the child writes, and whether its time ran out first."""
    if max_time is None:
        with os.fdopen(os.dup(reading), "rb") as pipe:
            return pipe.read(), False
    import select

    ends, parts = time.monotonic() + max_time, []
    while True:
        ready = select.select([reading], [], [], max(ends - time.monotonic(), 0))[0]
        if not ready:
            return b"", True
        parts.append(os.read(reading, 1 << 20))
        if not parts[-1]:
            return b"".join(parts), False


def _answer(task: Callable[[], Any], writing: int) -> None:
    """The child's whole life."""
    try:
        gc.disable()  # a collection would touch, and so copy, all memory shared with the parent
        torch.set_num_threads(1)  # OpenMP's own threads are not there after a fork
        try:
            answer = (True, task(), None)
        except BaseException as error:
            answer = (False, error, error.__cause__)
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(_pickled(*answer))
    finally:
        os._exit(0)


def _pickled(good: bool, value: Any, cause: Any) -> bytes:
    for one in (value, cause):
        if isinstance(one, BaseException):
            one.__traceback__ = None
    for reason in (cause, RuntimeError(str(cause)), None):
        try:
            data = pickle.dumps((good, value, reason))
            pickle.loads(data)
            return data
        except Exception:
            continue
    return pickle.dumps((False, RuntimeError(f"{type(value).__name__}: {value}"), None))


def watch_threads(seen: Callable[[], None]) -> None:
    """In a child, for good: `seen` is called for work handed to another thread. Pools work at once, in this thread:
    their own threads did not come along."""
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

    threading.Thread.start = watched  # type: ignore[method-assign]
    ThreadPoolExecutor.submit = submit  # type: ignore[method-assign,assignment]

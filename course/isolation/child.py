"""A forked child: whatever code does there to objects, modules and settings is gone when it ends."""

from __future__ import annotations

import functools
import gc
import os
import pickle
import signal
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing import Pipe
from typing import Any

import torch


class ChildDied(RuntimeError):
    """The child ended without an answer: killed, out of memory, or over its time."""


def words_of(error: BaseException | None) -> str:
    """What an exception says; nothing where its own `__str__` fails."""
    try:
        return str(error)
    except Exception:
        return ""


def can_fork() -> bool:
    """Whether this system has forked children."""
    return hasattr(os, "fork")


def in_child(task: Callable[[], Any], max_time: float | None = None) -> Any:
    """What `task()` gives back or raises (both must pickle), computed in a forked child on one thread.

    max_time: seconds after which the child is ended. Raises ChildDied if it gave no answer.
    """
    reading, writing = Pipe(duplex=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns where other threads run
        pid = os.fork()
    if not pid:
        _answer(task, writing)
    writing.close()
    answer, why = None, "time is over"
    try:
        if reading.poll(max_time):
            answer = reading.recv_bytes()
    except (EOFError, OSError):
        why = "no answer"
    finally:
        reading.close()
        os.kill(pid, signal.SIGKILL)
        status = os.waitpid(pid, 0)[1]
    if answer is None:
        killed = why == "no answer" and os.WIFSIGNALED(status)
        raise ChildDied(f"signal {os.WTERMSIG(status)}" if killed else why)
    good, value, cause = pickle.loads(answer)
    if good:
        return value
    raise value from cause


def _answer(task: Callable[[], Any], writing: Any) -> None:
    """The child's whole life."""
    try:
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
    """With the cause, a likeness of it, or at least the words of an exception that does not pickle."""
    for reason in (cause, RuntimeError(words_of(cause)), None):
        try:
            data = pickle.dumps((good, value, reason))
            pickle.loads(data)
            return data
        except Exception:
            continue
    return pickle.dumps((False, RuntimeError(f"{type(value).__name__}: {words_of(value)}"), None))


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

    threading.excepthook = lambda _: None  # its place is here, not on the screen: the count says that it was there
    threading.Thread.start = watched  # type: ignore[method-assign]
    ThreadPoolExecutor.submit = submit  # type: ignore[method-assign,assignment]

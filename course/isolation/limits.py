"""A limit of time for code in this thread, and one such code at a time."""

from __future__ import annotations

import ctypes
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class OutOfTime(BaseException):
    """The time is over. No Exception, so that the code does not catch it."""


_ALONE = threading.RLock()


@contextmanager
def alone(seconds: float) -> Iterator[None]:
    """One block at a time in this process, since it changes settings that all threads share. Raises OutOfTime after `seconds`."""
    if not _ALONE.acquire(timeout=min(seconds, threading.TIMEOUT_MAX)):
        raise OutOfTime
    try:
        yield
    finally:
        _ALONE.release()


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in the block after so many seconds.

    In the main thread a signal does it, which also ends a wait; elsewhere, and where the signal is in use or missing,
    it comes between two instructions of Python: a call that never returns cannot be ended. One that was sent is awaited, not
    taken back: taken back, it leaves CPython 3.11 asking for it for ever, and every later profile there does not end.
    """
    main = threading.current_thread() is threading.main_thread()
    if main and hasattr(signal, "setitimer") and signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0):
        before = signal.signal(signal.SIGALRM, _ring)
        signal.setitimer(signal.ITIMER_REAL, seconds, 0.2)  # rings again, in case the first was swallowed
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before or signal.SIG_DFL)
        return
    here = ctypes.c_ulong(threading.get_ident())
    raised, over = ctypes.pythonapi.PyThreadState_SetAsyncExc, threading.Event()

    def wait() -> None:
        if not over.wait(min(seconds, threading.TIMEOUT_MAX)):
            raised(here, ctypes.py_object(OutOfTime))

    watch = threading.Thread(target=wait, daemon=True)
    watch.start()
    try:
        yield
    finally:
        over.set()
        try:
            watch.join()
            for _ in range(100):  # one that was sent and has not arrived comes at the next jump back
                pass
        except OutOfTime:
            pass


def _ring(*_: Any) -> None:
    raise OutOfTime

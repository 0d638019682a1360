"""A time limit for foreign code that runs in this very thread."""

from __future__ import annotations

import ctypes
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

AGAIN_S = 0.2
"""Seconds until the block is stopped once more, should it have swallowed the first exception."""


class TookTooLong(BaseException):
    """The time is out. No Exception, so that a tool's own `except Exception` does not hide it."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TookTooLong in the block when `seconds` are over.

    In the main thread a signal interrupts waiting too; elsewhere, and on Windows, the exception comes with the
    next Python instruction. Code that stays inside one C call cannot be stopped before that call returns.
    """
    alarm = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    with _by_signal(seconds) if alarm else _by_thread(seconds):
        yield


@contextmanager
def _by_signal(seconds: float) -> Iterator[None]:
    armed = True

    def ring(_number: int, _frame: Any) -> None:
        if armed:
            raise TookTooLong

    before = signal.signal(signal.SIGALRM, ring)
    pending = signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN_S)
    try:
        yield
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_REAL, *pending)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _by_thread(seconds: float) -> Iterator[None]:
    target, done, lock = ctypes.c_ulong(threading.get_ident()), threading.Event(), threading.Lock()

    def wait() -> None:
        pause = seconds
        while not done.wait(pause):
            with lock:
                if not done.is_set():
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(target, ctypes.py_object(TookTooLong))
            pause = AGAIN_S

    threading.Thread(target=wait, daemon=True).start()
    try:
        yield
    finally:
        with lock:
            done.set()
            ctypes.pythonapi.PyThreadState_SetAsyncExc(target, None)  # one that is still on its way

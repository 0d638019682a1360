"""A run ends when its time is out: by an interrupt of the main thread, whatever that is doing.

It is the same KeyboardInterrupt as Ctrl-C gives, so what ends a measurement by hand ends it by the clock, too.
"""

from __future__ import annotations

import _thread
import contextlib
import math
import signal
import sys
import threading
import time
from collections.abc import Iterator

AGAIN_S = 2.0
"""Seconds after which a run that still goes on is interrupted once more."""
LOADING_S = 0.02
"""Seconds between two looks at whether a module is being loaded."""
_running: Ending | None = None


class Ending:
    """Ends the run of the main thread. late: the time was out."""

    def __init__(self, seconds: float) -> None:
        self.late = False
        self._at = time.monotonic() + seconds
        self._lock, self._over = threading.Lock(), threading.Event()

    def left(self) -> float:
        """Seconds left, never below 0."""
        return max(0.0, self._at - time.monotonic())

    def _interrupt(self) -> None:
        """Interrupt the run; nothing where it is over.

        Waits while a module is being loaded: cut off half-way, torch._dynamo stays broken for the rest of the session.
        """
        while _loading() and not self._over.wait(LOADING_S):
            pass
        with self._lock:
            if self._over.is_set():
                return
            if hasattr(signal, "pthread_kill"):  # wakes it where it waits for a process, too
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            else:
                _thread.interrupt_main()

    def watch(self) -> None:
        """Interrupt the run when the time is out, and again as long as it goes on."""
        wait = self.left()
        while not self._over.wait(wait):
            self.late, wait = True, AGAIN_S
            self._interrupt()

    def over(self) -> None:
        """From here on nothing is interrupted any more."""
        with self._lock:
            self._over.set()


def _loading() -> bool:
    """Whether the main thread is inside an import."""
    frame = sys._current_frames().get(threading.main_thread().ident)
    while frame and not frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    return frame is not None


@contextlib.contextmanager
def ending(seconds: float = math.inf) -> Iterator[Ending]:
    """Inside, the main thread is interrupted when the seconds are out; any other thread goes on."""
    global _running
    before, run = _running, Ending(seconds)
    _running = run
    in_main = threading.current_thread() is threading.main_thread()
    deaf = in_main and signal.getsignal(signal.SIGINT) is signal.SIG_IGN  # as in a shell's background
    if deaf:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if in_main and math.isfinite(seconds):
        threading.Thread(target=run.watch, daemon=True, name="time of an experiment").start()
    try:
        yield run
    finally:
        run.over()
        if deaf:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        _running = before


def time_left() -> float:
    """Seconds until the run that is going on is ended; infinite where nothing ends it."""
    return _running.left() if _running else math.inf

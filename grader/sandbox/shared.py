"""The warm processes of this process: one for each thread, started at the first submission, kept until the end.

Libraries are loaded once: the warm process of a thread is a fork of this process's mother.
"""

from __future__ import annotations

import atexit
import functools
import os
import threading

from grader.sandbox.warm import Warm

_mothers: dict[bool, str] = {}  # sandbox -> the address of a warm process that may be forked
_starting = threading.Lock()


def shared(sandbox: bool) -> Warm:
    """The warm process of this thread of this process."""
    return _shared(sandbox, os.getpid(), threading.get_ident())


def mother(sandbox: bool) -> Warm:
    """The warm process that is forked for the threads of this process, and whose ``address`` its marking processes get."""
    return _shared(sandbox, os.getpid(), 0)


def connect(sandbox: bool, address: str | None) -> None:
    """In a marking process: fork that mother instead of starting afresh."""
    if address is not None:
        _mothers[sandbox] = address


def _address(sandbox: bool) -> str | None:
    """Where a fork is to be had; None outside the sandbox. Raises Infrastructure."""
    if sandbox in _mothers or not sandbox:
        return _mothers.get(sandbox)
    with _starting:
        mother(sandbox).launch()
    return mother(sandbox).address


@functools.cache
def _shared(sandbox: bool, _process: int, thread: int) -> Warm:
    warm = Warm(sandbox, listen=True) if thread == 0 else Warm(sandbox, functools.partial(_address, sandbox))
    atexit.register(warm.close)
    return warm

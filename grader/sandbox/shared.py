"""The warm processes of this process: one for each thread, started at the first submission, kept until the end."""

from __future__ import annotations

import atexit
import functools
import os
import threading

from grader.sandbox.warm import Warm

_mothers: dict[bool, str] = {}  # sandbox -> the address of a warm process that may be forked


def shared(sandbox: bool) -> Warm:
    """The warm process of this thread of this process."""
    return _shared(sandbox, os.getpid(), threading.get_ident())


def mother(sandbox: bool) -> Warm:
    """The warm process whose ``address`` the marking processes of this one get."""
    return _shared(sandbox, os.getpid(), 0)


def descend(sandbox: bool, address: str | None) -> None:
    """In a marking process: fork that mother instead of starting afresh."""
    if address is not None:
        _mothers[sandbox] = address


@functools.cache
def _shared(sandbox: bool, _process: int, thread: int) -> Warm:
    warm = Warm(sandbox, _mothers.get(sandbox), listen=thread == 0)
    atexit.register(warm.close)
    return warm

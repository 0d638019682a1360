"""The warm processes that this process uses: one for each thread, started at the first submission and ended at exit.

Libraries are loaded once: a fork server loads them, and the warm process of each thread is a fork of it.
"""

from __future__ import annotations

import atexit
import functools
import os
import threading

from grader.sandbox.warm import Warm

_addresses: dict[bool, str] = {}  # sandbox -> address of the fork server of the process that started this one
_starting = threading.Lock()


def shared(sandbox: bool) -> Warm:
    """The warm process of the calling thread."""
    return _shared(sandbox, os.getpid(), threading.get_ident())


def fork_server(sandbox: bool) -> Warm:
    """The warm process that all other warm processes are forked from, also those of the marking processes, which get its
    ``address``.
    """
    return _shared(sandbox, os.getpid(), 0)


def connect(sandbox: bool, address: str | None) -> None:
    """Called in a marking process: fork warm processes from the fork server at ``address`` instead of starting one."""
    if address is not None:
        _addresses[sandbox] = address


def _address(sandbox: bool) -> str | None:
    """The address of the fork server, which is started if needed; None outside the sandbox. Raises Infrastructure."""
    if sandbox in _addresses or not sandbox:
        return _addresses.get(sandbox)
    with _starting:
        fork_server(sandbox).launch()
    return fork_server(sandbox).address


@functools.cache
def _shared(sandbox: bool, _process: int, thread: int) -> Warm:
    warm = Warm(sandbox, listen=True) if thread == 0 else Warm(sandbox, functools.partial(_address, sandbox))
    atexit.register(warm.close)
    return warm

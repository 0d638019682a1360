"""Do one thing in a process of its own, so that whatever ends that process ends nothing else."""

from __future__ import annotations

import json
import os
import select
import signal
from collections.abc import Callable
from pathlib import Path
from time import monotonic


def isolated(call: Callable[[], dict], limit_s: float, log: Path) -> dict:
    """What ``call()`` returns (plain JSON data), made in a forked process; where there is no fork, made here.

    What the process and its children print goes to the end of the file ``log``. A process that dies or takes
    more than ``limit_s`` seconds gives ``{"success": False, "error": sentence}``.
    """
    if not hasattr(os, "fork"):
        return call()
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        _answer(call, theirs, log)
    os.close(theirs)
    data, late = _read(ours, monotonic() + limit_s)
    os.close(ours)
    if late:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if late:
        return {"success": False, "error": f"marking took longer than {limit_s:.0f} s and was stopped"}
    try:
        return json.loads(data)
    except ValueError:
        ended = (
            f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"status {os.WEXITSTATUS(status)}"
        )
        return {"success": False, "error": f"the marking process was ended from outside ({ended})"}


def _answer(call: Callable[[], dict], pipe: int, log: Path) -> None:
    """Runs in the child, and ends it."""
    status = 1
    try:
        with log.open("ab") as printed:
            os.dup2(printed.fileno(), 1)
            os.dup2(printed.fileno(), 2)
        with os.fdopen(pipe, "w") as out:
            json.dump(call(), out)
        status = 0
    finally:
        os._exit(status)


def _read(pipe: int, until: float) -> tuple[bytes, bool]:
    data = b""
    while (left := until - monotonic()) > 0:
        if select.select([pipe], [], [], left)[0]:
            part = os.read(pipe, 1 << 16)
            if not part:
                return data, False
            data += part
    return data, True

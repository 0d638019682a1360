"""The warm process as the grader sees it: it loads the libraries once, and each kernel is a fork of it."""

from __future__ import annotations

import array
import atexit
import functools
import json
import os
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import IO, Any

from grader.project import Infrastructure
from grader.sandbox import groups, launch
from grader.sandbox.inside import wire
from grader.sandbox.kernel import Kernel
from grader.sandbox.limits import Limits

START_S = 120  # for the warm process to import torch on a slow disk


class Warm:
    """A warm process, started when it is needed; ``kernel(...)`` gives fresh kernels, one at a time."""

    def __init__(self) -> None:
        self._process: subprocess.Popen | None = None
        self._control: socket.socket | None = None
        self._printed: IO[bytes] | None = None
        self._ready = False

    def launch(self) -> None:
        """Start the warm process, if it is not running, without waiting until it is ready. Raises Infrastructure."""
        if self._process is not None and self._process.poll() is None:
            return
        self.close()
        self._control, theirs = socket.socketpair()
        line = launch.command(theirs.fileno())
        self._printed = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            line,
            env={"PATH": os.environ.get("PATH", os.defpath)},
            pass_fds=[theirs.fileno()],
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=self._printed,
            stderr=self._printed,
            start_new_session=True,
        )
        theirs.close()
        self._control.settimeout(START_S)

    def start(self) -> None:
        """Start the warm process, if it is not running, and wait until it is ready. Raises Infrastructure."""
        self.launch()
        if self._ready:
            return
        try:
            answer = wire.receive(self._control)
        except wire.Closed as error:
            self._printed.seek(0)
            last = (self._printed.read().decode("utf-8", "replace").strip().splitlines() or [str(error)])[-1]
            self.close()
            raise Infrastructure(f"the warm process did not start: {last}") from error
        if "failed" in answer:
            self.close()
            raise Infrastructure(answer["failed"])
        self._ready = True

    def fate(self, pid: int) -> dict[str, Any]:
        """How the ended kernel ``pid`` ended: a dictionary with ``signal``, ``cpu_s`` and ``cpu_limit_s``. Raises
        Infrastructure.
        """
        try:
            self._control.sendall(json.dumps({"fate": pid}).encode())
            return wire.receive(self._control).get("fate") or {}
        except (OSError, wire.Closed) as error:
            self.close()
            raise Infrastructure(f"the warm process is gone ({error})") from error

    def close(self) -> None:
        """End the warm process and all its kernels."""
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        if self._printed is not None:
            self._printed.close()
        self._process = self._control = self._printed = None
        self._ready = False

    @contextmanager
    def kernel(self, limits: Limits, files: dict[str, bytes] | None = None) -> Iterator[Kernel]:
        """Start a kernel with ``files`` (path -> bytes) in its working folder; it is ended on leaving the block.

        Raises Infrastructure if no kernel starts.
        """
        self.start()
        ours, theirs = socket.socketpair()
        if not groups.possible() and os.geteuid() == 0:
            limits = replace(limits, processes=0)  # RLIMIT_NPROC does not bind root, so the filter forbids processes
        kernel = None
        try:
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            request = json.dumps({"limits": limits.plain()}).encode()
            try:
                self._control.sendmsg(
                    [request], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [theirs.fileno()]))]
                )
            except OSError as error:
                self.close()
                raise Infrastructure(f"the warm process is gone ({error})") from error
            theirs.close()
            kernel = Kernel(ours, limits, self.fate)
            kernel.begin(files or {})
            yield kernel
        finally:
            if kernel is not None:
                kernel.close()
            ours.close()


def shared() -> Warm:
    """The warm process of the calling thread; it ends with this process."""
    return _shared(os.getpid(), threading.get_ident())


@functools.cache
def _shared(_process: int, _thread: int) -> Warm:
    warm = Warm()
    atexit.register(warm.close)
    return warm

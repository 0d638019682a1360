"""The warm process as the grader sees it: started once, then a fresh kernel costs a fork."""

from __future__ import annotations

import array
import json
import os
import select
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from grader.project import HERE, Infrastructure
from grader.sandbox import groups, launch
from grader.sandbox.inside import wire
from grader.sandbox.kernel import Kernel
from grader.sandbox.limits import Limits

START_S = 120  # for the warm process to import torch on a slow disk


class Warm:
    """The warm process. Use it as a context manager; ``kernel(...)`` gives fresh kernels, one at a time.

    mother: gives the ``address`` of another one that may be forked instead of starting afresh; used while it answers.
    listen: whether this one can be such a mother.
    """

    def __init__(
        self, sandbox: bool = True, mother: Callable[[], str | None] | None = None, listen: bool = False
    ) -> None:
        self.sandbox, self.mother, self.listen = sandbox, mother, listen
        self.address: str | None = None
        self._process: subprocess.Popen | None = None
        self._control: socket.socket | None = None
        self._room: tempfile.TemporaryDirectory | None = None
        self._said: IO[bytes] | None = None
        self._ready = False

    def __enter__(self) -> Warm:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def launch(self) -> None:
        """Begin to start the warm process, if it is not running, and come back at once. Raises Infrastructure."""
        if self._alive():
            return
        self.close()
        if self.sandbox:
            groups.sweep()
        if self.mother is not None and (address := self.mother()) is not None:
            self._control = _connected(address)
        if self._control is None:
            self._spawn()
        self._control.settimeout(START_S)

    def start(self) -> None:
        """Start the warm process, if it is not running, and wait until it is ready. Raises Infrastructure."""
        self.launch()
        if self._ready:
            return
        try:
            answer = wire.receive(self._control)
        except wire.Closed as error:
            if self._process is None:  # the mother has ended
                self.mother = None
                return self.start()
            self._said.seek(0)
            last = (self._said.read().decode("utf-8", "replace").strip().splitlines() or [str(error)])[-1]
            self.close()
            raise Infrastructure(f"the warm process did not start: {last}") from error
        if "failed" in answer:
            self.close()
            raise Infrastructure(answer["failed"])
        self._ready = True

    def _spawn(self) -> None:
        self._room = tempfile.TemporaryDirectory(prefix="course-marking-")
        room = Path(self._room.name)
        listener = self._listener(room / "twins") if self.listen and self.sandbox else None
        self._control, theirs = socket.socketpair()
        passed = [theirs.fileno(), *([listener.fileno()] if listener is not None else [])]
        line, environment = launch.command(passed[0], self.sandbox, *passed[1:])
        if not self.sandbox:
            for name, place in (("course", HERE / "course"), ("inside", launch.INSIDE)):
                (room / name).symlink_to(place, target_is_directory=True)
            environment["PYTHONPATH"] = str(room)
        self._said = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            line,
            env=environment,
            pass_fds=passed,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=self._said,
            stderr=self._said,
            start_new_session=True,
        )
        theirs.close()
        if listener is not None:
            listener.close()

    def _listener(self, path: Path) -> socket.socket | None:
        """Where twins are asked for: a socket in a folder of ours alone; None where the path is too long for one."""
        listener = socket.socket(socket.AF_UNIX)
        try:
            listener.bind(str(path))
        except OSError:
            listener.close()
            return None
        listener.listen(64)
        self.address = str(path)
        return listener

    def _alive(self) -> bool:
        if self._process is not None:
            return self._process.poll() is None
        return self._control is not None and not _closed_by_peer(self._control)

    def fate(self, pid: int) -> dict[str, Any]:
        """How the kernel ``pid``, whose process is gone, ended: ``signal``, ``cpu_s``. Raises Infrastructure."""
        try:
            self._control.sendall(json.dumps({"fate": pid}).encode())
            return wire.receive(self._control).get("fate") or {}
        except (OSError, wire.Closed) as error:
            self.close()
            raise Infrastructure(f"the warm process is gone ({error})") from error

    def close(self) -> None:
        """End the warm process and everything in it."""
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        if self._said is not None:
            self._said.close()
        if self._room is not None:
            self._room.cleanup()
        self._process = self._control = self._room = self._said = self.address = None
        self._ready = False

    @contextmanager
    def kernel(self, limits: Limits, files: dict[str, bytes] | None = None) -> Iterator[Kernel]:
        """A fresh kernel whose working folder holds ``files``. Raises Infrastructure if none starts."""
        self.start()
        ours, theirs = socket.socketpair()
        folder = None if self.sandbox else tempfile.mkdtemp(prefix="course-kernel-")
        grouped = self.sandbox and groups.possible()
        if self.sandbox and not grouped and os.geteuid() == 0:
            limits = replace(limits, processes=0)  # nothing else would hold root's forks back
        kernel = None
        try:
            ours.setsockopt(socket.SOL_SOCKET, getattr(socket, "SO_PASSCRED", 16), 1)
            request = json.dumps({"limits": limits.plain(), "folder": folder}).encode()
            try:
                self._control.sendmsg(
                    [request], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [theirs.fileno()]))]
                )
            except OSError as error:
                self.close()
                raise Infrastructure(f"the warm process is gone ({error})") from error
            theirs.close()
            kernel = Kernel(ours, limits, grouped, self.fate if self.sandbox else None)
            kernel.begin(files or {})
            yield kernel
        finally:
            if kernel is not None:
                kernel.close()
            ours.close()
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)


def _connected(address: str) -> socket.socket | None:
    """A connection to the mother at ``address``; None if she is gone."""
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(address)
    except OSError:
        connection.close()
        return None
    return connection


def _closed_by_peer(connection: socket.socket) -> bool:
    if not select.select([connection], [], [], 0)[0]:
        return False
    try:
        return connection.recv(1, socket.MSG_PEEK) == b""
    except OSError:
        return True

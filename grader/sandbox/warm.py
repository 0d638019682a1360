"""Kernels as the grader sees them: start the warm process once, then a fresh kernel costs a fork."""

from __future__ import annotations

import array
import base64
import json
import os
import select
import selectors
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import IO, Any

from grader.project import HERE, Infrastructure
from grader.sandbox import groups, launch
from grader.sandbox.inside import wire
from grader.sandbox.limits import Limits

START_S = 120  # for the warm process to import torch on a slow disk
LINGER_S = 1  # between a kernel's last word and its end
GRACE_S = 3  # from the interrupt to the end
FLOOD = 20  # times the kept output: then the cell is stopped
SEND_S = 10  # for the kernel to take in a cell
FRAME = 100  # characters each output counts beside its own, so that many small ones are a flood too
LARGEST = 16 << 20  # bytes of one frame from a kernel; what is longer can only come from somebody who forges frames
CREDENTIALS = struct.Struct("3i")


@dataclass
class Ran:
    """What one cell did. ended: "" or why the kernel is gone: died, stuck, flood, memory."""

    outputs: list[dict[str, Any]] = field(default_factory=list)
    error: str | None = None
    count: int | None = None
    late: bool = False
    cut: bool = False
    ended: str = ""


class Warm:
    """The warm process. Use it as a context manager; ``kernel(...)`` gives fresh kernels, one at a time.

    mother: the ``address`` of another one that may be forked instead of starting afresh; used while it answers.
    listen: whether this one can be such a mother.
    """

    def __init__(self, sandbox: bool = True, mother: str | None = None, listen: bool = False) -> None:
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
        if self.mother is not None:
            self._control = _connected(self.mother)
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
        self._process = subprocess.Popen(line, env=environment, pass_fds=passed, cwd="/", stdin=subprocess.DEVNULL,
                                         stdout=self._said, stderr=self._said, start_new_session=True)
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
        group = groups.make(limits) if self.sandbox else None
        if self.sandbox and group is None and os.geteuid() == 0:
            limits = Limits(**{**limits.plain(), "processes": 0})  # nothing else would hold root's forks back
        kernel = None
        try:
            ours.setsockopt(socket.SOL_SOCKET, getattr(socket, "SO_PASSCRED", 16), 1)
            request = json.dumps({"limits": limits.plain(), "folder": folder}).encode()
            try:
                self._control.sendmsg(
                    [request], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [theirs.fileno()]))])
            except OSError as error:
                self.close()
                raise Infrastructure(f"the warm process is gone ({error})") from error
            theirs.close()
            kernel = Kernel(ours, limits, group, self.fate if self.sandbox else None)
            kernel.begin(files or {})
            yield kernel
        finally:
            if kernel is not None:
                kernel.close()
            ours.close()
            if group is not None:
                group.remove()
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)


class Kernel:
    """One fork of the warm process. ``run`` cells until it has ``ended``."""

    def __init__(self, connection: socket.socket, limits: Limits, group: groups.Group | None,
                 fate: Callable[[int], dict[str, Any]] | None = None) -> None:
        self._connection, self._limits, self._group, self._fate = connection, limits, group, fate
        self._frames = wire.Frames(LARGEST)
        self._handle: int | None = None
        self._waiting = selectors.DefaultSelector()
        self._waiting.register(connection, selectors.EVENT_READ)
        self._displays: dict[str, list[dict[str, Any]]] = {}
        self.ended = ""

    def begin(self, files: dict[str, bytes]) -> None:
        """Wait for the fork, put it into its group, hand over the files. Raises Infrastructure."""
        self._connection.settimeout(30)
        try:
            data, ancillary, _, _ = self._connection.recvmsg(65536, socket.CMSG_SPACE(CREDENTIALS.size))
            self._frames.feed(data)
            while not self._frames.ready:
                self._frames.feed(self._connection.recv(65536) or _closed())
            hello = self._frames.ready.pop(0)
            if "failed" in hello:
                raise Infrastructure(f"no kernel started: {hello['failed']}")
            self._number = hello["hello"]
            pid = CREDENTIALS.unpack(ancillary[0][2])[0]
            self._handle = os.pidfd_open(pid)
            if self._group is not None:
                self._group.take(pid)
            self._connection.settimeout(None)
            if files:
                packed = [{"path": path, "data": base64.b64encode(data).decode()} for path, data in files.items()]
                wire.send(self._connection, {"files": packed})
        except (OSError, wire.Closed, IndexError, KeyError) as error:
            raise Infrastructure(f"no kernel started: {type(error).__name__}: {error}") from error

    def run(self, source: str, seconds: float | None = None) -> Ran:
        """Run one cell for at most ``seconds`` (the limit for a cell by default). Never raises for what it does.

        Raises Infrastructure if the kernel was ended from outside: that is nobody's fault who wrote the cell.
        """
        ran, limit = Ran(), min(seconds or self._limits.cell_s, self._limits.cell_s)
        if self.ended:
            ran.ended = self.ended
            return ran
        self._size, self._clear, self._flood = 0, False, False
        until, interrupted = monotonic() + limit, False
        try:
            self._connection.settimeout(SEND_S)
            wire.send(self._connection, {"run": source})
        except TimeoutError:  # a kernel that answers but does not listen
            return self._over(ran, "stuck")
        except OSError:
            return self._over(ran, "died")
        while True:
            while self._frames.ready:
                message = self._frames.ready.pop(0)
                if "done" in message and isinstance(message["done"], dict):
                    ran.error, ran.count = _text(message["done"].get("error")), _whole(message["done"].get("count"))
                    return ran
                self._take(ran, message)
            if self._flood and not interrupted:
                until = monotonic()
            if monotonic() >= until:
                if interrupted:
                    return self._over(ran, "flood" if self._flood else "stuck")
                interrupted, ran.late, until = True, True, monotonic() + GRACE_S
                self._signal(signal.SIGINT)
            if not self._waiting.select(max(0.0, until - monotonic())):
                continue
            try:
                self._frames.feed(self._connection.recv(1 << 20) or _closed())
            except (OSError, wire.Closed):
                return self._over(ran, "died")

    def close(self) -> None:
        """End the kernel and everything it started."""
        self._signal(signal.SIGKILL)
        if self._handle is not None:
            self._gone(5)
            os.close(self._handle)
            self._handle = None
        self._waiting.close()

    def _gone(self, seconds: float) -> bool:
        """Whether the kernel's process has ended, waiting at most so long."""
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._handle, selectors.EVENT_READ)
            return bool(waiting.select(seconds))

    def _over(self, ran: Ran, why: str) -> Ran:
        if why == "died":
            gone = self._gone(LINGER_S)
            if self._group is not None and self._group.out_of_memory():
                why = "memory"
            elif gone and self._fate is not None:
                self._blame(self._fate(self._number))
        self._signal(signal.SIGKILL)
        self.ended = ran.ended = why
        return ran

    def _blame(self, fate: dict[str, Any]) -> None:
        """The first process of a pid namespace cannot be killed from within, only by a limit or from outside."""
        cpu_s = self._limits.total_s * max(1, self._limits.threads)
        if fate.get("signal") == signal.SIGKILL and fate.get("cpu_s", 0.0) < cpu_s:
            self.ended = "killed"
            raise Infrastructure("the kernel was ended from outside")

    def _signal(self, number: int) -> None:
        if self._handle is not None:
            try:
                signal.pidfd_send_signal(self._handle, number)
            except ProcessLookupError:
                pass

    def _take(self, ran: Ran, message: dict[str, Any]) -> None:
        """Add one output to the cell's, within the size kept."""
        output = message.get("output") or message.get("update")
        shown = self._displays.get(_name(output), []) if "update" in message else []
        size = FRAME + sum(map(len, map(str, message.values()))) * max(1, len(shown))
        self._size += size
        if self._size > self._limits.output_chars or "cut" in message:
            ran.cut = True
            self._flood = self._size > FLOOD * self._limits.output_chars
            return
        if "clear" in message:
            self._clear = True
            if message["clear"] is not True:
                ran.outputs.clear()
                self._clear = False
            return
        if not isinstance(output, dict):
            return
        name = _name(output)
        if "update" in message:
            for one in shown:
                one.update(data=output.get("data"), metadata=output.get("metadata"))
            return
        if self._clear:
            ran.outputs.clear()
            self._clear = False
        last = ran.outputs[-1] if ran.outputs else {}
        if output.get("output_type") == "stream" == last.get("output_type") and last.get("name") == output.get("name"):
            last["text"] = f"{last.get('text')}{output.get('text')}"
            return
        ran.outputs.append(output)
        if name:
            self._displays.setdefault(name, []).append(output)


def _name(output: object) -> str:
    """The display id of an output, or nothing."""
    name = output.get("display_id") if isinstance(output, dict) else None
    return name if isinstance(name, str) else ""


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


def _closed() -> bytes:
    raise wire.Closed("end of stream")


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None

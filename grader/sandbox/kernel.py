"""One fork of the warm process, as the grader sees it: cells in, outputs out, within the limits."""

from __future__ import annotations

import base64
import os
import selectors
import signal
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from grader.project import Infrastructure
from grader.sandbox import groups
from grader.sandbox.inside import wire
from grader.sandbox.limits import Limits
from grader.sandbox.meter import TICK_S, Meter

SHORTEST_S = 0.01  # between two looks at a cell that is about to reach its limit
LINGER_S = 1  # how long to wait for the process of a kernel to end after its connection has closed
GRACE_S = 3  # how long a cell may go on after the interrupt (or its own limit, if that is shorter)
FLOOD = 20  # a cell is stopped when it has sent so many times the output that is stored
FRAME = 100  # characters added to the size of each output, so that many small outputs are a flood too
LARGEST = 16 << 20  # bytes of one frame from a kernel; only forged frames are longer
CREDENTIALS = struct.Struct("3i")
DISTURBED = (
    "this machine was too busy with other work to run it, so it would have lost points it does not deserve to lose; "
    "mark it again when the machine is quiet"
)


@dataclass
class Ran:
    """What one cell did.

    ended: "", or why the kernel has ended: died, stuck, flood, memory. late: the cell was interrupted because its time was
    over. cut: some of its output was dropped. seconds: the cell's own time.
    """

    outputs: list[dict[str, Any]] = field(default_factory=list)
    error: str | None = None
    late: bool = False
    cut: bool = False
    ended: str = ""
    seconds: float = 0.0


class Kernel:
    """One fork of the warm process. ``run`` cells until it has ``ended``."""

    def __init__(self, connection: socket.socket, limits: Limits, fate: Callable[[int], dict[str, Any]]) -> None:
        self._connection, self._limits, self._fate = connection, limits, fate
        self._group: groups.Group | None = None
        self._frames = wire.Frames(LARGEST)
        self._handle: int | None = None
        self._waiting = selectors.DefaultSelector()
        self._waiting.register(connection, selectors.EVENT_READ)
        self.ended = ""

    def begin(self, files: dict[str, bytes]) -> None:
        """Wait for the fork, put it into its control group, send it the files. Raises Infrastructure."""
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
            self._group = groups.make(self._limits, pid)
            if self._group is not None:
                self._group.add(pid)
            self._meter = Meter(pid, self._limits, bounded=self._group is not None)
            self._connection.settimeout(None)
            if files:
                packed = [{"path": path, "data": base64.b64encode(data).decode()} for path, data in files.items()]
                wire.send(self._connection, {"files": packed})
        except (OSError, wire.Closed, IndexError, KeyError) as error:
            raise Infrastructure(f"no kernel started: {type(error).__name__}: {error}") from error

    def run(self, source: str, seconds: float | None = None) -> Ran:
        """Run one cell for at most ``seconds`` (by default the limit for a cell); returns what it did, errors included.

        Raises Infrastructure only for what is not the student's fault: the kernel was ended from outside, or it ran out of time
        while other programs used the processors.
        """
        ran, limit = Ran(), min(seconds or self._limits.cell_s, self._limits.cell_s)
        if self.ended:
            ran.ended = self.ended
            return ran
        self._size, self._flood = 0, False
        allowed, interrupted = limit, False
        unsent = memoryview(wire.packed({"run": source}))  # the kernel takes it in on its own time
        self._waiting.modify(self._connection, selectors.EVENT_WRITE)
        self._meter.begin()
        look = monotonic() + min(TICK_S, limit)
        while True:
            while self._frames.ready and not unsent:
                message = self._frames.ready.pop(0)
                if "done" in message and isinstance(message["done"], dict):
                    ran.seconds = self._meter.end()
                    error = message["done"].get("error")
                    ran.error = error if isinstance(error, str) else None
                    return ran
                self._take(ran, message)
            if monotonic() >= look or (self._flood and not interrupted):
                seconds = self._meter.look()
                if self._meter.too_much_memory():
                    return self._over(ran, "memory")
                if self._meter.too_many():
                    return self._over(ran, "died")
                over = seconds >= allowed or self._meter.out_of_patience(allowed)
                if over and interrupted:
                    return self._over(ran, "flood" if self._flood else "stuck")
                if over or (self._flood and not interrupted):
                    interrupted, ran.late = True, not self._flood
                    allowed = seconds + min(GRACE_S, self._limits.cell_s)
                    if ran.late and self._meter.disturbed(limit):
                        raise Infrastructure(DISTURBED)
                    self._signal(signal.SIGINT)
                look = monotonic() + min(self._meter.pause_s, max(SHORTEST_S, allowed - seconds))
            if not self._waiting.select(max(0.0, look - monotonic())):
                continue
            try:
                if not unsent:
                    self._frames.feed(self._connection.recv(1 << 20) or _closed())
                    continue
                unsent = unsent[self._connection.send(unsent, socket.MSG_DONTWAIT) :]
                if not unsent:
                    self._waiting.modify(self._connection, selectors.EVENT_READ)
            except BlockingIOError:
                continue
            except (OSError, wire.Closed):
                return self._over(ran, "died")

    def close(self) -> None:
        """End the kernel and all processes it started."""
        self._signal(signal.SIGKILL)
        if self._handle is not None:
            self._gone(5)
            os.close(self._handle)
            self._handle = None
        if self._group is not None:
            self._group.remove()
        self._waiting.close()

    def _gone(self, seconds: float) -> bool:
        """Whether the kernel's process has ended; waits for it at most ``seconds``."""
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._handle, selectors.EVENT_READ)
            return bool(waiting.select(seconds))

    def _over(self, ran: Ran, why: str) -> Ran:
        if why == "died":
            gone = self._gone(LINGER_S)
            if self._group is not None and self._group.out_of_memory():
                why = "memory"
            elif gone:
                self._blame(self._fate(self._number))
        self._signal(signal.SIGKILL)
        self.ended = ran.ended = why
        ran.seconds = self._meter.seconds
        return ran

    def _blame(self, fate: dict[str, Any]) -> None:
        """Raise Infrastructure if the kernel was killed from outside. ``fate``: how its process ended.

        It is the first process of its pid namespace, so no process inside can kill it; only its processor time limit or
        a process outside can. If it had used up the limit, or had lowered the limit itself, it was the limit.
        """
        limit = self._limits.cpu_limit_s
        if fate.get("signal") == signal.SIGKILL and fate["cpu_limit_s"] == limit and fate["cpu_s"] + TICK_S < limit:
            self.ended = "killed"
            raise Infrastructure("the kernel was ended from outside")

    def _signal(self, number: int) -> None:
        if self._handle is not None:
            try:
                signal.pidfd_send_signal(self._handle, number)
            except ProcessLookupError:
                pass

    def _take(self, ran: Ran, message: dict[str, Any]) -> None:
        """Add one output to those of the cell, up to the size that is stored."""
        self._size += FRAME + sum(map(len, map(str, message.values())))
        if self._size > self._limits.output_chars or "cut" in message:
            ran.cut = True
            self._flood = self._size > FLOOD * self._limits.output_chars
            return
        if "clear" in message:
            ran.outputs.clear()
            return
        output = message.get("output")
        if not isinstance(output, dict):
            return
        last = ran.outputs[-1] if ran.outputs else {}
        if output.get("output_type") == "stream" == last.get("output_type") and last.get("name") == output.get("name"):
            last["text"] = f"{last.get('text')}{output.get('text')}"
            return
        ran.outputs.append(output)


def _closed() -> bytes:
    raise wire.Closed("end of stream")

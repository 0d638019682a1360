"""A pretended machine: planted costs, a queue like a GPU's, a clock that moves only when work is done. Nothing here is measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

LAUNCH_MS = 0.01
"""What a call costs Python itself; its work goes into the queue and is done later."""
MOST = 5000
"""Calls, readings of the clock and waits before the machine says that a loop does not end."""


class Endless(Exception):
    """The code that is tried used the machine so often that one of its loops cannot be meant."""


class Machine:
    """A machine with a queue. ``runs[name]()`` puts one piece of work into it, ``wait()`` returns when it is empty, ``clock()`` is
    the time in ms.

    costs: name -> ms of its first call, second call, ...; the last one goes on for ever. queued_ms: work of others that is in the
    queue at the beginning. slower: every call takes so many times as long as it would one call earlier. counts: name -> how often it
    was called. Raises Endless after MOST steps.
    """

    def __init__(self, costs: Mapping[str, Sequence[float]], queued_ms: float = 0, slower: float = 1) -> None:
        self.now, self.empty_at, self.steps, self.counts = 0.0, queued_ms, 0, Counter()
        self.costs, self.slower = costs, slower
        self.runs: dict[str, Callable[[], None]] = {name: lambda name=name: self._run(name) for name in costs}

    def _step(self) -> None:
        self.steps += 1
        if self.steps > MOST:
            raise Endless

    def _run(self, name: str) -> None:
        self._step()
        self.counts[name] += 1
        planted = self.costs[name]
        cost = planted[min(self.counts[name], len(planted)) - 1] * self.slower ** self.counts.total()
        self.now += LAUNCH_MS
        self.empty_at = max(self.now, self.empty_at) + cost - LAUNCH_MS

    def wait(self) -> None:
        """Until the queue is empty."""
        self._step()
        self.now = max(self.now, self.empty_at)

    def clock(self) -> float:
        """The time now in ms."""
        self._step()
        return self.now

"""Clocks that only pretend, and an accelerator: time passes as a noise model or a queue says, so timing tests are exact and quick."""

from __future__ import annotations

import contextlib
import random
from dataclasses import dataclass
from types import SimpleNamespace

from course.timing import Clock
from course.timing import clock as clocks


class NoisyClock(Clock):
    """A machine with moods: slow drift, jitter and rare long hiccups. A timed function returns its cost in s.

    jitter: relative spread of one block. drift: how far the mood wanders. hiccup: chance of a block that
    takes up to three times as long.
    """

    def __init__(self, seed: int, jitter: float = 0.02, drift: float = 0.2, hiccup: float = 0.05) -> None:
        self.noise, self.jitter, self.drift, self.hiccup = random.Random(seed), jitter, drift, hiccup
        self.time, self.mood = 0.0, 0.0

    def now(self) -> float:
        return self.time

    def block(self, f, calls: int) -> float:
        self.mood = 0.995 * self.mood + 0.1 * self.drift * self.noise.gauss(0, 1)
        factor = (1 + abs(self.mood)) * (1 + abs(self.noise.gauss(0, self.jitter)))
        if self.noise.random() < self.hiccup:
            factor *= 1 + 2 * self.noise.random()
        seconds = (f() or 0.0) * calls * factor
        self.time += seconds + 1e-7
        return seconds


@dataclass(init=False, eq=False)
class Cost(float):
    """What a timed function returns to a NoisyClock: seconds, and a result of no fields, which differs from no other."""


def costing(seconds: float):
    """A function whose one call costs `seconds` on a NoisyClock."""
    return lambda: Cost(seconds)


class Processes:
    """A pretended machine on which equal code differs from process to process; `open` starts a set of them.

    costs: name -> seconds a call. effect: draws the factor of one process. start_s: seconds to start a set.
    """

    request_s = 2e-3

    def __init__(self, costs, effect, seed: int, start_s: float = 1.5) -> None:
        self.costs, self.effect, self.start_s = costs, effect, start_s
        self.noise, self.time = random.Random(seed), 0.0

    def now(self) -> float:
        return self.time

    @contextlib.contextmanager
    def open(self, names):
        self.time += self.start_s
        clock = NoisyClock(self.noise.random())
        sides = {name: costing(self.costs[name] * self.effect(self.noise)) for name in names}
        facts = {"result": [], "device": "cpu", "clock": "wall", "threads": 1, "calls": 1}

        def block(name: str) -> float:
            before, seconds = clock.time, clock.block(sides[name], 1)
            self.time += clock.time - before + self.request_s
            return seconds

        yield block, dict.fromkeys(names, facts)


class Device:
    """A device that runs one kernel after the other. Issuing one costs the host `issue_s`; with `depth` waiting, the host waits too."""

    def __init__(self, issue_s: float = 20e-6, depth: int = 1000) -> None:
        self.issue_s, self.depth = issue_s, depth
        self.host, self.ends = 0.0, [0.0]

    def launch(self, seconds: float) -> None:
        """Issue a kernel that takes so many seconds."""
        self.host += self.issue_s
        if len(self.ends) >= self.depth:
            self.host = max(self.host, self.ends[-self.depth])
        self.ends.append(max(self.ends[-1], self.host) + seconds)

    def wait(self) -> None:
        """As .item() does."""
        self.host = max(self.host, self.ends[-1])

    def clock(self, monkeypatch) -> clocks.EventClock:
        """A clock of this device that reads this device's time."""
        monkeypatch.setattr(clocks, "time", SimpleNamespace(perf_counter=lambda: self.host))
        return clocks.EventClock("cuda", self.wait, self.launch, lambda: Event(self))


class Event:
    """A mark in the queue of a Device."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.device.host += 1e-6
        self.at = max(self.device.ends[-1], self.device.host)

    def query(self) -> bool:
        return self.device.host >= self.at

    def synchronize(self) -> None:
        self.device.host = max(self.device.host, self.at)

    def elapsed_time(self, later: Event) -> float:
        assert later.query(), "asked before it was reached"
        return (later.at - self.at) * 1e3

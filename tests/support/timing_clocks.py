"""Clocks that only pretend: time passes as a seeded noise model says, so timing tests are exact and quick."""

from __future__ import annotations

import contextlib
import random
from dataclasses import dataclass

from course.timing import Clock


class NoisyClock(Clock):
    """A machine with moods: slow drift, jitter and rare long hiccups. A timed function returns its cost in s.

    jitter: relative spread of one block. drift: how far the mood wanders. hiccup: chance of a block that
    takes up to three times as long.
    """

    threads = 1

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


class Elsewhere:
    """A function of another process, as `Worker` is one: what it returned is known as a digest."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.result = seconds, []

    def __call__(self) -> float:
        return self.seconds


def costing(seconds: float):
    """A function whose one call costs `seconds` on a NoisyClock."""
    return lambda: Cost(seconds)


class Processes:
    """A pretended machine on which equal code differs from process to process; `open` starts workers on it.

    costs: name -> seconds a call. effect: draws the factor of one process. start_s: seconds to start a set.
    """

    def __init__(self, costs, effect, seed: int, start_s: float = 1.5) -> None:
        self.costs, self.effect, self.start_s = costs, effect, start_s
        self.noise, self.time, self.started = random.Random(seed), 0.0, 0

    def now(self) -> float:
        return self.time

    @contextlib.contextmanager
    def open(self, names):
        self.time += self.start_s
        self.started += 1
        clock = NoisyClock(self.noise.random())
        factors = {name: self.effect(self.noise) for name in names}
        try:
            yield {name: Elsewhere(self.costs[name] * factors[name]) for name in names}, clock
        finally:
            self.time += clock.time

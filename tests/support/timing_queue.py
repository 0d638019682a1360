"""A pretended accelerator: a queue that the host fills, with a virtual time for both, so timing tests are exact and quick."""

from __future__ import annotations

from types import SimpleNamespace

from course.timing import clock as clocks


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

    def event(self) -> Event:
        """A mark for the queue."""
        return Event(self)

    def clock(self, monkeypatch) -> clocks.EventClock:
        """A clock of this device that reads this device's time."""
        ns = SimpleNamespace(perf_counter=lambda: self.host, perf_counter_ns=lambda: round(self.host * 1e9))
        monkeypatch.setattr(clocks, "time", ns)
        monkeypatch.setattr(clocks._fenced_ns, "__defaults__", (ns.perf_counter_ns,))
        return clocks.EventClock("cuda", self.wait, self.event, self.launch)


class Event:
    """A mark in the queue of a Device."""

    def __init__(self, device: Device) -> None:
        self.device, self.at = device, 0.0

    def record(self) -> None:
        self.device.host += 1e-6
        self.at = max(self.device.ends[-1], self.device.host)

    def query(self) -> bool:
        return self.device.host >= self.at

    def synchronize(self) -> None:
        self.device.host = max(self.device.host, self.at)

    def elapsed_time(self, later: Event) -> float:
        assert later.query(), "asked before it was reached"
        return (later.at - self.at) * 1e3

"""`measure`: how long a call takes, with its first call apart and an interval."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from course.core.i18n import t
from course.timing import stats, validation
from course.timing.clock import Clock, given_clock
from course.timing.results import Measurement
from course.timing.rounds import Rounds

WARMUP_SHARE = 0.3
"""Largest part of the budget that goes into warming up after the first call."""
MAX_SAMPLES = 10_000
"""Most samples of one measurement: blocks are made so long that no more fit into the budget."""


def measure(
    f: Callable[..., Any],
    *,
    max_time: float = 1.0,
    device: Any = None,
    clock: str | Clock = "auto",
    name: str | None = None,
) -> Measurement:
    """Time `f()` for at most `max_time` seconds after its first call: median, interval, samples.

    Warms up until two successive block medians agree within 2 % (at most 30 % of the budget), then times blocks (on a CPU of at
    least 25 us, elsewhere of 0.3 ms; or a ten-thousandth of the budget). device: default, where the tensors of the first call are.
    clock: "auto" or "wall" (see `clock_for`), or a `Clock`. On an accelerator there are two numbers: the device's own time of a call, and
    `issue_ms`, which Python takes to issue one.

    The interval is that of the median within this run. Switches, default dtype and gradients that `f` leaves with another value are
    put back and named in the notes, also after an interrupt. Raises TimingError, with a sentence, for arguments that cannot be measured.
    """
    label = name or str(getattr(f, "__name__", type(f).__name__)).strip("<>")  # "<lambda>" is told as lambda
    validation.require_positive(max_time=max_time)
    validation.require_callable(label, f)
    chosen = given_clock(device, clock)
    run = _Single({label: f}, chosen, max_time, random.Random(), max_time / MAX_SAMPLES)
    with validation.hidden_prints() as sink:
        run.go(t("measuring", "测量中"), sink)
    return run.result()


class _Single(Rounds):
    """The state of one measurement while it is under way."""

    warm_up_share = WARMUP_SHARE

    def is_warm(self, seen: list[dict[str, float]]) -> bool:
        return stats.steady([seconds for one in seen for seconds in one.values()])

    def result(self) -> Measurement:
        """The samples so far as a Measurement."""
        ((name, f),) = self.functions.items()
        samples, first, calls = self.seconds[name] or [self.first[name]], self.first[name], self.calls[name]
        median, quality = stats.median(samples), stats.quality(samples)
        if self.effort and self.clock.device == "cpu" and quality == "noisy":
            self.notes += self.effort.note()
        issuing = self.clock.issue_s(f)
        interval = stats.interval_or_none(samples)
        return Measurement(
            name=name,
            median_ms=median * 1e3,
            low_ms=interval.low * 1e3 if interval else None,
            high_ms=interval.high * 1e3 if interval else None,
            samples_ms=tuple(s * 1e3 for s in samples),
            first_call_ms=first * 1e3,
            quality=quality,
            calls_per_sample=calls,
            issue_ms=None if issuing is None else issuing * 1e3,
            **self.facts(),
        )

"""What `measure` and `compare` give back: plain data. How it reads is in `sentences` and `page`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

from course.core.i18n import t
from course.timing import page, sentences
from course.timing.validation import require_name

ENOUGH = 0.9499
"""Confidence from which an interval is evidence."""


class _Shown:
    """How a result shows itself in a terminal and in a notebook."""

    def sentence(self) -> str:
        raise NotImplementedError

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        return page.as_html(self)

    def __str__(self) -> str:
        return page.as_text(self)


@dataclass(frozen=True, repr=False)
class Measurement(_Shown):
    """One function timed. All times are for one call.

    median_ms, low_ms..high_ms (95 % interval of the median within this run; a later run may differ by far more. None where the
    samples are too few to tell or all alike: see `stats.enough`), samples_ms (one per block of `calls_per_sample` calls),
    first_call_ms (apart from the rest), quality (stable | noisy | drifting | few), overhead_ns (the timer's own, a call; not
    subtracted), issue_ms (on an accelerator: the time Python takes to issue a call; the others are then the device's own), device,
    clock (wall | events), threads (torch may use), seconds (spent), complete (False after an interrupt), notes (sentences in the
    learner's language).
    """

    name: str
    median_ms: float
    low_ms: float | None
    high_ms: float | None
    confidence: float
    samples_ms: tuple[float, ...]
    first_call_ms: float
    quality: str
    calls_per_sample: int
    overhead_ns: float
    device: str
    clock: str
    threads: int
    seconds: float
    issue_ms: float | None = None
    complete: bool = True
    notes: tuple[str, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """One tidy row, raw samples under `samples_ms`."""
        return [{**vars(self), "samples_ms": list(self.samples_ms), "notes": list(self.notes)}]

    @property
    def launch_bound(self) -> bool:
        """Whether the device waits for Python: issuing a call takes longer than running it."""
        return self.issue_ms is not None and self.issue_ms > self.median_ms

    def plot(self, ax: Any = None, dark: bool | None = None) -> Any:
        """Samples in order, their distribution, the first call apart; see `course.figures.samples_plot`."""
        from course.figures.timing import samples_plot

        return samples_plot(self.rows(), self.sentence, ax, dark)

    def sentence(self) -> str:
        """First call and steady state in one sentence; of a time that climbs or falls, a second one."""
        return sentences.of_measurement(self)

    __repr__ = sentence


@dataclass(frozen=True)
class Paired:
    """One candidate against the baseline: the centre of the ratios, its interval, the verdict.

    ratio = time(candidate) / time(baseline), below 1 is faster; low..high covers the truth in at least 95 % of
    runs (all looks and all candidates of the run together; `confidence` is that of this single interval). Both are None,
    and confidence is 0, where the rounds are too few for an interval (see `stats.enough`).
    verdict: faster | slower | same | undecided. ratios: one a round, in order; with processes > 0 one a pair of
    processes, each the median of its rounds. difference: how the result differs from the baseline's, in words (empty:
    it does not; None: not compared); not_compared: the type of what could not be compared (empty: nothing).
    drift: which of the two changed while it was measured, from what to what, in words (empty: neither); then the
    verdict is undecided.
    """

    name: str
    baseline: str
    ratio: float
    low: float | None
    high: float | None
    confidence: float
    verdict: str
    ratios: tuple[float, ...]
    gate: float
    processes: int = 0
    difference: str | None = None
    not_compared: str = ""
    drift: str = ""

    def sentence(self) -> str:
        """The result in one sentence."""
        return sentences.of_pair(self)

    def row(self) -> dict[str, Any]:
        """The pair as the beginning of a row: names, ratio, interval, verdict."""
        names = ("baseline", "ratio", "low", "high", "confidence", "verdict", "gate")
        return {"candidate": self.name, **{name: getattr(self, name) for name in names}}

    def shown_above(self, bar: float) -> bool:
        """Whether there is evidence that the ratio is above `bar`: enough data, and the whole interval lies there."""
        return self.low is not None and self.confidence >= ENOUGH and self.low > bar


@dataclass(frozen=True, repr=False)
class Comparison(_Shown):
    """Functions compared in random order, round by round; two have `.ratio .low .high .verdict` of their own.

    pairs: candidate name -> Paired, also as c["name"]. By name, for one call: medians_ms, first_call_ms, calls (in a block),
    issue_ms (on an accelerator: the time Python takes to issue it). rounds, seconds (spent), ci, gate, max_time
    as given; device, clock, threads; processes: new ones of the baseline, 0 where all ran in this one; complete is False
    after an interrupt; notes are sentences in the learner's language.
    """

    baseline: str
    pairs: dict[str, Paired]
    medians_ms: dict[str, float]
    first_call_ms: dict[str, float]
    calls: dict[str, int]
    rounds: int
    seconds: float
    ci: float
    gate: float
    max_time: float
    device: str
    clock: str
    threads: int
    issue_ms: dict[str, float] = field(default_factory=dict)
    processes: int = 0
    complete: bool = True
    notes: tuple[str, ...] = ()
    functions: ClassVar[Mapping[str, Callable[[], Any]]] = MappingProxyType({})
    """What was compared, by name, for whoever judges a comparison; known where it was made, never kept in a file."""

    def __getitem__(self, name: str) -> Paired:
        """One candidate against the baseline. Raises TimingError for a name that is none of them."""
        require_name(name, self.pairs)
        return self.pairs[name]

    def _only(self) -> Paired:
        if len(self.pairs) != 1:
            raise AttributeError(
                t(
                    f'With several candidates ask for one of them: .pairs["{next(iter(self.pairs))}"].ratio',
                    f'有多个候选时请指明其中一个：.pairs["{next(iter(self.pairs))}"].ratio',
                )
            )
        return next(iter(self.pairs.values()))

    ratio = property(lambda self: self._only().ratio, doc="time(candidate) / time(baseline) of the only candidate.")
    low = property(lambda self: self._only().low, doc="Lower end of its interval; None without one.")
    high = property(lambda self: self._only().high, doc="Upper end of its interval; None without one.")
    verdict = property(lambda self: self._only().verdict, doc="The verdict on it.")
    ratios = property(lambda self: self._only().ratios, doc="Its ratios, one a round.")

    def rows(self) -> list[dict[str, Any]]:
        """One tidy row per candidate, the raw ratios under `ratios`."""
        mine = {name: getattr(self, name) for name in ("rounds", "device", "clock", "threads", "complete")}
        return [
            {
                **p.row(),
                **mine,
                "candidate_median_ms": self.medians_ms[p.name],
                "baseline_median_ms": self.medians_ms[p.baseline],
                **{name: getattr(p, name) for name in ("difference", "drift", "processes")},
                "ratios": list(p.ratios),
            }
            for p in self.pairs.values()
        ]

    def sentence(self) -> str:
        """The result as one line: the whole sentence of a single candidate, else the verdict on each."""
        return sentences.of_comparison(self)

    def plot(self, ax: Any = None, dark: bool | None = None) -> Any:
        """Every paired ratio, the intervals, the gate; see `course.figures.paired_plot`."""
        from course.figures.timing import paired_plot

        return paired_plot(self.rows(), self.sentence, ax, dark)

    __repr__ = _Shown.__str__

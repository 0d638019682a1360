"""What `measure` and `compare` give back: plain data that reads as a sentence, a table or tidy rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from course.i18n import t
from course.timing.render import card, quality_word, setting, share, table, text_table, verdict_word
from course.timing.stats import FEWEST_PROCESSES, FIRST_LOOK, median
from course.timing.store import write
from course.timing.validation import require_name
from course.units import format_ms, format_ratio

ENOUGH = 0.9499
"""Confidence from which an interval is evidence."""


APART = 100
"""An interval whose ends differ by more than this factor says nothing."""


@dataclass(frozen=True)
class Measurement:
    """One function timed. All times are for one call.

    median_ms, p10_ms (10th percentile), low_ms..high_ms (95 %, see below), samples_ms (one per block of
    `calls_per_sample` calls), first_call_ms (apart from the rest), relative (time / time of the interleaved
    calibration op `calibration`, or None), quality (stable | bimodal | noisy | drifting | few), overhead_ns (the
    timer's own, a call; not subtracted), faults_per_call (minor page faults; None where the system does not tell), device,
    clock (wall | events), cache (hot | cold), threads (torch may use), busy_threads (of this process at
    work while it ran; 1.0 for work in one thread), warmup_calls, warm (two block medians agreed
    within 2 %), complete (False after an interrupt), notes (sentences in the learner's language).

    processes = 1: the interval is that of the median within this run; a later run may differ by far more.
    processes > 1: figures are medians over the processes, process_medians_ms and process_relatives hold one value each,
    and the intervals are those in which one more process lands.
    """

    name: str
    median_ms: float
    p10_ms: float
    low_ms: float
    high_ms: float
    confidence: float
    samples_ms: tuple[float, ...]
    first_call_ms: float
    relative: float | None
    relative_low: float | None
    relative_high: float | None
    calibration: str | None
    quality: str
    calls_per_sample: int
    warmup_calls: int
    warm: bool
    overhead_ns: float
    device: str
    clock: str
    cache: str
    threads: int
    busy_threads: float
    seconds: float
    faults_per_call: float | None = None
    processes: int = 1
    process_medians_ms: tuple[float, ...] = ()
    process_relatives: tuple[float, ...] = ()
    complete: bool = True
    notes: tuple[str, ...] = ()

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Measurement:
        """The measurement that `dataclasses.asdict`, perhaps by way of JSON, made `plain`."""
        return cls(**{key: tuple(v) if isinstance(v, list) else v for key, v in plain.items()})

    def rows(self) -> list[dict[str, Any]]:
        """One tidy row, raw samples under `samples_ms`."""
        keys = (
            "name",
            "median_ms",
            "p10_ms",
            "low_ms",
            "high_ms",
            "confidence",
            "first_call_ms",
            "relative",
            "relative_low",
            "relative_high",
            "calibration",
            "quality",
            "calls_per_sample",
            "overhead_ns",
            "faults_per_call",
            "device",
            "clock",
            "cache",
            "threads",
            "busy_threads",
            "processes",
            "complete",
        )
        return [
            {key: getattr(self, key) for key in keys}
            | {"samples_ms": list(self.samples_ms), "process_medians_ms": list(self.process_medians_ms)}
        ]

    def _facts(self) -> list[tuple[str, str]]:
        count = len(self.samples_ms)
        calls = self.calls_per_sample
        per_sample = t(
            f"{count} sample{'s' * (count > 1)} of {calls} call{'s' * (calls > 1)}",
            f"{count} 个样本，每个 {calls} 次调用",
        )
        low, high, sure = format_ms(self.low_ms), format_ms(self.high_ms), f"{self.confidence:.0%}"
        part = share(self.overhead_ns / 1e6, self.median_ms)
        facts = [
            (t("median", "中位数"), format_ms(self.median_ms)),
            (self._reach(), t(f"{low} to {high} ({sure})", f"{low} 至 {high}（{sure}）")),
            (t("10th percentile", "第 10 百分位"), format_ms(self.p10_ms)),
            (t("first call", "第一次调用"), format_ms(self.first_call_ms)),
            (t("samples", "样本"), per_sample),
            (t("quality", "质量"), quality_word(self.quality)),
            (
                t("timer's own overhead", "计时器自身开销"),
                t(
                    f"{self.overhead_ns:.0f} ns a call ({part}), not subtracted",
                    f"每次 {self.overhead_ns:.0f} ns（{part}），未扣除",
                ),
            ),
            (t("CPU threads at work", "忙碌的 CPU 线程"), f"{self.busy_threads:.1f}"),
            (t("measured on", "测量条件"), setting(self.device, self.clock, self.cache, self.threads)),
        ]
        if self.faults_per_call:
            facts.insert(-1, (t("page faults a call", "每次调用的缺页"), f"{self.faults_per_call:,.4g}"))
        if self.relative is not None:
            facts.insert(
                3, (t(f"relative to {self.calibration}", f"相对于 {self.calibration}"), f"{self.relative:.4g}")
            )
        return facts

    def plot(self, ax: Any = None, dark: bool | None = None) -> Any:
        """Samples in order, their distribution, the first call apart; see `course.figures.samples_plot`."""
        from course.figures.timing import samples_plot

        return samples_plot(self.rows(), self.sentence(), ax, dark)

    def save(self, path: Any) -> Path:
        """Write it to a JSON file, with this machine's passport; `load` reads it."""
        return write(path, "Measurement", asdict(self))

    def _reach(self) -> str:
        """What the interval is one of."""
        if self.processes == 1:
            return t("interval within this run", "本次运行内的区间")
        return t(
            f"a repetition lands in (from {self.processes} processes)",
            f"再测一次会落在（依据 {self.processes} 个进程）",
        )

    def sentence(self) -> str:
        """First call and steady state in one sentence; of a time that climbs or falls, a second one."""
        return self._steady() + (self._drift() if self.quality == "drifting" else "")

    def _drift(self) -> str:
        quarter = max(1, len(self.samples_ms) // 4)
        first, last = (median(part) for part in (self.samples_ms[:quarter], self.samples_ms[-quarter:]))
        if last > first:
            return t(
                f" It climbed from {format_ms(first)} to {format_ms(last)} while it was measured, "
                "so the median means little: does each call leave something behind, such as a longer list?",
                f"测量期间它从 {format_ms(first)} 一路涨到 {format_ms(last)}，中位数没有多大意义：是不是每次调用都留下了什么，"
                "比如越来越长的列表？",
            )
        return t(
            f" It fell from {format_ms(first)} to {format_ms(last)} while it was measured, so the median means little: "
            "it was not warm yet, or finds more done each time. Give it more max_time.",
            f"测量期间它从 {format_ms(first)} 一路降到 {format_ms(last)}，中位数没有多大意义：可能还没预热好，或者一次比一次省事。"
            "请调大 max_time。",
        )

    def _steady(self) -> str:
        low, high = format_ms(self.low_ms), format_ms(self.high_ms)
        reach = t(f"within this run {low} to {high}", f"本次运行内 {low} 至 {high}")
        if self.processes > 1:
            reach = t(
                f"in {self.processes} processes; a repetition lands in {low} to {high}",
                f"{self.processes} 个进程；再测一次会落在 {low} 至 {high}",
            )
        if self.processes > 1 and self.high_ms > APART * self.low_ms:
            reach = t(
                f"in {self.processes} processes, too far apart to say where a repetition lands: give them more max_time, "
                "or the machine some quiet",
                f"{self.processes} 个进程相差太大，说不出再测一次会落在哪里：请调大 max_time，或等机器空闲些",
            )
        return t(
            f"{self.name}: first call {format_ms(self.first_call_ms)}, then {format_ms(self.median_ms)} ({reach}), "
            f"{quality_word(self.quality)}.",
            f"{self.name}：第一次调用 {format_ms(self.first_call_ms)}，之后 {format_ms(self.median_ms)}（{reach}），"
            f"{quality_word(self.quality)}。",
        )

    def __str__(self) -> str:
        facts = [t(f"  {what}: {value}", f"  {what}：{value}") for what, value in self._facts()]
        return "\n".join([self.sentence(), *facts, *(f"  ! {note}" for note in self.notes)])

    def __repr__(self) -> str:
        return self.sentence()

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        facts = table((t("what", "项目"), t("value", "数值")), self._facts())
        return card(self.sentence(), facts, self.notes)


@dataclass(frozen=True)
class Paired:
    """One candidate against the baseline: the median of ratios, its interval, the verdict.

    ratio = time(candidate) / time(baseline), below 1 is faster; low..high covers the truth in at least 95 % of
    runs (all looks and all candidates of the run together; `confidence` is that of this single interval).
    verdict: faster | slower | same | undecided. ratios: one a round, in order; with processes > 0 one a pair of
    processes, each the median of its rounds. difference: how the result differs from the baseline's, in words (empty:
    it does not; None: not compared).
    """

    name: str
    baseline: str
    ratio: float
    low: float
    high: float
    confidence: float
    verdict: str
    ratios: tuple[float, ...]
    gate: float
    processes: int = 0
    difference: str | None = None

    def sentence(self) -> str:
        """The result in one sentence."""
        ratio, low, high = format_ratio(self.ratio, self.low, self.high)
        against = t(
            f"{ratio} x the time of {self.baseline} (interval {low} to {high})",
            f"{self.baseline} 耗时的 {ratio} 倍（区间 {low} 至 {high}）",
        )
        if self.verdict == "undecided":
            width = (self.high - self.low) * 100
            wide = f"{width:.0f}" if width >= 10 else f"{width:.2g}"
            ending = t(
                f"undecided, the interval is still {wide} % wide: give it more time",
                f"无法判定，区间仍有 {wide}% 宽：请多给些时间",
            )
            few = self._few()
            if few:
                ending = t(f"undecided, {few}: give it more time", f"无法判定，{few}：请多给些时间")
        elif self.verdict == "same":
            ending = t(f"the same within {self.gate:.1%}", f"在 {self.gate:.1%} 以内视为一样快")
        else:
            ending = verdict_word(self.verdict)
        return t(f"{self.name} takes {against}: {ending}.", f"{self.name} 耗时是 {against}：{ending}。")

    def shown_above(self, bar: float) -> bool:
        """Whether there is evidence that the ratio is above `bar`: enough data, and the whole interval lies there."""
        return self.confidence >= ENOUGH and self.low > bar

    def _few(self) -> str:
        """That the width of the interval is not what is missing, in words; else empty."""
        count = self.processes or len(self.ratios)
        if self.processes:
            return (
                ""
                if count >= FEWEST_PROCESSES
                else t(f"{count} process{'es are' if count > 1 else ' is'} too few", f"只用了 {count} 个进程，太少")
            )
        if count < 2:
            return t("after one round", "只测了一轮")
        if count < FIRST_LOOK and not self.low <= 1 <= self.high:
            return t(f"{count} rounds are too few", f"只测了 {count} 轮，太少")
        return ""


@dataclass(frozen=True)
class Comparison:
    """Functions compared in random order, round by round; two have `.ratio .low .high .verdict` of their own.

    pairs: candidate name -> Paired, also as c["name"]. medians_ms, first_call_ms, calls, faults_per_call (minor page
    faults): by name, for one call. rounds, seconds (spent), ci, gate, max_time as given; device, clock, cache, threads;
    processes: new ones of each candidate, 0 where all ran in this one; complete is False after an interrupt; notes
    are sentences in the learner's language.
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
    cache: str
    threads: int
    faults_per_call: dict[str, float | None] = field(default_factory=dict)
    processes: int = 0
    complete: bool = True
    notes: tuple[str, ...] = ()
    functions: ClassVar[Mapping[str, Callable[[], Any]]] = MappingProxyType({})
    """What was compared, by name, for whoever judges a comparison; known where it was made, never kept in a file."""

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Comparison:
        """The comparison that `dataclasses.asdict`, perhaps by way of JSON, made `plain`."""
        pairs = {name: Paired(**{**pair, "ratios": tuple(pair["ratios"])}) for name, pair in plain["pairs"].items()}
        return cls(**{**plain, "pairs": pairs, "notes": tuple(plain["notes"])})

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

    @property
    def ratio(self) -> float:
        """time(candidate) / time(baseline) of the only candidate."""
        return self._only().ratio

    @property
    def low(self) -> float:
        """Lower end of the interval of the only candidate."""
        return self._only().low

    @property
    def high(self) -> float:
        """Upper end of the interval of the only candidate."""
        return self._only().high

    @property
    def verdict(self) -> str:
        """Verdict on the only candidate."""
        return self._only().verdict

    @property
    def ratios(self) -> tuple[float, ...]:
        """One ratio a round of the only candidate."""
        return self._only().ratios

    def rows(self) -> list[dict[str, Any]]:
        """One tidy row per candidate, the raw ratios under `ratios`."""
        return [
            {
                "candidate": p.name,
                "baseline": p.baseline,
                "ratio": p.ratio,
                "low": p.low,
                "high": p.high,
                "confidence": p.confidence,
                "verdict": p.verdict,
                "gate": p.gate,
                "rounds": self.rounds,
                "candidate_median_ms": self.medians_ms[p.name],
                "baseline_median_ms": self.medians_ms[p.baseline],
                "device": self.device,
                "clock": self.clock,
                "cache": self.cache,
                "threads": self.threads,
                "faults_per_call": self.faults_per_call.get(p.name),
                "difference": p.difference,
                "processes": self.processes,
                "complete": self.complete,
                "ratios": list(p.ratios),
            }
            for p in self.pairs.values()
        ]

    def sentence(self) -> str:
        """The result as one line: the whole sentence of a single candidate, else the verdict on each."""
        if len(self.pairs) == 1:
            return self._only().sentence()
        found = [f"{p.name} {verdict_word(p.verdict)}" for p in self.pairs.values()]
        return t(f"Against {self.baseline}: {', '.join(found)}.", f"与 {self.baseline} 相比：{'，'.join(found)}。")

    def plot(self, ax: Any = None, dark: bool | None = None) -> Any:
        """Every paired ratio, the intervals, the gate; see `course.figures.paired_plot`."""
        from course.figures.timing import paired_plot

        return paired_plot(self.rows(), self.sentence(), ax, dark)

    def save(self, path: Any) -> Path:
        """Write it to a JSON file, with this machine's passport; `load` reads it."""
        return write(path, "Comparison", asdict(self))

    def _setting(self) -> str:
        where = setting(self.device, self.clock, self.cache, self.threads)
        unit = t(f"round{'s' * (self.rounds != 1)}", "轮")
        if self.processes:
            unit = t(f"new process{'es' * (self.processes != 1)} of each", "个各自的新进程")
        return t(
            f"{self.rounds} {unit} in {self.seconds:.2g} s on {where}",
            f"{self.rounds} {unit}，{self.seconds:.2g} 秒，{where}",
        )

    def __str__(self) -> str:
        if len(self.pairs) == 1:
            lines = [self.sentence()]
        else:
            lines = [self.sentence(), *(f"  {line}" for line in text_table(*self._table()))]
            lines += [f"  {p.sentence()}" for p in self.pairs.values() if p.verdict == "undecided"]
        return "\n".join([*lines, f"  {self._setting()}", *(f"  ! {note}" for note in self.notes)])

    __repr__ = __str__

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        header = (
            t("candidate", "候选"),
            t("median", "中位数"),
            t("ratio", "比值"),
            t("interval", "区间"),
            t("verdict", "结论"),
        )
        lines = [(str(self.baseline), format_ms(self.medians_ms[self.baseline]), "1", "", t("baseline", "基准"))]
        for p in self.pairs.values():
            ratio, low, high = format_ratio(p.ratio, p.low, p.high)
            median = format_ms(self.medians_ms[p.name])
            lines.append((str(p.name), median, ratio, f"{low} – {high}", verdict_word(p.verdict)))
        return header, lines

    def _repr_html_(self) -> str:
        return card(self.sentence(), table(*self._table()), (self._setting(), *self.notes))

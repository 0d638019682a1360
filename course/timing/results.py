"""What `measure` and `compare` give back: plain data that reads as a sentence, a table or tidy rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from course.i18n import t
from course.timing.render import (
    card,
    format_ms,
    quality_word,
    setting,
    share,
    table,
    text_table,
    verdict_word,
)
from course.timing.stats import FIRST_LOOK, median

VERDICTS = ("faster", "slower", "same", "undecided")
QUALITIES = ("stable", "bimodal", "noisy", "drifting", "few")


@dataclass(frozen=True)
class Measurement:
    """One function timed. All times are for one call.

    median_ms, p10_ms (10th percentile), low_ms..high_ms (95 % interval of the median within this run; a
    later run may differ by far more), samples_ms (one per block of `calls_per_sample` calls), first_call_ms
    (apart from the rest), relative (time / time of the interleaved calibration op `calibration`, or None),
    quality (stable | bimodal | noisy | drifting | few), overhead_ns (the timer's own, a call; not subtracted),
    device, clock (wall | events), cache (hot | cold), threads (torch may use), busy_threads (of this process at
    work while it ran; 1.0 for work in one thread), warmup_calls, warm (two block medians agreed
    within 2 %), complete (False after an interrupt), notes (sentences in the learner's language).
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
    complete: bool = True
    notes: tuple[str, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """One tidy row, raw samples under `samples_ms`."""
        keys = ("name", "median_ms", "p10_ms", "low_ms", "high_ms", "confidence", "first_call_ms",
                "relative", "relative_low", "relative_high", "calibration", "quality", "calls_per_sample",
                "overhead_ns", "device", "clock", "cache", "threads", "busy_threads", "complete")
        return [{key: getattr(self, key) for key in keys} | {"samples_ms": list(self.samples_ms)}]

    def _facts(self) -> list[tuple[str, str]]:
        count = len(self.samples_ms)
        calls = self.calls_per_sample
        per_sample = t(f"{count} sample{'s' * (count > 1)} of {calls} call{'s' * (calls > 1)}",
                       f"{count} 个样本，每个 {calls} 次调用")
        low, high, sure = format_ms(self.low_ms), format_ms(self.high_ms), f"{self.confidence:.0%}"
        part = share(self.overhead_ns / 1e6, self.median_ms)
        facts = [
            (t("median", "中位数"), format_ms(self.median_ms)),
            (t("interval", "区间"), t(f"{low} to {high} ({sure})", f"{low} 至 {high}（{sure}）")),
            (t("10th percentile", "第 10 百分位"), format_ms(self.p10_ms)),
            (t("first call", "第一次调用"), format_ms(self.first_call_ms)),
            (t("samples", "样本"), per_sample),
            (t("quality", "质量"), quality_word(self.quality)),
            (t("timer's own overhead", "计时器自身开销"),
             t(f"{self.overhead_ns:.0f} ns a call ({part}), not subtracted",
               f"每次 {self.overhead_ns:.0f} ns（{part}），未扣除")),
            (t("CPU threads at work", "忙碌的 CPU 线程"), f"{self.busy_threads:.1f}"),
            (t("measured on", "测量条件"), setting(self.device, self.clock, self.cache, self.threads)),
        ]
        if self.relative is not None:
            facts.insert(3, (t(f"relative to {self.calibration}", f"相对于 {self.calibration}"),
                             f"{self.relative:.4g}"))
        return facts

    def plot(self, ax: Any = None, dark: bool | None = None) -> Any:
        """Samples in order, their distribution, the first call apart; see `course.figures.samples_plot`."""
        from course.figures.timing import samples_plot

        return samples_plot(self, ax, dark)

    def sentence(self) -> str:
        """First call and steady state in one sentence; of a time that climbs or falls, a second one."""
        return self._steady() + (self._drift() if self.quality == "drifting" else "")

    def _drift(self) -> str:
        quarter = max(1, len(self.samples_ms) // 4)
        first, last = (median(part) for part in (self.samples_ms[:quarter], self.samples_ms[-quarter:]))
        if last > first:
            return t(f" It climbed from {format_ms(first)} to {format_ms(last)} while it was measured, so the median means "
                     "little: does each call leave something behind, such as a longer list?",
                     f"测量期间它从 {format_ms(first)} 一路涨到 {format_ms(last)}，中位数没有多大意义：是不是每次调用都留下了什么，"
                     "比如越来越长的列表？")
        return t(f" It fell from {format_ms(first)} to {format_ms(last)} while it was measured, so the median means little: "
                 "it was not warm yet, or finds more done each time. Give it more max_time.",
                 f"测量期间它从 {format_ms(first)} 一路降到 {format_ms(last)}，中位数没有多大意义：可能还没预热好，或者一次比一次省事。"
                 "请调大 max_time。")

    def _steady(self) -> str:
        return t(
            f"{self.name}: first call {format_ms(self.first_call_ms)}, then {format_ms(self.median_ms)} "
            f"({format_ms(self.low_ms)} to {format_ms(self.high_ms)}), {quality_word(self.quality)}.",
            f"{self.name}：第一次调用 {format_ms(self.first_call_ms)}，之后 {format_ms(self.median_ms)}"
            f"（{format_ms(self.low_ms)} 至 {format_ms(self.high_ms)}），{quality_word(self.quality)}。",
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
    verdict: faster | slower | same | undecided. ratios: one a round, in order.
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

    def figures(self) -> tuple[str, str, str]:
        """Ratio, low and high with as many decimals as the interval deserves."""
        digits = 4 if self.high - self.low < 0.004 else 3
        if self.high < 0.1 or self.high >= 10:
            return f"{self.ratio:.3g}", f"{self.low:.3g}", f"{self.high:.3g}"
        return f"{self.ratio:.{digits}f}", f"{self.low:.{digits}f}", f"{self.high:.{digits}f}"

    def sentence(self) -> str:
        """The result in one sentence."""
        ratio, low, high = self.figures()
        against = t(f"{ratio} x the time of {self.baseline} (interval {low} to {high})",
                    f"{self.baseline} 耗时的 {ratio} 倍（区间 {low} 至 {high}）")
        if self.verdict == "undecided":
            width = (self.high - self.low) * 100
            wide = f"{width:.0f}" if width >= 10 else f"{width:.2g}"
            ending = t(f"undecided, the interval is still {wide} % wide: give it more time",
                       f"未定，区间仍有 {wide}% 宽：请多给些时间")
            if len(self.ratios) < FIRST_LOOK and not self.low <= 1 <= self.high:  # then width is not what is missing
                ending = t(f"undecided, {len(self.ratios)} rounds are too few: give it more time",
                           f"未定，只测了 {len(self.ratios)} 轮，太少：请多给些时间")
            if len(self.ratios) < 2:
                ending = t("undecided after one round: give it more time", "只测了一轮，未定：请多给些时间")
        elif self.verdict == "same":
            ending = t(f"the same within {self.gate:.1%}", f"在 {self.gate:.1%} 以内视为一样快")
        else:
            ending = verdict_word(self.verdict)
        return t(f"{self.name} takes {against}: {ending}.", f"{self.name} 耗时是 {against}：{ending}。")


@dataclass(frozen=True)
class Comparison:
    """Functions compared in random order, round by round; two have `.ratio .low .high .verdict` of their own.

    pairs: candidate name -> Paired. medians_ms, first_call_ms, calls: by name, times for one call.
    rounds, seconds (spent), ci, gate, max_time as given; device, clock, cache, threads, fresh_process;
    complete is False after an interrupt; notes are sentences in the learner's language.
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
    fresh_process: bool = False
    complete: bool = True
    notes: tuple[str, ...] = field(default=())

    def _only(self) -> Paired:
        if len(self.pairs) != 1:
            raise AttributeError(t(
                f'With several candidates ask for one of them: .pairs["{next(iter(self.pairs))}"].ratio',
                f'有多个候选时请指明其中一个：.pairs["{next(iter(self.pairs))}"].ratio',
            ))
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
            {"candidate": p.name, "baseline": p.baseline, "ratio": p.ratio, "low": p.low, "high": p.high,
             "confidence": p.confidence, "verdict": p.verdict, "gate": p.gate, "rounds": self.rounds,
             "candidate_median_ms": self.medians_ms[p.name],
             "baseline_median_ms": self.medians_ms[p.baseline],
             "device": self.device, "clock": self.clock, "cache": self.cache, "threads": self.threads,
             "fresh_process": self.fresh_process, "complete": self.complete, "ratios": list(p.ratios)}
            for p in self.pairs.values()
        ]

    def headline(self) -> str:
        """The result as one line: the whole sentence of a single candidate, else the verdict on each."""
        if len(self.pairs) == 1:
            return self._only().sentence()
        found = [f"{p.name} {verdict_word(p.verdict)}" for p in self.pairs.values()]
        return t(f"Against {self.baseline}: {', '.join(found)}.", f"与 {self.baseline} 相比：{'，'.join(found)}。")

    def plot(self, ax: Any = None, dark: bool | None = None) -> Any:
        """Every paired ratio, the intervals, the gate; see `course.figures.paired_plot`."""
        from course.figures.timing import paired_plot

        return paired_plot(self, ax, dark)

    def _setting(self) -> str:
        where = setting(self.device, self.clock, self.cache, self.threads)
        fresh = t(", each in a process of its own", "，各自在独立进程中") if self.fresh_process else ""
        return t(f"{self.rounds} round{'s' * (self.rounds != 1)} in {self.seconds:.2g} s on {where}{fresh}",
                 f"{self.rounds} 轮，{self.seconds:.2g} 秒，{where}{fresh}")

    def __str__(self) -> str:
        if len(self.pairs) == 1:
            lines = [self.headline()]
        else:
            lines = [self.headline(), *(f"  {line}" for line in text_table(*self._table()))]
            lines += [f"  {p.sentence()}" for p in self.pairs.values() if p.verdict == "undecided"]
        return "\n".join([*lines, f"  {self._setting()}", *(f"  ! {note}" for note in self.notes)])

    __repr__ = __str__

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        header = (t("candidate", "候选"), t("median", "中位数"), t("ratio", "比值"), t("interval", "区间"),
                  t("verdict", "结论"))
        lines = [(str(self.baseline), format_ms(self.medians_ms[self.baseline]), "1", "", t("baseline", "基准"))]
        for p in self.pairs.values():
            ratio, low, high = p.figures()
            median = format_ms(self.medians_ms[p.name])
            lines.append((str(p.name), median, ratio, f"{low} – {high}", verdict_word(p.verdict)))
        return header, lines

    def _repr_html_(self) -> str:
        return card(self.headline(), table(*self._table()), (self._setting(), *self.notes))

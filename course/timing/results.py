"""What `measure` and `compare` give back: plain data that tells itself, as a sentence, as text and as HTML."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

from course.core.i18n import Text, both, pick, t
from course.core.plain_text import text_of
from course.core.tables import as_html
from course.core.units import format_ms, format_ratio
from course.figures.block import Block
from course.figures.timing import paired_plot
from course.timing.stats import FEWEST_PROCESSES, FEWEST_ROUNDS, drift, enough

VERDICTS = {"faster": "更快", "slower": "更慢", "same": "一样快", "undecided": "无法判定"}
QUALITIES = {"stable": ("stable", "稳定"), "noisy": ("noisy", "噪声大"), "drifting": ("drifting", "一路漂移")}
"""Kind of samples -> what is said of it; of too few the interval's place says so."""


def too_few(rounds: int) -> Text:
    """The words for so few rounds (or samples) that there is no interval, in both languages."""
    return both(
        f"too few rounds to tell ({rounds} of at least {FEWEST_ROUNDS})",
        f"轮数太少，无法判断（{rounds} 轮，至少要 {FEWEST_ROUNDS} 轮）",
    )


def drifted(ends: tuple[float, float] | None, shown: Callable[[float], str], what: tuple[str, str]) -> str:
    """From what to what something climbed or fell while it was measured, and what to do, in words; empty where it kept still."""
    if ends is None:
        return ""
    (first, last), up = map(shown, ends), ends[1] > ends[0]
    return t(
        f"{what[0]} {'climbed' if up else 'fell'} from {first} to {last} while it was measured, so its middle means little: call each "
        "function some hundred times first; where it still changes, a call leaves something behind",
        f"测量期间{what[1]}从 {first} 一路{'涨' if up else '降'}到 {last}，中间的值没有多大意义：请先把每个函数调用几百次；"
        "如果之后还在变，说明每次调用都留下了什么",
    )


@dataclass(frozen=True, repr=False, kw_only=True)
class _Result:
    """What every result says of how it was measured, and how it shows itself in a terminal and in a notebook: the sentence, a table of
    several candidates, how it was measured, the remarks. Each kind has its `sentence` and, in words, `_how_often` it was measured.

    device, clock (wall | events), threads (torch may use), seconds (spent), notes (sentences in the learner's language).
    """

    device: str
    clock: str
    threads: int
    seconds: float
    notes: tuple[str, ...] = ()

    def _table(self) -> Sequence[tuple[str, ...]]:
        return ()

    def _how(self) -> str:
        clock = t("event clock", "事件计时") if self.clock == "events" else t("wall clock", "墙钟计时")
        many = self.threads != 1
        return self._how_often() + t(
            f" on {self.device}, {clock}, {self.threads} CPU thread{'s' * many}",
            f"，{self.device}，{clock}，{self.threads} 个 CPU 线程",
        )

    def _repr_html_(self) -> str:
        table = as_html(self._table(), figures=False) if self._table() else ""
        small = (self._how(), *self.notes)
        said = "".join(f"<div><small>{html.escape(line)}</small></div>" for line in small)
        return f"<div><p>{html.escape(self.sentence())}</p>{table}{said}</div>"

    def __str__(self) -> str:
        return text_of(self._repr_html_())

    __repr__ = __str__


@dataclass(frozen=True, repr=False, kw_only=True)
class Measurement(_Result):
    """One function timed. All times are for one call.

    median_ms, low_ms..high_ms (95 % interval of the median within this run; a later run may differ by far more. None where the
    samples are too few to tell or all alike: see `stats.enough`), samples_ms (one per block of `calls_per_sample` calls),
    first_call_ms (apart from the rest), quality (stable | noisy | drifting | few), issue_ms (on an accelerator: the time Python
    takes to issue a call; the others are then the device's own).
    """

    name: str
    median_ms: float
    low_ms: float | None
    high_ms: float | None
    samples_ms: tuple[float, ...]
    first_call_ms: float
    quality: str
    calls_per_sample: int
    issue_ms: float | None = None

    def sentence(self) -> str:
        """First call and steady state in one sentence; of a time that climbs or falls, or is launch-bound, a second one."""
        first, later = format_ms(self.first_call_ms), format_ms(self.median_ms)
        quality = t(", ", "，") + t(*QUALITIES[self.quality]) if self.quality in QUALITIES else ""
        said = t(
            f"{self.name}: first call {first}, then {later}; {self._reach()}{quality}.",
            f"{self.name}：第一次调用 {first}，之后 {later}；{self._reach()}{quality}。",
        )
        if self.quality == "drifting":
            said += t(" ", "") + drifted(drift(self.samples_ms), format_ms, ("It", "它")) + t(".", "。")
        if self.issue_ms is not None and self.issue_ms > self.median_ms:
            issue = format_ms(self.issue_ms)
            said += t(
                f" That is the device's own time; Python takes {issue} to issue a call. Launch-bound: the GPU waits for Python.",
                f"这是设备自己的时间；Python 发出一次调用要 {issue}。受限于 kernel 启动（launch-bound）：GPU 在等 Python。",
            )
        return said

    def _reach(self) -> str:
        """The interval of the median, or why there is none."""
        if self.low_ms is None or self.high_ms is None:
            samples = len(self.samples_ms)
            return t("all samples alike", "所有样本都一样") if enough(samples) else pick(too_few(samples))
        low, high = format_ms(self.low_ms), format_ms(self.high_ms)
        return t(f"within this run {low} to {high}", f"本次运行内 {low} 至 {high}")

    def _how_often(self) -> str:
        count, calls = len(self.samples_ms), self.calls_per_sample
        return t(
            f"{count} sample{'s' * (count > 1)} of {calls} call{'s' * (calls > 1)}",
            f"{count} 个样本，每个 {calls} 次调用",
        )


@dataclass(frozen=True)
class Paired:
    """One candidate against the baseline: the centre of the ratios, its interval, the verdict.

    ratio = time(candidate) / time(baseline), below 1 is faster; low..high covers the truth in at least 95 % of
    runs (all looks and all candidates of the run together). Both are None where too few rounds carry none (see `stats.enough`).
    verdict: faster | slower | same | undecided. ratios: one a round, in order; with processes > 0 one a pair of
    processes, each the median of its rounds. difference: how the result differs from the baseline's, in words (empty:
    it does not; None: not compared); not_compared: the type of what could not be compared (empty: nothing).
    drift: from what to what the ratio climbed or fell while it was measured, in words (empty: it did not); then it is undecided.
    """

    name: str
    baseline: str
    ratio: float
    low: float | None
    high: float | None
    verdict: str
    ratios: tuple[float, ...]
    gate: float
    processes: int = 0
    difference: str | None = None
    not_compared: str = ""
    drift: str = ""

    def sentence(self) -> str:
        """One candidate against its baseline in one sentence."""
        if self.low is None or self.high is None:
            few = self._without_interval()
            return t(
                f"{self.name} against {self.baseline}: {few}. Give it more time.",
                f"{self.name} 与 {self.baseline} 相比：{few}。请多给些时间。",
            )
        ratio, low, high = format_ratio(self.ratio, self.low, self.high)
        against = t(
            f"{ratio} x the time of {self.baseline} (interval {low} to {high})",
            f"{self.baseline} 耗时的 {ratio} 倍（区间 {low} 至 {high}）",
        )
        ending = self._ending((self.high - self.low) * 100)
        return t(f"{self.name} takes {against}: {ending}.", f"{self.name} 耗时是 {against}：{ending}。")

    def _without_interval(self) -> str:
        """Why there is no interval, in words."""
        if self.processes:
            return t(
                f"too few processes to tell ({self.processes} of at least {FEWEST_PROCESSES})",
                f"进程太少，无法判断（{self.processes} 个，至少要 {FEWEST_PROCESSES} 个）",
            )
        if enough(len(self.ratios)):
            return t("every round gave the same", "每一轮的比值都一样")
        return pick(too_few(len(self.ratios)))

    def _ending(self, width: float) -> str:
        if self.drift:
            return t(f"undecided, drifting: {self.drift}", f"无法判定，一路漂移：{self.drift}")
        if self.verdict == "undecided":
            wide = f"{width:.2g}" if width < 10 else f"{width:.0f}"
            return t(
                f"undecided, the interval is still {wide} % wide: give it more time",
                f"无法判定，区间仍有 {wide}% 宽：请多给些时间",
            )
        if self.verdict == "same":
            return t(f"the same within {self.gate:.1%}", f"在 {self.gate:.1%} 以内视为一样快")
        return t(self.verdict, VERDICTS[self.verdict])

    def short_verdict(self) -> str:
        """The verdict in a word or two."""
        if self.low is None:
            return t("too few rounds", "轮数太少") if not self.processes else t("too few processes", "进程太少")
        return t(*QUALITIES["drifting"]) if self.drift else t(self.verdict, VERDICTS[self.verdict])


@dataclass(frozen=True, repr=False, kw_only=True)
class Comparison(_Result):
    """Functions compared in random order, round by round; two have `.ratio .low .high .verdict` of their own.

    pairs: candidate name -> Paired, also as c["name"]. By name, for one call: medians_ms, calls (in a block), issue_ms (on an
    accelerator: the time Python takes to issue it). processes: new ones of the baseline, 0 where all ran in this one.
    """

    baseline: str
    pairs: dict[str, Paired]
    medians_ms: dict[str, float]
    calls: dict[str, int]
    rounds: int
    issue_ms: dict[str, float] = field(default_factory=dict)
    processes: int = 0
    functions: ClassVar[Mapping[str, Callable[[], Any]]] = MappingProxyType({})
    """What was compared, by name, for whoever judges a comparison; known where it was made, never kept in a file."""

    def __getitem__(self, name: str) -> Paired:
        """One candidate against the baseline."""
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
        """One row per candidate: its median and the fields of its `Paired`."""
        return [
            {**vars(p), "median_ms": self.medians_ms[p.name], "ratios": list(p.ratios)} for p in self.pairs.values()
        ]

    def sentence(self) -> str:
        """The result as one line: the whole sentence of a single candidate, else the verdict on each."""
        if len(self.pairs) == 1:
            return self._only().sentence()
        said = [f"{p.name} {p.short_verdict()}" for p in self.pairs.values()]
        return t(f"Against {self.baseline}: {', '.join(said)}.", f"与 {self.baseline} 相比：{'，'.join(said)}。")

    def _table(self) -> Sequence[tuple[str, ...]]:
        header = (
            t("candidate", "候选"),
            t("median", "中位数"),
            t("ratio", "比值"),
            t("interval", "区间"),
            t("verdict", "结论"),
        )
        lines = [(self.baseline, "1", "", t("baseline", "基准"))]
        for p in self.pairs.values():
            ratio, interval = "–", "–"  # what too few rounds do not carry
            if p.low is not None and p.high is not None:
                ratio, *ends = format_ratio(p.ratio, p.low, p.high)
                interval = " – ".join(ends)
            lines.append((p.name, ratio, interval, p.short_verdict()))
        return [header, *((str(name), format_ms(self.medians_ms[name]), *words) for name, *words in lines)]

    def _how_often(self) -> str:
        unit, times = t(f"round{'s' * (self.rounds != 1)}", "轮"), f"{self.rounds}"
        if self.processes:
            unit = t(f"new process{'es' * (self.processes != 1)} of each", "个各自的新进程")
        seconds = f"{self.seconds:.2g}" if self.seconds < 10 else f"{self.seconds:.0f}"
        return t(f"{times} {unit} in {seconds} s", f"{times} {unit}，{seconds} 秒")

    def plot(self) -> Block:
        """Every paired ratio, the intervals, the gate; see `course.figures.timing`."""
        return paired_plot(self.rows(), self.sentence())

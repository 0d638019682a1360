"""Compare a new result with a saved one, and check that both are from the same machine."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from course.i18n import t
from course.machine import passport
from course.timing import store
from course.timing.render import card, table
from course.timing.results import Comparison, Measurement, Paired
from course.timing.sentences import interval, short_verdict
from course.timing.stats import TOTAL_ERROR, change_interval, decide, geometric_mean
from course.timing.validation import TimingError, require_name

Result = Measurement | Comparison
KINDS: Mapping[str, Any] = {"Measurement": Measurement, "Comparison": Comparison}
MACHINE = ("device", "device_name", "capability", "cpu", "cores", "arch")
"""Fields of the passport that identify a machine. Where one differs, there are two machines and no verdict."""
INSTALLED = ("torch", "cuda", "hip", "cudnn", "onednn", "mkl", "driver", "cpu_capability", "threads", "os", "python")
"""Fields for what is installed. A difference may be what changed the time, so a note names it."""


@dataclass(frozen=True)
class Saved:
    """A result from a file, with the passport of its machine and the time (UTC, ISO 8601) when it was saved."""

    result: Result
    machine: dict[str, Any]
    created: str


def load(path: str | os.PathLike[str]) -> Saved:
    """Read a result that `result.save(path)` wrote. Raises TimingError for any other file."""
    content = store.read(path)
    try:
        return Saved(KINDS[content["kind"]].from_plain(content["result"]), dict(content["machine"]), content["created"])
    except (KeyError, TypeError, AttributeError) as error:
        raise TimingError(
            t(
                f"{path} is damaged ({type(error).__name__}: {error}). Measure again and save anew.",
                f"{path} 已损坏（{type(error).__name__}：{error}）。请重新测量并保存。",
            )
        ) from error


@dataclass(frozen=True)
class Change:
    """The comparison of a new and an older result. pairs: name -> Paired (ratio = now / then, below 1: faster now), also
    change["name"].

    created: when the older one was saved. machine: passport key -> (then, now) where they differ. notes: reasons why a verdict
    may be wrong, or what may explain it.
    """

    pairs: dict[str, Paired]
    created: str
    machine: dict[str, tuple[Any, Any]]
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Paired:
        """One function or candidate. Raises TimingError for a name that is none of them."""
        require_name(name, self.pairs)
        return self.pairs[name]

    def rows(self) -> list[dict[str, Any]]:
        """One tidy row each."""
        pairs = self.pairs.values()
        return [{**p.row(), "processes": p.processes, "ratios": list(p.ratios)} for p in pairs]

    def sentence(self) -> str:
        """The change in one line."""
        if len(self.pairs) == 1:
            return next(iter(self.pairs.values())).sentence()
        found = [f"{p.name} {short_verdict(p)}" for p in self.pairs.values()]
        return t(f"Compared with {self.created}: {', '.join(found)}.", f"与 {self.created} 相比：{'，'.join(found)}。")

    def plot(self, ax: Any = None, dark: bool | None = None) -> Any:
        """Plot each new value divided by the mean of the old ones, with intervals; see `course.figures.paired_plot`."""
        from course.figures.timing import paired_plot

        return paired_plot(self.rows(), self.sentence, ax, dark)

    def __str__(self) -> str:
        lines = [self.sentence()]
        if len(self.pairs) > 1:
            lines += [f"  {p.sentence()}" for p in self.pairs.values()]
        return "\n".join([*lines, *(f"  ! {note}" for note in self.notes)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        header = (t("what", "项目"), t("now / then", "现在 / 当时"), t("interval", "区间"), t("verdict", "结论"))
        lines = []
        for p in self.pairs.values():
            lines.append((p.name, *interval(p), short_verdict(p)))
        return card(self.sentence(), table(header, lines), self.notes)


def against(
    then: str | os.PathLike[str] | Saved, now: str | os.PathLike[str] | Saved | Result, gate: float = 0.02
) -> Change:
    """Compare `now` (a new result, a file or a `Saved`) with `then` (a file or a `Saved`).

    Measurements: times, or where both have one the times relative to the calibration op. Comparisons: the
    ratio of each candidate to its baseline. A verdict needs several processes on both sides (measure(...,
    processes=5), compare(..., fresh_process=True)), because one process says nothing about the next, and the same
    machine by its passport. faster, slower: the 95 % interval (Welch's t on logarithms) excludes 1 and the ratio is
    further than `gate` from it. Raises TimingError for results of different kinds or without a common name.
    """
    old = then if isinstance(then, Saved) else load(then)
    if isinstance(now, (str, os.PathLike)):
        now = load(now)
    new = now if isinstance(now, Saved) else Saved(now, passport(), "")
    if type(old.result) is not type(new.result):
        kinds = type(old.result).__name__, type(new.result).__name__
        raise TimingError(
            t(
                f"A {kinds[0]} cannot be compared with a {kinds[1]}: measure the same way again.",
                f"{kinds[0]} 和 {kinds[1]} 无法对比：请用同样的方式再测一次。",
            )
        )
    values, names = _values(old.result, new.result)
    if not names:
        raise TimingError(
            t(
                "The two results have no name in common: give the functions the names they had.",
                "两个结果没有共同的名字：请沿用当时的函数名。",
            )
        )
    machine = {
        key: (old.machine.get(key), new.machine.get(key))
        for key in (*MACHINE, *INSTALLED)
        if old.machine.get(key) != new.machine.get(key)
    }
    stranger = bool(set(machine) & set(MACHINE)) or _setting(old.result) != _setting(new.result)
    pairs = {name: _pair(name, old.created, *values(name), gate, stranger) for name in names}
    return Change(pairs, old.created, machine, tuple(_notes(machine, stranger, old.result, new.result, pairs)))


def _setting(result: Result) -> tuple[Any, ...]:
    """Where and how a result was measured. Results with different settings cannot be compared."""
    return result.device, result.clock, result.cache


def _values(old: Result, new: Result) -> tuple[Any, list[str]]:
    """A function name -> (values then, values now), one value a process, and the names both have."""
    if isinstance(old, Measurement) and isinstance(new, Measurement):
        relative = old.calibration == new.calibration and old.process_relatives and new.process_relatives
        both = [m.process_relatives if relative else m.process_medians_ms or (m.median_ms,) for m in (old, new)]
        return lambda name: both, [new.name] if old.name == new.name else []
    tables = [_ratios(result) for result in (old, new)]
    return lambda name: [table[name] for table in tables], [name for name in tables[0] if name in tables[1]]


def _ratios(result: Any) -> dict[str, Sequence[float]]:
    """Label -> the ratio of each pair of processes; of a single process, its one."""
    return {f"{p.name} / {p.baseline}": p.ratios if p.processes else (p.ratio,) for p in result.pairs.values()}


def _pair(name: str, created: str, then: Sequence[float], now: Sequence[float], gate: float, stranger: bool) -> Paired:
    found = change_interval(then, now)
    middle = geometric_mean(then)
    ratio = geometric_mean(now) / middle
    verdict = "undecided" if stranger else decide(found, ratio, gate, gate, TOTAL_ERROR)
    return Paired(
        name,
        created,
        ratio,
        found.low if found else None,
        found.high if found else None,
        found.confidence if found else 0.0,
        verdict,
        tuple(value / middle for value in now),
        gate,
        processes=min(len(then), len(now)),
    )


def _notes(
    machine: Mapping[str, tuple[Any, Any]], stranger: bool, old: Result, new: Result, pairs: Mapping[str, Paired]
) -> list[str]:
    notes = []
    said = ", ".join(f"{key} {was} → {is_}" for key, (was, is_) in machine.items())
    if stranger:
        what = said or f"{_setting(old)} → {_setting(new)}"
        notes.append(
            t(
                f"No verdict: measured on another machine or in another way ({what}).",
                f"不下结论：不是同一台机器，或测法不同（{what}）。",
            )
        )
    elif said:
        notes.append(t(f"Changed in between: {said}.", f"其间的变化：{said}。"))
    if any(p.low is None for p in pairs.values()):
        notes.append(
            t(
                "One process says nothing about the next: save results of measure(..., processes=5) or compare(..., "
                "fresh_process=True), then this comparison can decide.",
                "一个进程说明不了下一个进程：请保存 measure(..., processes=5) 或 compare(..., fresh_process=True) "
                "的结果，这样对比才能得出结论。",
            )
        )
    return notes

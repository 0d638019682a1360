"""Results as sentences, in the learner's language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.i18n import pick, t
from course.timing.render import drifting, quality_word, too_few, verdict_word
from course.timing.stats import FEWEST_PROCESSES, drift, enough, median
from course.units import format_ms, format_ratio

if TYPE_CHECKING:
    from course.timing.results import Comparison, Measurement, Paired

APART = 100
"""An interval whose ends differ by more than this factor says nothing."""


def of_measurement(found: Measurement) -> str:
    """First call and steady state in one sentence; of a time that climbs or falls, a second one."""
    return _steady(found) + (_launch_bound(found) if found.launch_bound else "")


def _launch_bound(found: Measurement) -> str:
    assert found.issue_ms is not None
    issue = format_ms(found.issue_ms)
    return t(
        f" That is the device's own time; Python takes {issue} to issue a call. Launch-bound: the GPU waits for Python.",
        f"这是设备自己的时间；Python 发出一次调用要 {issue}。受限于 kernel 启动（launch-bound）：GPU 在等 Python。",
    )


def _steady(found: Measurement) -> str:
    first, later, quality = format_ms(found.first_call_ms), format_ms(found.median_ms), quality_word(found.quality)
    if found.quality == "few":
        return t(
            f"{found.name}: first call {first}, then {later}; {_reach(found)}.",
            f"{found.name}：第一次调用 {first}，之后 {later}；{_reach(found)}。",
        )
    return t(
        f"{found.name}: first call {first}, then {later} ({_reach(found)}), {quality}.",
        f"{found.name}：第一次调用 {first}，之后 {later}（{_reach(found)}），{quality}。",
    ) + (_drift(found) if found.quality == "drifting" else "")


def _reach(found: Measurement) -> str:
    """What is known about another run."""
    count = found.processes
    if found.low_ms is None or found.high_ms is None:
        if count > 1:
            return _few_processes(count)
        samples = len(found.samples_ms)
        return t("all samples alike", "所有样本都一样") if enough(samples) else pick(too_few(samples))
    low, high = format_ms(found.low_ms), format_ms(found.high_ms)
    if count == 1:
        return t(f"within this run {low} to {high}", f"本次运行内 {low} 至 {high}")
    if found.high_ms > APART * found.low_ms:
        return t(
            f"in {count} processes, too far apart to say where a repetition lands: give them more max_time, "
            "or the machine some quiet",
            f"{count} 个进程相差太大，说不出再测一次会落在哪里：请调大 max_time，或等机器空闲些",
        )
    return t(
        f"in {count} processes; a repetition lands in {low} to {high}",
        f"{count} 个进程；再测一次会落在 {low} 至 {high}",
    )


def _drift(found: Measurement) -> str:
    samples = found.samples_ms
    change = drift(samples)
    quarter = max(1, len(samples) // 4)
    first, last = median(samples[:quarter]), median(samples[-quarter:])
    if change:
        first, last = change.first, change.last
    after = found.warmup_calls + change.count * found.calls_per_sample if change and not change.steady else 0
    if last > first:
        return t(
            f" It climbed from {format_ms(first)} to {format_ms(last)} while it was measured, "
            "so the median means little: does each call leave something behind, such as a longer list?",
            f"测量期间它从 {format_ms(first)} 一路涨到 {format_ms(last)}，中位数没有多大意义：是不是每次调用都留下了什么，"
            "比如越来越长的列表？",
        )
    late = t(f", after some {after} calls,", f"（大约 {after} 次调用之后）") if after else ""
    return t(
        f" It fell from {format_ms(first)} to {format_ms(last)}{late} while it was measured, so the median means little: "
        "it was not warm yet, or finds more done each time. Give it more max_time, or call it that often before.",
        f"测量期间它从 {format_ms(first)} 降到 {format_ms(last)}{late}，中位数没有多大意义：可能还没预热好，或者一次比一次省事。"
        "请调大 max_time，或先把它调用这么多次再测。",
    )


def of_pair(pair: Paired) -> str:
    """One candidate against its baseline in one sentence."""
    few = without_interval(pair)
    if few:
        return t(
            f"{pair.name} against {pair.baseline}: {few}. Give it more time.",
            f"{pair.name} 与 {pair.baseline} 相比：{few}。请多给些时间。",
        )
    assert pair.low is not None and pair.high is not None
    ratio, low, high = format_ratio(pair.ratio, pair.low, pair.high)
    against = t(
        f"{ratio} x the time of {pair.baseline} (interval {low} to {high})",
        f"{pair.baseline} 耗时的 {ratio} 倍（区间 {low} 至 {high}）",
    )
    ending = _ending(pair, (pair.high - pair.low) * 100)
    return t(f"{pair.name} takes {against}: {ending}.", f"{pair.name} 耗时是 {against}：{ending}。")


def without_interval(pair: Paired) -> str:
    """Why a pair has no interval, in words; empty where it has one."""
    if pair.low is not None:
        return ""
    if pair.processes:
        return _few_processes(pair.processes)
    return (
        t("every round gave the same", "每一轮的比值都一样")
        if enough(len(pair.ratios))
        else pick(too_few(len(pair.ratios)))
    )


def _few_processes(count: int) -> str:
    return t(
        f"too few processes to tell ({count} of at least {FEWEST_PROCESSES})",
        f"进程太少，无法判断（{count} 个，至少要 {FEWEST_PROCESSES} 个）",
    )


def _ending(pair: Paired, width: float) -> str:
    if pair.drift:
        return t(
            f"undecided, {drifting()}: {pair.drift} while it was measured. Call each function some hundred times first; "
            "where it still changes, a call leaves something behind",
            f"无法判定，{drifting()}：测量期间 {pair.drift}。请先把每个函数调用一百来次；如果之后还在变，说明每次调用都留下了什么",
        )
    if pair.verdict == "undecided":
        wide = f"{width:.0f}" if width >= 10 else f"{width:.2g}"
        return t(
            f"undecided, the interval is still {wide} % wide: give it more time",
            f"无法判定，区间仍有 {wide}% 宽：请多给些时间",
        )
    if pair.verdict == "same":
        return t(f"the same within {pair.gate:.1%}", f"在 {pair.gate:.1%} 以内视为一样快")
    return verdict_word(pair.verdict)


def of_comparison(found: Comparison) -> str:
    """The whole sentence of a single candidate, else the verdict on each."""
    if len(found.pairs) == 1:
        return of_pair(next(iter(found.pairs.values())))
    said = [f"{p.name} {short_verdict(p)}" for p in found.pairs.values()]
    return t(f"Against {found.baseline}: {', '.join(said)}.", f"与 {found.baseline} 相比：{'，'.join(said)}。")


def short_verdict(pair: Paired) -> str:
    """The verdict on a pair in a word or two."""
    if pair.low is None:
        return t("too few rounds", "轮数太少") if not pair.processes else t("too few processes", "进程太少")
    return drifting() if pair.drift else verdict_word(pair.verdict)


def interval(pair: Paired) -> tuple[str, str]:
    """Ratio and interval of a pair for a table; "–" for what too few rounds do not carry."""
    if pair.low is None or pair.high is None:
        return "–", "–"
    ratio, low, high = format_ratio(pair.ratio, pair.low, pair.high)
    return ratio, f"{low} – {high}"

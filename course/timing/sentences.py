"""Results as sentences, in the learner's language."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from course.core.i18n import Text, both, pick, t
from course.core.units import format_ms, format_ratio
from course.timing.stats import FEWEST_PROCESSES, FEWEST_ROUNDS, drift, enough

if TYPE_CHECKING:
    from course.timing.results import Comparison, Measurement, Paired

VERDICTS = {"faster": "更快", "slower": "更慢", "same": "一样快", "undecided": "无法判定"}
QUALITIES = {
    "stable": ("stable", "稳定"),
    "noisy": ("noisy", "噪声大"),
    "few": ("too few samples", "样本太少"),
    "drifting": ("drifting", "一路漂移"),
}


def too_few(rounds: int) -> Text:
    """The words for so few rounds (or samples) that there is no interval, in both languages."""
    return both(
        f"too few rounds to tell ({rounds} of at least {FEWEST_ROUNDS})",
        f"轮数太少，无法判断（{rounds} 轮，至少要 {FEWEST_ROUNDS} 轮）",
    )


def bracketed(value: str, low: str, high: str) -> str:
    """A value with the ends of its interval, as they are written: 0.57 [0.56, 0.60]; alone where both ends read the same."""
    return value if low == high else f"{value} [{low}, {high}]"


def of_measurement(found: Measurement) -> str:
    """First call and steady state in one sentence; of a time that climbs or falls, or is launch-bound, a second one."""
    first, later, quality = format_ms(found.first_call_ms), format_ms(found.median_ms), t(*QUALITIES[found.quality])
    if found.quality == "few":
        said = t(
            f"{found.name}: first call {first}, then {later}; {_reach(found)}.",
            f"{found.name}：第一次调用 {first}，之后 {later}；{_reach(found)}。",
        )
    else:
        said = t(
            f"{found.name}: first call {first}, then {later} ({_reach(found)}), {quality}.",
            f"{found.name}：第一次调用 {first}，之后 {later}（{_reach(found)}），{quality}。",
        )
    if found.quality == "drifting":
        said += _drift(found)
    if found.launch_bound:
        issue = format_ms(found.issue_ms or 0.0)
        said += t(
            f" That is the device's own time; Python takes {issue} to issue a call. Launch-bound: the GPU waits for Python.",
            f"这是设备自己的时间；Python 发出一次调用要 {issue}。受限于 kernel 启动（launch-bound）：GPU 在等 Python。",
        )
    return said


def _reach(found: Measurement) -> str:
    """The interval of the median, or why there is none."""
    if found.low_ms is None or found.high_ms is None:
        samples = len(found.samples_ms)
        return t("all samples alike", "所有样本都一样") if enough(samples) else pick(too_few(samples))
    low, high = format_ms(found.low_ms), format_ms(found.high_ms)
    return t(f"within this run {low} to {high}", f"本次运行内 {low} 至 {high}")


def _drift(found: Measurement) -> str:
    first, last = drift(found.samples_ms) or (found.samples_ms[0], found.samples_ms[-1])
    if last > first:
        return t(
            f" It climbed from {format_ms(first)} to {format_ms(last)} while it was measured, so the median means little: "
            "the machine became slower, or each call leaves something behind, such as a longer list.",
            f"测量期间它从 {format_ms(first)} 一路涨到 {format_ms(last)}，中位数没有多大意义：机器变慢了，或者每次调用都留下了什么，"
            "比如越来越长的列表。",
        )
    return t(
        f" It fell from {format_ms(first)} to {format_ms(last)} while it was measured, so the median means little: "
        "it was not warm yet, or finds more done each time. Give it more max_time, or call it some hundred times before.",
        f"测量期间它从 {format_ms(first)} 降到 {format_ms(last)}，中位数没有多大意义：可能还没预热好，或者一次比一次省事。"
        "请调大 max_time，或先把它调用几百次再测。",
    )


def of_pair(pair: Paired) -> str:
    """One candidate against its baseline in one sentence."""
    if pair.low is None or pair.high is None:
        few = _without_interval(pair)
        return t(
            f"{pair.name} against {pair.baseline}: {few}. Give it more time.",
            f"{pair.name} 与 {pair.baseline} 相比：{few}。请多给些时间。",
        )
    ratio, low, high = format_ratio(pair.ratio, pair.low, pair.high)
    against = t(
        f"{ratio} x the time of {pair.baseline} (interval {low} to {high})",
        f"{pair.baseline} 耗时的 {ratio} 倍（区间 {low} 至 {high}）",
    )
    ending = _ending(pair, (pair.high - pair.low) * 100)
    return t(f"{pair.name} takes {against}: {ending}.", f"{pair.name} 耗时是 {against}：{ending}。")


def _without_interval(pair: Paired) -> str:
    """Why a pair has no interval, in words."""
    if pair.processes:
        return t(
            f"too few processes to tell ({pair.processes} of at least {FEWEST_PROCESSES})",
            f"进程太少，无法判断（{pair.processes} 个，至少要 {FEWEST_PROCESSES} 个）",
        )
    if enough(len(pair.ratios)):
        return t("every round gave the same", "每一轮的比值都一样")
    return pick(too_few(len(pair.ratios)))


def _ending(pair: Paired, width: float) -> str:
    if pair.drift:
        return t(
            f"undecided, drifting: {pair.drift} while it was measured. Call each function some hundred times first; "
            "where it still changes, a call leaves something behind",
            f"无法判定，一路漂移：测量期间 {pair.drift}。请先把每个函数调用一百来次；如果之后还在变，说明每次调用都留下了什么",
        )
    if pair.verdict == "undecided":
        wide = f"{width:.0f}" if width >= 10 else f"{width:.2g}"
        return t(
            f"undecided, the interval is still {wide} % wide: give it more time",
            f"无法判定，区间仍有 {wide}% 宽：请多给些时间",
        )
    if pair.verdict == "same":
        return t(f"the same within {pair.gate:.1%}", f"在 {pair.gate:.1%} 以内视为一样快")
    return t(pair.verdict, VERDICTS[pair.verdict])


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
    return t(*QUALITIES["drifting"]) if pair.drift else t(pair.verdict, VERDICTS[pair.verdict])


def interval(pair: Paired) -> tuple[str, str]:
    """Ratio and interval of a pair for a table; "–" for what too few rounds do not carry."""
    if pair.low is None or pair.high is None:
        return "–", "–"
    ratio, low, high = format_ratio(pair.ratio, pair.low, pair.high)
    return ratio, f"{low} – {high}"


def waits_note(names: Collection[str]) -> str:
    """The remark on functions that wait for the device in each call."""
    said = ", ".join(map(str, names))
    return t(
        f"Each call of {said} waits for the device (.item(), .cpu(), a print of a tensor), so the wall says the time, the wait included.",
        f"{said} 每次调用都在等设备（.item()、.cpu()、打印张量），所以用墙钟计时，等待也算在内。",
    )


def launch_note(names: Collection[str]) -> str:
    """The remark on candidates that are launch-bound."""
    said = ", ".join(map(str, names))
    return t(
        f"Launch-bound, the GPU waits for Python: {said}. Compared is the GPU's own time; a program that only calls them one after "
        "another takes the time Python needs to issue the calls (.issue_ms).",
        f"受限于 kernel 启动（launch-bound，GPU 在等 Python）：{said}。这里比的是 GPU 自己的时间；如果程序只是一次接一次地调用它们，"
        "耗时取决于 Python 发出调用的时间（.issue_ms）。",
    )

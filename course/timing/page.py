"""Show results as text and HTML: the sentence first, and the rest in a fold or in `.details()`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.i18n import t
from course.timing import sentences
from course.timing.render import card, fold, quality_word, setting, share, table, text_table
from course.units import format_ms

if TYPE_CHECKING:
    from course.timing.results import Comparison, Measurement


def measurement_text(found: Measurement) -> str:
    """Three lines, and the remarks: the sentence, how it was measured, where the rest is."""
    more = t("Everything else: .details(), .rows(), .plot()", "其余信息：.details()、.rows()、.plot()")
    return "\n".join([found.sentence(), f"  {_how(found)}", f"  {more}", *(f"  ! {note}" for note in found.notes)])


def measurement_html(found: Measurement) -> str:
    """The sentence, how it was measured, and everything else in a fold."""
    facts = table((t("what", "项目"), t("value", "数值")), _facts(found))
    return card(found.sentence(), fold(t("everything else", "其余信息"), facts), (_how(found), *found.notes))


def details_text(found: Measurement) -> str:
    """All facts, one a line, under the sentence."""
    facts = [t(f"  {what}: {value}", f"  {what}：{value}") for what, value in _facts(found)]
    return "\n".join([found.sentence(), *facts, *(f"  ! {note}" for note in found.notes)])


def _how(found: Measurement) -> str:
    where = setting(found.device, found.clock, found.cache, found.threads)
    return t(f"{_samples(found)} on {where}", f"{_samples(found)}，{where}")


def _samples(found: Measurement) -> str:
    count, calls = len(found.samples_ms), found.calls_per_sample
    return t(
        f"{count} sample{'s' * (count > 1)} of {calls} call{'s' * (calls > 1)}", f"{count} 个样本，每个 {calls} 次调用"
    )


def _facts(found: Measurement) -> list[tuple[str, str]]:
    facts = [(t("median", "中位数"), format_ms(found.median_ms))]
    if found.low_ms is not None and found.high_ms is not None:
        low, high, sure = format_ms(found.low_ms), format_ms(found.high_ms), f"{found.confidence:.0%}"
        facts.append((_interval_name(found), t(f"{low} to {high} ({sure})", f"{low} 至 {high}（{sure}）")))
    facts.append((t("10th percentile", "第 10 百分位"), format_ms(found.p10_ms)))
    if found.relative is not None:
        facts.append((t(f"relative to {found.calibration}", f"相对于 {found.calibration}"), f"{found.relative:.4g}"))
    part = share(found.overhead_ns / 1e6, found.median_ms)
    facts += [
        (t("first call", "第一次调用"), format_ms(found.first_call_ms)),
        (t("samples", "样本"), _samples(found)),
        (t("quality", "质量"), quality_word(found.quality)),
        (
            t("timer's own overhead", "计时器自身开销"),
            t(
                f"{found.overhead_ns:.0f} ns a call ({part}), not subtracted",
                f"每次 {found.overhead_ns:.0f} ns（{part}），未扣除",
            ),
        ),
        (t("CPU threads at work", "忙碌的 CPU 线程"), f"{found.busy_threads:.1f}"),
    ]
    if found.issue_ms is not None:
        facts.append((t("Python issues a call in", "Python 发出一次调用"), format_ms(found.issue_ms)))
    if found.faults_per_call:
        facts.append((t("page faults a call", "每次调用的缺页"), f"{found.faults_per_call:,.4g}"))
    facts.append((t("measured on", "测量条件"), setting(found.device, found.clock, found.cache, found.threads)))
    return facts


def _interval_name(found: Measurement) -> str:
    """What the interval is one of."""
    if found.processes == 1:
        return t("interval within this run", "本次运行内的区间")
    return t(
        f"a repetition lands in (from {found.processes} processes)", f"再测一次会落在（依据 {found.processes} 个进程）"
    )


def comparison_text(found: Comparison) -> str:
    """The sentence, a table where there are several candidates, how it was measured, the remarks."""
    lines = [found.sentence()]
    if len(found.pairs) > 1:
        lines += [f"  {line}" for line in text_table(*_table(found))]
        lines += [f"  {p.sentence()}" for p in found.pairs.values() if p.verdict == "undecided"]
    return "\n".join([*lines, f"  {_setting(found)}", *(f"  ! {note}" for note in found.notes)])


def comparison_html(found: Comparison) -> str:
    """The same as HTML, always with the table."""
    return card(found.sentence(), table(*_table(found)), (_setting(found), *found.notes))


def _setting(found: Comparison) -> str:
    where = setting(found.device, found.clock, found.cache, found.threads)
    unit, many = t(f"round{'s' * (found.rounds != 1)}", "轮"), f"{found.rounds}"
    if found.processes:
        unit = t(f"new process{'es' * (found.processes != 1)} of each", "个各自的新进程")
        fewest = min(pair.processes for pair in found.pairs.values())  # what is clear takes part no longer
        many = many if fewest == found.rounds else t(f"{fewest} to {many}", f"{fewest} 到 {many}")
    return t(f"{many} {unit} in {found.seconds:.2g} s on {where}", f"{many} {unit}，{found.seconds:.2g} 秒，{where}")


def _table(found: Comparison) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    header = (
        t("candidate", "候选"),
        t("median", "中位数"),
        t("ratio", "比值"),
        t("interval", "区间"),
        t("verdict", "结论"),
    )
    base = found.baseline
    lines = [(str(base), format_ms(found.medians_ms[base]), "1", "", t("baseline", "基准"))]
    for p in found.pairs.values():
        lines.append(
            (str(p.name), format_ms(found.medians_ms[p.name]), *sentences.interval(p), sentences.short_verdict(p))
        )
    return header, lines

"""Show results as text and HTML: the sentence, a table of several candidates, how it was measured, the remarks."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from course.core.i18n import t
from course.core.tables import as_html as html_table
from course.core.tables import as_text as text_table
from course.core.units import format_ms
from course.timing import sentences

if TYPE_CHECKING:
    from course.timing.results import Comparison


def as_text(found: Any) -> str:
    """Of a `Measurement` or a `Comparison`."""
    lines = [found.sentence()]
    if len(pairs := getattr(found, "pairs", {})) > 1:
        lines += [f"  {line}" for line in text_table(_table(found), figures=False)]
        lines += [f"  {p.sentence()}" for p in pairs.values() if p.verdict == "undecided"]
    return "\n".join([*lines, f"  {_how(found)}", *(f"  ! {note}" for note in found.notes)])


def as_html(found: Any) -> str:
    """The same, of a comparison always with the table."""
    table = html_table(_table(found), figures=False) if hasattr(found, "pairs") else ""
    said = "".join(f"<div><small>{html.escape(line)}</small></div>" for line in (_how(found), *found.notes))
    return f"<div><p>{html.escape(found.sentence())}</p>{table}{said}</div>"


def _how(found: Any) -> str:
    """How it was measured: how often, and where."""
    clock = t("event clock", "事件计时") if found.clock == "events" else t("wall clock", "墙钟计时")
    many = found.threads != 1
    where = t(
        f"{found.device}, {clock}, {found.threads} CPU thread{'s' * many}",
        f"{found.device}，{clock}，{found.threads} 个 CPU 线程",
    )
    if not hasattr(found, "pairs"):
        count, calls = len(found.samples_ms), found.calls_per_sample
        return t(
            f"{count} sample{'s' * (count > 1)} of {calls} call{'s' * (calls > 1)} on {where}",
            f"{count} 个样本，每个 {calls} 次调用，{where}",
        )
    unit, times = t(f"round{'s' * (found.rounds != 1)}", "轮"), f"{found.rounds}"
    if found.processes:
        unit = t(f"new process{'es' * (found.processes != 1)} of each", "个各自的新进程")
        fewest = min(pair.processes for pair in found.pairs.values())  # what is clear takes part no longer
        times = times if fewest == found.rounds else t(f"{fewest} to {times}", f"{fewest} 到 {times}")
    return t(f"{times} {unit} in {found.seconds:.2g} s on {where}", f"{times} {unit}，{found.seconds:.2g} 秒，{where}")


def _table(found: Comparison) -> list[tuple[str, ...]]:
    base = found.baseline
    header = [("candidate", "候选"), ("median", "中位数"), ("ratio", "比值"), ("interval", "区间"), ("verdict", "结论")]
    lines = [
        tuple(t(*words) for words in header),
        (str(base), format_ms(found.medians_ms[base]), "1", "", t("baseline", "基准")),
    ]
    for p in found.pairs.values():
        median = format_ms(found.medians_ms[p.name])
        lines.append((str(p.name), median, *sentences.interval(p), sentences.short_verdict(p)))
    return lines

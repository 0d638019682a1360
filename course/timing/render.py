"""How results read: words for verdicts and settings, tables as text and as HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence

from course.i18n import Text, both, t
from course.tables import as_html, as_text
from course.timing.stats import FEWEST_ROUNDS


def verdict_word(verdict: str) -> str:
    """A verdict in the learner's language."""
    return {
        "faster": t("faster", "更快"),
        "slower": t("slower", "更慢"),
        "same": t("same", "一样快"),
        "undecided": t("undecided", "无法判定"),
    }[verdict]


def quality_word(quality: str) -> str:
    """A quality in the learner's language."""
    return {
        "stable": t("stable", "稳定"),
        "bimodal": t("bimodal: two speeds", "双峰：有两种速度"),
        "noisy": t("noisy", "噪声大"),
        "few": t("too few samples", "样本太少"),
        "drifting": drifting(),
    }[quality]


def drifting() -> str:
    """The word for times that climb or fall while they are measured."""
    return t("drifting", "一路漂移")


def too_few(rounds: int) -> Text:
    """The words for so few rounds (or samples) that there is no interval, in both languages."""
    return both(
        f"too few rounds to tell ({rounds} of at least {FEWEST_ROUNDS})",
        f"轮数太少，无法判断（{rounds} 轮，至少要 {FEWEST_ROUNDS} 轮）",
    )


def bracketed(value: str, low: str, high: str) -> str:
    """A value with the ends of its interval, as they are written: 0.57 [0.56, 0.60]; alone where both ends read the same."""
    return value if low == high else f"{value} [{low}, {high}]"


def table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """An HTML table; every cell escaped."""
    return as_html([header, *lines], figures=False)


def text_table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> list[str]:
    """The same as lines of text."""
    return as_text([header, *lines], figures=False)


def share(part: float, whole: float) -> str:
    """`part` of `whole` in per cent, short, as the learner's language writes it: "0.02 %"."""
    if not whole:
        return "-"
    percent = 100 * part / whole
    sign = t(" %", "%")
    return t("under 0.01 %", "不到 0.01%") if percent < 0.01 else f"{percent:{'.0f' if percent >= 10 else '.1g'}}{sign}"


def setting(device: str, clock: str, cache: str, threads: int) -> str:
    """Where something was measured, in the learner's language."""
    clock_word = {"events": t("event clock", "事件计时"), "cpu": t("CPU time", "CPU 时间")}.get(
        clock, t("wall clock", "墙钟计时")
    )
    cache_word = t("cold cache", "冷缓存") if cache == "cold" else t("warm cache", "热缓存")
    return t(
        f"{device}, {clock_word}, {cache_word}, {threads} CPU thread{'s' * (threads != 1)}",
        f"{device}，{clock_word}，{cache_word}，{threads} 个 CPU 线程",
    )


def fold(title: str, body: str) -> str:
    """A part of a page that opens with a click; `body` comes escaped."""
    return f"<details><summary>{html.escape(title)}</summary>{body}</details>"


def card(sentence: str, body: str, notes: Sequence[str]) -> str:
    """A sentence, a table and remarks as HTML; the table comes escaped, the rest is escaped here."""
    remarks = "".join(f"<div><small>{html.escape(note)}</small></div>" for note in notes)
    return f"<div><p>{html.escape(sentence)}</p>{body}{remarks}</div>"

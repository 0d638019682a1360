"""Sentences, pictures and settled bets of the races of lesson 02: pure functions on a record."""

from __future__ import annotations

import math
import statistics
from typing import Any

from course.i18n import Text, both, t
from course.lessons.l02_timing.findings import DOT, NOTHING, doubtful, groups, interval_line, middle
from course.timing.stats import median_interval

TRIALS = 20
METHODS = {"means, each alone": "分开测、比平均值", "best of, each alone": "分开测、比最小值",
           "paired": "配对比较"}


# --- 02-same-code-twice, 02-planted-difference ---------------------------------------------------------

def _said(record: Any, method: str, *words: str) -> int:
    return sum(r["method"] == method and r["said"] in words for r in record.rows)


def same_code(record: Any) -> Text:
    if not record.rows:
        return NOTHING
    trials = len({r["trial"] for r in record.rows})
    winners = {method: _said(record, method, "faster", "slower") for method in METHODS}
    en = "; ".join(f"{method}: {count}" for method, count in winners.items())
    zh = "；".join(f"{METHODS[method]}，{count} 次" for method, count in winners.items())
    doubt = doubtful(settle_same_code(record))
    return both(f"{doubt['en']}In {trials} races of one function against itself a winner was announced "
                f"this often: {en}.",
                f"{doubt['zh']}同一个函数和自己比了 {trials} 场，宣布出“赢家”的次数：{zh}。")


def settle_same_code(record: Any) -> dict[str, str | None]:
    if len({r["trial"] for r in record.rows}) < TRIALS:
        return {"02-bet-same-code": None}
    winners = _said(record, "means, each alone", "faster", "slower")
    return {"02-bet-same-code": "a" if winners <= 1 else "b" if winners <= 5 else "c"}


def planted(record: Any) -> Text:
    if not record.rows:
        return NOTHING
    trials, truth = len({r["trial"] for r in record.rows}), record.rows[0]["planted"]
    en, zh = [], []
    for method, rows in groups(record.rows, "method").items():
        found = _said(record, method, "slower")
        open_ = _said(record, method, "undecided")
        off = 100 * statistics.median(abs(r["ratio"] - truth) for r in rows)
        en.append(f"{method}: found {found} times" + (f", undecided {open_} times" if open_ else "")
                  + f", typically off by {off:.2g} percentage points")
        zh.append(f"{METHODS[method]}：找到 {found} 次" + (f"，未定 {open_} 次" if open_ else "")
                  + f"，典型偏差 {off:.2g} 个百分点")
    return both(
        f"Planted: {truth:.2f} times the work, {trials} races. {'; '.join(en)}.",
        f"预设工作量为 {truth:.2f} 倍，共 {trials} 场。{'；'.join(zh)}。")


def draw_ratios(record: Any, ax: Any) -> None:
    for height, rows in enumerate(reversed(groups(record.rows, "method").values())):
        spread = [height + 0.25 * ((i % 5) - 2) / 2 for i in range(len(rows))]
        ax.plot([r["ratio"] for r in rows], spread, "o", color=DOT, alpha=0.6)
    methods = list(reversed(groups(record.rows, "method")))
    ax.set_yticks(range(len(methods)), [t(method, METHODS[method]) for method in methods])
    ax.axvline(record.rows[0]["planted"], color="gray", linestyle=":", label=t("the truth", "真实值"))
    ax.set_xlabel(t("ratio found in each race (1 = same time)", "每场得到的比值（1 = 一样快）"))
    ax.legend()


# --- 02-threads ----------------------------------------------------------------------------------------

def threads(record: Any) -> Text:
    if not record.rows:
        return NOTHING
    ratios, count = [r["ratio"] for r in record.rows], record.rows[0]["all_threads"]
    doubt = doubtful(settle_threads(record))
    return both(
        f"{doubt['en']}As it comes, Timer reads {middle(ratios)} times what it reads with all {count} "
        f"threads of this process.",
        f"{doubt['zh']}默认设置下，Timer 的读数是使用本进程全部 {count} 个线程时的 {middle(ratios)} 倍。")


def draw_threads(record: Any, ax: Any) -> None:
    names = {"default_ms": t("Timer, as it comes", "Timer，默认设置"),
             "all_ms": t("Timer, all threads", "Timer，全部线程")}
    for height, (key, _) in enumerate(names.items()):
        values = [r[key] for r in record.rows]
        interval = median_interval(values)
        interval_line(ax, height, statistics.median(values), interval.low, interval.high)
    ax.set_yticks(range(len(names)), list(names.values()))
    ax.set_ylim(-0.5, len(names) - 0.5)
    ax.set_xlim(left=0)
    ax.set_xlabel(t("one product (ms)", "一次矩阵乘 (ms)"))


def settle_threads(record: Any) -> dict[str, str | None]:
    ratios = [r["ratio"] for r in record.rows]
    if len(ratios) < 6:
        return {"02-bet-threads": None}
    interval = median_interval(ratios)
    for option, low, high in (("a", 1.05, math.inf), ("b", 0.95, 1.05), ("c", 0.0, 0.95)):
        if low <= interval.low and interval.high <= high:
            return {"02-bet-threads": option}
    return {"02-bet-threads": None}

"""Sentences, pictures and settled bets of the records of lesson 02: pure functions on a record."""

from __future__ import annotations

import math
import statistics
from typing import Any

from course.i18n import Text, both, t
from course.timing.stats import median_interval

DOT, OTHER = "C0", "C1"  # the theme's blue and orange: safe for colour-blind readers; words stand beside
STOPWATCHES = {
    "no fence": "没有栅栏", "fence after only": "只在后面加栅栏", "fence before and after": "前后都加栅栏",
    "two events": "一对 event", "fence before, then .cpu()": "前面加栅栏，再 .cpu()",
    "fence before, then print": "前面加栅栏，再 print",
}
PLACES = {"cpu": both("CPU tensor", "CPU 张量"), "toy": both("toy device", "玩具设备"),
          "cuda": both("CUDA tensor", "CUDA 张量")}
NOTHING = both("Nothing was measured: run it again.", "没有测到数据：请再运行一次。")


def groups(rows: list[dict], key: str) -> dict[Any, list[dict]]:
    found: dict[Any, list[dict]] = {}
    for row in rows:
        found.setdefault(row[key], []).append(row)
    return found


def middle(values: list[float]) -> str:
    interval = median_interval(values)
    return f"{statistics.median(values):.3g} [{interval.low:.3g}, {interval.high:.3g}]"


def doubtful(settled: dict[str, str | None]) -> dict[str, str]:
    """What to say first where the record decides nothing; empty where it decides."""
    if None not in settled.values():
        return both("", "")
    return both("Inconclusive, the machine was too busy or the time too short; run it again. ",
                "尚无定论：机器太忙或时间不够，请再运行一次。")


def interval_line(ax: Any, height: float, middle: float, low: float, high: float) -> None:
    ax.plot([low, high], [height, height], color=DOT, linewidth=3)
    ax.plot(middle, height, "o", color=DOT)


# --- 02-where-you-wait ---------------------------------------------------------------------------------

def _shares(record: Any, place: str) -> list[float]:
    """The call's share (0 to 1) of the time until the value is there, one a repeat."""
    return [r["call_ms"] / (r["call_ms"] + r["read_ms"]) for r in record.rows if r["where"] == place]


def where_you_wait(record: Any) -> Text:
    en, zh = [], []
    for place, name in PLACES.items():
        shares = _shares(record, place)
        if shares:
            percent = middle([100 * share for share in shares])
            en.append(f"{name['en']} {percent} %")
            zh.append(f"{name['zh']} {percent} %")
    if not en:
        return NOTHING
    doubt = doubtful(settle_where_you_wait(record))
    return both(f"{doubt['en']}Share of the waiting that happened inside the call itself: {'; '.join(en)}.",
                f"{doubt['zh']}等待时间中发生在调用内部的比例：{'；'.join(zh)}。")


def draw_where_you_wait(record: Any, ax: Any) -> None:
    places = groups(record.rows, "where")
    names = [t(PLACES[place]["en"], PLACES[place]["zh"]) for place in places]
    call = [statistics.median(r["call_ms"] for r in rows) for rows in places.values()]
    read = [statistics.median(r["read_ms"] for r in rows) for rows in places.values()]
    ax.barh(names, call, color=DOT, label=t("inside the call", "在调用里"))
    ax.barh(names, read, left=call, color=OTHER, hatch="//", label=t("until it can be read", "直到能读取"))
    ax.set_xlabel(t("median time (ms)", "时间中位数 (ms)"))
    ax.set_ylim(-0.5, len(names) + 0.1)  # room for the legend above the bars
    ax.legend(loc="upper right", ncols=2)


def settle_where_you_wait(record: Any) -> dict[str, str | None]:
    shares = _shares(record, "cpu")
    if len(shares) < 6:
        return {"02-bet-cpu": None}
    interval = median_interval(shares)
    verdict = "b" if interval.low > 0.8 else "a" if interval.high < 0.2 else None
    if 0.2 <= interval.low and interval.high <= 0.8:
        verdict = "c"
    return {"02-bet-cpu": verdict}


# --- 02-five-stopwatches, 02-stopwatches-cuda ----------------------------------------------------------

def _readings(rows: list[dict]) -> dict[str, tuple[float, float, float]]:
    return {r["stopwatch"]: (r["median_ms"], r["low_ms"], r["high_ms"]) for r in rows}


def _listed(rows: list[dict]) -> tuple[str, str]:
    en = [f"{name} {m:.3g} ms [{lo:.3g}, {hi:.3g}]" for name, (m, lo, hi) in _readings(rows).items()]
    zh = [f"{STOPWATCHES[name]} {m:.3g} ms [{lo:.3g}, "
          f"{hi:.3g}]" for name, (m, lo, hi) in _readings(rows).items()]
    return "; ".join(en), "；".join(zh)


def five_stopwatches(record: Any) -> Text:
    if not record.rows:
        return NOTHING
    truth, earlier = record.rows[0]["kernel_ms"], record.rows[0]["earlier_ms"]
    en, zh = _listed(record.rows)
    doubt = doubtful(settle_five_stopwatches(record))
    return both(f"{doubt['en']}The kernel takes {truth:g} ms, behind {earlier:g} ms of earlier work. Read: {en}.",
                f"{doubt['zh']}kernel 的真实时长是 {truth:g} ms，前面排着 {earlier:g} ms 的旧任务。读数：{zh}。")


def settle_five_stopwatches(record: Any) -> dict[str, str | None]:
    rows = [r for r in record.rows if r["stopwatch"] == "fence after only"]
    if not rows:
        return {"02-bet-one-fence": None}
    row = rows[0]
    for option, expected in (("b", row["kernel_ms"]), ("c", row["kernel_ms"] + row["earlier_ms"])):
        if abs(row["median_ms"] - expected) < 0.3 * row["kernel_ms"]:
            return {"02-bet-one-fence": option}
    return {"02-bet-one-fence": "a" if row["median_ms"] < 0.1 * row["kernel_ms"] else None}


def stopwatches_cuda(record: Any) -> Text:
    if not record.rows:
        return NOTHING
    parts = [(size, *_listed(rows)) for size, rows in groups(record.rows, "size").items()]
    return both(" ".join(f"Matrices of {size}: {en}." for size, en, _ in parts),
                "".join(f"{size} 阶矩阵：{zh}。" for size, _, zh in parts))


def draw_stopwatches(record: Any, ax: Any) -> None:
    rows = list(reversed(record.rows))
    labels = []
    for height, row in enumerate(rows):
        interval_line(ax, height, row["median_ms"], row["low_ms"], row["high_ms"])
        size = f" ({row['size']})" if "size" in row else ""
        labels.append(t(row["stopwatch"], STOPWATCHES[row["stopwatch"]]) + size)
    if "kernel_ms" in record.rows[0]:
        ax.axvline(record.rows[0]["kernel_ms"], color="gray", linestyle=":", label=t("the truth", "真实值"))
        ax.legend()
    ax.set_yticks(range(len(rows)), labels)
    if "size" in record.rows[0]:
        ax.set_xscale("log")
    else:
        ax.set_xlim(left=-1)
    ax.set_xlabel(t("the stopwatch reads (ms)", "秒表读数 (ms)"))


# --- 02-first-call, 02-first-call-cuda -----------------------------------------------------------------

def _first_over_later(record: Any) -> list[float]:
    """For each shape: first call / median of the calls from the fourth on."""
    ratios = []
    for rows in groups(record.rows, "shape").values():
        times = [r["call_ms"] for r in sorted(rows, key=lambda r: r["call"])]
        if len(times) >= 6:
            ratios.append(times[0] / statistics.median(times[3:]))
    return ratios


def first_call(record: Any) -> Text:
    ratios = _first_over_later(record)
    if not ratios:
        return NOTHING
    doubt = doubtful(settle_first_call(record))
    return both(
        f"{doubt['en']}Over {len(ratios)} new shapes the first call took {middle(ratios)} times as long as "
        f"the later ones.",
        f"{doubt['zh']}在 {len(ratios)} 个新形状上，第一次调用的耗时是后续调用的 {middle(ratios)} 倍。")


def first_call_cuda(record: Any) -> Text:
    if not record.rows:
        return NOTHING
    en, zh = [], []
    names = {"first product": "第一次矩阵乘", "first convolution": "第一次卷积",
             "same convolution, new shape": "同一卷积换新形状"}
    for shape, rows in groups(record.rows, "shape").items():
        times = [r["call_ms"] for r in sorted(rows, key=lambda r: r["call"])]
        later = statistics.median(times[1:]) if len(times) > 1 else math.nan
        en.append(f"{shape}: {times[0]:.3g} ms, later {later:.3g} ms")
        zh.append(f"{names[shape]}：{times[0]:.3g} ms，之后 {later:.3g} ms")
    note = both("", "")
    if record.rows[0]["context_was_up"]:
        note = both(" The CUDA context was already up: restart the kernel to see its cost as well.",
                    "CUDA 上下文此前已经建立：重启内核再运行，才能看到建立它的开销。")
    return both(f"{'; '.join(en)}.{note['en']}", f"{'；'.join(zh)}。{note['zh']}")


def draw_first_call(record: Any, ax: Any) -> None:
    for shape, rows in groups(record.rows, "shape").items():
        ordered = sorted(rows, key=lambda r: r["call"])
        ax.plot([r["call"] for r in ordered], [r["call_ms"] for r in ordered], "o-", alpha=0.6,
                label=shape if isinstance(shape, str) else None)
    if isinstance(record.rows[0]["shape"], str):
        ax.legend()
    ax.set_yscale("log")
    ax.set_xlabel(t("call number (one line per shape)", "第几次调用（每条线一个形状）"))
    ax.set_ylabel(t("time of the call (ms)", "该次调用耗时 (ms)"))


def settle_first_call(record: Any) -> dict[str, str | None]:
    ratios = _first_over_later(record)
    if len(ratios) < 6:
        return {"02-bet-first-call": None}
    interval = median_interval(ratios)
    for option, low, high in (("a", 0.0, 1.25), ("b", 1.25, 3.0), ("c", 3.0, math.inf)):
        if low <= interval.low and interval.high <= high:
            return {"02-bet-first-call": option}
    return {"02-bet-first-call": None}


# --- 02-interruptions ----------------------------------------------------------------------------------

def interruptions(record: Any) -> Text:
    quiet, disturbed = ([r[key] for r in record.rows] for key in ("quiet_ms", "disturbed_ms"))
    if not quiet:
        return NOTHING
    undisturbed = statistics.median(quiet)
    above = {name: round(100 * (summary(disturbed) / undisturbed - 1), 1) + 0.0
             for name, summary in (("mean", statistics.fmean), ("median", statistics.median))}
    low = median_interval(disturbed)
    return both(
        f"With the planted pauses the mean lies {above['mean']:+.1f} % from the undisturbed median, the "
        f"median "
        f"{above['median']:+.1f} % (it reads {statistics.median(disturbed):.3g} ms [{low.low:.3g}, "
        f"{low.high:.3g}]).",
        f"插入停顿后，平均值与未受干扰时的中位数相差 {above['mean']:+.1f}%，中位数相差 {above['median']:+.1f}%"
        f"（读数 {statistics.median(disturbed):.3g} ms [{low.low:.3g}, {low.high:.3g}]）。")


def draw_interruptions(record: Any, ax: Any) -> None:
    calls, disturbed = [r["call"] for r in record.rows], [r["disturbed_ms"] for r in record.rows]
    ax.plot(calls, disturbed, ".", color="gray")
    ax.set_yscale("log")
    ax.axhline(statistics.fmean(disturbed), color=OTHER, linestyle="--", label=t("mean", "平均值"))
    ax.axhline(statistics.median(disturbed), color=DOT, label=t("median", "中位数"))
    ax.set_xlabel(t("call number", "第几次调用"))
    ax.set_ylabel(t("time of the call (ms)", "该次调用耗时 (ms)"))
    ax.legend()

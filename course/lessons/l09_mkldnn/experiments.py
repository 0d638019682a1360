"""Experiments of lesson 09: what oneDNN runs on this CPU, how, and what it is worth. All live on a CPU.

Layers, routes and what needs a new process stand in ``probes``.
"""

from __future__ import annotations

import statistics
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from course.experiment.base import Budget, experiment
from course.experiment.plots import ratios, tiles
from course.experiment.words import NOTHING, joined
from course.i18n import Text, both, t
from course.lessons.l09_mkldnn.probes import layers, logged, typical_log
from course.onednn_log import log_of, on_off, parse, time_in
from course.records import Record

LESSON = "09_mkldnn"
SAME = 0.02  # within 2 % of the time counts as the same
STEPS = (1, 2, 4, 16, 64)
LOGGED_CALLS, PROCESSES = 9, 2


def interval(row: dict) -> str:
    """0.61 [0.58, 0.64] of a row with ratio, low, high."""
    return f"{row['ratio']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"


def listed(names: Sequence[str], code: str) -> str:
    """The names in a row, with the comma of the language."""
    return joined(names, code) or ("none" if code == "en" else "无")


def kind_of(row: dict) -> str:
    """faster | slower | same | undecided: where the interval of a ratio lies, 2 % to either side being the same."""
    if row["high"] < 1 - SAME:
        return "faster"
    if row["low"] > 1 + SAME:
        return "slower"
    return "same" if 1 - SAME <= row["low"] and row["high"] <= 1 + SAME else "undecided"


def two_kinds(ax: Any, colours: Sequence[str]) -> None:
    """A legend above the axes: computing, and reorders (hatched)."""
    from matplotlib.patches import Patch

    blue, orange = colours[:2]
    ax.legend(
        handles=[
            Patch(color=blue, label=t("computing", "计算")),
            Patch(facecolor=orange, hatch="//", edgecolor="white", linewidth=0, label=t("reorders", "重排（reorder）")),
        ],
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=2,
    )


def _verdict_row(race: Any) -> dict[str, Any]:
    return {
        "ratio": race.ratio,
        "low": race.low,
        "high": race.high,
        "verdict": race.verdict,
        "on_ms": race.medians_ms["on"],
        "off_ms": race.medians_ms["off"],
        "rounds": race.rounds,
    }


# --- 09-one-step --------------------------------------------------------------------------------------------


def say_one_step(record: Record) -> Text:
    rows = record.rows
    if len(rows) < 2:
        return NOTHING
    first, last = rows[0], rows[-1]
    en = zh = ""
    turn = next((row for i, row in enumerate(rows) if all(kind_of(one) == "faster" for one in rows[i:])), None)
    if kind_of(first) == "slower" and turn:
        en = f" From {turn['steps']} steps on, of those tried, oneDNN wins."
        zh = f"在试过的步数里，从 {turn['steps']} 步起 oneDNN 胜出。"
    return both(
        f"One LSTM call, time with oneDNN over time without: {interval(first)} for {first['steps']} step, "
        f"{interval(last)} for {last['steps']} steps.{en}",
        f"调用一次 LSTM，开 oneDNN 与不开的耗时之比：{first['steps']} 步时 {interval(first)}，"
        f"{last['steps']} 步时 {interval(last)}。{zh}",
    )


def draw_one_step(record: Record, ax: Any) -> None:
    from course.figures import lines
    from course.figures.style import guide

    rows = record.rows
    name = t("with oneDNN / without", "开 oneDNN / 不开")
    lines(
        ax,
        [row["steps"] for row in rows],
        {name: [row["ratio"] for row in rows]},
        bands={name: ([row["low"] for row in rows], [row["high"] for row in rows])},
        log_x=True,
        log_y=True,
        xlabel=t("steps in one call", "一次调用的步数"),
        ylabel=t("time with oneDNN / without", "耗时比：开 oneDNN / 不开"),
    )
    ax.axhline(1.0, color=guide(), linestyle="--", linewidth=1.3)
    for row in rows:
        ax.annotate(
            f"{row['ratio']:.2f}",
            (row["steps"], row["ratio"]),
            xytext=(0, 7),
            textcoords="offset points",
            ha="center",
            fontsize=9,
        )
    ax.margins(y=0.15)


@experiment(
    name="09-one-step",
    lesson=LESSON,
    version=1,
    needs="mkldnn",
    seconds=7,
    title=both(
        "An LSTM, one sequence, step by step or many steps at once: oneDNN on against off",
        "一条序列送进 LSTM，一次一步或一次多步：oneDNN 开与关的对比",
    ),
)
def one_step(budget: Budget) -> list[dict]:
    """Time with oneDNN over time without, for one call of 1 to 64 steps, and the share of reorders in the log."""
    torch.set_num_threads(1)
    rows, layer = [], nn.LSTM(128, 256)
    for done, steps in enumerate(budget.loop(STEPS, desc=both("lengths", "步数"))):
        x = torch.randn(steps, 1, 128)
        race = on_off(lambda x=x: layer(x), max_time=max(0.3, min(1.2, budget.share(len(STEPS) - done))))
        with torch.inference_mode():
            logs = [log_of(lambda x=x: layer(x)) for _ in range(LOGGED_CALLS)]
        share = [time_in(log, "reorder") / time_in(log) for log in logs if time_in(log)]
        rows.append({"steps": steps, **_verdict_row(race), "reorder_share": statistics.median(share) if share else 0.0})
    return rows


# --- 09-on-off ----------------------------------------------------------------------------------------------


def say_race(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    groups = {
        name: [row for row in record.rows if kind_of(row) == name] for name in ("faster", "slower", "same", "undecided")
    }

    def told(kind: str, code: str) -> str:
        return listed([row["layer"] for row in groups[kind]], code)

    fastest = min(record.rows, key=lambda row: row["ratio"])
    en = f"With oneDNN on, faster: {told('faster', 'en')}; within {100 * SAME:g} % of the same time: {told('same', 'en')}"
    zh = f"打开 oneDNN，变快的：{told('faster', 'zh')}；相差不到 {100 * SAME:g}% 的：{told('same', 'zh')}"
    if groups["slower"]:
        en, zh = en + f"; slower: {told('slower', 'en')}", zh + f"；变慢的：{told('slower', 'zh')}"
    if groups["undecided"]:
        en = en + f"; undecided (run again): {told('undecided', 'en')}"
        zh = zh + f"；无法判定（请重跑）：{told('undecided', 'zh')}"
    return both(
        f"{en}. Smallest time on / off: {fastest['layer']}, {interval(fastest)}.",
        f"{zh}。开 / 关 的耗时比最小的是 {fastest['layer']}：{interval(fastest)}。",
    )


def draw_race(record: Record, ax: Any) -> None:
    rows = record.rows
    ax.figure.set_figheight(4.8)
    ratios(
        ax,
        rows,
        [row["layer"] for row in rows],
        digits=2,
        what=t("time with oneDNN on / off (left of 1: it helps)", "oneDNN 开 / 关 的耗时比（1 的左边：有帮助）"),
    )


def settle_race(record: Record) -> dict[str, str | None]:
    seen = {row["layer"]: row for row in record.rows}
    asked = ("Conv2d", "LSTM", "GRU", "Linear")
    kinds = [kind_of(seen[name]) if name in seen else "undecided" for name in asked]
    if "undecided" in kinds:
        return {"09-bet-who": None}
    gain = tuple(kind == "faster" for kind in kinds)
    answers = {
        (True, True, True, True): "a",
        (True, True, False, True): "b",
        (True, True, False, False): "c",
        (True, False, False, False): "d",
    }
    return {"09-bet-who": answers.get(gain)}


@experiment(
    name="09-on-off",
    lesson=LESSON,
    version=1,
    needs="mkldnn",
    seconds=10,
    title=both("oneDNN on against off: for which layers does the time change?", "oneDNN 开与关：哪些层的耗时会变？"),
)
def race(budget: Budget) -> list[dict]:
    """Time with oneDNN over time without, for nine layers, forward, on one thread."""
    rows, calls = [], layers()
    for done, (layer, call) in enumerate(budget.loop(calls.items(), desc=both("layers", "层"))):
        found = on_off(call, max_time=max(0.3, min(1.2, budget.share(len(calls) - done))))
        rows.append({"layer": layer, **_verdict_row(found), "threads": 1})
    return rows


# --- 09-where-time ------------------------------------------------------------------------------------------


def _by_layer(record: Record) -> dict[str, dict[str, Any]]:
    """layer -> {"reorder_ms", "compute_ms", "implementation" of the primitive that takes longest}."""
    found: dict[str, dict[str, Any]] = {}
    for row in record.rows:
        one = found.setdefault(
            row["layer"], {"reorder_ms": 0.0, "compute_ms": 0.0, "implementation": "", "longest": 0.0}
        )
        kind = "reorder_ms" if row["primitive"] == "reorder" else "compute_ms"
        one[kind] += row["logged_ms"]
        if kind == "compute_ms" and row["logged_ms"] >= one["longest"] and row["lines"]:
            one["longest"], one["implementation"] = (row["logged_ms"], f"{row['primitive']}, {row['implementation']}")
    return found


def say_where_time(record: Record) -> Text:
    found = _by_layer(record)
    if not found:
        return NOTHING
    totals = {name: one["reorder_ms"] + one["compute_ms"] for name, one in found.items()}
    silent = [name for name, total in totals.items() if not total]
    shares = {name: one["reorder_ms"] / totals[name] for name, one in found.items() if totals[name]}
    if not shares:
        return both(
            "Not one layer left a line: on this machine oneDNN runs none of them.",
            "没有一个层留下日志：在这台机器上，oneDNN 一个也没有执行。",
        )
    most = max(shares, key=shares.__getitem__)
    return both(
        f"oneDNN says nothing about: {listed(silent, 'en')}. "
        f"Reorders take the largest share of the logged time in {most}: {shares[most]:.0%}.",
        f"oneDNN 一声不吭的：{listed(silent, 'zh')}。重排（reorder）占日志时间比例最大的是 {most}：{shares[most]:.0%}。",
    )


def draw_where_time(record: Record, ax: Any) -> None:
    from course.figures.style import colors

    found, (blue, orange, *_) = _by_layer(record), colors()
    ax.figure.set_figheight(4.8)
    names = list(found)[::-1]
    for height, name in enumerate(names):
        one = found[name]
        total = one["reorder_ms"] + one["compute_ms"]
        if not total:
            ax.text(
                0.01, height, t("no line: somebody else does it", "没有日志：活儿是别人干的"), va="center", fontsize=9
            )
            continue
        share = one["compute_ms"] / total
        ax.barh(height, share, color=blue, height=0.44)
        ax.barh(height, 1 - share, left=share, color=orange, height=0.44, hatch="//", edgecolor="white", linewidth=0)
        ax.text(1.01, height, f"{total:.2g} ms", va="center", fontsize=8.5)
        ax.text(0.005, height + 0.24, one["implementation"], va="bottom", fontsize=7.5)
    two_kinds(ax, (blue, orange))
    ax.set_yticks(range(len(names)), names)
    ax.set_xlim(0, 1.12)
    ax.set_ylim(-0.5, len(names) - 0.2)
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1.0], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    ax.grid(axis="y", visible=False)
    ax.set_xlabel(t("share of the logged time of one call", "占一次调用日志时间的比例"))


@experiment(
    name="09-where-time",
    lesson=LESSON,
    version=1,
    needs="mkldnn",
    seconds=3,
    title=both("Where does the logged time go?", "日志里的时间花在了哪里？"),
)
def where_time(budget: Budget) -> list[dict]:
    """Primitives of one call of each layer: lines, implementation, median time; 0 lines where oneDNN is silent."""
    torch.set_num_threads(1)
    rows = []
    with torch.inference_mode():
        for layer, call in budget.loop(layers().items(), desc=both("layers", "层")):
            found = typical_log(call, LOGGED_CALLS)
            rows += [{"layer": layer, **one} for one in found]
            if not found:
                rows.append({"layer": layer, "primitive": "", "implementation": "", "lines": 0, "logged_ms": 0.0})
    return rows


# --- 09-logs ------------------------------------------------------------------------------------------------


def _of_conv_said(record: Record) -> list[Any]:
    return parse("\n".join(row["line"] for row in record.rows if row["call"] == "conv"))


def say_logs(record: Record) -> Text:
    found = _of_conv_said(record)
    if not found:
        return NOTHING
    reorders = sum(line.primitive == "reorder" for line in found)
    return both(
        f"One convolution left {len(found)} lines, {reorders} of them reorders.",
        f"一次卷积留下 {len(found)} 行日志，其中 {reorders} 行是重排。",
    )


def draw_logs(record: Record, ax: Any) -> None:
    tiles(
        ax,
        [
            (line.primitive, f"{line.implementation}    {line.time_ms:.3g} ms", line.primitive != "reorder")
            for line in _of_conv_said(record)
        ],
    )


@experiment(
    name="09-logs",
    lesson=LESSON,
    version=1,
    needs="mkldnn",
    seconds=2,
    title=both("The raw log of a few calls", "几次调用的原始日志"),
)
def logs(budget: Budget) -> list[dict]:
    """Lines as oneDNN prints them, for readers whose PyTorch has no oneDNN (course.onednn_log.recorded_log)."""
    with torch.inference_mode():
        return logged()


# --- 09-layouts ---------------------------------------------------------------------------------------------


def say_layouts(record: Record) -> Text:
    if len(record.rows) < 3:
        return NOTHING

    def line(row: dict, code: str) -> str:
        count = f"{row['reorders']} reorders" if code == "en" else f"{row['reorders']} 次重排"
        if row["layout"] == "NCHW":
            return f"NCHW {count}"
        comma = ", " if code == "en" else "，"
        times = f"{interval(row)} times the time of NCHW" if code == "en" else f"耗时是 NCHW 的 {interval(row)} 倍"
        return f"{row['layout']} {count}{comma}{times}"

    return both(
        "Three convolutions: " + "; ".join(line(row, "en") for row in record.rows) + ".",
        "三个卷积：" + "；".join(line(row, "zh") for row in record.rows) + "。",
    )


def draw_layouts(record: Record, ax: Any) -> None:
    from course.figures.style import colors

    blue, orange, *_ = colors()
    names = [row["layout"] for row in record.rows][::-1]
    for height, row in enumerate(reversed(record.rows)):
        ax.barh(height, row["compute_ms"], color=blue, height=0.6)
        ax.barh(
            height,
            row["reorder_ms"],
            left=row["compute_ms"],
            color=orange,
            height=0.6,
            hatch="//",
            edgecolor="white",
            linewidth=0,
        )
        ax.text(
            row["compute_ms"] + row["reorder_ms"],
            height,
            t(
                f"  {row['reorders']} reorders\n  whole call × {row['ratio']:.2f}",
                f"  {row['reorders']} 次重排\n  整次调用 × {row['ratio']:.2f}",
            ),
            va="center",
            fontsize=9,
        )
    two_kinds(ax, (blue, orange))
    ax.set_yticks(range(len(names)), names)
    ax.grid(axis="y", visible=False)
    ax.set_xlabel(t("logged time (ms), medians", "日志时间（ms），中位数"))
    ax.margins(x=0.3)


def settle_layouts(record: Record) -> dict[str, str | None]:
    if not record.rows:
        return {"09-bet-reorders": None}
    count = record.rows[0]["reorders_of_one_conv"]
    return {"09-bet-reorders": "a" if count == 0 else "b" if count == 1 else "c"}


def _chains() -> dict[str, Callable[[], Any]]:
    """Three convolutions in a row, in three memory layouts; dense tensors in and out."""
    from torch.utils import mkldnn as packed

    image = torch.randn(2, 16, 40, 40)
    plain = nn.Sequential(*[nn.Conv2d(16, 16, 3, padding=1) for _ in range(3)]).eval()
    last = nn.Sequential(*[nn.Conv2d(16, 16, 3, padding=1) for _ in range(3)]).eval()
    last = last.to(memory_format=torch.channels_last)
    image_last = image.to(memory_format=torch.channels_last)
    opaque = nn.Sequential(*[packed.to_mkldnn(layer) for layer in plain])
    return {
        "NCHW": lambda: plain(image),
        "channels_last": lambda: last(image_last),
        "to_mkldnn": lambda: opaque(image.to_mkldnn()).to_dense(),
    }


@experiment(
    name="09-layouts",
    lesson=LESSON,
    version=1,
    needs="mkldnn",
    seconds=5,
    title=both("Three convolutions in a row, three memory layouts", "三个卷积连成一串，三种内存布局"),
)
def layouts(budget: Budget) -> list[dict]:
    """Reorder lines and their time for each layout, and its time against NCHW; one lone convolution for the bet."""
    from course.timing import compare

    torch.set_num_threads(1)
    one, image = nn.Conv2d(16, 16, 3, padding=1), torch.randn(2, 16, 40, 40)
    rows = []
    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch.utils.mkldnn announces its own retirement
        chains = _chains()
        alone = sum(line.primitive == "reorder" for line in log_of(lambda: one(image)))
        found = compare(chains, baseline="NCHW", max_time=max(1.0, min(3.0, budget.left() - 1)))
        for name in budget.loop(chains, desc=both("layouts", "布局")):
            seen = {row["primitive"]: row for row in typical_log(chains[name], LOGGED_CALLS)}
            pair = found.pairs.get(name)
            rows.append(
                {
                    "layout": name,
                    "reorders": seen.get("reorder", {}).get("lines", 0),
                    "reorder_ms": seen.get("reorder", {}).get("logged_ms", 0.0),
                    "compute_ms": sum(row["logged_ms"] for key, row in seen.items() if key != "reorder"),
                    "ratio": pair.ratio if pair else 1.0,
                    "low": pair.low if pair else 1.0,
                    "high": pair.high if pair else 1.0,
                    "reorders_of_one_conv": alone,
                }
            )
    return rows

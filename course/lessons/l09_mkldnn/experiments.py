"""Experiments of lesson 09: what oneDNN runs on this CPU, how, and what it is worth. All live on a CPU.

Layers, routes and what needs a new process stand in ``probes``.
"""

from __future__ import annotations

import statistics
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import nn

from course.experiment.base import Budget, experiment
from course.experiment.rows import SAME, kind_of, race_row
from course.experiment.words import NOTHING, TOO_NOISY, joined, ratio_of
from course.figures.kinds import Bar, Bet, Ratio, bars, ratio_rows, ratio_words, time_words
from course.figures.svg import SvgPicture
from course.i18n import Text, both, t
from course.lessons.l09_mkldnn.probes import layers, logged, typical_log
from course.onednn_log import log_of, on_off, parse, time_in
from course.records import Record
from course.tables import Table

LESSON = "09_mkldnn"
STEPS = (1, 2, 4, 16, 64)
LOGGED_CALLS, PROCESSES = 9, 2


def often(count: int) -> str:
    """once, twice, 3 times."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def listed(names: Sequence[str], code: str) -> str:
    """The names in a row, with the comma of the language."""
    return joined(names, code) or ("none" if code == "en" else "无")


def sides() -> tuple[str, str]:
    """The names of both sides of 1: time with oneDNN over time without."""
    return t("oneDNN is faster", "oneDNN 更快"), t("oneDNN is slower", "oneDNN 更慢")


def _verdict_row(race: Any) -> dict[str, Any]:
    return {**race_row(race), "on_ms": race.medians_ms["on"], "off_ms": race.medians_ms["off"], "rounds": race.rounds}


# --- 09-one-step --------------------------------------------------------------------------------------------


def headline_one_step(record: Record) -> Text:
    rows = record.rows
    kinds = [kind_of(row) for row in rows]
    turn = next((row["steps"] for at, row in enumerate(rows) if set(kinds[at:]) == {"faster"}), None)
    if len(rows) < 2 or set(kinds) == {"undecided"}:
        return TOO_NOISY
    if len(set(kinds)) == 1:
        return {
            "faster": both("oneDNN is faster at every length, even for one step.", "不管序列几步，oneDNN 都更快。"),
            "slower": both("oneDNN is slower at every length tried.", "试过的序列长度，oneDNN 全都更慢。"),
            "same": both("For this LSTM, oneDNN makes no difference.", "对这个 LSTM，开不开 oneDNN 一样快。"),
        }[kinds[0]]
    if turn and kinds[0] == "slower":
        return both(
            f"For a sequence of one step oneDNN is slower; from {turn} steps on, faster.",
            f"序列只有一步，oneDNN 更慢；从 {turn} 步起更快。",
        )
    if turn:
        return both(f"For sequences of {turn} steps and more, oneDNN is faster.", f"序列从 {turn} 步起，oneDNN 更快。")
    if kinds[0] == "slower" and kinds[-1] == "undecided":
        return both(
            "For a sequence of one step oneDNN is slower; the longest is too noisy.",
            "序列只有一步，oneDNN 更慢；最长的说不准。",
        )
    if kinds[0] == "slower":
        return both(
            "For a sequence of one step oneDNN is slower; the longest gains nothing.",
            "序列只有一步，oneDNN 更慢；最长的也没变快。",
        )
    if kinds[-1] == "undecided":
        return TOO_NOISY
    return both("For the longest sequence tried, oneDNN is not faster.", "试过的最长序列上，oneDNN 没有更快。")


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
        f"One LSTM call, time with oneDNN over time without: {ratio_of(first)} for {first['steps']} step, "
        f"{ratio_of(last)} for {last['steps']} steps.{en}",
        f"调用一次 LSTM，开 oneDNN 与不开的耗时之比：{first['steps']} 步时 {ratio_of(first)}，"
        f"{last['steps']} 步时 {ratio_of(last)}。{zh}",
    )


def draw_one_step(record: Record, bets: dict) -> SvgPicture:
    rows = [
        Ratio(
            t(f"{row['steps']} step{'s' * (row['steps'] > 1)}", f"{row['steps']} 步"),
            row["ratio"],
            row["low"],
            row["high"],
            t(f"{row['reorder_share']:.0%} copying", f"重排占 {row['reorder_share']:.0%}"),
            row["rounds"],
        )
        for row in record.rows
    ]
    return ratio_rows(rows, sides())


@experiment(
    name="09-one-step",
    lesson=LESSON,
    version=1,
    needs="mkldnn",
    seconds=7,
    whole=True,
    title=both(
        "An LSTM, one sequence, step by step or many steps at once: oneDNN on against off",
        "一条序列送进 LSTM，一次一步或一次多步：oneDNN 开与关的对比",
    ),
)
def one_step(budget: Budget) -> Iterator[dict]:
    """Time with oneDNN over time without, for one call of 1 to 64 steps, and the share of reorders in the log."""
    torch.set_num_threads(1)
    layer = nn.LSTM(128, 256)
    for done, steps in enumerate(budget.loop(STEPS, desc=both("lengths", "步数"))):
        x = torch.randn(steps, 1, 128)
        race = on_off(lambda x=x: layer(x), max_time=max(0.3, min(1.2, budget.share(len(STEPS) - done))))
        with torch.inference_mode():
            logs = [log_of(lambda x=x: layer(x)) for _ in range(LOGGED_CALLS)]
        share = [time_in(log, "reorder") / time_in(log) for log in logs if time_in(log)]
        yield {"steps": steps, **_verdict_row(race), "reorder_share": statistics.median(share) if share else 0.0}


# --- 09-on-off ----------------------------------------------------------------------------------------------


ASKED = ("Conv2d", "LSTM", "GRU", "Linear")


def listed_and(names: Sequence[str]) -> str:
    """Conv2d, LSTM and GRU."""
    *first, last = names
    return joined(first, "en") + " and " * bool(first) + last


def headline_race(record: Record) -> Text:
    """Of the four layers asked about: their rows are in float32, as the words say."""
    seen = {row["layer"]: kind_of(row) for row in record.rows}
    gain = [name for name in ASKED if seen.get(name) == "faster"]
    open_ = [name for name in ASKED if seen.get(name, "undecided") == "undecided"]
    rest = open_ or [name for name in ASKED if name not in gain]
    if len(open_) == len(ASKED) or (open_ and not gain):
        return TOO_NOISY
    others = joined(rest, "zh")
    if not gain:
        return both(
            f"In float32, oneDNN speeds up none of {listed_and(rest)}.", f"用 float32，{others} 都没因 oneDNN 变快。"
        )
    en, zh = f"In float32, oneDNN speeds up {listed_and(gain)}", f"用 float32，oneDNN 让 {joined(gain, 'zh')} 变快"
    if not rest:
        return both(f"{en}.", f"{zh}。")
    if open_:
        return both(f"{en}; too noisy to tell: {listed_and(rest)}.", f"{zh}；{others} 说不准。")
    return both(f"{en}, not {listed_and(rest)}.", f"{zh}，{others} 没变快。")


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
        f"{en}. Smallest time on / off: {fastest['layer']}, {ratio_of(fastest)}.",
        f"{zh}。开 / 关 的耗时比最小的是 {fastest['layer']}：{ratio_of(fastest)}。",
    )


def draw_race(record: Record, bets: dict) -> SvgPicture:
    """The bet names who becomes slower without oneDNN: those rows on the left, the others of the four in the middle."""
    rows = [Ratio(row["layer"], row["ratio"], row["low"], row["high"], "", row["rounds"]) for row in record.rows]
    bet, mine = None, GAINS.get(bets.get("09-bet-who", ""))
    if mine:
        placed = {row.name: at for at, row in enumerate(rows)}
        gain = dict(zip(ASKED, mine, strict=True))
        marks = {placed[name]: "left" if gain[name] else "middle" for name in ASKED if name in placed}
        bet = Bet(t("it helps", "有用"), rows=marks)
    return ratio_rows(rows, sides(), bet)


GAINS = {
    "a": (True, True, True, True),
    "b": (True, True, False, True),
    "c": (True, True, False, False),
    "d": (True, False, False, False),
}
"""What each option of the bet says of the four layers: is it faster with oneDNN?"""


def settle_race(record: Record) -> dict[str, str | None]:
    seen = {row["layer"]: row for row in record.rows}
    kinds = [kind_of(seen[name]) if name in seen else "undecided" for name in ASKED]
    if "undecided" in kinds:
        return {"09-bet-who": None}
    gain = tuple(kind == "faster" for kind in kinds)
    return {"09-bet-who": next((option for option, said in GAINS.items() if said == gain), None)}


@experiment(
    name="09-on-off",
    lesson=LESSON,
    version=1,
    needs="mkldnn",
    seconds=10,
    title=both("oneDNN on against off: for which layers does the time change?", "oneDNN 开与关：哪些层的耗时会变？"),
)
def race(budget: Budget) -> Iterator[dict]:
    """Time with oneDNN over time without, for nine layers, forward, on one thread."""
    calls = layers()
    for done, (layer, call) in enumerate(budget.loop(calls.items(), desc=both("layers", "层"))):
        found = on_off(call, max_time=max(0.3, min(1.2, budget.share(len(calls) - done))))
        yield {"layer": layer, **_verdict_row(found), "threads": 1}


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


ONCE = ("LSTM", "GRU", "RNN", "Linear", "GELU")
"""Layers with one row in float32; a convolution has three of them."""


def headline_where_time(record: Record) -> Text:
    found = _by_layer(record)
    silent = [name for name, one in found.items() if not one["reorder_ms"] + one["compute_ms"]]
    if not found:
        return TOO_NOISY
    if len(silent) == len(found):
        return both("oneDNN runs not one of these layers here.", "在这里，这些层 oneDNN 一个也没执行。")
    if not silent:
        return both("Every one of these layers leaves lines in oneDNN's log.", "这些层在 oneDNN 的日志里都有记录。")
    if len(silent) <= 3 and set(silent) <= set(ONCE):
        names = both(f"{listed_and(silent)} in float32", f"float32 的 {joined(silent, 'zh')} ")
    else:
        names = both(f"{len(silent)} of these {len(found)} layers", f"这 {len(found)} 个层里，有 {len(silent)} 个")
    return both(f"oneDNN never sees {names['en']}: no line in its log.", f"{names['zh']}没经过 oneDNN：日志里没有。")


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


def draw_where_time(record: Record, bets: dict) -> SvgPicture:
    """Of each layer: which part of the logged time goes into copying."""
    rows = []
    for name, one in _by_layer(record).items():
        total = one["reorder_ms"] + one["compute_ms"]
        share = one["reorder_ms"] / total if total else 0.0
        said = t(f"{share:.0%} of its time is copying", f"{share:.0%} 的时间在重排")
        rows.append(
            Bar(name, share, said if total else t("no line: somebody else does it", "没有日志：活儿是别人干的"))
        )
    return bars(rows)


@experiment(
    name="09-where-time",
    lesson=LESSON,
    version=1,
    needs="mkldnn",
    seconds=3,
    whole=True,
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


def headline_logs(record: Record) -> Text:
    found = _of_conv_said(record)
    if not found:
        return TOO_NOISY
    count = sum(line.primitive == "reorder" for line in found)
    if not count:
        return both("For one convolution, oneDNN copies nothing.", "算一次卷积，oneDNN 一次重排都不做。")
    return both(
        f"For one convolution, oneDNN copies data {often(count)}.", f"算一次卷积，oneDNN 要重排 {count} 次数据。"
    )


def say_logs(record: Record) -> Text:
    found = _of_conv_said(record)
    if not found:
        return NOTHING
    reorders = sum(line.primitive == "reorder" for line in found)
    return both(
        f"One convolution left {len(found)} lines, {reorders} of them reorders.",
        f"一次卷积留下 {len(found)} 行日志，其中 {reorders} 行是重排。",
    )


def draw_logs(record: Record, bets: dict) -> Table:
    lines = [["", t("implementation", "实现"), t("time", "耗时")]]
    found = _of_conv_said(record)
    lines += [[line.primitive, line.implementation, time_words(line.time_ms / 1e3)] for line in found]
    return Table(lines, {(at, 1): "told" for at, line in enumerate(found) if line.primitive != "reorder"})


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


def headline_layouts(record: Record) -> Text:
    """Both counts are of the same three convolutions."""
    if len(record.rows) < 3:
        return TOO_NOISY
    rows = {row["layout"]: row for row in record.rows}
    last, before, after = rows["channels_last"], rows["NCHW"]["reorders"], rows["channels_last"]["reorders"]
    if not before:
        return both(
            "With NCHW, oneDNN copies nothing and computes on the data as they lie.",
            "NCHW 布局下没有重排：数据怎么放就怎么算。",
        )
    if after >= before:
        return both(
            f"Three convolutions copy data {often(before)}; channels_last saves none.",
            f"三个卷积要重排 {before} 次；channels_last 也没省。",
        )
    en = f"Three convolutions: channels_last leaves {after} of {before} copies"
    zh = f"换成 channels_last，三个卷积的 {before} 次重排里只剩 {after} 次"
    if kind_of(last) == "faster":
        return both(f"{en}, and is faster.", f"{zh}，也更快。")
    return both(f"{en}.", f"{zh}。")


def say_layouts(record: Record) -> Text:
    if len(record.rows) < 3:
        return NOTHING

    def line(row: dict, code: str) -> str:
        count = f"{row['reorders']} reorders" if code == "en" else f"{row['reorders']} 次重排"
        if row["layout"] == "NCHW":
            return f"NCHW {count}"
        comma = ", " if code == "en" else "，"
        times = f"{ratio_of(row)} times the time of NCHW" if code == "en" else f"耗时是 NCHW 的 {ratio_of(row)} 倍"
        return f"{row['layout']} {count}{comma}{times}"

    return both(
        "Three convolutions: " + "; ".join(line(row, "en") for row in record.rows) + ".",
        "三个卷积：" + "；".join(line(row, "zh") for row in record.rows) + "。",
    )


def draw_layouts(record: Record, bets: dict) -> SvgPicture:
    """Reorders counted; the bet is about the one convolution at the top."""
    one = record.rows[0]["reorders_of_one_conv"]
    rows = [Bar(t("one convolution", "一个卷积"), one, _copies(one))]
    for row in record.rows:
        spent = "" if row["layout"] == "NCHW" or row["low"] is None else ratio_words(row["ratio"])
        remark = t(f"three, time: {spent}", f"三个，耗时：{spent}") if spent else t("three", "三个")
        rows.append(Bar(row["layout"], row["reorders"], _copies(row["reorders"]), remark=remark))
    mine = {
        "a": (t("none", "没有"), (0, 0)),
        "b": (t("one", "一次"), (0, 1)),
        "c": (t("two or three", "两三次"), (2, 3)),
    }.get(bets.get("09-bet-reorders", ""))
    return bars(rows, Bet(mine[0], rows=[0], span=mine[1]) if mine else None)


def _copies(count: int) -> str:
    return t(f"{count} cop{'y' if count == 1 else 'ies'}", f"重排 {count} 次")


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
                    "rounds": found.rounds,
                }
            )
    return rows

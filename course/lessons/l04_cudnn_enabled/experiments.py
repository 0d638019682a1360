"""Experiments of lesson 04 on the price: time and bits with a library switched off, on the CPU.

oneDNN's switch is a stand-in for cuDNN's, with the same anatomy: a fast library, a plain path behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from course.experiment.base import Budget, experiment
from course.experiment.rows import kind_of, race_row
from course.experiment.words import NOTHING, TOO_NOISY, joined, with_interval, word
from course.figures.kinds import Bar, Bet, Ratio, bars, ratio_rows
from course.figures.svg import SvgPicture
from course.i18n import Text, both, t
from course.lessons.l04_cudnn_enabled import probes
from course.records import Record
from course.tables import Table

LESSON = "04_cudnn_enabled"
OPERATIONS_WORDS = {
    "Conv2d, depthwise": both("depthwise Conv2d", "depthwise Conv2d"),
    "attention": both("attention", "注意力"),
}
SLIGHT = 0.05  # a difference below 5 % is called none
GROUPS = {
    "slower": both("slower", "变慢"),
    "faster": both("faster", "变快"),
    "same": both("within 5 % of 1", "与 1 相差不到 5%"),
    "undecided": both("undecided", "无法判定"),
}
CUDNN, ONEDNN = "cudnn.enabled", "mkldnn.enabled"
OPERATIONS = both("operations", "算子")


def called(name: str) -> Text:
    """An operation in words; most are called by their own name."""
    return OPERATIONS_WORDS.get(name, both(name, name))


def listed(names: Sequence[str], code: str) -> str:
    """Operations in words."""
    return joined([called(name)[code] for name in names], code)


def named(record: Record, *verdicts: str) -> list[str]:
    """The operations with one of these verdicts."""
    return [row["operation"] for row in record.rows if row["verdict"] in verdicts]


def races(record: Record, code: str, *verdicts: str) -> str:
    """Operations with one of these verdicts, each with its ratio and interval: time without over with."""
    return joined(
        [f"{called(r['operation'])[code]} {with_interval(r, code)}" for r in record.rows if r["verdict"] in verdicts],
        code,
    )


def race_groups(record: Record, code: str) -> str:
    """All races by verdict: figures for those that differ, names for those that do not."""
    parts = [
        f"{GROUPS[verdict][code]}{': ' if code == 'en' else '：'}"
        + (listed(named(record, verdict), code) if verdict == "same" else races(record, code, verdict))
        for verdict in GROUPS
        if named(record, verdict)
    ]
    return ("; " if code == "en" else "；").join(parts)


def race_rows(rows: Sequence[dict], bet: Bet | None = None) -> SvgPicture:
    """Time switched off over time switched on, a row an operation; with cuDNN's TF32 it says so."""
    shown = []
    for row in rows:
        remark = t("with TF32", "用 TF32") if row.get("tf32_allowed") else ""
        shown.append(
            Ratio(word(called(row["operation"])), row["ratio"], row["low"], row["high"], remark, row.get("rounds", 0))
        )
    return ratio_rows(shown, (t("off is faster", "关掉更快"), t("off is slower", "关掉更慢")), bet)


def worst(record: Record, key: str) -> float:
    return max(row[key] for row in record.rows)


def _races(budget: Budget, names: tuple[str, ...], switch: str, device: str = "cpu") -> Iterator[dict]:
    """One row an operation: time with the switch off over time with it on, and whether the bits agree."""
    for place, name in enumerate(budget.loop(names, desc=OPERATIONS)):
        call = probes.OPERATIONS[name](device)
        on, off = probes.on_and_off(call, switch)
        race = probes.switch_race(call, switch, max_time=max(0.2, budget.share(len(names) - place)), device=device)
        yield {
            "operation": name,
            **race_row(race),
            "verdict": kind_of(race_row(race), SLIGHT),
            "on_ms": race.medians_ms["on"],
            "off_ms": race.medians_ms["off"],
            "rounds": race.rounds,
            "same_bits": int(torch.equal(on, off)),
        }


# --- 04-cpu-enabled -----------------------------------------------------------------------------------------

ON_CPU = ("Conv2d", "LSTM", "BatchNorm2d")


def settle_cpu_enabled(record: Record) -> dict[str, str | None]:
    """b when every interval lies within 5 % of 1; a or c when one is off to one side; else open."""
    verdicts = {row["verdict"] for row in record.rows}
    option = None
    if verdicts == {"same"}:
        option = "b"
    elif "slower" in verdicts and "faster" not in verdicts:
        option = "a"
    elif "faster" in verdicts and "slower" not in verdicts:
        option = "c"
    return {"04-bet-cpu": option}


def headline_cpu_enabled(record: Record) -> Text:
    """Equal bits need no clock."""
    answer, verdicts = settle_cpu_enabled(record)["04-bet-cpu"], {row["verdict"] for row in record.rows}
    alike = bool(record.rows) and all(row["same_bits"] for row in record.rows)
    if answer == "a":
        return both(
            "Surprising: with cuDNN off, something on the CPU got slower.", "意外：关掉 cuDNN，CPU 上竟然有的层变慢了。"
        )
    if answer == "c":
        return both(
            "Surprising: with cuDNN off, something on the CPU got faster.", "意外：关掉 cuDNN，CPU 上竟然有的层变快了。"
        )
    if answer == "b" and alike:
        return both("On this CPU the cuDNN switch does nothing.", "在这颗 CPU 上，cuDNN 的开关不起作用。")
    if answer == "b":
        return both(
            "On this CPU the cuDNN switch makes nothing faster or slower.", "在这颗 CPU 上，cuDNN 的开关不影响耗时。"
        )
    if alike and not {"slower", "faster"} & verdicts:
        return both(
            "On this CPU the cuDNN switch changes no result, not by one bit.", "在这颗 CPU 上，cuDNN 的开关不改变结果。"
        )
    return TOO_NOISY


def draw_cpu_enabled(record: Record, bets: dict) -> SvgPicture | Table:
    """The times; where no row has a likely range, the bits, which need no clock, and what was bet below them."""
    said = {
        "a": ("right", t("slower", "变慢")),
        "b": ("middle", t("no difference", "没差别")),
        "c": ("left", t("faster", "变快")),
    }
    mine = said.get(bets.get("04-bet-cpu", ""))
    if all(row["low"] is None for row in record.rows):
        bits = (t("other bits", "逐位不一致"), t("the same bits", "逐位相同"))
        lines = [["", t("with the switch off", "关掉开关后")]]
        lines += [[word(called(row["operation"])), bits[row["same_bits"]]] for row in record.rows]
        lines += [[t("time", "耗时"), mine[1]]] if mine else []
        told = {(at, 1): "told" for at, row in enumerate(record.rows) if row["same_bits"]}
        return Table(lines, told, [(len(record.rows), 1)] if mine else ())
    bet = Bet(mine[1], rows=dict.fromkeys(range(len(record.rows)), mine[0])) if mine else None
    return race_rows(record.rows, bet)


def say_cpu_enabled(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    alike = sum(row["same_bits"] for row in record.rows)
    bits = both(
        f"The bits of the results are equal in {alike} of {len(record.rows)} layers.",
        f"{len(record.rows)} 个层中，有 {alike} 个的结果逐位相同。",
    )
    around = all(row["low"] is not None and row["low"] <= 1 <= row["high"] for row in record.rows)
    wide = both(
        "Every interval holds 1, but not each is narrow enough to rule out 5 %: the machine is busy. ",
        "每个区间都包含 1，但有的不够窄，还排除不了 5% 的差别：机器比较忙。",
    )
    ends = {
        "b": both("If there is a difference, it is smaller than 5 %. ", "就算有差别，也不到 5%。"),
        None: wide
        if around
        else both("The times leave it open, the machine was too busy. ", "机器太忙，耗时变没变下不了结论。"),
        "a": both(
            "Off was slower somewhere by more than 5 %: surprising, run it again. ",
            "有的层关掉后慢了 5% 以上：出人意料，请再运行一次。",
        ),
        "c": both(
            "Off was faster somewhere by more than 5 %: surprising, run it again. ",
            "有的层关掉后快了 5% 以上：出人意料，请再运行一次。",
        ),
    }
    end, every = ends[settle_cpu_enabled(record)["04-bet-cpu"]], ("slower", "faster", "same", "undecided")
    return both(
        f"{end['en']}Time with cudnn.enabled off over on: {races(record, 'en', *every)}. {bits['en']}",
        f"{end['zh']}cudnn.enabled 关 / 开 的耗时比：{races(record, 'zh', *every)}。{bits['zh']}",
    )


@experiment(
    name="04-cpu-enabled",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=6,
    whole=True,
    clockless=True,
    title=both(
        "On the CPU: does anything change when cudnn.enabled goes off?", "在 CPU 上：关掉 cudnn.enabled，有什么变化吗？"
    ),
)
def cpu_enabled(budget: Budget) -> Iterator[dict]:
    """Three layers on the CPU, cudnn.enabled on and off: time and bits. One thread."""
    return _races(budget, ON_CPU, CUDNN)


# --- 04-onednn-ops ------------------------------------------------------------------------------------------

WITHOUT_ONEDNN = ("Conv2d", "Conv2d, depthwise", "LSTM", "GRU", "Linear", "MaxPool2d")


def settle_onednn_ops(record: Record) -> dict[str, str | None]:
    """a all slower, b some slower and some not, c none slower; open while what is undecided or missing could matter."""
    slower, settled = named(record, "slower"), named(record, "same", "faster")
    if slower and settled:
        option = "b"
    elif not record.complete:
        option = None
    elif len(slower) == len(record.rows) > 1:
        option = "a"
    else:
        option = "c" if len(settled) == len(record.rows) > 1 else None
    return {"04-bet-onednn": option}


def headline_onednn_ops(record: Record) -> Text:
    said = {
        "a": both("Without oneDNN every layer tried here gets slower.", "没有 oneDNN，试过的层全都变慢。"),
        "b": both("Without oneDNN some layers get slower, others do not.", "没有 oneDNN，有的层变慢，有的不变慢。"),
        "c": both("Without oneDNN no layer tried here gets slower.", "没有 oneDNN，试过的层都不变慢。"),
    }
    return said.get(settle_onednn_ops(record)["04-bet-onednn"], TOO_NOISY)


def draw_onednn_ops(record: Record, bets: dict) -> SvgPicture:
    said = {
        "a": ("right", t("all slower", "全变慢")),
        "b": ("right", t("some of these", "其中几个")),
        "c": ("middle", t("none slower", "都不慢")),
    }
    mine = said.get(bets.get("04-bet-onednn", ""))
    bet = Bet(mine[1], rows=dict.fromkeys(range(len(record.rows)), mine[0])) if mine else None
    return race_rows(record.rows, bet)


def say_onednn_ops(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    return both(
        f"Time without oneDNN over time with it, {race_groups(record, 'en')}.",
        f"没有 oneDNN 与有 oneDNN 的耗时比，{race_groups(record, 'zh')}。",
    )


@experiment(
    name="04-onednn-ops",
    lesson=LESSON,
    version=1,
    needs="mkldnn",
    seconds=11,
    title=both("The stand-in: which operations get slower without oneDNN?", "替身实验：没有 oneDNN，哪些算子会变慢？"),
)
def onednn_ops(budget: Budget) -> Iterator[dict]:
    """Six layers on the CPU, mkldnn.enabled on and off: time and bits. One thread."""
    return _races(budget, WITHOUT_ONEDNN, ONEDNN)


# --- 04-bits ------------------------------------------------------------------------------------------------


def _sums(record: Record) -> dict[str, int]:
    return {key: sum(row[key] for row in record.rows) for key in ("values", "differ", "on_nearer", "off_nearer")}


def nearer_share(record: Record) -> float | None:
    """Of the values where one side is nearer to float64, the part where it is "on"; None without such values."""
    sums = _sums(record)
    decided = sums["on_nearer"] + sums["off_nearer"]
    return sums["on_nearer"] / decided if decided else None


def settle_bits(record: Record) -> dict[str, str | None]:
    share = nearer_share(record)
    if not record.rows:
        return {"04-bet-bits": None}
    if share is None:
        return {"04-bet-bits": "d"}
    return {"04-bet-bits": "a" if share > 0.95 else "b" if share < 0.05 else "c"}


def headline_bits(record: Record) -> Text:
    said = {
        "a": both("oneDNN is nearer to the exact result, nearly everywhere.", "几乎处处都是 oneDNN 更准。"),
        "b": both("The plain path is nearer to the exact result, nearly everywhere.", "几乎处处都是原生实现更准。"),
        "c": both(
            "Sometimes oneDNN is nearer to the exact result, sometimes the plain path.",
            "有时 oneDNN 更准，有时原生实现更准。",
        ),
        "d": both("With oneDNN or without: neither comes nearer to the exact result.", "用不用 oneDNN，准确度都一样。"),
    }
    return said.get(settle_bits(record)["04-bet-bits"], TOO_NOISY)


def say_bits(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    sums, share = _sums(record), nearer_share(record)
    on, off = worst(record, "on_error"), worst(record, "off_error")
    if share is None:
        return both(
            f"All {sums['values']} values have the same bits on and off; "
            f"the largest error against float64 is {on:.1e} of the largest value.",
            f"{sums['values']} 个值开关前后逐位相同；与 float64 相比，最大误差是最大值的 {on:.1e}。",
        )
    differ = sums["differ"] / sums["values"]
    return both(
        f"{differ:.0%} of {sums['values']} values differ in their bits. "
        f"Of those with a nearer side, oneDNN is nearer to float64 in {share:.0%}, the plain path in {1 - share:.0%}. "
        f"Largest error, as part of the largest value: {on:.1e} on, {off:.1e} off.",
        f"{sums['values']} 个值中，有 {differ:.0%} 逐位不一致。其中分得出远近的，{share:.0%} 是 oneDNN 更接近 float64，"
        f"{1 - share:.0%} 是原生实现更接近。最大误差（相对最大值）：开 {on:.1e}，关 {off:.1e}。",
    )


def draw_bits(record: Record, bets: dict) -> SvgPicture:
    """Of all values: how many are nearer to float64 on one side, on the other, or have equal bits."""
    sums = _sums(record)
    counts = {
        t("oneDNN nearer", "oneDNN 更近"): sums["on_nearer"],
        t("plain path nearer", "原生实现更近"): sums["off_nearer"],
        t("the same bits", "逐位相同"): sums["values"] - sums["differ"],
    }
    near = sums["differ"] - sums["on_nearer"] - sums["off_nearer"]
    if near:
        counts[t("equally near", "一样近")] = near
    rows = []
    for name, count in counts.items():
        share = 100 * count / sums["values"]
        rows.append(Bar(name, share, t(f"{share:.0f} % of the values", f"{share:.0f}% 的值"), len(rows) > 1))
    said = {
        "a": ([0], t("nearly everywhere", "几乎处处")),
        "b": ([1], t("nearly everywhere", "几乎处处")),
        "c": ([0, 1], t("now one, now the other", "有时这个，有时那个")),
        "d": ([2], t("all of them", "全都相同")),
    }
    mine = said.get(bets.get("04-bet-bits", ""))
    return bars(rows, Bet(mine[1], rows=mine[0]) if mine else None)


@experiment(
    name="04-bits",
    lesson=LESSON,
    version=1,
    needs="mkldnn",
    seconds=6,
    title=both("oneDNN on or off: whose results are nearer to float64?", "oneDNN 开或关：谁的结果更接近 float64？"),
)
def bits(budget: Budget) -> Iterator[dict]:
    """Twelve convolutions with new weights and inputs, on and off, each compared with float64."""
    for number in budget.loop(range(12), desc=both("inputs", "输入")):
        layer = torch.nn.Conv2d(32, 32, 3, padding=1).eval()
        yield {"input": number, **probes.against_float64(layer, torch.randn(2, 32, 24, 24), ONEDNN)}

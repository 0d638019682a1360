"""Does the search pay? Many convolutions with the search off and on: how many became faster, how many slower.

They were measured once on an H100 (`h100_convolutions.csv`).
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from course.core.i18n import both, pick, t
from course.experiment.reading import groups
from course.experiment.telling import sentence
from course.figures.block import Block, Fold
from course.figures.kinds import Bar, bars
from course.figures.svg import SvgPicture
from course.timing.stats import median

APART = 1.03
"""Off and on differ where their ranges over the processes are disjoint and at least 3 % apart."""
UNSTEADY = 1.1
"""Processes of one side that differ by as much: what the search did cannot be told from them."""
H100 = Path(__file__).with_name("h100_convolutions.csv")
H100_TRAINING = Path(__file__).with_name("h100_networks.csv")


MEASURED = {
    "en": "📼 Measured once by the authors of this course, 26 November 2026, on an NVIDIA H100 80GB: torch 2.11, cuDNN 9.19,",
    "zh": "📼 本课程作者实测一次：2026 年 11 月 26 日，NVIDIA H100 80GB，torch 2.11，cuDNN 9.19；",
}


SIDES = {
    "faster": both("faster with the search", "开搜索更快"),
    "slower": both("slower with the search", "开搜索更慢"),
    "unsteady": both("changes from process to process", "换个进程就变"),
    "same": both("no clear difference", "看不出差别"),
}


class Pair(NamedTuple):
    """Times of one thing, one value a process, with the search off and on: of a convolution its kernels, in µs."""

    name: str
    off: Sequence[float]
    on: Sequence[float]

    @property
    def ratio(self) -> float:
        """Time with the search over time without, by the medians."""
        return median(self.on) / median(self.off)

    @property
    def side(self) -> str:
        """faster or slower: by 3 % and more in every process; unsteady: processes of one side are 10 % apart; else same."""
        if max(self.on) * APART < min(self.off):
            return "faster"
        if min(self.on) > max(self.off) * APART:
            return "slower"
        return "unsteady" if any(max(way) > min(way) * UNSTEADY for way in (self.off, self.on)) else "same"


def counted(pairs: Sequence[Pair]) -> dict[str, int]:
    """How many there are of each of SIDES; of how many."""
    sides = [pair.side for pair in pairs]
    return {side: sides.count(side) for side in SIDES} | {"all": len(sides)}


def on_an_h100() -> list[Pair]:
    """The 172 forward convolutions measured on an H100, three processes each way."""
    with H100.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["pass"] == "forward"]
    return [
        Pair(_name(row), *([float(row[f"{way}_ms_{n}"]) * 1e3 for n in (1, 2, 3)] for way in ("off", "on")))
        for row in rows
    ]


def _name(row: dict[str, str]) -> str:
    layout = ", channels_last" if row["channels_last"] == "1" else ""
    apart = f", dilation {row['dilation']}" if row["dilation"] != "1" else ""
    size = f"{row['kernel']}×{row['kernel']} / {row['stride']}{apart}, {row['batch']} × {row['image']}"
    return f"{row['kind']} {row['in']}→{row['out']}, {size}, {row['dtype']}{layout}"


def h100() -> Block:
    """What the search did to the forward passes of 172 convolutions on an H100, as a notebook shows a result; raw numbers folded."""
    pairs = on_an_h100()
    count = counted(pairs)
    return Block(
        headline=pick(
            sentence(
                both(
                    "Forward, on an H100: the search slowed {slower} of {all} convolutions, sped up a handful.",
                    "H100 上的前向：{all} 个卷积，{slower} 个开搜索更慢，变快的没几个。",
                ),
                count,
            )
        ),
        step="",
        picture=picture(count),
        small=t(
            f"{MEASURED['en']} three new processes each way, kernels alone through a CUDA graph. Slower, faster: by 3 % and more in "
            "every process. All together took the same time. Another card can say otherwise.",
            f"{MEASURED['zh']}开、关各三个新进程，用 CUDA graph 只测 kernel。"
            "每个进程都差 3% 以上，才算更慢或更快。全部加起来，时间一样。换一张卡，结论可能不同。",
        ),
        folds=(
            Fold(
                t("The numbers", "全部数字"),
                (
                    pick(
                        sentence(
                            both(
                                "{faster} faster and {slower} slower by 3 % and more in every process; of the others {unsteady} differ by "
                                "10 % and more between processes of one side (mostly with the search: another kernel?), {same} do not. "
                                "The same file holds 56 forward and backward passes, one process against two: too few to tell.",
                                "每个进程都差 3% 以上的：{faster} 个更快，{slower} 个更慢。"
                                "其余：{unsteady} 个在同一边的进程之间就差 10% 以上（多是开搜索的一边，大概选了别的 kernel），"
                                "{same} 个不到。同一文件里还有 56 个前向加反向，一个进程对两个，太少，说不准。",
                            ),
                            count,
                        )
                    ),
                ),
                list(_rows(pairs, t("convolution", "卷积"), "µs")),
            ),
        ),
    )


def h100_training() -> Block:
    """The same for training steps of four networks, folded to its sentence."""
    with H100_TRAINING.open(encoding="utf-8", newline="") as file:
        rows = [
            row for row in csv.DictReader(file) if row["process"] != "9"
        ]  # 9: an extra run with the search off alone
    ways = {
        way: {name: list(own) for name, own in groups([row for row in rows if row["search"] == way], "network").items()}
        for way in ("off", "on")
    }
    times = {
        way: {name: [float(row["step_ms"]) for row in own] for name, own in each.items()} for way, each in ways.items()
    }
    pairs = [Pair(name, off, times["on"][name]) for name, off in times["off"].items()]
    first = [float(row["first_step_ms"]) / 1e3 for row in rows if row["search"] == "on"]
    span = f"{min(first):.0f}", f"{max(first):.0f}"
    about = both(
        f"{MEASURED['en']} two new processes each way. Slower, faster: by 3 % and more in every process. "
        f"The first step with the search took {span[0]} to {span[1]} s.",
        f"{MEASURED['zh']}开、关各两个新进程。每个进程都差 3% 以上，才算更慢或更快。开搜索时，第一步要 {span[0]} 到 {span[1]} s。",
    )
    said = both(
        "Training on an H100: the search slowed {slower} of {all} cases, clearly sped up none.",
        "在 H100 上训练：{all} 种情形，{slower} 种开搜索更慢，没有一种明显更快。",
    )
    return Block(
        headline=pick(sentence(said, counted(pairs))),
        step="",
        picture=None,
        small=pick(about),
        folds=(Fold(t("The numbers", "全部数字"), rows=list(_rows(pairs, t("a training step", "训练一步"), "ms"))),),
        folded=True,
    )


def _rows(pairs: Sequence[Pair], what: str, unit: str) -> Iterator[dict[str, object]]:
    """What differs first."""
    for pair in sorted(pairs, key=lambda pair: (list(SIDES).index(pair.side), pair.ratio)):
        yield {
            what: pair.name,
            t(f"off, {unit}, each process", f"关，{unit}，各进程"): _each(pair.off),
            t(f"on, {unit}, each process", f"开，{unit}，各进程"): _each(pair.on),
            t("on/off", "开/关"): round(pair.ratio, 3),
            t("what the search did", "开搜索的效果"): pick(SIDES[pair.side]),
        }


def _each(times: Sequence[float]) -> str:
    return " / ".join(f"{value:.4g}" for value in times)


def picture(count: dict[str, int]) -> SvgPicture:
    """How many convolutions became slower, faster, neither; those that nothing can be said of are quiet."""
    return bars(
        [
            Bar(pick(SIDES[side]), count[side], f"{count[side]}", quiet=side in ("unsteady", "same"))
            for side in ("slower", "unsteady", "same", "faster")
        ]
    )

"""Experiments of lesson 03 on time: how little the work says about it, page faults, and the roof of this machine.

Counts are MACs (one multiply feeding one accumulate) unless a name says FLOPs.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import torch
from torch import nn

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.plots import bet_box
from course.experiment.rows import race_row
from course.experiment.words import NOTHING, TOO_NOISY, doubtful, ratio_of, word
from course.figures.curves import trend
from course.figures.kinds import Bar, Bet, bars, fold, time_words
from course.figures.svg import SvgPicture
from course.flops import count
from course.i18n import Text, both, t
from course.lessons.l03_flops.experiments import LESSON
from course.lessons.l03_flops.heap import ANEW, AS_IT_COMES, reuse_memory
from course.records import Record
from course.timing.render import bracketed


def _share(row: dict) -> str:
    return f"1/{round(1 / row['macs_ratio'])}"


class ThreadClock:
    """A clock for `compare`: processor time of this thread, so other programs are not in it. For work on one thread."""

    device, kind, cache = "cpu", "wall", "hot"

    def now(self) -> float:
        """Seconds, for budgets."""
        return time.perf_counter()

    def block(self, f: Callable[[], object], calls: int) -> float:
        """Seconds of this thread for so many calls."""
        start = time.thread_time_ns()
        for _ in range(calls):
            f()
        return (time.thread_time_ns() - start) * 1e-9


def _convolution(channels: int, size: int, groups: int) -> tuple[Callable[[], object], int]:
    """A 3x3 convolution without bias on one image, and its MACs."""
    layer = nn.Conv2d(channels, channels, 3, padding=1, groups=groups, bias=False).requires_grad_(False)
    image = torch.randn(1, channels, size, size)
    return lambda: layer(image), count(layer, image).macs


def _faults(run: Callable[[], object]) -> float:
    """Median page faults of five calls; 0 where the system does not tell."""
    from course.timing import count_faults

    counts = []
    for _ in range(5):
        with count_faults() as seen:
            run()
        counts.append(seen.minor or 0)
    return statistics.median(counts)


def _against_dense(channels: int, size: int, groups: tuple[int, ...], seconds: float) -> list[dict]:
    """Time and MACs of grouped convolutions as shares of the dense one, on one thread, without page faults."""
    from course.timing import compare

    reuse_memory()
    made = {str(g): _convolution(channels, size, g) for g in (1, *groups)}
    for run, _ in made.values():
        for _ in range(3):
            run()
    runs = {name: run for name, (run, _) in made.items()}
    found = compare(runs, baseline="1", max_time=seconds, clock=ThreadClock())
    return [
        {
            "channels": channels,
            "size": size,
            "groups": int(name),
            "macs": made[name][1],
            "macs_ratio": made[name][1] / made["1"][1],
            **race_row(pair),
            "page_faults": max(_faults(made["1"][0]), _faults(made[name][0])),
            "threads": 1,
        }
        for name, pair in found.pairs.items()
    ]


# --- 03-depthwise -------------------------------------------------------------------------------------------

SHAPES = ((64, 56), (32, 112), (128, 28))  # channels and image size of the dense and depthwise layers
TWICE, BET_CHANNELS = 2.0, 128  # "about 1/128" allows twice that share of the time
FEW_FAULTS = 20  # page faults of other threads and of the runtime, beside hundreds of a result written anew


def headline_depthwise(record: Record) -> Text:
    option = settle_depthwise(record)["03-bet-depthwise"]
    if option is None:
        return TOO_NOISY
    row = next(row for row in record.rows if row["channels"] == BET_CHANNELS)
    percent = round(100 * row["ratio"])
    if option == "a":
        return both(
            "Depthwise convolution: under a hundredth of the work, and about as little time.",
            "逐通道卷积：工作量不到普通卷积的百分之一，耗时也一样少。",
        )
    if row["low"] > 1:
        return both(
            "Depthwise convolution: under a hundredth of the work, and still more time.",
            "逐通道卷积：工作量不到普通卷积的百分之一，耗时反而更久。",
        )
    if option == "c":
        return both(
            "Depthwise convolution: under a hundredth of the work, yet over half the time.",
            "逐通道卷积：工作量不到普通卷积的百分之一，耗时却过半。",
        )
    return both(
        f"Depthwise convolution: under a hundredth of the work, yet {percent} % of the time.",
        f"逐通道卷积：工作量不到普通卷积的百分之一，耗时却有 {percent}%。",
    )


def draw_depthwise(record: Record, bets: dict) -> SvgPicture:
    """Work and time of each depthwise layer as a part of the dense one's; the bet is a part of one layer's time."""
    rows, asked = [], None
    for row in record.rows:
        name = t(f"{row['channels']} channels", f"{row['channels']} 通道")
        for part, key, quiet in ((t("work", "工作量"), "macs_ratio", True), (t("time", "耗时"), "ratio", False)):
            if row["channels"] == BET_CHANNELS and not quiet:
                asked = len(rows)
            percent = 100 * row[key]
            said = f"{percent:.0f}" if percent >= 2 else f"{percent:.1f}"
            rows.append(Bar(f"{name}{t(': ', '：')}{part}", percent, t(f"{said} %", f"{said}%"), quiet))
    promised = 100 * TWICE / BET_CHANNELS
    said = {
        "a": (t("as little as the work", "和工作量一样少"), (0, promised)),
        "b": (t("more, but under half", "不止，但不到一半"), (promised, 50)),
        "c": (t("more than half", "超过一半"), (50, 100)),
    }
    mine = said.get(bets.get("03-bet-depthwise", "")) if asked is not None else None
    return bars(rows, Bet(mine[0], rows=[asked], span=mine[1]) if mine else None)


def say_depthwise(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    doubt = doubtful(settle_depthwise(record))
    en, zh = [], []
    for row in record.rows:
        time = ratio_of(row, ".3f")
        en.append(f"{_share(row)} of the MACs take {time} of the time")
        zh.append(f"MACs 为 {_share(row)}，耗时为 {time}")
    faults = max(row.get("page_faults", 0) for row in record.rows)
    told = (
        both(
            f"Up to {faults:,.0f} page faults a call are in these times.",
            f"这些耗时里含有每次调用最多 {faults:,.0f} 次缺页。",
        )
        if faults > FEW_FAULTS
        else both("No page faults are in these times.", "这些耗时里没有缺页。")
    )
    return both(
        f"{doubt['en']}Depthwise against dense, one thread: {'; '.join(en)}. {told['en']}",
        f"{doubt['zh']}逐通道卷积与普通卷积之比，单线程：{'；'.join(zh)}。{told['zh']}",
    )


def settle_depthwise(record: Record) -> dict[str, str | None]:
    rows = [row for row in record.rows if row["channels"] == BET_CHANNELS]
    if not rows:
        return {"03-bet-depthwise": None}
    low, high, promised = rows[0]["low"], rows[0]["high"], TWICE * rows[0]["macs_ratio"]
    option = "a" if high <= promised else "c" if low >= 0.5 else None
    if promised < low and high < 0.5:
        option = "b"
    return {"03-bet-depthwise": option}


@experiment(
    name="03-depthwise",
    lesson=LESSON,
    version=2,
    needs="cpu",
    seconds=6,
    title=both(
        "Depthwise against dense: does the time shrink like the MACs?",
        "逐通道卷积对普通卷积：耗时会和 MACs 一样缩小吗？",
    ),
)
def depthwise(budget: Budget) -> Iterator[dict]:
    """Three shapes; in each a depthwise 3x3 convolution takes turns with the dense one, in memory that is kept."""
    torch.set_num_threads(1)  # restored afterwards
    for place, (channels, size) in enumerate(budget.loop(SHAPES, desc=both("shapes", "形状"))):
        yield from _against_dense(channels, size, (channels,), budget.share(len(SHAPES) - place))


# --- 03-page-faults -----------------------------------------------------------------------------------------

MEMORY = {"fresh": ANEW, "kept": AS_IT_COMES}
"""What happens to a result's memory when it is freed, with the variables of a process where it happens."""
LAYERS = {"dense": both("dense", "普通卷积"), "depthwise": both("depthwise", "逐通道卷积")}


def _found(record: Record) -> dict[tuple[str, str], dict]:
    return {(row["layer"], row["memory"]): row for row in record.rows}


ALIKE = 1.1  # two times are alike where neither interval's far end is more than this times the other's near end


def headline_page_faults(record: Record) -> Text:
    found = _found(record)
    if len(found) < 4:
        return TOO_NOISY
    fresh, kept = (found["depthwise", memory] for memory in MEMORY)
    if fresh["low_ms"] > kept["high_ms"]:
        if fresh["low_ms"] > 2 * kept["high_ms"]:
            return both(
                "The depthwise layer spends most of its time on fresh memory.", "逐通道卷积的耗时，大半花在新内存上。"
            )
        return both("Fresh memory adds time to every depthwise call.", "每次都用新内存，逐通道卷积就更慢。")
    if kept["low_ms"] > fresh["high_ms"]:
        return both("Here the depthwise layer is slower with kept memory.", "这次把内存留着，逐通道卷积反而更慢。")
    if max(fresh["high_ms"] / kept["low_ms"], kept["high_ms"] / fresh["low_ms"]) <= ALIKE:
        return both(
            "Here fresh memory costs the depthwise layer next to nothing.", "这次用新内存，逐通道卷积几乎没变慢。"
        )
    return TOO_NOISY


def say_page_faults(record: Record) -> Text:
    found = _found(record)
    if len(found) < 4:
        return NOTHING
    en, zh = [], []
    for layer, name in LAYERS.items():
        parts = {}
        for memory in MEMORY:
            row = found[layer, memory]
            time = bracketed(f"{row['call_ms']:.3g} ms", f"{row['low_ms']:.3g}", f"{row['high_ms']:.3g}")
            known = row["page_faults"] is not None
            count_ = f"{row['page_faults']:,.0f}" if known else "?"
            parts[memory] = both(f"{time} with {count_} page faults a call", f"{time}，每次调用 {count_} 次缺页")
        en.append(f"{name['en']}: {parts['fresh']['en']}; memory kept: {parts['kept']['en']}")
        zh.append(f"{name['zh']}：{parts['fresh']['zh']}；内存留着不还：{parts['kept']['zh']}")
    shares = [found["depthwise", memory]["call_ms"] / found["dense", memory]["call_ms"] for memory in MEMORY]
    ratio = f"{shares[0]:.2f}", f"{shares[1]:.2f}"
    return both(
        f"{en[0][0].upper()}{en[0][1:]}. {en[1][0].upper()}{en[1][1:]}. "
        f"So depthwise takes {ratio[0]} of dense by a careless clock, {ratio[1]} without the faults.",
        f"{'。'.join(zh)}。所以不小心的话，测出逐通道卷积是普通卷积的 {ratio[0]}，去掉缺页则是 {ratio[1]}。",
    )


def draw_page_faults(record: Record, bets: dict) -> SvgPicture:
    """Each layer with its memory kept, and with fresh memory in every call."""
    names = {"fresh": both("fresh memory", "新内存"), "kept": both("memory kept", "内存留着")}
    rows = []
    for (layer, memory), row in sorted(_found(record).items(), reverse=True):
        faults = row["page_faults"]
        said = t(f"{faults:,.0f} page faults", f"{faults:,.0f} 次缺页") if faults is not None else ""
        name = f"{word(LAYERS[layer])}{t(', ', '，')}{word(names[memory])}"
        rows.append(Bar(name, row["call_ms"], time_words(row["call_ms"] / 1e3), memory == "kept", said))
    return bars(rows)


@experiment(
    name="03-page-faults",
    lesson=LESSON,
    version=2,
    needs="cpu",
    seconds=15,
    title=both(
        "One layer, twice: memory anew in every call, and memory that is kept",
        "同一层跑两遍：一遍每次都用新内存，一遍把内存留着",
    ),
)
def page_faults(budget: Budget) -> Iterator[dict]:
    """A dense and a depthwise layer of 32 channels at 112x112, in a process whose memory comes anew in every call, and in one
    that keeps it."""
    heap = "course.lessons.l03_flops.heap"
    for memory, rule in budget.loop(list(MEMORY.items()), desc=both("new processes", "新进程"), least=len(MEMORY)):
        yield from rows_of(heap, "timed", memory, variables=rule)


# --- 03-groups ----------------------------------------------------------------------------------------------

GROUPS = (2, 4, 8, 16, 32)


def headline_group_sweep(record: Record) -> Text:
    rows = sorted(record.rows, key=lambda row: row["groups"])
    lost = [row["groups"] for row in rows if row["low"] > 1]
    won = [row["groups"] for row in rows if row["high"] < 1]
    if len(lost) == 1:
        return both(f"Cut into {lost[0]} groups: less work, and slower.", f"分成 {lost[0]} 组：活儿少了，反而更慢。")
    if lost:
        return both("Less work, yet more time: some grouped layers lose.", "有几种分组，活儿少了，反而更慢。")
    if not won:
        return TOO_NOISY
    if any(more["low"] > fewer["high"] for at, fewer in enumerate(rows) for more in rows[at + 1 :]):
        return both("More groups mean less work, but not always less time.", "组越多活儿越少，耗时却不一定更短。")
    falls = all(more["high"] < fewer["low"] for fewer, more in pairwise(rows))
    if falls and all(row["high"] <= TWICE * row["macs_ratio"] for row in rows):
        return both("The more groups, the less work, and the less time.", "组越多，活儿越少，耗时也越短。")
    if any(row["low"] > row["macs_ratio"] for row in rows):
        return both("Groups save time, but less of it than of the work.", "分组能省时间，但时间没有活儿省得多。")
    return TOO_NOISY


def draw_group_sweep(record: Record, bets: dict) -> SvgPicture:
    """Work and time by the number of groups, as a part of those of the dense convolution."""
    rows = sorted(record.rows, key=lambda row: row["groups"])
    told = t("; ", "；").join(
        t(
            f"{row['groups']} groups: {row['macs_ratio']:.0%} of the work, ",
            f"{row['groups']} 组：工作量 {row['macs_ratio']:.0%}，",
        )
        + t(f"{row['ratio']:.0%} of the time", f"耗时 {row['ratio']:.0%}")
        for row in rows
    )
    series = {
        t("work", "工作量"): [1.0, *(row["macs_ratio"] for row in rows)],
        t("time", "耗时"): [1.0, *(row["ratio"] for row in rows)],
    }
    return trend(
        [1, *(row["groups"] for row in rows)],
        series,
        told + t(".", "。"),
        across=t("groups", "组数"),
        log_x=True,
        y_words=lambda value: t(f"{100 * value:.0f} %", f"{100 * value:.0f}%"),
    )


def say_group_sweep(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    times = [(row, ratio_of(row, ".3f")) for row in record.rows]
    en = "; ".join(f"{_share(row)} of the MACs, {time}" for row, time in times)
    zh = "；".join(f"MACs 为 {_share(row)}，{time}" for row, time in times)
    lost = [str(row["groups"]) for row in record.rows if row["low"] > 1]
    more = both(
        f" Slower than dense in spite of fewer MACs: {', '.join(lost)} groups." if lost else "",
        f"MACs 更少却比普通卷积慢：{'、'.join(lost)} 组。" if lost else "",
    )
    return both(
        f"Time as a share of the dense convolution's, one thread: {en}.{more['en']}",
        f"耗时与普通卷积之比，单线程：{zh}。{more['zh']}",
    )


@experiment(
    name="03-groups",
    lesson=LESSON,
    version=2,
    needs="cpu",
    seconds=6,
    whole=True,
    title=both("Cutting the work into groups: when does the time follow?", "用分组削减工作量：耗时什么时候会跟着降？"),
)
def group_sweep(budget: Budget) -> list[dict]:
    """One dense convolution on 32 channels against five grouped ones, all in turn."""
    torch.set_num_threads(1)  # restored afterwards
    return _against_dense(32, 28, GROUPS, budget.share(1))


# --- 03-roof ------------------------------------------------------------------------------------------------

BATCHES = (1, 64)
WIDTH = 4096  # of the linear layer: its weights, 64 MiB, are larger than most caches
NAMES = {
    "matrix product": "矩阵乘",
    "dense conv": "普通卷积",
    "depthwise conv": "逐通道卷积",
    "linear, batch 64": "线性层（batch 64）",
    "linear, batch 1": "线性层（batch 1）",
    "ReLU": "ReLU",
}


def _parts(record: Record) -> tuple[dict | None, list[dict], dict | None]:
    """The row of the peaks, those of the operations, and that of the two batches."""

    def of(part: str) -> list[dict]:
        return [row for row in record.rows if row["part"] == part]

    return (of("peak") or [None])[0], of("operation"), (of("batch") or [None])[0]


def _billions(value: float) -> str:
    return f"{value / 1e9:.3g}"


def headline_roof(record: Record) -> Text:
    _, _, batch = _parts(record)
    option = settle_roof(record)["03-bet-roof"]
    if option is None:
        return TOO_NOISY
    if option == "c":
        return both("Sixty-four times the work takes at most twice the time.", "六十四倍的活儿，时间至多两倍。")
    only = ("", "要") if option == "a" else (" only", "只要")
    return fold(
        batch["ratio"],
        f"Sixty-four times the work takes{only[0]} {{}} as long.",
        f"六十四倍的活儿，{only[1]}{{}}的时间。",
        whole=True,
    )


def say_roof(record: Record) -> Text:
    peak, operations, batch = _parts(record)
    if peak is None:
        return NOTHING
    doubt = doubtful(settle_roof(record))
    busy = (
        both("The machine was busy, so the peaks are too low. ", "测量时机器正忙，峰值偏低。")
        if peak["busy"]
        else both("", "")
    )
    last = both("", "")
    if batch is not None:
        time = ratio_of(batch)
        last = both(
            f" A linear layer with 64 rows does {batch['work_ratio']:.0f} times the work of one row in {time} times the time.",
            f"同一个线性层，64 行的工作量是 1 行的 {batch['work_ratio']:.0f} 倍，耗时是 {time} 倍。",
        )
    for edge, words in (
        (max, both("Nearest to its roof", "离屋顶最近的是")), (min, both("Farthest from it", "最远的是")),
    ):  # fmt: skip
        clear = _clear(operations, edge)
        if clear is not None:
            name, share = clear["operation"], f"{clear['share_of_roof']:.0%}"
            last = both(
                f"{last['en']} {words['en']}: {name}, {share}.",
                f"{last['zh']}{words['zh']}{NAMES.get(name, name)}（{share}）。",
            )
    who = record.machine.get("cpu") or record.machine.get("device_name") or record.machine.get("device") or "?"
    return both(
        f"{doubt['en']}{busy['en']}Measured on one thread of {who}: {_billions(peak['flops_per_s'])} GFLOP/s, "
        f"{_billions(peak['bytes_per_s'])} GB/s, so the bend is at {peak['ridge']:.3g} FLOPs a byte.{last['en']}",
        f"{doubt['zh']}{busy['zh']}{who} 单线程实测：{_billions(peak['flops_per_s'])} GFLOP/s，"
        f"{_billions(peak['bytes_per_s'])} GB/s，拐点在每字节 {peak['ridge']:.3g} FLOPs。{last['zh']}",
    )


def _clear(operations: list[dict], edge: Callable[..., Any]) -> dict | None:
    """The operation nearest to (max) or farthest from (min) its roof, where no other one's interval reaches into its own."""
    if len(operations) < 2:
        return None
    first = edge(operations, key=lambda row: row["share_of_roof"])
    others = [row for row in operations if row is not first]
    if edge is max:
        clear = first["share_low"] > max(row["share_high"] for row in others)
    else:
        clear = first["share_high"] < min(row["share_low"] for row in others)
    return first if clear else None


def draw_roof(record: Record, ax: Any, bets: dict) -> None:
    """The two measured roofs, and every operation that has FLOPs as a point; the bet is where the batch of 64 was to lie."""
    from course.roofline import Layer, Peaks
    from course.roofline.picture import draw

    peak, operations, _ = _parts(record)
    if peak is None:
        return
    given = {
        name: peak[name]
        for name in ("flops_per_s", "bytes_per_s", "ridge", "dtype", "device", "threads", "precision", "created")
    }
    found = Peaks(**given, machine={})
    draw(
        [
            Layer(
                t(row["operation"], NAMES.get(row["operation"], row["operation"])),
                "",
                row["flops"],
                row["bytes"],
                row["time_ms"],
                row["calls"],
                found,
                overhead_ms=row["overhead_ms"],
                faults=row["page_faults"],
                fault_share=row["fault_share"],
            )
            for row in operations
        ],
        found,
        "",
        ax,
    )
    points = {row["operation"]: row for row in operations}
    one, many = (points.get(f"linear, batch {size}") for size in BATCHES)
    said = {
        "a": (t("about 64 times as long", "约 64 倍"), (1, 2)),
        "b": (t("less than 32 times", "不到 32 倍"), (2, 32)),
        "c": (t("at most twice", "至多 2 倍"), (32, 64)),
    }
    mine = said.get(bets.get("03-bet-roof", ""))
    if mine and one and many:
        rate, across = one["flops"] / one["time_ms"] * 1e3, many["flops"] / many["bytes"]
        bet_box(ax, mine[0], (across / 20, across * 1.6), (rate * mine[1][0], rate * mine[1][1]))
        ax.set_ylim(top=max(ax.get_ylim()[1], 2 * rate * mine[1][1]))


def settle_roof(record: Record) -> dict[str, str | None]:
    _, _, batch = _parts(record)
    if batch is None:
        return {"03-bet-roof": None}
    low, high = batch["low"], batch["high"]
    option = "a" if low >= batch["work_ratio"] / 2 else "c" if high <= 2 else None
    if low > 2 and high < batch["work_ratio"] / 2:
        option = "b"
    return {"03-bet-roof": option}


def _placed(roof: object, seconds: float, budget: Budget) -> Iterator[dict]:
    """A product, two convolutions, two linear layers and a ReLU, each timed alone with its data out of the cache."""
    from course.roofline import place

    wide = nn.Linear(WIDTH, WIDTH, bias=False)
    operations = {
        "linear, batch 1": (wide, torch.randn(BATCHES[0], WIDTH)),
        "linear, batch 64": (wide, torch.randn(BATCHES[1], WIDTH)),
        "matrix product": (nn.Linear(1024, 1024, bias=False), torch.randn(1024, 1024)),
        "depthwise conv": (nn.Conv2d(128, 128, 3, padding=1, groups=128, bias=False), torch.randn(1, 128, 56, 56)),
        "dense conv": (nn.Conv2d(128, 128, 3, padding=1, bias=False), torch.randn(1, 128, 56, 56)),
        "ReLU": (nn.ReLU(), torch.randn(4, 128, 112, 112)),
    }
    for name in budget.loop(operations, desc=both("operations", "算子")):
        layer, x = operations[name]
        whole = place(layer, x, peaks=roof, max_time=seconds / len(operations), cache="cold").whole
        yield {"part": "operation", "operation": name, **whole.row()}


@experiment(
    name="03-roof",
    lesson=LESSON,
    version=2,
    needs="cpu",
    seconds=18,
    title=both("The roof of this very machine: who is kept waiting by the memory?", "这台机器自己的屋顶：谁在等内存？"),
)
def roof(budget: Budget) -> Iterator[dict]:
    """Measured peaks, one linear layer with two batches taking turns, and six operations under the peaks."""
    from course.roofline import peaks
    from course.timing import compare

    torch.set_num_threads(1)  # restored afterwards
    found = peaks("cpu", max_time=min(3.0, 0.25 * budget.seconds), refresh=True)
    yield {"part": "peak", **found.rows()[0], "busy": int(bool(found.notes))}
    layer = nn.Linear(WIDTH, WIDTH, bias=False).requires_grad_(False)
    small, large = (torch.randn(batch, WIDTH) for batch in BATCHES)
    race = compare(
        {"1": lambda: layer(small), "64": lambda: layer(large)},
        baseline="1",
        max_time=max(0.25 * budget.seconds, 0.2),
        clock=ThreadClock(),
    )
    yield {"part": "batch", "work_ratio": BATCHES[1] / BATCHES[0], **race_row(race), "threads": 1}
    yield from _placed(found, 0.4 * budget.seconds, budget)

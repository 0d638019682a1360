"""Experiments of lesson 03 on time: how little the work says about it, page faults, and the roof of this machine.

Counts are MACs (one multiply feeding one accumulate) unless a name says FLOPs.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.plots import BLUE, ORANGE
from course.experiment.words import NOTHING, doubtful
from course.flops import count
from course.i18n import Text, both, t
from course.lessons.l03_flops.experiments import LESSON
from course.lessons.l03_flops.heap import ANEW, AS_IT_COMES, keep_memory
from course.records import Record


def _share(row: dict) -> str:
    return f"1/{round(1 / row['macs_ratio'])}"


def draw_shares(record: Record, ax: Any) -> None:
    """Share of the time against share of the MACs, with intervals; the diagonal is "time = work"."""
    one_size = len({row["size"] for row in record.rows}) == 1
    for row in record.rows:
        ax.plot([row["macs_ratio"]] * 2, [row["low"], row["high"]], color=BLUE, linewidth=3)
        ax.plot(row["macs_ratio"], row["ratio"], "o", color=BLUE)
        label = t(f"{row['groups']} groups", f"{row['groups']} 组") + (
            "" if one_size else f"\n{row['size']}x{row['size']}"
        )
        ax.annotate(
            label, (row["macs_ratio"], row["high"]), xytext=(0, 5), textcoords="offset points", ha="center", fontsize=9
        )
    ends = [min(row["macs_ratio"] for row in record.rows), 1.0]
    ax.plot(ends, ends, "--", color="gray", label=t("if MACs were time", "假如 MACs 就是时间"))
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.margins(x=0.2, y=0.2)
    ax.set_xlabel(t("share of the dense layer's MACs", "MACs 与普通卷积之比"))
    ax.set_ylabel(t("share of its time", "耗时之比"))
    ax.legend()


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

    keep_memory()
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
            "ratio": pair.ratio,
            "low": pair.low,
            "high": pair.high,
            "verdict": pair.verdict,
            "page_faults": max(_faults(made["1"][0]), _faults(made[name][0])),
            "threads": 1,
        }
        for name, pair in found.pairs.items()
    ]


# --- 03-depthwise -------------------------------------------------------------------------------------------

SHAPES = ((64, 56), (32, 112), (128, 28))  # channels and image size of the dense and depthwise layers
TWICE, BET_CHANNELS = 2.0, 128  # "about 1/128" allows twice that share of the time
FEW_FAULTS = 20  # page faults of other threads and of the runtime, beside hundreds of a result written anew


def say_depthwise(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    doubt = doubtful(settle_depthwise(record))
    en, zh = [], []
    for row in record.rows:
        time = f"{row['ratio']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"
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
    draw=draw_shares,
)
def depthwise(budget: Budget) -> list[dict]:
    """Three shapes; in each a depthwise 3x3 convolution takes turns with the dense one, in memory that is kept."""
    torch.set_num_threads(1)  # restored afterwards
    rows = []
    for place, (channels, size) in enumerate(budget.loop(SHAPES, desc=both("shapes", "形状"))):
        rows += _against_dense(channels, size, (channels,), budget.share(len(SHAPES) - place))
    return rows


# --- 03-page-faults -----------------------------------------------------------------------------------------

MEMORY = {"fresh": ANEW, "kept": AS_IT_COMES}
"""What happens to a result's memory when it is freed, with the variables of a process where it happens."""
LAYERS = {"dense": both("dense", "普通卷积"), "depthwise": both("depthwise", "逐通道卷积")}


def _found(record: Record) -> dict[tuple[str, str], dict]:
    return {(row["layer"], row["memory"]): row for row in record.rows}


def say_page_faults(record: Record) -> Text:
    found = _found(record)
    if len(found) < 4:
        return NOTHING
    en, zh = [], []
    for layer, name in LAYERS.items():
        parts = {}
        for memory in MEMORY:
            row = found[layer, memory]
            time = f"{row['call_ms']:.3g} ms [{row['low_ms']:.3g}, {row['high_ms']:.3g}]"
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


def draw_page_faults(record: Record, ax: Any) -> None:
    """A bar a layer: the time with the memory kept, and on top what the fresh memory adds."""
    found, names = _found(record), [t(name["en"], name["zh"]) for name in LAYERS.values()]
    kept = [found[layer, "kept"]["call_ms"] if (layer, "kept") in found else 0.0 for layer in LAYERS]
    fresh = [found[layer, "fresh"]["call_ms"] if (layer, "fresh") in found else 0.0 for layer in LAYERS]
    added = [max(0.0, whole - work) for whole, work in zip(fresh, kept, strict=True)]
    ax.barh(names, kept, color=BLUE, height=0.5, label=t("the layer's work", "这一层的活儿"))
    bars = ax.barh(
        names,
        added,
        left=kept,
        color=ORANGE,
        hatch="//",
        height=0.5,
        label=t("added by fresh memory", "新内存带来的额外耗时"),
    )
    counts = [found.get((layer, "fresh"), {}).get("page_faults") for layer in LAYERS]
    ax.bar_label(
        bars, [t(f"{n:,.0f} page faults", f"{n:,.0f} 次缺页") if n is not None else "" for n in counts], padding=4
    )
    ax.margins(x=0.3)
    ax.set_ylim(-0.5, len(names) + 0.1)
    ax.set_xlabel(t("time of a call (ms), one thread", "单次调用耗时 (ms)，单线程"))
    ax.legend(loc="upper right", ncols=2)


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
def page_faults(budget: Budget) -> list[dict]:
    """A dense and a depthwise layer of 32 channels at 112x112, in a process whose memory comes anew in every call, and in one
    that keeps it."""
    heap = "course.lessons.l03_flops.heap"
    return [row for memory, rule in MEMORY.items() for row in rows_of(heap, "timed", memory, variables=rule)]


# --- 03-groups ----------------------------------------------------------------------------------------------

GROUPS = (2, 4, 8, 16, 32)


def say_group_sweep(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    times = [(row, f"{row['ratio']:.3f} [{row['low']:.3f}, {row['high']:.3f}]") for row in record.rows]
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
    title=both("Cutting the work into groups: when does the time follow?", "用分组削减工作量：耗时什么时候会跟着降？"),
    draw=draw_shares,
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
        time = f"{batch['ratio']:.2f} [{batch['low']:.2f}, {batch['high']:.2f}]"
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


def draw_roof(record: Record, ax: Any) -> None:
    """The two measured roofs, and every operation that has FLOPs as a point."""
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


def settle_roof(record: Record) -> dict[str, str | None]:
    _, _, batch = _parts(record)
    if batch is None:
        return {"03-bet-roof": None}
    low, high = batch["low"], batch["high"]
    option = "a" if low >= batch["work_ratio"] / 2 else "c" if high <= 2 else None
    if low > 2 and high < batch["work_ratio"] / 2:
        option = "b"
    return {"03-bet-roof": option}


def _placed(roof: object, seconds: float, budget: Budget) -> list[dict]:
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
    rows = []
    for name in budget.loop(operations, desc=both("operations", "算子")):
        layer, x = operations[name]
        whole = place(layer, x, peaks=roof, max_time=seconds / len(operations), cache="cold").whole
        rows.append({"part": "operation", "operation": name, **whole.row()})
    return rows


@experiment(
    name="03-roof",
    lesson=LESSON,
    version=2,
    needs="cpu",
    seconds=18,
    title=both("The roof of this very machine: who is kept waiting by the memory?", "这台机器自己的屋顶：谁在等内存？"),
)
def roof(budget: Budget) -> list[dict]:
    """Measured peaks, one linear layer with two batches taking turns, and six operations under the peaks."""
    from course.roofline import peaks
    from course.timing import compare

    torch.set_num_threads(1)  # restored afterwards
    found = peaks("cpu", max_time=min(3.0, 0.25 * budget.seconds), refresh=True)
    rows = [{"part": "peak", **found.rows()[0], "busy": int(bool(found.notes))}]
    layer = nn.Linear(WIDTH, WIDTH, bias=False).requires_grad_(False)
    small, large = (torch.randn(batch, WIDTH) for batch in BATCHES)
    race = compare(
        {"1": lambda: layer(small), "64": lambda: layer(large)},
        baseline="1",
        max_time=max(0.25 * budget.seconds, 0.2),
        clock=ThreadClock(),
    )
    rows.append(
        {
            "part": "batch",
            "work_ratio": BATCHES[1] / BATCHES[0],
            "ratio": race.ratio,
            "low": race.low,
            "high": race.high,
            "verdict": race.verdict,
            "threads": 1,
        }
    )
    return rows + _placed(found, 0.4 * budget.seconds, budget)

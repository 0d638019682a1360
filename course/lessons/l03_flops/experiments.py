"""Experiments of lesson 03: how counters differ and what they miss; how little the work says about time, page faults, this machine's roof.

Counts are MACs (one multiply feeding one accumulate) unless a name says FLOPs.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

import torch
from torch import nn

from course.core.i18n import both, pick, t
from course.core.look import COLOURS
from course.core.records import Record
from course.experiment.base import Budget, experiment, get
from course.experiment.new_process import rows_of
from course.experiment.reading import Reading, race_row
from course.figures.kinds import Bet
from course.figures.plot import Plot
from course.flags import using
from course.flops import count
from course.lessons.l03_flops.crosscheck import cross_check
from course.lessons.l03_flops.heap import ANEW, AS_IT_COMES, reuse_memory

LESSON = "03_flops"


# --- 03-vgg16-counters --------------------------------------------------------------------------------------


@experiment(name="03-vgg16-counters", lesson=LESSON, needs="cpu", seconds=25)
def vgg16_counters(budget: Budget) -> list[dict]:
    """thop, ptflops and torch beside our count; a row for each tool, then one for each named difference."""
    from course.models import vgg16

    found = cross_check(vgg16(), torch.randn(1, 3, 224, 224))
    rows = [{"part": "tool", **row} for row in found.rows() if row["reported"] is not None]
    for tool in found.tools:
        rows += [
            {
                "part": "reason",
                "tool": tool.tool,
                "macs": reason.amount,
                "reason_en": reason.text["en"],
                "reason_zh": reason.text["zh"],
            }
            for reason in tool.reasons
        ]
        if tool.note:
            rows.append(
                {"part": "missing", "tool": tool.tool, "reason_en": tool.note["en"], "reason_zh": tool.note["zh"]}
            )
    return rows


def read_vgg16_counters(rows: list[dict]) -> Reading | None:
    """How far the largest number lies above the smallest: less than 5 % a, up to 50 % b, more c."""
    tools = [row for row in rows if row["part"] == "tool" and row["reported"]]
    if not tools:
        return None
    giga = [row["reported"] / 1e9 for row in tools]
    most = giga.index(max(giga))
    drawn = [
        {**row, "place": "most" if at == most else at, "giga": giga[at], "quiet": row["unit"] == "MACs"}
        for at, row in enumerate(tools)
    ]
    apart = max(giga) / min(giga)
    numbers = {"apart": apart, "least": min(giga), "top": max(2.2 * min(giga), max(giga))}
    if len(tools) < 2:
        return Reading("one", numbers, drawn, {"03-bet-vgg": None})
    option = "a" if apart < 1.05 else "b" if apart <= 1.5 else "c"
    return Reading("a" if option == "a" else "apart", numbers, drawn, {"03-bet-vgg": option})


# --- 03-lstm-zero -------------------------------------------------------------------------------------------


@experiment(name="03-lstm-zero", lesson=LESSON, needs="mkldnn", seconds=5)
def lstm_zero(budget: Budget) -> list[dict]:
    """FlopCounterMode on three recurrent layers, oneDNN on and off, beside the exact FLOPs."""
    from torch.utils.flop_counter import FlopCounterMode

    x = torch.randn(10, 1, 32)
    layers = {"LSTM": nn.LSTM(32, 64), "GRU": nn.GRU(32, 64), "RNN": nn.RNN(32, 64)}
    rows = []
    for name, layer in layers.items():
        for enabled in (True, False):
            with using({"mkldnn.enabled": enabled}), torch.no_grad():
                with FlopCounterMode(display=False) as counter:
                    layer(x)
                rows.append(
                    {
                        "layer": name,
                        "mkldnn": int(enabled),
                        "torch_flops": counter.get_total_flops(),
                        "exact_flops": count(layer, x).flops,
                    }
                )
    return rows


def read_lstm_zero(rows: list[dict]) -> Reading:
    """What the counter sees of the LSTM, with the switch on and off."""
    drawn = []
    for row in rows:
        share, switch = row["torch_flops"] / row["exact_flops"], "on" if row["mkldnn"] else "off"
        saw = {0: "nothing", 1: "all"}.get(share, both(f"sees {share:.0%} of it", f"数到 {share:.0%}"))
        case = {"case": f"{row['layer']} {switch}", "layer": row["layer"], "switch": switch}
        drawn.append({**case, "flops": row["torch_flops"], "saw": saw, "quiet": row["layer"] != "LSTM"})
    seen = {row["switch"]: row["flops"] for row in drawn if row["layer"] == "LSTM"}
    if len(seen) < 2:
        return Reading(drawn=drawn)
    if seen["on"] == seen["off"]:
        return Reading("b", drawn=drawn, bets={} if seen["on"] else {"03-bet-lstm": None})
    if all(seen.values()):
        return Reading("another number", drawn=drawn, bets={"03-bet-lstm": None})
    return Reading("a" if not seen["on"] else "c", drawn=drawn)


# --- 03-length ----------------------------------------------------------------------------------------------

LENGTHS = (128, 256, 512, 1024, 2048, 4096)


@experiment(name="03-length", lesson=LESSON, needs="cpu", seconds=15)
def length(budget: Budget) -> Iterator[dict]:
    """MACs of a block of width 768 by length, the linear layers and the attention apart; nothing is timed."""
    from course.models import gpt_block

    block = gpt_block()
    linear = sum(layer.weight.numel() for layer in block.modules() if isinstance(layer, nn.Linear))
    for tokens in budget.loop(LENGTHS, desc=both("lengths", "长度")):
        macs = count(block, torch.empty(1, tokens, 768)).macs
        yield {"tokens": tokens, "macs": macs, "linear_macs": linear * tokens, "attention_macs": macs - linear * tokens}


def read_length(rows: list[dict]) -> Reading | None:
    """The work of 1024 tokens over that of 256."""
    found = {row["tokens"]: row for row in rows}
    if not {256, 1024} <= set(found):
        return None
    drawn = [
        {"tokens": tokens, "grown": row["macs"] / found[256]["macs"], "share": row["attention_macs"] / row["macs"]}
        for tokens, row in found.items()
        if tokens in (256, 1024)
    ]
    grown = found[1024]["macs"] / found[256]["macs"]
    if abs(grown - 4) < 0.01:
        option = "a"
    else:
        option = "c" if 4 < grown < 8 else "b" if 12 < grown < 20 else None
    return Reading("told", {"grown": grown}, drawn, {"03-bet-length": option})


# --- on time: how little the work says about it, page faults, and the roof of this machine ---


def _convolution(channels: int, size: int, groups: int) -> tuple[Callable[[], object], int]:
    """A 3x3 convolution without bias on one image, and its MACs."""
    layer = nn.Conv2d(channels, channels, 3, padding=1, groups=groups, bias=False).requires_grad_(False)
    image = torch.randn(1, channels, size, size)
    return lambda: layer(image), count(layer, image).macs


def _faults(run: Callable[[], object]) -> float:
    """Median page faults of five calls; 0 where the system does not tell."""
    from course.lessons.l03_flops.heap import count_faults

    counts = []
    for _ in range(5):
        with count_faults() as seen:
            run()
        counts.append(seen.minor or 0)
    return statistics.median(counts)


def _against_dense(channels: int, size: int, groups: tuple[int, ...], seconds: float) -> list[dict]:
    """Time and MACs of grouped convolutions as shares of the dense one, on one thread, without page faults."""
    from course.roofline.peaks import ThreadClock
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


@experiment(name="03-depthwise", lesson=LESSON, version=2, needs="cpu", seconds=6)
def depthwise(budget: Budget) -> Iterator[dict]:
    """Three shapes; in each a depthwise 3x3 convolution takes turns with the dense one, in memory that is kept."""
    torch.set_num_threads(1)  # restored afterwards
    for place, (channels, size) in enumerate(budget.loop(SHAPES, desc=both("shapes", "形状"))):
        yield from _against_dense(channels, size, (channels,), budget.share(len(SHAPES) - place))


def read_depthwise(rows: list[dict]) -> Reading:
    """Time of the layer that the bet is about: up to twice its share of the work a, from half on c, between the two b."""
    drawn = []
    for row in rows:
        for part, key in (("work", "macs_ratio"), ("time", "ratio")):
            percent = 100 * row[key]
            said = f"{percent:.0f}" if percent >= 2 else f"{percent:.1f}"
            case = {"case": f"{row['channels']} {part}", "channels": row["channels"], "part": part}
            drawn.append({**case, "percent": percent, "said": both(f"{said} %", f"{said}%"), "quiet": part == "work"})
    asked = [row for row in rows if row["channels"] == BET_CHANNELS]
    numbers = {"promised": 100 * TWICE / BET_CHANNELS}
    if not asked:
        return Reading(None, numbers, drawn)
    low, high, promised = asked[0]["low"], asked[0]["high"], TWICE * asked[0]["macs_ratio"]
    numbers["share"] = asked[0]["ratio"]
    option = "a" if high <= promised else "c" if low >= 0.5 else "b" if promised < low and high < 0.5 else None
    return Reading("more" if option in ("b", "c") else option, numbers, drawn, {"03-bet-depthwise": option})


# --- 03-page-faults -----------------------------------------------------------------------------------------

MEMORY = {"fresh": ANEW, "kept": AS_IT_COMES}
"""What happens to a result's memory when it is freed, with the variables of a process where it happens."""
ALIKE = 1.1  # two times are alike where neither interval's far end is more than this times the other's near end


@experiment(name="03-page-faults", lesson=LESSON, version=2, needs="cpu", seconds=15)
def page_faults(budget: Budget) -> Iterator[dict]:
    """A dense and a depthwise layer of 32 channels at 112x112, in a process whose memory comes anew in every call, and in one
    that keeps it."""
    heap = "course.lessons.l03_flops.heap"
    for memory, rule in budget.loop(list(MEMORY.items()), desc=both("new processes", "新进程"), least=len(MEMORY)):
        yield from rows_of(heap, "timed", memory, variables=rule)


def read_page_faults(rows: list[dict]) -> Reading:
    """The depthwise layer with its memory anew in every call, and kept. careless, kept: depthwise over dense, each way."""
    found = {(row["layer"], row["memory"]): row for row in rows}
    drawn = []
    for (layer, memory), row in sorted(found.items(), reverse=True):
        many = row["page_faults"]
        faults = "" if many is None else both(f"{many:,.0f} page faults", f"{many:,.0f} 次缺页")
        case = {"case": (layer, memory), "layer": layer, "memory": memory}
        drawn.append({**case, "ms": row["call_ms"], "faults": faults})
    if len(found) < 4:
        return Reading(drawn=drawn)
    shares = [found["depthwise", memory]["call_ms"] / found["dense", memory]["call_ms"] for memory in MEMORY]
    numbers = dict(zip(("careless", "kept"), shares, strict=True))
    fresh, kept = (found["depthwise", memory] for memory in MEMORY)
    if fresh["low_ms"] > kept["high_ms"]:
        outcome = "most of the time" if fresh["low_ms"] > 2 * kept["high_ms"] else "some time"
    else:
        outcome = "alike" if fresh["high_ms"] / kept["low_ms"] <= ALIKE else None
    return Reading(outcome, numbers, drawn)


# --- 03-roof ------------------------------------------------------------------------------------------------

BATCHES = (1, 64)
WIDTH = 4096  # of the linear layer: its weights, 64 MiB, are larger than most caches


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
        (whole,) = place(layer, x, peaks=roof, max_time=seconds / len(operations)).rows()
        shown = {key: value for key, value in whole.items() if not key.startswith("share_of_time")}  # it is all of it
        yield {"part": "operation", "operation": name, **shown}


@experiment(name="03-roof", lesson=LESSON, version=2, needs="cpu", seconds=18)
def roof(budget: Budget) -> Iterator[dict]:
    """Measured peaks, one linear layer with two batches taking turns, and six operations under the peaks."""
    from course.roofline import peaks
    from course.roofline.layer import QUIET
    from course.roofline.peaks import ThreadClock
    from course.timing import compare

    torch.set_num_threads(1)  # restored afterwards
    found = peaks("cpu", max_time=min(3.0, 0.25 * budget.seconds))
    numbers = {name: value for name, value in asdict(found).items() if name != "got"}
    yield {"part": "peak", **numbers, "ridge": found.ridge, "busy": int(found.got < QUIET)}
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


def read_roof(rows: list[dict]) -> Reading:
    """How much longer 64 times the work takes: half of 64 or more a, at most twice c, between the two b."""
    numbers: dict[str, Any] = {"busy": "busy" if any(row.get("busy") for row in rows) else ""}
    batch = [row for row in rows if row["part"] == "batch"]
    if not batch:
        return Reading(None, numbers)
    low, high, half = batch[0]["low"], batch[0]["high"], batch[0]["work_ratio"] / 2
    numbers["ratio"] = batch[0]["ratio"]
    option = "a" if low >= half else "c" if high <= 2 else "b" if low > 2 and high < half else None
    return Reading("longer" if option in ("a", "b") else option, numbers, bets={"03-bet-roof": option})


def draw_roof(record: Record, bets: dict) -> Plot:
    """The two measured roofs, and every operation that has FLOPs as a point; the bet is where the batch of 64 was to lie."""
    from course.roofline import Peaks
    from course.roofline.picture import draw

    operations = [row for row in record.rows if row["part"] == "operation"]
    (peak,) = (row for row in record.rows if row["part"] == "peak")
    telling = get(record.experiment).telling
    given = {
        name: peak[name]
        for name in ("flops_per_s", "bytes_per_s", "dtype", "device", "threads", "precision", "created")
    }
    found = Peaks(**given, machine=record.machine)
    rates = {row["operation"]: row["flops"] / row["time_ms"] * 1e3 for row in operations}
    one, many = (f"linear, batch {size}" for size in BATCHES)
    mine = telling.bets["03-bet-roof"].get(bets.get("03-bet-roof")) if {one, many} <= set(rates) else None

    def words() -> str:
        return Bet(pick(mine["words"])).full if mine else ""

    def paint(ax: Any) -> None:  # in the language that its font can write, so words are looked up here
        draw([{**row, "layer": telling.name(row["operation"])} for row in operations], found, ax)
        if mine:
            (across,) = (row["flops"] / row["bytes"] for row in operations if row["operation"] == many)
            low, high = (rates[one] * times for times in mine["span"])
            _bet_box(ax, words(), (across / 20, across * 1.6), (low, high))
            ax.set_ylim(top=max(ax.get_ylim()[1], 2 * high))

    said = t("; ", "；").join(f"{telling.name(name)} {rate / 1e9:.3g} GFLOP/s" for name, rate in rates.items() if rate)
    return Plot(paint, said + t(".", "。") + (f"{t(' ', '')}{words()}{t('.', '。')}" if mine else ""))


def _bet_box(ax: Any, words: str, x: tuple[float, float], y: tuple[float, float]) -> None:
    """The learner's bet as a dashed box from x[0] to x[1] and y[0] to y[1], in the units of the axes."""
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Rectangle

    ink = COLOURS["bet"][sum(to_rgb(ax.get_facecolor())) < 1.5]  # on the ground in force, as in our own SVG
    line = {"fill": False, "edgecolor": ink, "linestyle": (0, (5, 3)), "linewidth": 1.8}
    ax.add_patch(Rectangle((x[0], y[0]), x[1] - x[0], y[1] - y[0], **line))
    above = {"xytext": (2, 3), "textcoords": "offset points", "va": "bottom"}
    ax.annotate(words, (x[0], max(y)), color=ink, fontweight="bold", **above)

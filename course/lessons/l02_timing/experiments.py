"""Experiments of lesson 02: what a stopwatch reads, and what it should have read.

Each run returns tidy rows (milliseconds unless a name says otherwise) and uses torch alone.
"""

from __future__ import annotations

import logging
import math
import random
import statistics
import time
from collections.abc import Callable
from time import perf_counter
from typing import Any

import torch

from course.experiment.base import Budget, experiment
from course.experiment.plots import BLUE, ORANGE, interval_line
from course.experiment.words import NOTHING, doubtful, groups, middle
from course.i18n import Text, both, t
from course.lessons.l02_timing.toy_device import ToyDevice
from course.machine import can
from course.records import Record
from course.timing.stats import median_interval

LESSON = "02_timing"
STOPWATCHES = {
    "no fence": "没有栅栏",
    "fence after only": "只在后面加栅栏",
    "fence before and after": "前后都加栅栏",
    "two events": "一对 event",
    "fence before, then .cpu()": "前面加栅栏，再 .cpu()",
    "fence before, then print": "前面加栅栏，再 print",
}
METHODS = {"means, each alone": "分开测、比平均值", "best of, each alone": "分开测、比最小值", "paired": "配对比较"}
KERNEL_MS, EARLIER_MS, COPY_MS = 20.0, 30.0, 6.0
RUNS = 5
WINNER = 0.02  # a naive tester calls a winner when the ratio is further from 1 than this
PLANTED = 1.05


def _readings(rows: list[dict]) -> dict[str, tuple[float, float, float]]:
    return {r["stopwatch"]: (r["median_ms"], r["low_ms"], r["high_ms"]) for r in rows}


def _listed(rows: list[dict]) -> tuple[str, str]:
    en = [f"{name} {m:.3g} ms [{lo:.3g}, {hi:.3g}]" for name, (m, lo, hi) in _readings(rows).items()]
    zh = [f"{STOPWATCHES[name]} {m:.3g} ms [{lo:.3g}, {hi:.3g}]" for name, (m, lo, hi) in _readings(rows).items()]
    return "; ".join(en), "；".join(zh)


def draw_stopwatches(record: Record, ax: Any) -> None:
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


def draw_first_call(record: Record, ax: Any) -> None:
    for rows in groups(record.rows, "shape").values():
        ordered = sorted(rows, key=lambda r: r["call"])
        ax.plot([r["call"] for r in ordered], [r["call_ms"] for r in ordered], "o-", alpha=0.6)
    ax.set_yscale("log")
    ax.set_xlabel(t("call number (one line per shape)", "第几次调用（每条线一个形状）"))
    ax.set_ylabel(t("time of the call (ms)", "该次调用耗时 (ms)"))


def _said(record: Record, method: str, *words: str) -> int:
    return sum(r["method"] == method and r["said"] in words for r in record.rows)


def draw_ratios(record: Record, ax: Any) -> None:
    for height, rows in enumerate(reversed(groups(record.rows, "method").values())):
        spread = [height + 0.25 * ((i % 5) - 2) / 2 for i in range(len(rows))]
        ax.plot([r["ratio"] for r in rows], spread, "o", color=BLUE, alpha=0.6)
    methods = list(reversed(groups(record.rows, "method")))
    ax.set_yticks(range(len(methods)), [t(method, METHODS[method]) for method in methods])
    ax.axvline(record.rows[0]["planted"], color="gray", linestyle=":", label=t("the truth", "真实值"))
    ax.set_xlabel(t("ratio found in each race (1 = same time)", "每场得到的比值（1 = 一样快）"))
    ax.legend()


def clock_ms(run: Callable[[], object]) -> float:
    """Wall-clock milliseconds of one call, without any fence."""
    start = perf_counter()
    run()
    return (perf_counter() - start) * 1e3


def _summary(samples: list[float]) -> dict[str, object]:
    interval = median_interval(samples)
    return {
        "median_ms": statistics.median(samples),
        "low_ms": interval.low,
        "high_ms": interval.high,
        "samples_ms": samples,
    }


def _small_products(x: torch.Tensor, times: int) -> Callable[[], None]:
    """The same matrix for all: where a buffer lies in memory would be a difference of its own."""

    def work() -> None:
        for _ in range(times):
            x @ x

    return work


def _trials(budget: Budget, trials: int, candidate_times: int, planted: float) -> list[dict]:
    """Three procedures judge 20 against ``candidate_times`` small products, again and again."""
    from course.timing import compare

    torch.set_num_threads(1)  # restored afterwards; waiting threads would drown everything on a busy machine
    x = torch.randn(48, 48)
    baseline, candidate = _small_products(x, 20), _small_products(x, candidate_times)
    summaries = {"means, each alone": statistics.fmean, "best of, each alone": min}
    rows = []
    for trial in budget.loop(range(trials), desc=both("trials", "试验")):
        a, b = ([clock_ms(run) for _ in range(30)] for run in (baseline, candidate))
        for method, summary in summaries.items():
            ratio = summary(b) / summary(a)
            said = "same" if abs(ratio - 1) <= WINNER else ("slower" if ratio > 1 else "faster")
            rows.append(
                {"trial": trial, "method": method, "ratio": ratio, "said": said, "planted": planted, "threads": 1}
            )
        paired = compare({"a": baseline, "b": candidate}, baseline="a", max_time=0.4, gate=WINNER)
        rows.append(
            {
                "trial": trial,
                "method": "paired",
                "ratio": paired.ratio,
                "said": paired.verdict,
                "planted": planted,
                "threads": 1,
            }
        )
    return rows


# --- 02-where-you-wait --------------------------------------------------------------------------------------

PLACES = {
    "cpu": both("CPU tensor", "CPU 张量"),
    "toy": both("toy device", "玩具设备"),
    "cuda": both("CUDA tensor", "CUDA 张量"),
    "mps": both("MPS tensor", "MPS 张量"),
}


def _shares(record: Record, place: str) -> list[float]:
    """The call's share (0 to 1) of the time until the value is there, one a repeat."""
    return [r["call_ms"] / (r["call_ms"] + r["read_ms"]) for r in record.rows if r["where"] == place]


def say_where_you_wait(record: Record) -> Text:
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
    return both(
        f"{doubt['en']}Share of the waiting that happened inside the call itself: {'; '.join(en)}.",
        f"{doubt['zh']}等待时间中发生在调用内部的比例：{'；'.join(zh)}。",
    )


def draw_where_you_wait(record: Record, ax: Any) -> None:
    places = groups(record.rows, "where")
    names = [t(PLACES[place]["en"], PLACES[place]["zh"]) for place in places]
    call = [statistics.median(r["call_ms"] for r in rows) for rows in places.values()]
    read = [statistics.median(r["read_ms"] for r in rows) for rows in places.values()]
    ax.barh(names, call, color=BLUE, label=t("inside the call", "在调用里"))
    ax.barh(names, read, left=call, color=ORANGE, hatch="//", label=t("until it can be read", "直到能读取"))
    ax.set_xlabel(t("median time (ms)", "时间中位数 (ms)"))
    ax.set_ylim(-0.5, len(names) + 0.1)  # room for the legend above the bars
    ax.legend(loc="upper right", ncols=2)


def settle_where_you_wait(record: Record) -> dict[str, str | None]:
    shares = _shares(record, "cpu")
    if len(shares) < 6:
        return {"02-bet-cpu": None}
    interval = median_interval(shares)
    verdict = "b" if interval.low > 0.8 else "a" if interval.high < 0.2 else None
    if 0.2 <= interval.low and interval.high <= 0.8:
        verdict = "c"
    return {"02-bet-cpu": verdict}


def _call_and_read(call: Callable[[], object], read: Callable[[object], object]) -> tuple[float, float]:
    """Milliseconds spent in the call itself, then milliseconds until its value can be read."""
    start = perf_counter()
    value = call()
    returned = perf_counter()
    read(value)
    return (returned - start) * 1e3, (perf_counter() - returned) * 1e3


@experiment(
    name="02-where-you-wait",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=3,
    title=both(
        "Who makes you wait: the call, or the first look at the result?", "让你等待的是调用本身，还是第一次读取结果？"
    ),
    finding=say_where_you_wait,
    draw=draw_where_you_wait,
    settles=settle_where_you_wait,
)
def where_you_wait(budget: Budget, gpu_size: int = 4096) -> list[dict]:
    """Split one piece of work into "the call returned" and "the value is there", on every device at hand."""
    x = torch.randn(768, 768)
    rows = []
    with ToyDevice() as toy:
        places = {
            "cpu": (lambda: x @ x, lambda y: y[0, 0].item()),
            "toy": (lambda: toy.launch(KERNEL_MS), lambda _: toy.synchronize()),
        }
        for kind in ("cuda", "mps"):
            if can(kind):
                g = torch.randn(gpu_size, gpu_size, device=kind)
                places[kind] = (lambda g=g: g @ g, lambda y: y[0, 0].item())
        for place, (call, read) in places.items():
            for _ in range(3):
                _call_and_read(call, read)
            for repeat in budget.loop(range(9), desc=both("splitting call and read", "拆分调用与读取")):
                call_ms, read_ms = _call_and_read(call, read)
                rows.append({"where": place, "repeat": repeat, "call_ms": call_ms, "read_ms": read_ms})
    return rows


# --- 02-queue, 02-queue-busy --------------------------------------------------------------------------------

STORIES = {  # name: Chinese name, milliseconds of earlier work, a fence before the start, a fence before the stop
    "no fence": ("没有栅栏", 0.0, False, False),
    "a fence before the stop": ("停表前加栅栏", 0.0, False, True),
    "old work, one fence": ("有旧任务，一道栅栏", EARLIER_MS, False, True),
    "old work, two fences": ("有旧任务，两道栅栏", EARLIER_MS, True, True),
}


def _timeline(story: str) -> list[dict]:
    """What the CPU and the toy device did in one story, and when the clock was read; ms since its beginning."""
    _, earlier_ms, before, after = STORIES[story]
    rows: list[dict] = []

    def note(lane: str, what: str, start: float, end: float) -> None:
        start_ms, end_ms = (start - began) * 1e3, (end - began) * 1e3
        rows.append({"story": story, "lane": lane, "what": what, "start_ms": start_ms, "end_ms": end_ms})

    def do(what: str, run: Callable[[], Any]) -> Any:
        start = perf_counter()
        value = run()
        note("cpu", what, start, perf_counter())
        return value

    with ToyDevice() as toy:
        began, kernels = perf_counter(), {}
        if earlier_ms:
            kernels["earlier"] = do("launch", lambda: toy.launch(earlier_ms))
        if before:
            do("fence", toy.synchronize)
        start = perf_counter()
        kernels["kernel"] = do("launch", lambda: toy.launch(KERNEL_MS))
        if after:
            do("fence", toy.synchronize)
        note("clock", "reading", start, perf_counter())
        for what, kernel in kernels.items():
            note("device", what, *kernel.span())
    return rows


def _least_disturbed(stories: list[str]) -> list[dict]:
    """Of each story the run that was over first: a pause of the machine can only lengthen it."""

    def over_ms(rows: list[dict]) -> float:
        return max(row["end_ms"] for row in rows)

    return [row for story in stories for row in min((_timeline(story) for _ in range(RUNS)), key=over_ms)]


def say_queue(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    en, zh = [], []
    for story, rows in groups(record.rows, "story").items():
        span = {r["what"]: (r["start_ms"], r["end_ms"]) for r in rows}
        (start, stop), (_, done) = span["reading"], span["kernel"]
        early = done - stop
        late = (f", {early:.1f} ms before the kernel was done", f"，而 kernel 还要 {early:.1f} ms 才做完")
        en.append(f"{story[0].upper()}{story[1:]}: the clock reads {stop - start:.1f} ms{late[0] if early > 1 else ''}")
        zh.append(f"{STORIES[story][0]}：读数 {stop - start:.1f} ms{late[1] if early > 1 else ''}")
    return both(
        f"{'. '.join(en)}. (The kernel takes {KERNEL_MS:g} ms; of {RUNS} runs each, the least disturbed is drawn as it was.)",
        f"{'。'.join(zh)}。（kernel 的真实时长是 {KERNEL_MS:g} ms；每种情形跑 {RUNS} 次，如实画出受打扰最少的那次。）",
    )


def draw_queue(record: Record, ax: Any) -> None:
    """Two lanes a story: what the CPU does, what the device does; between the two marks the clock runs."""
    from matplotlib.patches import Patch

    names = {
        "launch": (t("order", "下单"), BLUE, ""),
        "fence": (t("waiting at a fence", "在栅栏处等待"), "none", "////"),
        "earlier": (t("old work", "旧任务"), "0.6", ""),
        "kernel": (t("the kernel we time", "要测的 kernel"), ORANGE, ""),
    }
    stories, ticks = groups(record.rows, "story"), []
    last = max(r["end_ms"] for r in record.rows)
    for place, (story, rows) in enumerate(reversed(stories.items())):
        lanes = {"cpu": 3.0 * place + 1, "device": 3.0 * place}
        ticks += [(lanes["cpu"], "CPU"), (lanes["device"], t("device", "设备"))]
        for row in rows:
            start, length = row["start_ms"], row["end_ms"] - row["start_ms"]
            if row["lane"] == "clock":
                ax.axvspan(
                    start,
                    start + length,
                    *(y / (3 * len(stories)) for y in (lanes["device"] + 0.1, lanes["cpu"] + 1)),
                    alpha=0.12,
                    color="C2",
                    linewidth=0,
                )
                for x in (start, start + length):
                    ax.plot([x, x], [lanes["device"] - 0.45, lanes["cpu"] + 0.55], color="C2", linewidth=1.6)
                title = t(f"{story}: reads {length:.1f} ms", f"{STORIES[story][0]}：读数 {length:.1f} ms")
                ax.text(0, lanes["cpu"] + 0.72, title, fontweight="bold", fontsize=10)
            else:
                _, colour, hatch = names[row["what"]]
                ax.barh(
                    lanes[row["lane"]],
                    max(length, last / 150),
                    left=start,
                    height=0.62,
                    color=colour,
                    hatch=hatch,
                    edgecolor="0.5" if hatch else colour,
                    linewidth=0.8,
                )
    used = [look for what, look in names.items() if any(row["what"] == what for row in record.rows)]
    handles = [
        Patch(facecolor=colour, hatch=hatch, edgecolor="0.5" if hatch else colour, label=name)
        for name, colour, hatch in used
    ]
    handles += ax.plot([], [], color="C2", linewidth=1.6, label=t("the clock is read", "读表"))
    ax.set_yticks(*zip(*ticks, strict=True))
    ax.set(xlim=(-0.02 * last, 1.04 * last), ylim=(-0.6, 3 * len(stories) - 0.6), xlabel=t("time (ms)", "时间 (ms)"))
    ax.grid(False)
    ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=3, fontsize=9, frameon=False)


@experiment(
    name="02-queue",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=1,
    title=both("What happens between start and stop?", "从开始计时到停表，中间发生了什么？"),
    finding=say_queue,
    draw=draw_queue,
)
def queue(budget: Budget) -> list[dict]:
    """One launch on an empty toy device, without and with a fence before the clock stops."""
    return _least_disturbed(list(STORIES)[:2])


@experiment(
    name="02-queue-busy",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=1,
    title=both("And when old work still waits in the queue?", "队列里还排着旧任务时呢？"),
    finding=say_queue,
    draw=draw_queue,
)
def queue_busy(budget: Budget) -> list[dict]:
    """The same launch behind earlier work, with one fence and with two."""
    return _least_disturbed(list(STORIES)[2:])


# --- 02-five-stopwatches ------------------------------------------------------------------------------------


def say_five_stopwatches(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    truth, earlier = record.rows[0]["kernel_ms"], record.rows[0]["earlier_ms"]
    en, zh = _listed(record.rows)
    doubt = doubtful(settle_five_stopwatches(record))
    return both(
        f"{doubt['en']}The kernel takes {truth:g} ms, behind {earlier:g} ms of earlier work. Read: {en}.",
        f"{doubt['zh']}kernel 的真实时长是 {truth:g} ms，前面排着 {earlier:g} ms 的旧任务。读数：{zh}。",
    )


def settle_five_stopwatches(record: Record) -> dict[str, str | None]:
    rows = [r for r in record.rows if r["stopwatch"] == "fence after only"]
    if not rows:
        return {"02-bet-one-fence": None}
    row = rows[0]
    for option, expected in (("b", row["kernel_ms"]), ("c", row["kernel_ms"] + row["earlier_ms"])):
        if abs(row["median_ms"] - expected) < 0.3 * row["kernel_ms"]:
            return {"02-bet-one-fence": option}
    return {"02-bet-one-fence": "a" if row["median_ms"] < 0.1 * row["kernel_ms"] else None}


def _toy_stopwatches(toy: ToyDevice) -> dict[str, Callable[[], float]]:
    """Five ways to time one 20 ms kernel while 30 ms of earlier work still wait in the queue."""

    def launch() -> object:
        return toy.launch(KERNEL_MS)

    def fenced() -> float:
        toy.synchronize()
        return clock_ms(lambda: (launch(), toy.synchronize()))

    def read() -> float:
        toy.synchronize()
        return clock_ms(lambda: toy.launch(KERNEL_MS).cpu(COPY_MS))

    def events() -> float:
        start = toy.event()
        launch()
        return start.elapsed_ms(toy.event())

    return {
        "no fence": lambda: clock_ms(launch),
        "fence after only": lambda: clock_ms(lambda: (launch(), toy.synchronize())),
        "fence before and after": fenced,
        "fence before, then .cpu()": read,
        "two events": events,
    }


@experiment(
    name="02-five-stopwatches",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=5,
    title=both(
        "Five stopwatches, one kernel of known length: which tell the truth?",
        "同一个时长已知的 kernel，五种秒表：哪些说了真话？",
    ),
    finding=say_five_stopwatches,
    draw=draw_stopwatches,
    settles=settle_five_stopwatches,
)
def five_stopwatches(budget: Budget) -> list[dict]:
    """Read five stopwatches on the toy device, where the truth is planted."""
    readings: dict[str, list[float]] = {}
    with ToyDevice() as toy:
        for _ in budget.loop(range(9), desc=both("reading five stopwatches", "读五种秒表")):
            for name, stopwatch in _toy_stopwatches(toy).items():
                toy.synchronize()
                toy.launch(EARLIER_MS)
                readings.setdefault(name, []).append(stopwatch())
        toy.synchronize()
    return [
        {"stopwatch": name, "kernel_ms": KERNEL_MS, "earlier_ms": EARLIER_MS, **_summary(samples)}
        for name, samples in readings.items()
    ]


# --- 02-first-call ------------------------------------------------------------------------------------------


def _first_over_later(record: Record) -> list[float]:
    """For each shape: first call / median of the calls from the fourth on."""
    ratios = []
    for rows in groups(record.rows, "shape").values():
        times = [r["call_ms"] for r in sorted(rows, key=lambda r: r["call"])]
        if len(times) >= 6:
            ratios.append(times[0] / statistics.median(times[3:]))
    return ratios


def say_first_call(record: Record) -> Text:
    ratios = _first_over_later(record)
    if not ratios:
        return NOTHING
    doubt = doubtful(settle_first_call(record))
    return both(
        f"{doubt['en']}Over {len(ratios)} new shapes the first call took {middle(ratios)} times as long as "
        f"the later ones.",
        f"{doubt['zh']}在 {len(ratios)} 个新形状上，第一次调用的耗时是后续调用的 {middle(ratios)} 倍。",
    )


def settle_first_call(record: Record) -> dict[str, str | None]:
    ratios = _first_over_later(record)
    if len(ratios) < 6:
        return {"02-bet-first-call": None}
    interval = median_interval(ratios)
    for option, low, high in (("a", 0.0, 1.25), ("b", 1.25, 3.0), ("c", 3.0, math.inf)):
        if low <= interval.low and interval.high <= high:
            return {"02-bet-first-call": option}
    return {"02-bet-first-call": None}


def _fresh_conv(rng: random.Random) -> Callable[[], object]:
    """A small convolution of a shape this process has very probably not run yet."""
    x = torch.randn(2, 16, rng.randrange(8, 28), rng.randrange(8, 28))
    weight = torch.randn(32, 16, 3, 3)
    return lambda: torch.nn.functional.conv2d(x, weight, padding=1)


@experiment(
    name="02-first-call",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=4,
    title=both("How much longer is the first call of a new shape?", "一个新形状的第一次调用要多花多少时间？"),
    finding=say_first_call,
    draw=draw_first_call,
    settles=settle_first_call,
)
def first_call(budget: Budget) -> list[dict]:
    """Eight convolutions of new random shapes, twelve calls each on one thread, every call timed alone."""
    rng = random.Random()
    torch.set_num_threads(1)
    rows = []
    with torch.inference_mode():
        _fresh_conv(rng)()
        for shape in budget.loop(range(8), desc=both("new shapes", "新形状")):
            run = _fresh_conv(rng)
            rows += [{"shape": shape, "call": call, "call_ms": clock_ms(run), "threads": 1} for call in range(1, 13)]
    return rows


# --- 02-interruptions ---------------------------------------------------------------------------------------


SUMMARIES = {"mean": ("平均值", statistics.fmean), "median": ("中位数", statistics.median), "minimum": ("最小值", min)}
BLOCK = 20  # calls with one planted pause among them


def _moved(record: Record, summary: Callable[[list[float]], float]) -> list[float]:
    """By how many per cent the pauses move a summary, block by block, against the calls left alone in the same block."""
    blocks = [record.rows[at : at + BLOCK] for at in range(0, len(record.rows) - BLOCK + 1, BLOCK)]
    return [
        100 * (summary([r["disturbed_ms"] for r in block]) / summary([r["quiet_ms"] for r in block]) - 1)
        for block in blocks
    ]


def say_interruptions(record: Record) -> Text:
    if len(record.rows) < BLOCK:
        return NOTHING
    moved = {}
    for name, (_, summary) in SUMMARIES.items():
        percents = _moved(record, summary)
        interval = median_interval(percents)
        moved[name] = f"{statistics.median(percents):+.1f} % [{interval.low:+.1f}, {interval.high:+.1f}]"
    quiet = [r["quiet_ms"] for r in record.rows]
    own = 100 * (statistics.fmean(quiet) / statistics.median(quiet) - 1)
    en = ", ".join(f"the {name} by {percent}" for name, percent in moved.items())
    zh = "，".join(f"{SUMMARIES[name][0]}移动 {percent}" for name, percent in moved.items())
    return both(
        f"Against the calls left alone, which took turns with them, the planted pauses move {en}. Left alone, the mean "
        f"lies {own:+.1f} % from the median: those interruptions are the machine's own.",
        f"与轮流运行、不受打扰的调用相比，插入的停顿使{zh}。不插停顿时，平均值与中位数本来就差 {own:+.1f}%："
        f"那是这台机器自己的打断。",
    )


def draw_interruptions(record: Record, ax: Any) -> None:
    calls, disturbed = [r["call"] for r in record.rows], [r["disturbed_ms"] for r in record.rows]
    ax.plot(calls, disturbed, ".", color="gray")
    ax.set_yscale("log")
    ax.axhline(statistics.fmean(disturbed), color=ORANGE, linestyle="--", label=t("mean", "平均值"))
    ax.axhline(statistics.median(disturbed), color=BLUE, label=t("median", "中位数"))
    ax.axhline(min(disturbed), color="C2", linestyle=":", label=t("minimum", "最小值"))
    ax.set_xlabel(t("call number", "第几次调用"))
    ax.set_ylabel(t("time of the call (ms)", "该次调用耗时 (ms)"))
    ax.legend()


@experiment(
    name="02-interruptions",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=4,
    title=both(
        "One call in twenty is interrupted: which summary notices?", "每二十次调用有一次被打断：哪种汇总会受影响？"
    ),
    finding=say_interruptions,
    draw=draw_interruptions,
)
def interruptions(budget: Budget) -> list[dict]:
    """Calls in turn, left alone and with a true pause of ten medians in every twentieth."""
    torch.set_num_threads(1)
    work = _small_products(torch.randn(48, 48), 20)
    pause_s = 10 * statistics.median(clock_ms(work) for _ in range(40)) / 1e3
    rows = []
    for call in budget.loop(range(200), desc=both("calls", "调用")):
        quiet_ms = clock_ms(work)
        interrupted = call % 20 == 7
        disturbed_ms = clock_ms(lambda: (work(), time.sleep(pause_s))) if interrupted else clock_ms(work)
        rows.append({"call": call, "interrupted": int(interrupted), "quiet_ms": quiet_ms, "disturbed_ms": disturbed_ms})
    return rows


# --- 02-same-code-twice -------------------------------------------------------------------------------------

TRIALS = 20


def say_same_code_twice(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    trials = len({r["trial"] for r in record.rows})
    winners = {method: _said(record, method, "faster", "slower") for method in METHODS}
    en = "; ".join(f"{method}: {count}" for method, count in winners.items())
    zh = "；".join(f"{METHODS[method]}，{count} 次" for method, count in winners.items())
    doubt = doubtful(settle_same_code_twice(record))
    return both(
        f"{doubt['en']}In {trials} races of one function against itself a winner was announced this often: {en}.",
        f"{doubt['zh']}同一个函数和自己比了 {trials} 场，宣布出“赢家”的次数：{zh}。",
    )


def settle_same_code_twice(record: Record) -> dict[str, str | None]:
    if len({r["trial"] for r in record.rows}) < TRIALS:
        return {"02-bet-same-code": None}
    winners = _said(record, "means, each alone", "faster", "slower")
    return {"02-bet-same-code": "a" if winners <= 1 else "b" if winners <= 5 else "c"}


@experiment(
    name="02-same-code-twice",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=20,
    title=both("The same code against itself: who announces a winner?", "同一段代码和自己比赛：哪种方法会宣布“赢家”？"),
    finding=say_same_code_twice,
    draw=draw_ratios,
    settles=settle_same_code_twice,
)
def same_code_twice(budget: Budget) -> list[dict]:
    """Twenty races of one function against its twin: every winner is a false alarm."""
    return _trials(budget, trials=20, candidate_times=20, planted=1.0)


# --- 02-planted-difference ----------------------------------------------------------------------------------


CLOSE = 0.02  # a ratio this near to the truth has found the difference, not just its sign


def say_planted_difference(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    trials, truth = len({r["trial"] for r in record.rows}), record.rows[0]["planted"]
    en, zh = [], []
    for method, rows in groups(record.rows, "method").items():
        said, close = _said(record, method, "slower"), sum(abs(r["ratio"] - truth) <= CLOSE for r in rows)
        open_ = _said(record, method, "undecided")
        off = 100 * statistics.median(abs(r["ratio"] - truth) for r in rows)
        points = f"{off:.1f}" if off < 10 else f"{off:.0f}"
        en.append(
            f"{method}: {said} times “slower”"
            + (f", {open_} times undecided" if open_ else "")
            + f"; {close} times within {100 * CLOSE:g} percentage points of the truth, typically {points} off"
        )
        zh.append(
            f"{METHODS[method]}：{said} 次说“更慢”"
            + (f"，{open_} 次无法判定" if open_ else "")
            + f"；{close} 次与真实值相差不超过 {100 * CLOSE:g} 个百分点，典型偏差 {points} 个百分点"
        )
    return both(
        f"Planted: {truth:.2f} times the work, {trials} races. {'. '.join(en)}.",
        f"预设工作量为 {truth:.2f} 倍，共 {trials} 场。{'。'.join(zh)}。",
    )


@experiment(
    name="02-planted-difference",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=12,
    title=both("A true difference of one in twenty: who finds it?", "真实差异为二十分之一：谁能找到？"),
    finding=say_planted_difference,
    draw=draw_ratios,
)
def planted_difference(budget: Budget) -> list[dict]:
    """Twelve races of 20 small products against 21."""
    return _trials(budget, trials=12, candidate_times=21, planted=PLANTED)


# --- 02-threads ---------------------------------------------------------------------------------------------


def say_timer_threads(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    ratios, count = [r["ratio"] for r in record.rows], record.rows[0]["all_threads"]
    doubt = doubtful(settle_timer_threads(record))
    return both(
        f"{doubt['en']}As it comes, Timer reads {middle(ratios)} times what it reads with all {count} "
        f"threads of this process.",
        f"{doubt['zh']}默认设置下，Timer 的读数是使用本进程全部 {count} 个线程时的 {middle(ratios)} 倍。",
    )


def draw_timer_threads(record: Record, ax: Any) -> None:
    names = {
        "default_ms": t("Timer, as it comes", "Timer，默认设置"),
        "all_ms": t("Timer, all threads", "Timer，全部线程"),
    }
    for height, (key, _) in enumerate(names.items()):
        values = [r[key] for r in record.rows]
        interval = median_interval(values)
        interval_line(ax, height, statistics.median(values), interval.low, interval.high)
    ax.set_yticks(range(len(names)), list(names.values()))
    ax.set_ylim(-0.5, len(names) - 0.5)
    ax.set_xlim(left=0)
    ax.set_xlabel(t("one product (ms)", "一次矩阵乘 (ms)"))


def settle_timer_threads(record: Record) -> dict[str, str | None]:
    ratios = [r["ratio"] for r in record.rows]
    if len(ratios) < 6:
        return {"02-bet-threads": None}
    interval = median_interval(ratios)
    for option, low, high in (("a", 1.05, math.inf), ("b", 0.95, 1.05), ("c", 0.0, 0.95)):
        if low <= interval.low and interval.high <= high:
            return {"02-bet-threads": option}
    return {"02-bet-threads": None}


@experiment(
    name="02-threads",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=4,
    title=both("Does Timer's default measure what your program does?", "Timer 的默认设置测的是你程序的真实情形吗？"),
    finding=say_timer_threads,
    draw=draw_timer_threads,
    settles=settle_timer_threads,
)
def timer_threads(budget: Budget) -> list[dict]:
    """One product timed by torch.utils.benchmark.Timer as it comes, and with all threads of the process."""
    # Importing Timer looks for CUDA, and a CUDA build without a GPU would log a warning about it.
    logging.getLogger("torch.utils.cpp_extension").setLevel(logging.ERROR)
    from torch.utils.benchmark import Timer

    x = torch.randn(768, 768)
    all_threads = torch.get_num_threads()
    as_it_comes = Timer(stmt="x @ x", globals={"x": x})
    with_all = Timer(stmt="x @ x", globals={"x": x}, num_threads=all_threads)
    rows = []
    for pair in budget.loop(range(13), desc=both("pairs", "配对")):
        default_ms, all_ms = as_it_comes.timeit(3).mean * 1e3, with_all.timeit(3).mean * 1e3
        rows.append(
            {
                "pair": pair,
                "default_ms": default_ms,
                "all_ms": all_ms,
                "ratio": default_ms / all_ms,
                "all_threads": all_threads,
            }
        )
    return rows

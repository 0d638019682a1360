"""Experiments of lesson 02: who computes when a call has returned, what a stopwatch reads then; the first call; races of two functions.

Each run returns tidy rows (milliseconds unless a name says otherwise) and uses torch alone.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import torch

from course.core.i18n import both, t
from course.core.machine import can
from course.core.records import Record
from course.core.units import time_words
from course.experiment.base import Budget, experiment, get
from course.experiment.reading import FEW, Reading, groups
from course.figures.svg import SvgPicture
from course.lessons.l02_timing.lanes import Scene, Span, timed_lanes
from course.lessons.l02_timing.toy_device import ToyDevice
from course.timing.stats import median_interval

LESSON = "02_timing"
KERNEL_MS, EARLIER_MS, COPY_MS = 20.0, 30.0, 6.0


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


# --- 02-where-you-wait --------------------------------------------------------------------------------------


def _call_and_read(call: Callable[[], object], read: Callable[[object], object]) -> tuple[float, float]:
    """Milliseconds spent in the call itself, then milliseconds until its value can be read."""
    start = perf_counter()
    value = call()
    returned = perf_counter()
    read(value)
    return (returned - start) * 1e3, (perf_counter() - returned) * 1e3


@experiment(name="02-where-you-wait", lesson=LESSON, needs="cpu", seconds=3)
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


def read_where_you_wait(rows: list[dict]) -> Reading:
    """By the call's share of the time until the value is there: over four fifths b, under one fifth a, between the two c."""
    shares = {
        place: [row["call_ms"] / (row["call_ms"] + row["read_ms"]) for row in mine]
        for place, mine in groups(rows, "where").items()
    }
    drawn = [{"where": place, "percent": 100 * statistics.median(found)} for place, found in shares.items()]
    if len(shares.get("cpu", ())) < FEW:
        return Reading(drawn=drawn)
    cpu, toy = median_interval(shares["cpu"]), shares.get("toy", ())
    if cpu.low > 0.8:
        by_toy = len(toy) >= FEW and median_interval(toy).high < 0.2
        return Reading("b and the toy reads" if by_toy else "b", drawn=drawn)
    return Reading("a" if cpu.high < 0.2 else "c" if 0.2 <= cpu.low and cpu.high <= 0.8 else None, drawn=drawn)


# --- 02-queue -----------------------------------------------------------------------------------------------

RUNS = 5
STORIES = {"no fence": False, "a fence before the stop": True}


def _timeline(story: str) -> list[dict]:
    """What the CPU and the toy device did in one story, and when the clock was read; ms since its beginning."""
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
        began = perf_counter()
        kernel = do("launch", lambda: toy.launch(KERNEL_MS))
        if STORIES[story]:
            do("fence", toy.synchronize)
        note("clock", "reading", began, perf_counter())
        note("device", "kernel", *kernel.span())
    return rows


def _least_disturbed() -> list[dict]:
    """Of each story the run that was over first: a pause of the machine can only lengthen it."""

    def over_ms(rows: list[dict]) -> float:
        return max(row["end_ms"] for row in rows)

    return [row for story in STORIES for row in min((_timeline(story) for _ in range(RUNS)), key=over_ms)]


def _spans(rows: list[dict]) -> dict[str, dict[str, tuple[float, float]]]:
    """story -> what happened -> its start and end in ms."""
    return {
        story: {row["what"]: (row["start_ms"], row["end_ms"]) for row in mine}
        for story, mine in groups(rows, "story").items()
    }


@experiment(name="02-queue", lesson=LESSON, needs="cpu", seconds=1)
def queue(budget: Budget) -> list[dict]:
    """One launch on an idle toy device, without and with a fence before the clock stops."""
    return _least_disturbed()


def read_queue(rows: list[dict]) -> Reading | None:
    span = _spans(rows).get("no fence")
    if not span:
        return None
    early = span["kernel"][1] - span["reading"][1]
    return Reading("early" if early > 1 else "in time", {"early": early})


def draw_queue(record: Record, bets: dict) -> SvgPicture:
    """Two lanes a story: what the CPU does, what the device does; the clock runs between the two upright lines."""
    looks = {
        "launch": ("quiet", t("gives the order and goes on", "下单后继续往下走")),
        "fence": ("open", t("waits at the fence", "在栅栏前等着")),
        "kernel": ("out", t("the kernel we time", "要测的 kernel")),
    }
    names, scenes = {"cpu": "CPU", "device": t("device", "设备")}, []
    called = get(record.experiment).telling.name
    for story, rows in groups(record.rows, "story").items():
        seen = groups(rows, "lane")
        lanes = {
            name: [Span(row["start_ms"], row["end_ms"], *looks[row["what"]]) for row in seen.get(lane, ())]
            for lane, name in names.items()
        }
        (clock,) = seen["clock"]
        read = time_words((clock["end_ms"] - clock["start_ms"]) / 1e3)
        said = t(f"the clock reads {read}", f"读数 {read}")
        scenes.append(Scene(called(story), lanes, (clock["start_ms"], clock["end_ms"]), said))
    return timed_lanes(scenes, "ms")


# --- 02-five-stopwatches ------------------------------------------------------------------------------------

TRUE = 0.1  # a reading this near to the kernel's length, as a share of it, is right


def _reads(row: dict, expected_ms: float, near_ms: float) -> bool | None:
    """Whether a stopwatch reads what is expected, by its whole interval; None where its readings lie on both sides or are too few."""
    low, high = expected_ms - near_ms, expected_ms + near_ms
    if len(row["samples_ms"]) < FEW:
        return None
    if low <= row["low_ms"] and row["high_ms"] <= high:
        return True
    return False if row["high_ms"] < low or row["low_ms"] > high else None


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


@experiment(name="02-five-stopwatches", lesson=LESSON, needs="cpu", seconds=5)
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


def read_five_stopwatches(rows: list[dict]) -> Reading:
    """How many of the five read the truth, told where none is in doubt and the fenced one is right. The bet is on one fence."""
    right, drawn = {}, []
    for row in rows:
        name, truth = row["stopwatch"], row["kernel_ms"]
        right[name] = _reads(row, truth, TRUE * truth)
        wrong = "too much" if row["median_ms"] > truth else "too little"
        verdict = {True: "right", False: wrong, None: "unclear"}[right[name]]
        drawn.append({"stopwatch": name, "ms": row["median_ms"], "verdict": verdict, "quiet": not right[name]})
    kernel, both_ms = rows[0]["kernel_ms"], rows[0]["kernel_ms"] + rows[0]["earlier_ms"]
    numbers = {
        "right": sum(map(bool, right.values())),
        "kernel": kernel,
        "both": both_ms,
        "both_low": both_ms - 0.3 * kernel,
        "both_high": both_ms + 0.3 * kernel,
    }
    one_fence = [row for row in rows if row["stopwatch"] == "fence after only"]
    options = (("a", 0.0, 0.1), ("b", kernel, 0.3), ("c", both_ms, 0.3))
    read = [option for option, ms, near in options for row in one_fence if _reads(row, ms, near * kernel)]
    told = len(right) == 5 and None not in right.values() and right["fence before and after"]
    return Reading("told" if told else None, numbers, drawn, {"02-bet-one-fence": read[0] if read else None})


# --- 02-stopwatches-cuda ------------------------------------------------------------------------------------


def _cuda_stopwatches(x: torch.Tensor) -> dict[str, Callable[[], float]]:
    """Five ways to time ten products of one square matrix on the GPU, in milliseconds."""
    wait = torch.cuda.synchronize

    def work() -> torch.Tensor:
        for _ in range(10):
            y = x @ x
        return y

    def events() -> float:
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        work()
        end.record()
        wait()
        return start.elapsed_time(end)

    return {
        "no fence": lambda: clock_ms(work),
        "fence before and after": lambda: clock_ms(lambda: (work(), wait())),
        "two events": events,
        "fence before, then print": lambda: clock_ms(lambda: str(work())),
        "fence before, then .cpu()": lambda: clock_ms(lambda: work().cpu()),
    }


@experiment(name="02-stopwatches-cuda", lesson=LESSON, needs="cuda", seconds=8, whole=True)
def stopwatches_cuda(budget: Budget, sizes: tuple[int, ...] = (512, 4096)) -> Iterator[dict]:
    """Read the stopwatches in turn at two sizes; the queue is empty before each reading."""
    for size in sizes:
        readings: dict[str, list[float]] = {}
        stopwatches = _cuda_stopwatches(torch.randn(size, size, device="cuda"))
        for repeat in budget.loop(range(14), desc=both(f"matrices of {size}", f"{size} 阶矩阵"), least=4):
            for name, stopwatch in stopwatches.items():
                torch.cuda.synchronize()
                reading = stopwatch()
                if repeat >= 3:
                    readings.setdefault(name, []).append(reading)
        yield from [{"size": size, "stopwatch": name, **_summary(samples)} for name, samples in readings.items()]


EVENTS = "two events"


def read_stopwatches_cuda(rows: list[dict]) -> Reading | None:
    """Each stopwatch over the events, which the GPU itself writes down.

    A clock without a fence stops too early where its whole interval is under four fifths of what the events read.
    """
    drawn = []
    for size, mine in groups(rows, "size").items():
        truth = next((row["median_ms"] for row in mine if row["stopwatch"] == EVENTS), None)
        for row in mine if truth else []:
            spans = {
                name: row[key] / truth for name, key in (("ratio", "median_ms"), ("low", "low_ms"), ("high", "high_ms"))
            }
            name = row["stopwatch"]
            drawn += [{"case": (size, name), "stopwatch": name, "size": size, **spans}] * (name != EVENTS)
    unfenced = [row for row in drawn if row["stopwatch"] == "no fence"]
    early = [row for row in unfenced if row["high"] < 0.8]
    if not unfenced or len(early) + sum(row["low"] >= 0.8 for row in unfenced) < len(unfenced):
        return Reading(drawn=drawn)
    if not early:
        return Reading("in time", drawn=drawn)
    numbers = {"missed": 1 - min(row["ratio"] for row in early)}
    return Reading("early" if len(early) == len(unfenced) else "early at one size", numbers, drawn)


# --- on repeating: the first call, and what a race of two functions finds ---

METHODS = ("means, each alone", "best of, each alone", "paired")
WINNER = 0.02  # a naive tester calls a winner when the ratio is further from 1 than this


def _small_products(x: torch.Tensor, times: int) -> Callable[[], None]:
    """The same matrix for all: where a buffer lies in memory would be a difference of its own."""

    def work() -> None:
        for _ in range(times):
            x @ x

    return work


def _trials(budget: Budget, trials: int, candidate_times: int, planted: float) -> Iterator[dict]:
    """Three procedures judge 20 against ``candidate_times`` small products, again and again."""
    from course.timing import compare

    torch.set_num_threads(1)  # restored afterwards; waiting threads would drown everything on a busy machine
    x = torch.randn(48, 48)
    baseline, candidate = _small_products(x, 20), _small_products(x, candidate_times)
    summaries = {"means, each alone": statistics.fmean, "best of, each alone": min}
    for trial in budget.loop(range(trials), desc=both("trials", "试验")):
        a, b = ([clock_ms(run) for _ in range(30)] for run in (baseline, candidate))
        for method, summary in summaries.items():
            ratio = summary(b) / summary(a)
            said = "same" if abs(ratio - 1) <= WINNER else ("slower" if ratio > 1 else "faster")
            yield {"trial": trial, "method": method, "ratio": ratio, "said": said, "planted": planted, "threads": 1}
        paired = compare({"a": baseline, "b": candidate}, baseline="a", max_time=0.4, gate=WINNER)
        yield {
            "trial": trial,
            "method": "paired",
            "ratio": paired.ratio,
            "said": paired.verdict,
            "planted": planted,
            "threads": 1,
        }


def _within(ratios: list[float], options: dict[str, tuple[float, float]]) -> str | None:
    """The option between whose ends the whole interval of the median lies; None where none does, or with too few ratios."""
    span = median_interval(ratios)
    found = [option for option, (low, high) in options.items() if low <= span.low and span.high <= high]
    return found[0] if found and len(ratios) >= FEW else None


# --- 02-first-call ------------------------------------------------------------------------------------------


def _fresh_conv(rng: random.Random) -> Callable[[], object]:
    """A small convolution of a shape this process has very probably not run yet."""
    x = torch.randn(2, 16, rng.randrange(8, 28), rng.randrange(8, 28))
    weight = torch.randn(32, 16, 3, 3)
    return lambda: torch.nn.functional.conv2d(x, weight, padding=1)


@experiment(name="02-first-call", lesson=LESSON, needs="cpu", seconds=4)
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


def read_first_call(rows: list[dict]) -> Reading:
    """The first call over the median of the calls from the fourth on: up to 1.25 a, up to 3 b, more c."""
    shapes = [[row["call_ms"] for row in mine] for mine in groups(rows, "shape").values() if len(mine) >= 6]
    if not shapes:
        return Reading()
    ratios = [[ms / statistics.median(calls[3:]) for ms in calls] for calls in shapes]
    drawn = [{"call": f"call {call + 1}", "ratio": statistics.median(one[call] for one in ratios)} for call in range(3)]
    first = [one[0] for one in ratios]
    numbers = {"ratio": statistics.median(first), "top": max(6.0, statistics.median(first))}
    drawn.append({"call": "later", "ratio": 1.0})
    option = _within(first, {"a": (0.0, 1.25), "b": (1.25, 3.0), "c": (3.0, math.inf)})
    outcome = "longer" if option in ("b", "c") else option
    return Reading(outcome, numbers, drawn, {"02-bet-first-call": option})


# --- 02-same-code-twice -------------------------------------------------------------------------------------

TRIALS = 20


@experiment(name="02-same-code-twice", lesson=LESSON, needs="cpu", seconds=20)
def same_code_twice(budget: Budget) -> Iterator[dict]:
    """Twenty races of one function against its twin: every winner is a false alarm."""
    return _trials(budget, trials=TRIALS, candidate_times=20, planted=1.0)


def read_same_code_twice(rows: list[dict]) -> Reading:
    """How often each method announced a winner between twins; the bet is a count of the means."""
    trials = len(groups(rows, "trial"))
    winners = {
        method: sum(r["method"] == method and r["said"] in ("faster", "slower") for r in rows) for method in METHODS
    }
    drawn = [{"method": method, "count": count} for method, count in winners.items()]
    means, _, paired = winners.values()
    numbers = {"trials": trials, "means": means}
    if trials < TRIALS:
        return Reading(None, numbers, drawn)
    option = "a" if means <= 1 else "b" if means <= 5 else "c"
    return Reading("paired" if paired else "means", numbers, drawn, {"02-bet-same-code": option})


# --- 02-planted-difference ----------------------------------------------------------------------------------

PLANTED = 1.05

CLOSE = 0.02  # a ratio this near to the truth has found the difference, not just its sign


@experiment(name="02-planted-difference", lesson=LESSON, needs="cpu", seconds=12)
def planted_difference(budget: Budget) -> Iterator[dict]:
    """Twelve races of 20 small products against 21."""
    return _trials(budget, trials=12, candidate_times=21, planted=PLANTED)


def read_planted_difference(rows: list[dict]) -> Reading:
    """In how many races each method came near to the truth, and not just its sign; races that are whole are told."""
    whole = [mine for mine in groups(rows, "trial").values() if len(mine) == len(METHODS)]
    near = [row["method"] for mine in whole for row in mine if abs(row["ratio"] - row["planted"]) <= CLOSE]
    trials = len(whole)
    drawn = [{"method": method, "count": near.count(method), "trials": trials} for method in METHODS]
    means, _, paired = (near.count(method) for method in METHODS)
    numbers = {"trials": trials, "means": means, "paired": paired}
    return Reading("told" if trials >= FEW else None, numbers, drawn)

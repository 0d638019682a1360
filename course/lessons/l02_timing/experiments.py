"""Experiments of lesson 02: what a stopwatch reads, and what it should have read.

Each run returns tidy rows (milliseconds unless a name says otherwise) and uses torch alone. The sentences
and pictures of the records stand in ``stopwatch_findings`` and ``race_findings``.
"""

from __future__ import annotations

import logging
import random
import statistics
import time
from collections.abc import Callable
from time import perf_counter

import torch

from course.experiment.base import Budget, experiment
from course.i18n import both
from course.lessons.l02_timing import findings as say
from course.lessons.l02_timing import findings_races as races
from course.lessons.l02_timing.toy_device import ToyDevice
from course.timing.stats import median_interval

LESSON = "02_timing"
KERNEL_MS, EARLIER_MS, COPY_MS = 20.0, 30.0, 6.0
WINNER = 0.02  # a naive tester calls a winner when the ratio is further from 1 than this
PLANTED = 1.05


def clock_ms(run: Callable[[], object]) -> float:
    """Wall-clock milliseconds of one call, without any fence."""
    start = perf_counter()
    run()
    return (perf_counter() - start) * 1e3


def _summary(samples: list[float]) -> dict[str, object]:
    interval = median_interval(samples)
    return {"median_ms": statistics.median(samples), "low_ms": interval.low, "high_ms": interval.high,
            "samples_ms": samples}


def _call_and_read(call: Callable[[], object], read: Callable[[object], object]) -> tuple[float, float]:
    """Milliseconds spent in the call itself, then milliseconds until its value can be read."""
    start = perf_counter()
    value = call()
    returned = perf_counter()
    read(value)
    return (returned - start) * 1e3, (perf_counter() - returned) * 1e3


@experiment(name="02-where-you-wait", lesson=LESSON, version=1, needs="cpu", seconds=3,
            title=both("Who makes you wait: the call, or the first look at the result?",
                       "让你等待的是调用本身，还是第一次读取结果？"),
            finding=say.where_you_wait, draw=say.draw_where_you_wait, settles=say.settle_where_you_wait)
def where_you_wait(budget: Budget) -> list[dict]:
    """Split one piece of work into "the call returned" and "the value is there", on every device at hand."""
    x = torch.randn(768, 768)
    rows = []
    with ToyDevice() as toy:
        places = {"cpu": (lambda: x @ x, lambda y: y[0, 0].item()),
                  "toy": (lambda: toy.launch(KERNEL_MS), lambda _: toy.synchronize())}
        if torch.cuda.is_available():
            g = torch.randn(4096, 4096, device="cuda")
            places["cuda"] = (lambda: g @ g, lambda y: y[0, 0].item())
        for place, (call, read) in places.items():
            for _ in range(3):
                _call_and_read(call, read)
            for repeat in budget.loop(range(9), desc=both("splitting call and read", "拆分调用与读取")):
                call_ms, read_ms = _call_and_read(call, read)
                rows.append({"where": place, "repeat": repeat, "call_ms": call_ms, "read_ms": read_ms})
    return rows


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

    return {"no fence": lambda: clock_ms(launch),
            "fence after only": lambda: clock_ms(lambda: (launch(), toy.synchronize())),
            "fence before and after": fenced, "fence before, then .cpu()": read, "two events": events}


@experiment(name="02-five-stopwatches", lesson=LESSON, version=1, needs="cpu", seconds=5,
            title=both("Five stopwatches, one kernel of known length: which tell the truth?",
                       "同一个时长已知的 kernel，五种秒表：哪些说了真话？"),
            finding=say.five_stopwatches, draw=say.draw_stopwatches, settles=say.settle_five_stopwatches)
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
    return [{"stopwatch": name, "kernel_ms": KERNEL_MS, "earlier_ms": EARLIER_MS, **_summary(samples)}
            for name, samples in readings.items()]


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

    return {"no fence": lambda: clock_ms(work),
            "fence before and after": lambda: clock_ms(lambda: (work(), wait())), "two events": events,
            "fence before, then print": lambda: clock_ms(lambda: str(work())),
            "fence before, then .cpu()": lambda: clock_ms(lambda: work().cpu())}


@experiment(name="02-stopwatches-cuda", lesson=LESSON, version=1, needs="cuda", seconds=8,
            title=both("What do the five stopwatches read on a real GPU?", "在真正的 GPU 上，这五种秒表读数如何？"),
            finding=say.stopwatches_cuda, draw=say.draw_stopwatches)
def stopwatches_cuda(budget: Budget) -> list[dict]:
    """Read the stopwatches in turn at two sizes; the queue is empty before each reading."""
    rows = []
    for size in (512, 4096):
        readings: dict[str, list[float]] = {}
        stopwatches = _cuda_stopwatches(torch.randn(size, size, device="cuda"))
        for repeat in budget.loop(range(14), desc=both(f"matrices of {size}", f"{size} 阶矩阵")):
            for name, stopwatch in stopwatches.items():
                torch.cuda.synchronize()
                reading = stopwatch()
                if repeat >= 3:
                    readings.setdefault(name, []).append(reading)
        rows += [{"size": size, "stopwatch": name, **_summary(samples)} for name, samples in readings.items()]
    return rows


def _fresh_conv(rng: random.Random) -> Callable[[], object]:
    """A small convolution of a shape this process has very probably not run yet."""
    x = torch.randn(2, 16, rng.randrange(8, 28), rng.randrange(8, 28))
    weight = torch.randn(32, 16, 3, 3)
    return lambda: torch.nn.functional.conv2d(x, weight, padding=1)


@experiment(name="02-first-call", lesson=LESSON, version=1, needs="cpu", seconds=4,
            title=both("How much longer is the first call of a new shape?", "一个新形状的第一次调用要多花多少时间？"),
            finding=say.first_call, draw=say.draw_first_call, settles=say.settle_first_call)
def first_call(budget: Budget) -> list[dict]:
    """Eight convolutions of new random shapes, twelve calls each on one thread, every call timed alone."""
    rng = random.Random()
    torch.set_num_threads(1)
    rows = []
    with torch.inference_mode():
        _fresh_conv(rng)()
        for shape in budget.loop(range(8), desc=both("new shapes", "新形状")):
            run = _fresh_conv(rng)
            rows += [{"shape": shape, "call": call, "call_ms": clock_ms(run), "threads": 1}
                     for call in range(1, 13)]
    return rows


@experiment(name="02-first-call-cuda", lesson=LESSON, version=1, needs="cuda", seconds=6,
            title=both("What does the first call on a GPU pay for?", "GPU 上的第一次调用在为什么付费？"),
            finding=say.first_call_cuda, draw=say.draw_first_call)
def first_call_cuda(budget: Budget) -> list[dict]:
    """Six synchronised calls each of a product, a convolution, and a second shape; best in a new process."""
    context_was_up = int(torch.cuda.is_initialized())
    x, image, larger = torch.randn(512, 512), torch.randn(8, 32, 56, 56), torch.randn(8, 32, 64, 64)
    weight = torch.randn(32, 32, 3, 3)
    conv = torch.nn.functional.conv2d
    steps = {"first product": lambda: x.cuda() @ x.cuda(),
             "first convolution": lambda: conv(image.cuda(), weight.cuda()),
             "same convolution, new shape": lambda: conv(larger.cuda(), weight.cuda())}
    rows = []
    with torch.inference_mode():
        for name, run in budget.loop(steps.items(), desc=both("first calls", "第一次调用")):
            for call in range(1, 7):
                call_ms = clock_ms(lambda run=run: (run(), torch.cuda.synchronize()))
                rows.append({"shape": name, "call": call, "call_ms": call_ms,
                             "context_was_up": context_was_up})
    return rows


@experiment(name="02-interruptions", lesson=LESSON, version=1, needs="cpu", seconds=4,
            title=both("One call in twenty is interrupted: which summary notices?",
                       "每二十次调用有一次被打断：哪种汇总会受影响？"),
            finding=say.interruptions, draw=say.draw_interruptions)
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
        rows.append({"call": call, "interrupted": int(interrupted), "quiet_ms": quiet_ms,
                     "disturbed_ms": disturbed_ms})
    return rows


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
            rows.append({"trial": trial, "method": method, "ratio": ratio, "said": said, "planted": planted,
                         "threads": 1})
        paired = compare({"a": baseline, "b": candidate}, baseline="a", max_time=0.4, gate=WINNER)
        rows.append({"trial": trial, "method": "paired", "ratio": paired.ratio, "said": paired.verdict,
                     "planted": planted, "threads": 1})
    return rows


@experiment(name="02-same-code-twice", lesson=LESSON, version=1, needs="cpu", seconds=20,
            title=both("The same code against itself: who announces a winner?",
                       "同一段代码和自己比赛：哪种方法会宣布“赢家”？"),
            finding=races.same_code, draw=races.draw_ratios, settles=races.settle_same_code)
def same_code_twice(budget: Budget) -> list[dict]:
    """Twenty races of one function against its twin: every winner is a false alarm."""
    return _trials(budget, trials=20, candidate_times=20, planted=1.0)


@experiment(name="02-planted-difference", lesson=LESSON, version=1, needs="cpu", seconds=12,
            title=both("A true difference of one in twenty: who finds it?", "真实差异为二十分之一：谁能找到？"),
            finding=races.planted, draw=races.draw_ratios)
def planted_difference(budget: Budget) -> list[dict]:
    """Twelve races of 20 small products against 21."""
    return _trials(budget, trials=12, candidate_times=21, planted=PLANTED)


@experiment(name="02-threads", lesson=LESSON, version=1, needs="cpu", seconds=4,
            title=both("Does Timer's default measure what your program does?",
                       "Timer 的默认设置测的是你程序的真实情形吗？"),
            finding=races.threads, draw=races.draw_threads, settles=races.settle_threads)
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
        rows.append({"pair": pair, "default_ms": default_ms, "all_ms": all_ms, "ratio": default_ms / all_ms,
                     "all_threads": all_threads})
    return rows

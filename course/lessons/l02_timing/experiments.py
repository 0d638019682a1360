"""Experiments of lesson 02 on waiting: who computes when the call has returned, and what a stopwatch reads then.

Each run returns tidy rows (milliseconds unless a name says otherwise) and uses torch alone.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from time import perf_counter
from typing import Any

import torch

from course.experiment.base import Budget, experiment
from course.experiment.words import FEW, NOTHING, TOO_NOISY, doubtful, groups, middle, word
from course.figures.kinds import Bar, Bet, bars, time_words
from course.figures.lanes import Scene, Span, timed_lanes
from course.figures.svg import SvgPicture
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
KERNEL_MS, EARLIER_MS, COPY_MS = 20.0, 30.0, 6.0


def word_of(stopwatch: str) -> str:
    """The name of a stopwatch in the language of the picture."""
    return t(stopwatch, STOPWATCHES[stopwatch])


def _listed(rows: list[dict]) -> tuple[str, str]:
    said = {row["stopwatch"]: f"{middle(row['samples_ms'])} ms" for row in rows}
    en = [f"{name} {time}" for name, time in said.items()]
    zh = [f"{STOPWATCHES[name]} {time}" for name, time in said.items()]
    return "; ".join(en), "；".join(zh)


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

PLACES = {
    "cpu": both("CPU tensor", "CPU 张量"),
    "toy": both("toy device", "玩具设备"),
    "cuda": both("CUDA tensor", "CUDA 张量"),
    "mps": both("MPS tensor", "MPS 张量"),
}


def _shares(record: Record, place: str) -> list[float]:
    """The call's share (0 to 1) of the time until the value is there, one a repeat."""
    return [r["call_ms"] / (r["call_ms"] + r["read_ms"]) for r in record.rows if r["where"] == place]


def headline_where_you_wait(record: Record) -> Text:
    option, toy = settle_where_you_wait(record)["02-bet-cpu"], _shares(record, "toy")
    if option is None:
        return TOO_NOISY
    if option == "b" and len(toy) >= FEW and median_interval(toy).high < 0.2:
        return both(
            "On a CPU the call makes you wait; on the toy GPU, the read does.", "CPU 是调用时等，玩具 GPU 是读取时等。"
        )
    return {
        "a": both(
            "Here even the CPU call came back early; the read makes you wait.",
            "这里连 CPU 的调用也提前返回，读取时才等。",
        ),
        "b": both("On a CPU the call itself makes you wait.", "在 CPU 上，是调用本身让你等。"),
        "c": both("Here the CPU call and the read share the waiting.", "这里 CPU 的调用和读取各等一部分。"),
    }[option]


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


def draw_where_you_wait(record: Record, bets: dict) -> SvgPicture:
    """How much of the waiting happens in the call; the bet is a part of it on the CPU."""
    places = [place for place in PLACES if _shares(record, place)]
    rows = []
    for place in places:
        percent = 100 * statistics.median(_shares(record, place))
        said = t(f"{percent:.0f} % in the call", f"调用占 {percent:.0f}%")
        rows.append(Bar(word(PLACES[place]), percent, said, place != "cpu"))
    said = {
        "a": (t("in the read", "等在读取时"), (0, 20)),
        "b": (t("in the call", "等在调用里"), (80, 100)),
        "c": (t("in both", "两边都等"), (20, 80)),
    }
    mine = said.get(bets.get("02-bet-cpu", ""))
    return bars(rows, Bet(mine[0], rows=[places.index("cpu")], span=mine[1]) if mine else None)


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

RUNS = 5
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


def _spans(record: Record) -> dict[str, dict[str, tuple[float, float]]]:
    """story -> what happened -> its start and end in ms."""
    return {
        story: {row["what"]: (row["start_ms"], row["end_ms"]) for row in rows}
        for story, rows in groups(record.rows, "story").items()
    }


def headline_queue(record: Record) -> Text:
    span = _spans(record).get("no fence")
    if not span:
        return TOO_NOISY
    if span["kernel"][1] - span["reading"][1] > 1:
        return both(
            "Without a fence, the clock stops before the kernel is done.", "不加栅栏，kernel 还没做完，表就停了。"
        )
    return both("Here the kernel was done before the unfenced clock stopped.", "这次没加栅栏，停表时 kernel 也已做完。")


def headline_queue_busy(record: Record) -> Text:
    """What a reading holds beyond the kernel; more than a quarter of the kernel is old work."""
    more = {story: span["reading"][1] - span["reading"][0] > 1.25 * KERNEL_MS for story, span in _spans(record).items()}
    one, two = (more.get(story) for story in list(STORIES)[2:])
    if one is None or two:
        return TOO_NOISY
    if not one:
        return both(
            "Here one fence was enough: the clock read the kernel alone.", "这次一道栅栏就够了，只测到 kernel。"
        )
    if two is None:
        return both("With one fence the clock counts old work too.", "只加一道栅栏，会把旧任务也算进去。")
    return both(
        "With one fence the clock counts old work too; with two, the kernel alone.",
        "一道栅栏会算进旧任务，两道才只算 kernel。",
    )


def say_queue(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    en, zh = [], []
    for story, rows in groups(record.rows, "story").items():
        span = {r["what"]: (r["start_ms"], r["end_ms"]) for r in rows}
        (start, stop), (_, done) = span["reading"], span["kernel"]
        early = done - stop
        late = (f"; it stopped {early:.1f} ms before the kernel was done", f"，而 kernel 还要 {early:.1f} ms 才做完")
        en.append(f"{story[0].upper()}{story[1:]}: the clock reads {stop - start:.1f} ms{late[0] if early > 1 else ''}")
        zh.append(f"{STORIES[story][0]}：读数 {stop - start:.1f} ms{late[1] if early > 1 else ''}")
    return both(
        f"{'. '.join(en)}. (The kernel takes {KERNEL_MS:g} ms; of {RUNS} runs each, the least disturbed is drawn as it was.)",
        f"{'。'.join(zh)}。（kernel 的真实时长是 {KERNEL_MS:g} ms；每种情形跑 {RUNS} 次，如实画出受打扰最少的那次。）",
    )


def draw_queue(record: Record, bets: dict) -> SvgPicture:
    """Two lanes a story: what the CPU does, what the device does; the clock runs between the two upright lines."""
    looks = {
        "launch": ("quiet", t("gives the order and goes on", "下单后继续往下走")),
        "fence": ("open", t("waits at the fence", "在栅栏前等着")),
        "earlier": ("quiet", t("old work", "旧任务")),
        "kernel": ("out", t("the kernel we time", "要测的 kernel")),
    }
    names, scenes = {"cpu": "CPU", "device": t("device", "设备")}, []
    for story, rows in groups(record.rows, "story").items():
        seen = groups(rows, "lane")
        lanes = {
            name: [Span(row["start_ms"], row["end_ms"], *looks[row["what"]]) for row in seen.get(lane, ())]
            for lane, name in names.items()
        }
        (clock,) = seen["clock"]
        read = time_words((clock["end_ms"] - clock["start_ms"]) / 1e3)
        said = t(f"the clock reads {read}", f"读数 {read}")
        scenes.append(Scene(t(story, STORIES[story][0]), lanes, (clock["start_ms"], clock["end_ms"]), said))
    return timed_lanes(scenes, "ms")


@experiment(
    name="02-queue",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=1,
    title=both("What happens between start and stop?", "从开始计时到停表，中间发生了什么？"),
)
def queue(budget: Budget) -> list[dict]:
    """One launch on an idle toy device, without and with a fence before the clock stops."""
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


COUNTED = ("not one", "one", "two", "three", "four")
TRUE = 0.1  # a reading this near to the kernel's length, as a share of it, is right


def _reads(row: dict, expected_ms: float, near_ms: float) -> bool | None:
    """Whether a stopwatch reads what is expected, by its whole interval; None where its readings lie on both sides or are too few."""
    low, high = expected_ms - near_ms, expected_ms + near_ms
    if len(row["samples_ms"]) < FEW:
        return None
    if low <= row["low_ms"] and row["high_ms"] <= high:
        return True
    return False if row["high_ms"] < low or row["low_ms"] > high else None


def _right(row: dict) -> bool | None:
    """Whether a stopwatch reads the truth."""
    return _reads(row, row["kernel_ms"], TRUE * row["kernel_ms"])


def headline_five_stopwatches(record: Record) -> Text:
    found = {row["stopwatch"]: _right(row) for row in record.rows}
    if len(found) < 5 or None in found.values() or not found["fence before and after"]:
        return TOO_NOISY
    right = sum(map(bool, found.values()))
    if right == 5:
        return both("All five stopwatches read the truth.", "五种秒表都读对了。")
    only, verb = ("Only ", "只有") if right <= 2 else ("", "有"), "reads" if right == 1 else "read"
    said = f"{only[0]}{COUNTED[right]} of five stopwatches {verb} the truth."
    return both(said[0].upper() + said[1:], f"五种秒表，{only[1]}{'零一两三四'[right]}种读对了。")


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


def draw_five_stopwatches(record: Record, bets: dict) -> SvgPicture:
    """What each stopwatch read; quiet: not the truth. The bet is what one fence after the launch reads."""
    rows = []
    for row in record.rows:
        right, more = _right(row), row["median_ms"] > row["kernel_ms"]
        verdict = {
            True: t("right", "对"),
            False: t("too much", "偏多") if more else t("too little", "偏少"),
            None: t("unclear", "说不准"),
        }[right]
        said = time_words(row["median_ms"] / 1e3)
        rows.append(
            Bar(word_of(row["stopwatch"]), row["median_ms"], t(f"{said}, {verdict}", f"{said}，{verdict}"), not right)
        )
    mine, at = bets.get("02-bet-one-fence"), [row["stopwatch"] for row in record.rows].index("fence after only")
    bet = None
    if mine:
        kernel, earlier = record.rows[at]["kernel_ms"], record.rows[at]["earlier_ms"]
        middle_, said = {
            "a": (0.0, t("next to nothing", "几乎为零")),
            "b": (kernel, f"{kernel:g} ms"),
            "c": (kernel + earlier, f"{kernel + earlier:g} ms"),
        }[mine]
        bet = Bet(
            said, rows=[at], span=(max(0.0, middle_ - 0.3 * kernel), middle_ + (0.3 if middle_ else 0.1) * kernel)
        )
    return bars(rows, bet)


def settle_five_stopwatches(record: Record) -> dict[str, str | None]:
    rows = [r for r in record.rows if r["stopwatch"] == "fence after only"]
    if not rows:
        return {"02-bet-one-fence": None}
    row = rows[0]
    kernel, earlier = row["kernel_ms"], row["earlier_ms"]
    for option, expected, near in (("a", 0.0, 0.1), ("b", kernel, 0.3), ("c", kernel + earlier, 0.3)):
        if _reads(row, expected, near * kernel):
            return {"02-bet-one-fence": option}
    return {"02-bet-one-fence": None}


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

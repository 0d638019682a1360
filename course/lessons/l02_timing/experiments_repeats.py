"""Experiments of lesson 02 on repeating: the first call, interrupted calls, what a race of two functions finds, threads.

Each run returns tidy rows (milliseconds unless a name says otherwise) and uses torch alone.
"""

from __future__ import annotations

import logging
import math
import random
import statistics
import time
from collections.abc import Callable, Iterator

import torch

from course.experiment.base import Budget, experiment
from course.experiment.words import FEW, NOTHING, TOO_NOISY, doubtful, groups, middle, spread
from course.figures.kinds import Bar, Bet, Ratio, bars, fold, ratio_rows, times
from course.figures.svg import SvgPicture
from course.i18n import Text, both, t
from course.lessons.l02_timing.experiments import LESSON, clock_ms
from course.records import Record
from course.timing.stats import median_interval

METHODS = {"means, each alone": "分开测、比平均值", "best of, each alone": "分开测、比最小值", "paired": "配对比较"}
WINNER = 0.02  # a naive tester calls a winner when the ratio is further from 1 than this


def _said(record: Record, method: str, *words: str) -> int:
    return sum(r["method"] == method and r["said"] in words for r in record.rows)


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


# --- 02-first-call ------------------------------------------------------------------------------------------


def _first_over_later(record: Record) -> list[float]:
    """For each shape: first call / median of the calls from the fourth on."""
    ratios = []
    for rows in groups(record.rows, "shape").values():
        times = [r["call_ms"] for r in sorted(rows, key=lambda r: r["call"])]
        if len(times) >= 6:
            ratios.append(times[0] / statistics.median(times[3:]))
    return ratios


def headline_first_call(record: Record) -> Text:
    option = settle_first_call(record)["02-bet-first-call"]
    if option is None:
        return TOO_NOISY
    if option == "a":
        return both(
            "Here the first call of a new shape takes hardly longer than later ones.",
            "在这里，新形状的第一次调用几乎不多花时间。",
        )
    return fold(
        statistics.median(_first_over_later(record)),
        "A new shape's first call takes about {} as long as later ones.",
        "新形状的第一次调用，耗时约为之后的{}。",
        whole=True,
    )


def say_first_call(record: Record) -> Text:
    ratios = _first_over_later(record)
    if not ratios:
        return NOTHING
    doubt = doubtful(settle_first_call(record))
    return both(
        f"{doubt['en']}Over {len(ratios)} new shapes the first call took {middle(ratios)} times as long as the later ones.",
        f"{doubt['zh']}在 {len(ratios)} 个新形状上，第一次调用的耗时是后续调用的 {middle(ratios)} 倍。",
    )


def draw_first_call(record: Record, bets: dict) -> SvgPicture:
    """The first calls over the median of the later ones, the middle of all shapes; the bet is how long the first one is."""
    shapes = [[row["call_ms"] for row in rows] for rows in groups(record.rows, "shape").values() if len(rows) >= 6]
    later = [statistics.median(calls[3:]) for calls in shapes]
    rows = []
    for call in range(3):
        ratio = statistics.median(calls[call] / one for calls, one in zip(shapes, later, strict=True))
        rows.append(Bar(t(f"call {call + 1}", f"第 {call + 1} 次"), ratio, t(f"{times(ratio)}×", f"{times(ratio)} 倍")))
    rows.append(Bar(t("later calls", "之后每次"), 1.0, t("1×", "1 倍"), quiet=True))
    said = {
        "a": (t("about the same", "差不多"), (0, 1.25)),
        "b": (t("up to three times", "最多三倍"), (1.25, 3)),
        "c": (t("more than three times", "三倍以上"), (3, max(6.0, rows[0].value))),
    }
    mine = said.get(bets.get("02-bet-first-call", ""))
    return bars(rows, Bet(mine[0], rows=[0], span=mine[1]) if mine else None)


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


MOVED = 2.0  # per cent; a summary moved by less stays where it is


def headline_interruptions(record: Record) -> Text:
    if len(record.rows) < BLOCK:
        return TOO_NOISY
    spans = {name: median_interval(_moved(record, summary)) for name, (_, summary) in SUMMARIES.items()}
    moved = {name: span.low > MOVED or span.high < -MOVED for name, span in spans.items()}
    stays = {name: -MOVED <= span.low and span.high <= MOVED for name, span in spans.items()}
    if moved["mean"] and stays["median"]:
        return both(
            "One pause in twenty calls moves the mean; the median stays.",
            "二十次里停顿一次，平均值就偏了，中位数不动。",
        )
    if moved["mean"] and moved["median"]:
        return both("Here one pause in twenty calls moves even the median.", "这次二十次里停顿一次，连中位数也偏了。")
    if stays["mean"] and stays["median"]:
        return both(
            "Here one pause in twenty calls moves neither mean nor median.",
            "这次二十次里停顿一次，平均值和中位数都没动。",
        )
    return TOO_NOISY


def say_interruptions(record: Record) -> Text:
    if len(record.rows) < BLOCK:
        return NOTHING
    moved = {}
    for name, (_, summary) in SUMMARIES.items():
        percents = _moved(record, summary)
        moved[name] = spread(percents, "{:+.1f} %".format)
    quiet = [r["quiet_ms"] for r in record.rows]
    own = 100 * (statistics.fmean(quiet) / statistics.median(quiet) - 1)
    en = ", ".join(f"the {name} by {percent}" for name, percent in moved.items())
    zh = "，".join(f"{SUMMARIES[name][0]}移动 {percent}" for name, percent in moved.items())
    return both(
        f"Against the calls left alone, which took turns with them, the planted pauses move {en}. "
        f"Left alone, the mean lies {own:+.1f} % from the median: those interruptions are the machine's own.",
        f"与轮流运行、不受打扰的调用相比，插入的停顿使{zh}。不插停顿时，平均值与中位数本来就差 {own:+.1f}%："
        f"那是这台机器自己的打断。",
    )


def draw_interruptions(record: Record, bets: dict) -> SvgPicture:
    """By how much the pauses move each summary."""
    rows = []
    for name, (chinese, summary) in SUMMARIES.items():
        percent = statistics.median(_moved(record, summary))
        still = abs(percent) <= MOVED
        said = t("stays", "没动") if still else t(f"{percent:+.0f} %", f"{percent:+.0f}%")
        rows.append(Bar(t(name, chinese), abs(percent), said, still))
    return bars(rows)


@experiment(
    name="02-interruptions",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=4,
    title=both(
        "One call in twenty is interrupted: which summary notices?", "每二十次调用有一次被打断：哪种汇总会受影响？"
    ),
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


def headline_same_code_twice(record: Record) -> Text:
    if settle_same_code_twice(record)["02-bet-same-code"] is None:
        return TOO_NOISY
    means, best, paired = (_said(record, method, "faster", "slower") for method in METHODS)
    if paired:
        return both(
            "Same code against itself: here even pairing announced a winner.",
            "同一段代码和自己比，配对也报出了“赢家”。",
        )
    if means:
        return both(
            f"Same code against itself: comparing means announced {means} winner{'s' * (means > 1)}.",
            f"同一段代码和自己比，平均值也比出 {means} 个“赢家”。",
        )
    if best:
        return both(
            f"Same code against itself: comparing the fastest runs announced {best} winner{'s' * (best > 1)}.",
            f"同一段代码和自己比，最小值也比出 {best} 个“赢家”。",
        )
    return both(
        "Same code against itself: here no method announced a winner.", "同一段代码和自己比，谁也没报出“赢家”。"
    )


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


def draw_same_code_twice(record: Record, bets: dict) -> SvgPicture:
    """How often each method named a winner between twins; the bet is a count of the means."""
    trials, rows = len({row["trial"] for row in record.rows}), []
    for method, chinese in METHODS.items():
        count = _said(record, method, "faster", "slower")
        rows.append(Bar(t(method, chinese), count, t(f"{count} of {trials} races", f"{trials} 场里 {count} 场")))
    said = {
        "a": (t("none, or one", "零场或一场"), (0, 1)),
        "b": (t("two to five", "两到五场"), (2, 5)),
        "c": (t("six or more", "六场以上"), (6, trials)),
    }
    mine = said.get(bets.get("02-bet-same-code", ""))
    return bars(rows, Bet(mine[0], rows=[0], span=mine[1]) if mine else None)


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
)
def same_code_twice(budget: Budget) -> Iterator[dict]:
    """Twenty races of one function against its twin: every winner is a false alarm."""
    return _trials(budget, trials=20, candidate_times=20, planted=1.0)


# --- 02-planted-difference ----------------------------------------------------------------------------------

PLANTED = 1.05

CLOSE = 0.02  # a ratio this near to the truth has found the difference, not just its sign


def _close(rows: list[dict], method: str) -> int:
    """Races in which a method came near to the truth."""
    return sum(row["method"] == method and abs(row["ratio"] - row["planted"]) <= CLOSE for row in rows)


def headline_planted_difference(record: Record) -> Text:
    whole = [rows for rows in groups(record.rows, "trial").values() if len(rows) == len(METHODS)]
    trials = len(whole)
    if trials < FEW:
        return TOO_NOISY
    means, best, paired = (_close([row for rows in whole for row in rows], method) for method in METHODS)
    if not (means or best or paired):
        return both("Here no method came close to the true difference.", "这次哪种方法都没接近真实的差异。")
    if paired == means == trials:
        return both(
            "Here pairing and means both found the true difference.", "这次用配对、用平均值，都找准了真实差异。"
        )
    if paired == trials:
        return both(
            "Pairing found the true difference every time; comparing means did not.",
            "配对次次找准真实差异，只看平均值就做不到。",
        )
    if paired > means:
        return both(
            "Pairing found the true difference more often than comparing means.",
            "配对找准真实差异的次数，多于只看平均值。",
        )
    return both(
        "Here pairing found the true difference no more often than comparing means.",
        "这次配对找准的次数，不多于只看平均值。",
    )


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


def draw_planted_difference(record: Record, bets: dict) -> SvgPicture:
    """How often each method came near to the truth."""
    trials, rows = len({row["trial"] for row in record.rows}), []
    for method, chinese in METHODS.items():
        count = _close(record.rows, method)
        said = t(f"found in {count} of {trials} races", f"{trials} 场里找准 {count} 场")
        rows.append(Bar(t(method, chinese), count, said, method != "paired"))
    return bars(rows)


@experiment(
    name="02-planted-difference",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=12,
    title=both("A true difference of one in twenty: who finds it?", "真的差 5%，哪种测法看得出来？"),
)
def planted_difference(budget: Budget) -> Iterator[dict]:
    """Twelve races of 20 small products against 21."""
    return _trials(budget, trials=12, candidate_times=21, planted=PLANTED)


# --- 02-threads ---------------------------------------------------------------------------------------------


def headline_timer_threads(record: Record) -> Text:
    option, ratios = settle_timer_threads(record)["02-bet-threads"], [row["ratio"] for row in record.rows]
    if option is None:
        return TOO_NOISY
    if option == "a":
        return fold(
            statistics.median(ratios),
            "Timer uses one thread by default: {} as long as with all threads.",
            "Timer 默认单线程，这里的读数是用全部线程时的{}。",
        )
    if option == "c":
        return both(
            "Here one thread is faster than all, and Timer takes one by default.",
            "这里单线程反而更快，而 Timer 默认就用它。",
        )
    if record.rows[0]["all_threads"] == 1:
        return both(
            "This process has one thread, just as Timer assumes.", "这个进程只有一个线程，正合 Timer 的默认设置。"
        )
    return both(
        "Here Timer's single thread reads the same as all threads.", "这里 Timer 用单线程，读数和用全部线程一样。"
    )


def say_timer_threads(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    ratios, count = [r["ratio"] for r in record.rows], record.rows[0]["all_threads"]
    doubt = doubtful(settle_timer_threads(record))
    return both(
        f"{doubt['en']}As it comes, Timer reads {middle(ratios)} times what it reads with all {count} threads of this process.",
        f"{doubt['zh']}默认设置下，Timer 的读数是使用本进程全部 {count} 个线程时的 {middle(ratios)} 倍。",
    )


def draw_timer_threads(record: Record, bets: dict) -> SvgPicture:
    """Timer's reading over that with all threads; the bet is a side of the row."""
    ratios = [row["ratio"] for row in record.rows]
    span = median_interval(ratios)
    count = record.rows[0]["all_threads"]
    row = Ratio(
        t("Timer, as it comes", "Timer，默认设置"),
        statistics.median(ratios),
        span.low,
        span.high,
        t(f"against all {count} threads" if count > 1 else "against the only thread", f"对比全部 {count} 个线程"),
    )
    said = {
        "a": (t("longer", "更长"), "right"),
        "b": (t("the same", "一样"), "middle"),
        "c": (t("shorter", "更短"), "left"),
    }
    mine = said.get(bets.get("02-bet-threads", ""))
    sides = (t("Timer reads less", "Timer 读数更短"), t("Timer reads more", "Timer 读数更长"))
    return ratio_rows([row], sides, Bet(mine[0], rows={0: mine[1]}) if mine else None)


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

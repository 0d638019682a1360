"""Experiments of lesson 12: two columns of one table, three repairs, a wait for data, what the profiler itself costs.

All run on a CPU. Times stand in ratios, taken side by side in this process, with the interval of their median.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import torch
from torch import nn

from course import toy_search
from course.experiment.base import Budget, experiment
from course.experiment.rows import race_row
from course.experiment.words import FEW, NOTHING, TOO_NOISY, doubtful, groups, joined, middle, ratio_of, word
from course.figures.kinds import Bar, Bet, Ratio, bars, fold, ratio_rows
from course.figures.svg import SvgPicture
from course.i18n import Text, both, t
from course.lessons.l12_profiler.cases import SlowPhotos, cases, epoch
from course.onednn_log import log_of, time_in
from course.records import Record
from course.timing.stats import median, median_interval
from course.trace import parts_of, span_of, trace_of

LESSON = "12_profiler"
ROUNDS = 12
NEAR = 1.1
"""Ratios within this factor of 1 count as about the same."""


# --- 12-two-columns -------------------------------------------------------------------------------------------

COLUMNS = {"total": both("column “total”", "“total” 一列"), "self": both("column “self”", "“self” 一列")}


def headline_two_columns(record: Record) -> Text:
    option = settle_two_columns(record)["12-bet-total"]
    if option is None:
        return TOO_NOISY
    total = median([row["total"] for row in record.rows])
    said = {
        "a": both("The column “total” adds up to less than the call took.", "“total” 一列加起来，比实际耗时少。"),
        "b": both("The column “total” adds up to about what the call took.", "“total” 一列加起来，和实际耗时差不多。"),
        "c": fold(
            total, "The column “total” adds up to {} what the call took.", "“total” 一列加起来，是实际耗时的{}。"
        ),
    }
    return said[option]


def say_two_columns(record: Record) -> Text:
    if len(record.rows) < FEW:
        return NOTHING
    total, own = (middle([row[key] for row in record.rows]) for key in COLUMNS)
    return both(
        f"All rows added up, as a multiple of the call: the column “total” gives {total}, the column “self” {own}.",
        f"把所有行加起来，再除以整次调用的耗时：“total” 一列是 {total} 倍，“self” 一列是 {own} 倍。",
    )


def draw_two_columns(record: Record, bets: dict) -> SvgPicture:
    own, total = (median([row[key] for row in record.rows]) for key in ("self", "total"))
    spans = {
        "a": (t("clearly less", "明显更少"), (0.0, 0.8)),
        "b": (t("about the same", "差不多"), (0.8, 1.25)),
        "c": (t("clearly more", "明显更多"), (1.25, max(total, 2.5))),
    }
    words, span = spans.get(bets.get("12-bet-total", ""), ("", None))
    return bars(
        [
            Bar(t("the call itself", "调用本身"), 1.0, "1", quiet=True),
            Bar(word(COLUMNS["self"]), own, t(f"{own:.2g} times the call", f"{own:.2g} 倍")),
            Bar(word(COLUMNS["total"]), total, t(f"{total:.2g} times the call", f"{total:.2g} 倍")),
        ],
        Bet(words, rows=[2], span=span) if span else None,
    )


def settle_two_columns(record: Record) -> dict[str, str | None]:
    """The bet is on the column "total"; within a quarter of the call counts as about the same."""
    if len(record.rows) < FEW:
        return {"12-bet-total": None}
    found = median_interval([row["total"] for row in record.rows])
    if found.low > 1.25:
        return {"12-bet-total": "c"}
    if found.high < 0.8:
        return {"12-bet-total": "a"}
    return {"12-bet-total": "b" if found.low >= 0.8 and found.high <= 1.25 else None}


@experiment(
    name="12-two-columns",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=6,
    title=both(
        "A profile has two columns of time: what does each add up to?", "profile 表里有两列时间：各自加起来是多少？"
    ),
)
def two_columns(budget: Budget) -> Iterator[dict]:
    """Twelve traces of three convolutions: the sums of total and of self time over the time of the call."""
    model = nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Conv2d(16, 16, 3), nn.ReLU(), nn.Conv2d(16, 8, 3)).eval()
    image = torch.randn(4, 3, 96, 96)
    with toy_search.one_thread(), torch.inference_mode():
        for number in budget.loop(range(ROUNDS), desc=both("traces", "剖析"), least=FEW):
            found = trace_of(lambda: model(image), calls=1, warm_ups=2 if number == 0 else 0).rows()
            listed = [row for row in found if row["kind"] not in ("call", "kernel")]
            span = span_of(found)
            yield {
                "trace": number,
                "operations": len(listed),
                "total": sum(row["us"] for row in listed) / span,
                "self": sum(row["self_us"] for row in listed) / span,
            }


# --- 12-repairs -----------------------------------------------------------------------------------------------

CASES_SAID = {
    "photos": both("photos, float64", "照片（float64）"),
    "layers": both("layers, reorders", "卷积层（重排）"),
    "scores": both("scores, one by one", "分数（逐行）"),
}


REPAIRS = {"photos": "a", "layers": "b", "scores": "c"}  # case -> the option that bets on it


def headline_repairs(record: Record) -> Text:
    rows = record.rows
    if len(rows) < len(CASES_SAID) or any(row["low"] is None for row in rows):
        return TOO_NOISY
    best = min(rows, key=lambda row: row["ratio"])
    if all(row["low"] > 0.98 for row in rows):
        return both("Not one of the three repairs saves time here.", "在这里，三处修改都没省下时间。")
    if best["high"] >= 1:
        return TOO_NOISY
    said = {
        "a": both("The photos in float64 by accident: that repair saves most.", "照片误用了 float64，改回来省得最多。"),
        "b": both("No more reorders in the layers: that repair saves most.", "卷积层不再重排，省得最多。"),
        "c": fold(
            1 / best["ratio"],
            "Scores read all at once, not one by one: {} as fast.",
            "不再逐个取数，算分数的速度是原来的{}。",
        ),
    }
    option = settle_repairs(record)["12-bet-repair"]
    if option:
        return said[option]
    if all(row["high"] < 1 for row in rows):
        return both("All three repairs save time; which saves most stays open.", "三处修改都省时间，哪个最省还说不准。")
    return TOO_NOISY


def say_repairs(record: Record) -> Text:
    rows = record.rows
    if not rows:
        return NOTHING

    def told(row: dict, code: str) -> str:
        return f"{CASES_SAID[row['case']][code]} {ratio_of(row, '.3g')}"

    named = sum(row["named"] for row in rows)
    first = doubtful(settle_repairs(record))
    return both(
        f"{first['en']}Time after the repair over time before: {joined([told(row, 'en') for row in rows], 'en')}. "
        f"The trace put the planted line first in {named} of {len(rows)} cases.",
        f"{first['zh']}修好之后与之前的耗时之比：{joined([told(row, 'zh') for row in rows], 'zh')}。"
        f"{len(rows)} 个例子中，有 {named} 个的 trace 把故意写坏的那一行排在第一。",
    )


def draw_repairs(record: Record, bets: dict) -> SvgPicture:
    bet = bets.get("12-bet-repair")
    mine = next((number for number, row in enumerate(record.rows) if REPAIRS[row["case"]] == bet), None)
    return ratio_rows(
        [Ratio(word(CASES_SAID[row["case"]]), row["ratio"], row["low"], row["high"]) for row in record.rows],
        (t("the repair saves time", "修好之后更快"), t("costs time", "更慢")),
        None if mine is None else Bet(t("saves most", "省得最多"), rows={mine: "left"}),
    )


def settle_repairs(record: Record) -> dict[str, str | None]:
    """The largest gain, where its interval lies clear of the others'."""
    best, *others = sorted(record.rows, key=lambda row: row["ratio"]) or [None]
    clear = best is not None and len(others) == 2 and all(best["high"] < other["low"] for other in others)
    return {"12-bet-repair": REPAIRS.get(best["case"]) if clear else None}


@experiment(
    name="12-repairs",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=9,
    title=both("Three slow functions: the line, and what its repair gains", "三个慢函数：是哪一行，修好它能省多少"),
)
def repairs(budget: Budget) -> Iterator[dict]:
    """Each planted case: the line its trace names, reorders in oneDNN's log, and a race of the repair against it."""
    from course.timing import compare

    with toy_search.one_thread(), torch.inference_mode():
        left = cases()
        for done, case in enumerate(budget.loop(left, desc=both("cases", "例子"))):
            found = trace_of(case.slow, calls=3)
            line = next(iter(found.by_line()), {"code": ""})
            log = list(log_of(case.slow))
            race = compare(
                {"slow": case.slow, "mended": case.mended},
                baseline="slow",
                max_time=max(1.0, min(2.5, budget.share(len(left) - done))),
            )
            yield {
                "case": case.name,
                "code": line["code"],
                "named": case.planted in line["code"],
                "overhead": found.overhead,
                "reorder_share": time_in(log, "reorder") / (time_in(log) or 1.0),
                **race_row(race),
            }


# --- 12-wait --------------------------------------------------------------------------------------------------

WHERE = {
    "operations": both("in operations", "在操作里"),
    "loader": both("in the loader's own row", "在加载器自己的一行里"),
    "outside": both("outside of any row", "不在任何一行里"),
}


PLACES = {"operations": "a", "loader": "b", "outside": "c"}  # where the wait stands -> the option that says so


def headline_wait_for_data(record: Record) -> Text:
    share = 100 * median([row["loader"] for row in record.rows]) if record.rows else 0
    said = {
        "a": both("Most of the time stands in the operations, not in a wait.", "大部分时间记在操作里，不是等待。"),
        "b": both(
            f"Slow data: {share:.0f} % of the time stands in the loader's own row.",
            f"数据太慢：{share:.0f}% 的时间记在加载器自己那一行。",
        ),
        "c": both("Slow data: most of the time stands in no row at all.", "数据太慢，大部分时间哪一行都没记。"),
        None: TOO_NOISY,
    }
    return said[settle_wait_for_data(record)["12-bet-wait"]]


def say_wait_for_data(record: Record) -> Text:
    if len(record.rows) < FEW:
        return NOTHING
    first = doubtful(settle_wait_for_data(record))

    def told(code: str) -> str:
        unit = " %" if code == "en" else "%"
        return joined(
            [f"{WHERE[key][code]} {100 * median([row[key] for row in record.rows]):.3g}{unit}" for key in WHERE], code
        )

    return both(
        f"{first['en']}Of the time of one pass over the data: {told('en')} (medians).",
        f"{first['zh']}把数据过一遍，时间花在：{told('zh')}（中位数）。",
    )


def draw_wait_for_data(record: Record, bets: dict) -> SvgPicture:
    share = {key: 100 * median([row[key] for row in record.rows]) for key in WHERE}
    most = max(share, key=share.__getitem__)
    mine = [number for number, key in enumerate(WHERE) if PLACES[key] == bets.get("12-bet-wait")]
    return bars(
        [
            Bar(word(said), share[key], t(f"{share[key]:.0f} %", f"{share[key]:.0f}%"), quiet=key != most)
            for key, said in WHERE.items()
        ],
        Bet(t("the wait stands here", "等待记在这里"), rows=mine) if mine else None,
    )


def settle_wait_for_data(record: Record) -> dict[str, str | None]:
    """Where more than half of the time stands, in each of the traces."""
    if len(record.rows) >= FEW:
        for key, option in PLACES.items():
            if all(row[key] > 0.5 for row in record.rows):
                return {"12-bet-wait": option}
    return {"12-bet-wait": None}


@experiment(
    name="12-wait",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=5,
    title=both("Data that comes late: where does the profile put the wait?", "数据来得太慢：profile 把等待记在哪里？"),
)
def wait_for_data(budget: Budget) -> list[dict]:
    """Eight traces of a pass over slow photos: shares of operations, of the loader's row, of neither."""
    from torch.utils.data import DataLoader

    model, rows = nn.Conv2d(3, 8, 3).eval(), []
    with toy_search.one_thread(), torch.inference_mode():
        for number in budget.loop(range(8), desc=both("traces", "剖析"), least=FEW):
            found = trace_of(
                lambda: epoch(model, DataLoader(SlowPhotos(), batch_size=4)), calls=1, warm_ups=number == 0
            )
            listed, span = found.rows(), span_of(found.rows())
            loader = sum(row["self_us"] for row in listed if row["kind"] == "label")
            parts = parts_of(listed)
            rows.append(
                {
                    "trace": number,
                    "loader": loader / span,
                    "outside": (parts["outside"] - loader) / span,
                    "operations": (parts["work"] + parts["prepare"] + parts["pass"]) / span,
                }
            )
    return rows


# --- 12-cost --------------------------------------------------------------------------------------------------

SETTINGS: dict[str, dict[str, bool] | None] = {
    "control": None,
    "profile": {},
    "shapes": {"record_shapes": True},
    "stack": {"with_stack": True},
    "whole": {},
}
SETTINGS_SAID = {
    "control": both("no profiler, again", "不开 profiler，再测一次"),
    "profile": both("profile(), while it runs", "profile()，运行期间"),
    "shapes": both("record_shapes=True", "record_shapes=True"),
    "stack": both("with_stack=True", "with_stack=True"),
    "whole": both("profile() with its start and end", "profile()，连同开始和收尾"),
}
WORKS_SAID = {
    "few large": both("4 large products", "4 次大矩阵乘"),
    "many small": both("200 small additions", "200 次小加法"),
}


def _spread(rows: list[dict]) -> dict[tuple[str, str], list[float]]:
    """(work, setting) -> its ratios."""
    found: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        found.setdefault((row["work"], row["setting"]), []).append(row["ratio"])
    return found


def headline_cost(record: Record) -> Text:
    said = {
        "a": both(
            "The profiler slows a few large operations more than many small ones.", "大算子被 profiler 拖慢得更厉害。"
        ),
        "b": both(
            "The profiler slows many small operations more than a few large ones.", "小算子被 profiler 拖慢得更厉害。"
        ),
        "c": both(
            "With the profiler on, small and large operations change by about the same factor.",
            "开了 profiler，大、小操作的耗时变化倍数差不多。",
        ),
        None: TOO_NOISY,
    }
    return said[settle_cost(record)["12-bet-cost"]]


def say_cost(record: Record) -> Text:
    found = _spread(record.rows)
    if len(found) < len(SETTINGS) * len(WORKS_SAID) or min(map(len, found.values())) < FEW:
        return NOTHING
    first = doubtful(settle_cost(record))

    def told(code: str) -> str:
        colon = ": " if code == "en" else "："
        lines = [
            WORKS_SAID[work][code]
            + colon
            + joined([f"{SETTINGS_SAID[one][code]} {middle(found[work, one])}" for one in SETTINGS], code)
            for work in WORKS_SAID
        ]
        return ("; " if code == "en" else "；").join(lines)

    return both(
        f"{first['en']}Time over time without a profiler. {told('en')}.",
        f"{first['zh']}与不开 profiler 的耗时之比。{told('zh')}。",
    )


def draw_cost(record: Record, bets: dict) -> SvgPicture:
    """Both works while the profiler runs; then the small ones with more written down."""
    found, rows = _spread(record.rows), []
    for work, setting in (
        *((work, "profile") for work in WORKS_SAID),
        ("many small", "shapes"),
        ("many small", "stack"),
    ):
        span = median_interval(found[work, setting])
        remark = "profile()" if setting == "profile" else word(SETTINGS_SAID[setting])
        rows.append(Ratio(word(WORKS_SAID[work]), median(found[work, setting]), span.low, span.high, remark))
    options = {
        "a": Bet(t("slowed more", "拖慢得更多"), rows={0: "right"}),
        "b": Bet(t("slowed more", "拖慢得更多"), rows={1: "right"}),
        "c": Bet(t("both alike", "两种差不多"), rows={0: "right", 1: "right"}),
    }
    sides = (t("less time with the profiler", "开 profiler 反而更快"), t("more time", "更慢"))
    return ratio_rows(rows, sides, options.get(bets.get("12-bet-cost", "")))


def settle_cost(record: Record) -> dict[str, str | None]:
    """profile(): many small over few large, round by round. Nothing where the control says that the machine wanders."""
    rounds = groups(record.rows, "round").values()
    pairs = [{(row["work"], row["setting"]): row["ratio"] for row in rows} for rows in rounds]
    pairs = [one for one in pairs if len(one) == len(SETTINGS) * len(WORKS_SAID)]
    if len(pairs) < FEW:
        return {"12-bet-cost": None}
    steady = all(1 / NEAR < median([one[work, "control"] for one in pairs]) < NEAR for work in WORKS_SAID)
    found = median_interval([one["many small", "profile"] / one["few large", "profile"] for one in pairs])
    option = "b" if found.low > NEAR else "a" if found.high < 1 / NEAR else None
    if found.low > 1 / NEAR and found.high < NEAR:
        option = "c"
    return {"12-bet-cost": option if steady else None}


def _few_large(size: int = 224) -> Callable[[], Any]:
    one = torch.randn(size, size)

    def work() -> None:
        for _ in range(4):
            one @ one

    return work


def _many_small(count: int = 200) -> Callable[[], Any]:
    one = torch.randn(8)

    def work() -> None:
        for _ in range(count):
            one + one

    return work


def _shortest_s(work: Callable[[], Any], setting: str, calls: int = 4) -> float:
    """Seconds of the shortest of some calls, the profiler running already; for "whole" of one call with its start and end."""
    from torch.profiler import ProfilerActivity, profile

    def calls_s() -> float:
        times = []
        for _ in range(1 if setting == "whole" else calls):
            start = perf_counter()
            work()
            times.append(perf_counter() - start)
        return min(times)

    options = SETTINGS.get(setting)
    if options is None:
        return calls_s()
    start = perf_counter()
    with profile(activities=[ProfilerActivity.CPU], acc_events=True, **options):
        inside = calls_s()
    return perf_counter() - start if setting == "whole" else inside


@experiment(
    name="12-cost",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=8,
    title=both("What does the profiler itself cost?", "profiler 自己要花多少时间？"),
)
def cost(budget: Budget) -> Iterator[dict]:
    """Two works in random order of settings, each over the same work without a profiler in the same round; with a control."""
    works, shuffled = {"few large": _few_large(), "many small": _many_small()}, random.Random()
    with toy_search.one_thread(), torch.inference_mode():
        for name in works:
            _shortest_s(works[name], "profile")  # the first profiler of a process takes longer
        for number in budget.loop(range(10), desc=both("rounds", "轮"), least=FEW):
            for name, work in works.items():
                order = [*SETTINGS, "plain"]
                shuffled.shuffle(order)
                seconds = {one: _shortest_s(work, one) for one in order}
                yield from [
                    {"round": number, "work": name, "setting": one, "ratio": seconds[one] / seconds["plain"]}
                    for one in SETTINGS
                ]

"""Experiments of lesson 12: two columns of one table, three repairs, a wait for data, what the profiler itself costs.

All run on a CPU. Times stand in ratios, taken side by side in this process, with the interval of their median.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from time import perf_counter
from typing import Any

import torch
from torch import nn

from course import toy_search
from course.experiment.base import Budget, experiment
from course.experiment.plots import ratios
from course.experiment.words import FEW, NOTHING, doubtful, groups, joined, middle, word
from course.figures.style import colors
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


def say_two_columns(record: Record) -> Text:
    if len(record.rows) < FEW:
        return NOTHING
    total, own = (middle([row[key] for row in record.rows]) for key in COLUMNS)
    return both(
        f"All rows added up, as a multiple of the call: the column “total” gives {total}, the column “self” {own}.",
        f"把所有行加起来，再除以整次调用的耗时：“total” 一列是 {total} 倍，“self” 一列是 {own} 倍。",
    )


def draw_two_columns(record: Record, ax: Any) -> None:
    from course.figures import samples

    samples(
        ax,
        {word(said): [row[key] for row in record.rows] for key, said in COLUMNS.items()},
        "",
        what=t("sum of the column / time of the call", "该列之和 / 整次调用的耗时"),
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
    seconds=4,
    title=both(
        "A profile has two columns of time: what does each add up to?", "profile 表里有两列时间：各自加起来是多少？"
    ),
)
def two_columns(budget: Budget) -> list[dict]:
    """Twelve traces of three convolutions: the sums of total and of self time over the time of the call."""
    model = nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Conv2d(16, 16, 3), nn.ReLU(), nn.Conv2d(16, 8, 3)).eval()
    image, rows = torch.randn(4, 3, 96, 96), []
    with toy_search.one_thread(), torch.inference_mode():
        for number in budget.loop(range(ROUNDS), desc=both("traces", "剖析"), least=FEW):
            found = trace_of(lambda: model(image), calls=1, warm_ups=2 if number == 0 else 0).rows()
            listed = [row for row in found if row["kind"] not in ("call", "kernel")]
            span = span_of(found)
            rows.append(
                {
                    "trace": number,
                    "operations": len(listed),
                    "total": sum(row["us"] for row in listed) / span,
                    "self": sum(row["self_us"] for row in listed) / span,
                }
            )
    return rows


# --- 12-repairs -----------------------------------------------------------------------------------------------

CASES_SAID = {
    "photos": both("photos, float64", "照片（float64）"),
    "layers": both("layers, reorders", "卷积层（重排）"),
    "scores": both("scores, one by one", "分数（逐行）"),
}


def say_repairs(record: Record) -> Text:
    rows = record.rows
    if not rows:
        return NOTHING

    def told(row: dict, code: str) -> str:
        return f"{CASES_SAID[row['case']][code]} {row['ratio']:.3g} [{row['low']:.3g}, {row['high']:.3g}]"

    named = sum(row["named"] for row in rows)
    first = doubtful(settle_repairs(record))
    return both(
        f"{first['en']}Time after the repair over time before: {joined([told(row, 'en') for row in rows], 'en')}. "
        f"The trace put the planted line first in {named} of {len(rows)} cases.",
        f"{first['zh']}修好之后与之前的耗时之比：{joined([told(row, 'zh') for row in rows], 'zh')}。"
        f"{len(rows)} 个例子中，有 {named} 个的 trace 把埋下的那一行排在第一。",
    )


def draw_repairs(record: Record, ax: Any) -> None:
    ratios(
        ax,
        record.rows,
        [f"{word(CASES_SAID[row['case']])}\n{row['code'][:34]}" for row in record.rows],
        t("time after the repair / before (left of 1: faster)", "修好之后 / 之前（1 的左边：更快）"),
    )


def settle_repairs(record: Record) -> dict[str, str | None]:
    """The largest gain, where its interval lies clear of the others'."""
    options = {"photos": "a", "layers": "b", "scores": "c"}
    best, *others = sorted(record.rows, key=lambda row: row["ratio"]) or [None]
    clear = best is not None and len(others) == 2 and all(best["high"] < other["low"] for other in others)
    return {"12-bet-repair": options.get(best["case"]) if clear else None}


@experiment(
    name="12-repairs",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=9,
    title=both("Three slow functions: the line, and what its repair gains", "三个慢函数：是哪一行，修好它能省多少"),
)
def repairs(budget: Budget) -> list[dict]:
    """Each planted case: the line its trace names, reorders in oneDNN's log, and a race of the repair against it."""
    from course.timing import compare

    rows = []
    with toy_search.one_thread(), torch.inference_mode():
        left = cases()
        for case in budget.loop(left, desc=both("cases", "例子")):
            found = trace_of(case.slow, calls=3)
            line = next(iter(found.by_line()), {"code": ""})
            log = list(log_of(case.slow))
            race = compare(
                {"slow": case.slow, "mended": case.mended},
                baseline="slow",
                max_time=max(1.0, min(2.5, budget.share(len(left) - len(rows)))),
            )
            rows.append(
                {
                    "case": case.name,
                    "code": line["code"],
                    "named": case.planted in line["code"],
                    "overhead": found.overhead,
                    "reorder_share": time_in(log, "reorder") / (time_in(log) or 1.0),
                    "ratio": race.ratio,
                    "low": race.low,
                    "high": race.high,
                    "verdict": race.verdict,
                }
            )
    return rows


# --- 12-wait --------------------------------------------------------------------------------------------------

WHERE = {
    "operations": both("in operations", "在操作里"),
    "loader": both("in the loader's own row", "在加载器自己的一行里"),
    "outside": both("outside of any row", "不在任何一行里"),
}


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


def draw_wait_for_data(record: Record, ax: Any) -> None:
    left = 0.0
    for (key, said), colour in zip(WHERE.items(), (colors()[2], colors()[1], colors()[0]), strict=True):
        share = 100 * median([row[key] for row in record.rows])
        ax.barh(
            [0],
            [share],
            left=left,
            height=0.5,
            color=colour,
            label=t(f"{said['en']}: {share:.0f} %", f"{said['zh']}：{share:.0f}%"),
        )
        left += share
    ax.set(yticks=[], xlim=(0, 100), ylim=(-0.5, 0.9))
    ax.set_xlabel(t("share of one pass over the data (%)", "占整个过程的百分比（%）"))
    ax.legend(loc="upper left", ncols=1)


def settle_wait_for_data(record: Record) -> dict[str, str | None]:
    """Where more than half of the time stands, in each of the traces."""
    options = {"operations": "a", "loader": "b", "outside": "c"}
    if len(record.rows) >= FEW:
        for key, option in options.items():
            if all(row[key] > 0.5 for row in record.rows):
                return {"12-bet-wait": option}
    return {"12-bet-wait": None}


@experiment(
    name="12-wait",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=3,
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


def draw_cost(record: Record, ax: Any) -> None:
    from course.figures.plots import grouped

    found = _spread(record.rows)
    series = {}
    for work, said in WORKS_SAID.items():
        spans = [median_interval(found[work, one]) for one in SETTINGS]
        series[word(said)] = [
            (median(found[work, one]), span.low, span.high) for one, span in zip(SETTINGS, spans, strict=True)
        ]
    grouped(
        ax,
        [word(SETTINGS_SAID[one]) for one in SETTINGS],
        series,
        "",
        what=t("time / time without a profiler", "耗时 / 不开 profiler 的耗时"),
        reference=1.0,
        log=True,
    )


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
def cost(budget: Budget) -> list[dict]:
    """Two works in random order of settings, each over the same work without a profiler in the same round; with a control."""
    works, rows, shuffled = {"few large": _few_large(), "many small": _many_small()}, [], random.Random()
    with toy_search.one_thread(), torch.inference_mode():
        for name in works:
            _shortest_s(works[name], "profile")  # the first profiler of a process takes longer
        for number in budget.loop(range(10), desc=both("rounds", "轮"), least=FEW):
            for name, work in works.items():
                order = [*SETTINGS, "plain"]
                shuffled.shuffle(order)
                seconds = {one: _shortest_s(work, one) for one in order}
                rows += [
                    {"round": number, "work": name, "setting": one, "ratio": seconds[one] / seconds["plain"]}
                    for one in SETTINGS
                ]
    return rows

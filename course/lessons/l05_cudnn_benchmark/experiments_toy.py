"""Experiments of lesson 05 on a toy search of our own: when it pays, what it costs, whether the winner is always the same."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from time import perf_counter

import torch

from course import arguments, toy_search
from course.experiment.base import Budget, experiment
from course.experiment.rows import race_row
from course.experiment.words import NOTHING, TOO_NOISY, VERDICTS, with_interval, word
from course.figures.kinds import Bar, Bet, Lane, Ratio, bars, race, ratio_rows, time_words
from course.figures.svg import SvgPicture
from course.i18n import Text, both, t
from course.lessons.l05_cudnn_benchmark.experiments import LESSON
from course.records import Record
from course.timing.stats import median, median_interval

# --- 05-toy-race --------------------------------------------------------------------------------------------

SCHEDULES = {"one size": [24] * 36, "three sizes": [24, 28, 32] * 12, "always new": list(range(12, 48))}
SCHEDULES_SAID = {
    "one size": both("one size", "始终一种尺寸"),
    "three sizes": both("three sizes in turn", "三种尺寸轮流"),
    "always new": both("a new size every step", "每步都是新尺寸"),
}


def headline_toy_race(record: Record) -> Text:
    seen = {row["schedule"]: row["verdict"] for row in record.rows}
    if not {"one size", "always new"} <= set(seen) or "undecided" in (seen["one size"], seen["always new"]):
        return TOO_NOISY
    same, new = seen["one size"] == "faster", seen["always new"] == "faster"
    if same and new:
        return both("The search pays here, even when no size comes back.", "在这里，尺寸不重复，搜索也划算。")
    if same:
        return both("The search pays when sizes come back.", "尺寸会重复，搜索才划算。")
    if new:
        return both("The search pays only when every size is new.", "只有每步都是新尺寸，搜索才划算。")
    return both("Here the search does not pay, not even for one size.", "在这里，尺寸不变，搜索也不划算。")


def say_toy_race(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    verdicts = {**VERDICTS, "faster": both("pays", "划算"), "slower": both("costs", "亏")}

    def line(row: dict, code: str) -> str:
        colon, comma = (": ", ", ") if code == "en" else ("：", "，")
        return (
            f"{SCHEDULES_SAID[row['schedule']][code]}{colon}{with_interval(row, code)}"
            f"{comma}{verdicts[row['verdict']][code]}"
        )

    steps, doubt = record.rows[0]["steps"], both("", "")
    if any(row["verdict"] == "undecided" for row in record.rows):
        doubt = both(" What is undecided needs a quieter machine or another run.", "无法判定的，请在机器空闲时再运行。")
    return both(
        f"Time with the search over time without, {steps} steps: "
        + "; ".join(line(row, "en") for row in record.rows)
        + "."
        + doubt["en"],
        f"{steps} 步，开搜索的耗时除以不开的耗时。"
        + "；".join(line(row, "zh") for row in record.rows)
        + "。"
        + doubt["zh"],
    )


def draw_toy_race(record: Record, bets: dict) -> SvgPicture:
    """The bet names the two schedules it asks about: on the left where the search was to make them shorter."""
    rows = [
        Ratio(
            word(SCHEDULES_SAID[row["schedule"]]),
            row["ratio"],
            row["low"],
            row["high"],
            t(f"{row['searches']} search{'es' * (row['searches'] > 1)}", f"{row['searches']} 次搜索"),
            row["rounds"],
        )
        for row in record.rows
    ]
    bet, mine = None, bets.get("05-bet-race")
    if mine:
        pays, costs = both("it pays", "划算"), both("it does not pay", "不划算")
        shorter = dict(
            zip(("one size", "always new"), {"a": (1, 1), "b": (1, 0), "c": (0, 0), "d": (0, 1)}[mine], strict=True)
        )
        asked = [row["schedule"] for row in record.rows]
        sides = {at: "left" if shorter[one] else "right" for at, one in enumerate(asked) if one in shorter}
        bet = Bet(word(pays if sides.get(0) == "left" else costs), rows=sides)
    return ratio_rows(rows, (t("the search pays", "搜索划算"), t("the search costs", "搜索亏本")), bet)


def settle_toy_race(record: Record) -> dict[str, str | None]:
    """The bet asks where the search makes the run shorter: "same" and "slower" are both no."""
    seen = {row["schedule"]: row["verdict"] for row in record.rows}
    shorter = {"faster": True, "slower": False, "same": False}
    answers = {(True, True): "a", (True, False): "b", (False, False): "c", (False, True): "d"}
    pair = (shorter.get(seen.get("one size")), shorter.get(seen.get("always new")))
    return {"05-bet-race": answers.get(pair)}


@experiment(
    name="05-toy-race",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=9,
    title=both(
        "Toy search against rule of thumb: three schedules of 36 steps", "玩具搜索对经验规则：三种 36 步的尺寸安排"
    ),
)
def toy_race(budget: Budget) -> Iterator[dict]:
    """Total time of a schedule with the search on, over that with it off; the cache is empty at first."""
    from course.timing import compare

    for schedule, sizes in budget.loop(SCHEDULES.items(), desc=both("schedules", "尺寸安排")):
        race = compare(
            {
                "off": lambda sizes=sizes: toy_search.run_schedule(sizes, False),
                "on": lambda sizes=sizes: toy_search.run_schedule(sizes, True),
            },
            baseline="off",
            max_time=max(1.0, min(3.0, budget.left())),
        )
        yield {
            "schedule": schedule,
            "steps": len(sizes),
            "searches": len(set(sizes)),
            **race_row(race),
            "off_ms": race.medians_ms["off"],
            "on_ms": race.medians_ms["on"],
            "rounds": race.rounds,
        }


# --- 05-toy-cost --------------------------------------------------------------------------------------------

SAMPLES = 31


def costs(record: Record) -> dict[str, float] | None:
    """search_ms (extra of the first step), slow_ms and fast_ms of a later step; None without rows."""
    arguments.of_type("record", record, Record)
    columns = {
        (name, kind): [row[kind] for row in record.rows if row["search"] == name]
        for name in ("off", "on")
        for kind in ("first_ms", "later_ms")
    }
    if not all(columns.values()):
        return None
    slow, fast = median(columns["off", "later_ms"]), median(columns["on", "later_ms"])
    return {"search_ms": median(columns["on", "first_ms"]) - fast, "slow_ms": slow, "fast_ms": fast}


STEPS = 36


def headline_toy_cost(record: Record) -> Text:
    found, price = costs(record), settle_toy_cost(record)["05-bet-price"]
    if found is None or price is None:
        return TOO_NOISY
    if price < 1.5:
        return both(
            "With the search on, the first step takes hardly longer than a later one.",
            "开了搜索，第一步也没比后面的久多少。",
        )
    if found["fast_ms"] >= found["slow_ms"]:
        return both(
            f"The search makes the first step as long as {price:.0f} later ones, for no gain.",
            f"开了搜索，第一步花的时间顶后面 {price:.0f} 步，却没换来好处。",
        )
    return both(
        f"With the search on, the first step takes as long as {price:.0f} later ones.",
        f"开了搜索，第一步花的时间顶后面 {price:.0f} 步。",
    )


def say_toy_cost(record: Record) -> Text:
    found = costs(record)
    if found is None:
        return NOTHING
    search, slow, fast = found["search_ms"], found["slow_ms"], found["fast_ms"]
    lines = both(
        f"The search added {search:.3g} ms to one step; a later step takes {slow:.3g} ms without and {fast:.3g} ms with it (medians).",
        f"搜索让某一步多花 {search:.3g} ms；之后每一步，不搜索要 {slow:.3g} ms，搜索过要 {fast:.3g} ms（中位数）。",
    )
    if fast >= slow:
        return both(
            lines["en"] + " Nothing is gained, so it is never paid back here.",
            lines["zh"] + "没有任何收益，所以在这里永远回不了本。",
        )
    steps = max(0, math.ceil(search / (slow - fast)))
    return both(lines["en"] + f" That is paid back after {steps} steps.", lines["zh"] + f"{steps} 步之后回本。")


def draw_toy_cost(record: Record, bets: dict) -> SvgPicture:
    """Both runs step by step; the bet says how long the first step of the search is, in later steps."""
    found = costs(record)
    first = found["search_ms"] + found["fast_ms"]
    lanes = [
        (t("rule of thumb", "经验规则"), [found["slow_ms"]] * STEPS),
        (t("search first", "先搜索"), [first] + [found["fast_ms"]] * (STEPS - 1)),
    ]
    mine = bets.get("05-bet-price")
    bet = None
    if mine:
        bet = Bet(t(f"{mine:g} × a later step", f"后面一步的 {mine:g} 倍"), rows=[1], span=(0, mine * found["fast_ms"]))
    said = [Lane(name, steps, time_words(sum(steps) / 1e3)) for name, steps in lanes]
    return race(said, "ms", bet, note=t("search", "搜索"))


def settle_toy_cost(record: Record) -> dict[str, float | None]:
    """The price of the first step in later steps, as the median over the repeats; None where it is unsure."""
    ratios = [row["first_ms"] / row["later_ms"] for row in record.rows if row["search"] == "on"]
    interval = median_interval(ratios) if len(ratios) >= 10 else None
    sure = interval is not None and interval.high <= 1.5 * interval.low
    return {"05-bet-price": median(ratios) if sure else None}


def _step_ms(conv: toy_search.ToyConv, size: int) -> float:
    start = perf_counter()
    conv(toy_search.image(size), toy_search.kernel())
    return (perf_counter() - start) * 1e3


@experiment(
    name="05-toy-cost",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=3,
    title=both(
        "The toy's costs: what the search takes, what each step gains", "玩具的收支：搜索花了多少，每步省了多少"
    ),
)
def toy_cost(budget: Budget) -> list[dict]:
    """First and second step of one size, with the search and without, the cache empty each time."""
    names, size = {False: "off", True: "on"}, 24
    rows = []
    with toy_search.one_thread(), torch.inference_mode():
        toy_search.run_schedule([size] * 3, True)
        for repeat in budget.loop(range(SAMPLES), desc=both("repeats", "重复")):
            for benchmark, name in names.items():
                conv = toy_search.ToyConv(benchmark)
                first_ms, later_ms = _step_ms(conv, size), _step_ms(conv, size)
                rows.append({"repeat": repeat, "search": name, "first_ms": first_ms, "later_ms": later_ms})
    return rows


# --- 05-winners ---------------------------------------------------------------------------------------------


def headline_winners(record: Record) -> Text:
    if len(record.rows) < 10:
        return TOO_NOISY
    if len({row["winner"] for row in record.rows}) == 1:
        return both("Same shape, search after search: always the same winner.", "同一个形状反复搜索，赢家总是同一个。")
    return both(
        f"Same shape, {len(record.rows)} searches: not always the same winner.",
        f"同一个形状搜 {len(record.rows)} 次，赢家并不总是同一个。",
    )


def say_winners(record: Record) -> Text:
    counts = Counter(row["winner"] for row in record.rows)
    if sum(counts.values()) < 10:
        return NOTHING
    en = ", ".join(f"{name} {count}" for name, count in counts.most_common())
    zh = "、".join(f"{name} {count} 次" for name, count in counts.most_common())
    total = sum(counts.values())
    winners = f"{len(counts)} different winners" if len(counts) > 1 else "one winner"
    return both(
        f"{total} searches of the same shape had {winners}: {en}.",
        f"对同一个形状搜索 {total} 次，出现了 {len(counts)} 种赢家：{zh}。",
    )


def draw_winners(record: Record, bets: dict) -> SvgPicture:
    """Every candidate, the one that won most at the top; the bet is an outline around so many of them."""
    counts = Counter({name: 0 for name in toy_search.CANDIDATES})
    counts.update(row["winner"] for row in record.rows)
    rows = [Bar(name, count, t(f"won {count}", f"赢 {count} 次")) for name, count in counts.most_common()]
    said = {
        "a": (1, t("one winner", "1 种赢家")),
        "b": (2, t("two winners", "2 种赢家")),
        "c": (len(rows), t("three or four", "3 或 4 种")),
    }
    bet, mine = None, said.get(bets.get("05-bet-winners", ""))
    if mine:
        bet = Bet(mine[1], rows=range(min(mine[0], len(rows))))
    return bars(rows, bet)


def settle_winners(record: Record) -> dict[str, str | None]:
    count = len({row["winner"] for row in record.rows})
    if len(record.rows) < 10:
        return {"05-bet-winners": None}
    return {"05-bet-winners": "a" if count == 1 else "b" if count == 2 else "c"}


@experiment(
    name="05-winners",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=3,
    whole=True,
    title=both("The same search, sixty times: does the same candidate win?", "同一次搜索做六十遍：赢家总是同一个吗？"),
)
def winners(budget: Budget) -> list[dict]:
    """Sixty searches of one size, each on an empty cache, as sixty new processes would make them."""
    rows = []
    for search in budget.loop(range(60), desc=both("searches", "搜索")):
        conv = toy_search.run_schedule([40], True)
        rows.append({"search": search, "winner": next(iter(conv.plans.values()))})
    return rows

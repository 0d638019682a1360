"""Sentences, pictures and settled bets of the CPU records of lesson 05: pure functions on a record."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from course.figures.style import ink_on
from course.i18n import Text, both, t
from course.timing.stats import median, median_interval

BLUE, ORANGE = "C0", "C1"  # the theme's, for all eyes alike; a word stands beside
FEW = 6  # fewer values carry no 95 % interval of their median
NOTHING = both("Inconclusive: too few rows came back. Run it again.", "尚无定论：返回的数据太少。请再运行一次。")
SCHEDULES = {"one size": both("one size", "始终一种尺寸"), "three sizes": both("three sizes in turn", "三种尺寸轮流"),
             "always new": both("a new size every step", "每步都是新尺寸")}
CHANGES = {"first call": both("the very first call", "第一次调用"), "nothing": both("nothing changed", "什么都没改"),
           "new values": both("other pixel values", "像素值换了"),
           "twin layer": both("another layer, same numbers", "另一个同参数的层"),
           "last small batch": both("batch 32 → 20", "batch 32 → 20"),
           "two pixels more": both("40×40 → 42×42", "40×40 → 42×42"),
           "channels_last": both("channels_last", "channels_last"),
           "stride 2": both("stride 1 → 2", "stride 1 → 2")}


def middle(values: list[float], digits: int = 3) -> str:
    """Median and 95 % interval of it as text, 3.1 [2.9, 3.4]; of fewer than six values their range, 3.1 (2.9–3.4)."""
    interval = median_interval(values)
    low, high = f"{interval.low:.{digits}g}", f"{interval.high:.{digits}g}"
    return f"{median(values):.{digits}g} " + (f"({low}–{high})" if len(values) < FEW else f"[{low}, {high}]")


def word(text: Text) -> str:
    """A two-language text in the language of the figure."""
    return t(text["en"], text["zh"])


def tiles(ax: Any, lines: list[tuple[str, str, bool]]) -> None:
    """One line for each (label, word, bright): the label at the left, the word on a coloured tile."""
    for height, (_, text, bright) in enumerate(reversed(lines)):
        ax.barh(height, 1.0, height=0.8, color=BLUE if bright else ORANGE)
        ax.text(0.5, height, text, ha="center", va="center", color=ink_on(BLUE if bright else ORANGE), fontsize=9)
    ax.set_yticks(range(len(lines)), [label for label, _, _ in reversed(lines)], fontsize=9)
    ax.set_xlim(0, 1)
    ax.set_xticks([])
    ax.grid(False)


# --- 05-first-call ----------------------------------------------------------------------------------------

def _by_visit(record: Any) -> dict[tuple[int, int], list[float]]:
    """(visit, call) -> time of each shape over the median of that shape's later calls."""
    shapes: dict[tuple, list[dict]] = {}
    for row in record.rows:
        shapes.setdefault((row["pair"], row["shape"]), []).append(row)
    found: dict[tuple[int, int], list[float]] = {}
    for rows in shapes.values():
        later = [row["call_ms"] for row in rows if row["call"] > 1]
        for row in rows if later else []:
            found.setdefault((row["visit"], row["call"]), []).append(row["call_ms"] / median(later))
    return found


def first_call(record: Any) -> Text:
    groups = _by_visit(record)
    if len(groups) < 6:
        return NOTHING
    new, back = (middle(groups[visit, 1]) for visit in (1, 2))
    return both(
        f"The first call of a new shape took {new} times as long as a later one; the first call after coming "
        f"back took {back} times as long.",
        f"新形状的第一次调用，耗时是之后的 {new} 倍；离开再回来后的第一次调用，是 {back} 倍。")


def draw_first_call(record: Any, ax: Any) -> None:
    from course.figures import samples

    groups = _by_visit(record)
    names = {(1, 1): t("new: call 1", "新形状：第 1 次"), (1, 2): t("new: call 2", "新形状：第 2 次"),
             (1, 3): t("new: call 3", "新形状：第 3 次"), (2, 1): t("back: call 1", "回来：第 1 次"),
             (2, 2): t("back: call 2", "回来：第 2 次"), (2, 3): t("back: call 3", "回来：第 3 次")}
    samples(ax, {names[key]: groups[key] for key in names if key in groups}, "", log=True,
            what=t("time / time of a later call of the same shape", "耗时 / 同一形状之后的调用"))


# --- 05-primitive-cache -----------------------------------------------------------------------------------

def _events(record: Any, setting: str) -> list[str]:
    return [row["event"] for row in record.rows if row["setting"] == setting]


def primitive_cache(record: Any) -> Text:
    normal, off = _events(record, "as it comes"), _events(record, "cache off")
    sizes = [str(row["size"]) for row in record.rows if row["setting"] == "as it comes"]
    if not normal:
        return both("Inconclusive: oneDNN's log names no convolution here, so this machine computes it "
                    "another way.",
                    "尚无定论：oneDNN 的日志里没有卷积，说明这台机器用别的方式计算它。")
    extra = both("", "")
    if off:
        extra = both(f" With the cache switched off: {', '.join(off)}.", f"把缓存关掉：{'、'.join(off)}。")
    return both(f"Sizes {', '.join(sizes)}: {', '.join(normal)}.{extra['en']}",
                f"尺寸 {'、'.join(sizes)}：{'、'.join(normal)}。{extra['zh']}")


def draw_primitive_cache(record: Any, ax: Any) -> None:
    settings = {"as it comes": t("cache", "有缓存"), "cache off": t("no cache", "无缓存")}
    tiles(ax, [(f"{settings[row['setting']]}, {row['call']}: {row['size']}", row["event"],
                row["event"] == "hit") for row in record.rows])


def settle_primitive_cache(record: Any) -> dict[str, str | None]:
    answers = {("miss", "miss", "miss", "miss"): "a", ("miss", "hit", "hit", "hit"): "b",
               ("miss", "miss", "hit", "hit"): "c", ("miss", "miss", "miss", "hit"): "d"}
    return {"05-bet-revisit": answers.get(tuple(_events(record, "as it comes")))}


# --- 05-what-is-new ---------------------------------------------------------------------------------------

def _changed(record: Any, event: str, code: str, sign: str) -> str:
    return sign.join(CHANGES[row["change"]][code] for row in record.rows if row["event"] == event)


def what_is_new(record: Any) -> Text:
    if {row["event"] for row in record.rows} != {"hit", "miss"}:
        return NOTHING
    return both(f"New entry for: {_changed(record, 'miss', 'en', ', ')}. "
                f"Found in the cache: {_changed(record, 'hit', 'en', ', ')}.",
                f"需要新条目：{_changed(record, 'miss', 'zh', '、')}。"
                f"缓存里已有：{_changed(record, 'hit', 'zh', '、')}。")


def draw_what_is_new(record: Any, ax: Any) -> None:
    tiles(ax, [(word(CHANGES[row["change"]]), row["event"], row["event"] == "hit") for row in record.rows])


# --- 05-model-keys ----------------------------------------------------------------------------------------

def model_keys(record: Any) -> Text:
    if not record.rows:
        return NOTHING
    en = "; ".join(f"{r['model']}: {r['calls']} convolutions, {r['keys']} different" for r in record.rows)
    zh = "；".join(f"{r['model']} 有 {r['calls']} 个卷积，{r['keys']} 种" for r in record.rows)
    return both(f"In one forward pass at 224×224: {en}.", f"一次 224×224 的前向计算里：{zh}。")


def draw_model_keys(record: Any, ax: Any) -> None:
    names = [row["model"] for row in record.rows]
    for shift, key, label, colour in ((-0.2, "calls", t("convolution layers", "卷积层"), ORANGE),
                                      (0.2, "keys", t("different keys", "不同的键"), BLUE)):
        bars = ax.bar([i + shift for i in range(len(names))], [row[key] for row in record.rows], 0.38,
                      label=label, color=colour)
        ax.bar_label(bars)
    ax.set_xticks(range(len(names)), names)
    ax.set_ylabel(t("count", "个数"))
    ax.legend()


# --- 05-toy-race ------------------------------------------------------------------------------------------

def toy_race(record: Any) -> Text:
    if not record.rows:
        return NOTHING
    verdicts = {"faster": both("pays", "划算"), "slower": both("costs", "亏"),
                "same": both("no difference", "没差别"),
                "undecided": both("undecided", "未定")}

    def line(row: dict, code: str) -> str:
        colon, comma = (": ", ", ") if code == "en" else ("：", "，")
        return (f"{SCHEDULES[row['schedule']][code]}{colon}{row['ratio']:.2f} [{row['low']:.2f}, "
                f"{row['high']:.2f}]{comma}{verdicts[row['verdict']][code]}")

    steps, doubt = record.rows[0]["steps"], both("", "")
    if any(row["verdict"] == "undecided" for row in record.rows):
        doubt = both(" What is undecided needs a quieter machine or another run.", "未定的，请在机器空闲时再运行。")
    return both(f"Time with the search over time without, {steps} steps: "
                + "; ".join(line(row, "en") for row in record.rows) + "." + doubt["en"],
                f"{steps} 步，开搜索的耗时除以不开的耗时。" + "；".join(line(row, "zh") for row in record.rows)
                + "。" + doubt["zh"])


def draw_toy_race(record: Any, ax: Any) -> None:
    from course.figures import intervals

    rows = record.rows
    labels = [f"{word(SCHEDULES[row['schedule']])}\n"
              + t(f"{row['searches']} search{'es' * (row['searches'] > 1)}", f"{row['searches']} 次搜索") for row in rows]
    intervals(ax, labels, [row["ratio"] for row in rows], [row["low"] for row in rows],
              [row["high"] for row in rows], "", reference=1.0, log=True,
              what=t("time with search / without (left of 1: it pays)", "开搜索 / 不开 的耗时比（1 的左边：划算）"))


def settle_toy_race(record: Any) -> dict[str, str | None]:
    """The bet asks where the search makes the run shorter: "same" and "slower" are both no."""
    seen = {row["schedule"]: row["verdict"] for row in record.rows}
    shorter = {"faster": True, "slower": False, "same": False}
    answers = {(True, True): "a", (True, False): "b", (False, False): "c", (False, True): "d"}
    pair = (shorter.get(seen.get("one size")), shorter.get(seen.get("always new")))
    return {"05-bet-race": answers.get(pair)}


# --- 05-toy-cost ------------------------------------------------------------------------------------------

def bill(record: Any) -> dict[str, float] | None:
    """search_ms (extra of the first step), slow_ms and fast_ms of a later step; None without rows."""
    columns = {(name, kind): [row[kind] for row in record.rows if row["search"] == name]
               for name in ("off", "on") for kind in ("first_ms", "later_ms")}
    if not all(columns.values()):
        return None
    slow, fast = median(columns["off", "later_ms"]), median(columns["on", "later_ms"])
    return {"search_ms": median(columns["on", "first_ms"]) - fast, "slow_ms": slow, "fast_ms": fast}


def toy_cost(record: Any) -> Text:
    found = bill(record)
    if found is None:
        return NOTHING
    search, slow, fast = found["search_ms"], found["slow_ms"], found["fast_ms"]
    lines = both(f"The search added {search:.3g} ms to one step; a later step takes {slow:.3g} ms without "
                 f"and {fast:.3g} ms with it (medians).",
                 f"搜索让某一步多花 {search:.3g} ms；之后每一步，不搜索要 {slow:.3g} ms，搜索过要 {fast:.3g} ms（中位数）。")
    if fast >= slow:
        return both(lines["en"] + " Nothing is gained, so it is never paid back here.",
                    lines["zh"] + "没有任何收益，所以在这里永远回不了本。")
    steps = max(0, math.ceil(search / (slow - fast)))
    return both(lines["en"] + f" That is paid back after {steps} steps.", lines["zh"] + f"{steps} 步之后回本。")


def draw_toy_cost(record: Any, ax: Any) -> None:
    from course.figures import lines

    found = bill(record)
    gain = found["slow_ms"] - found["fast_ms"]
    last = 40 if gain <= 0 else max(10, min(2000, math.ceil(2 * found["search_ms"] / gain)))
    steps = [round(last * i / 20) for i in range(21)]
    lines(ax, steps, {t("rule of thumb", "经验法则"): [n * found["slow_ms"] for n in steps],
                      t("search once", "先搜索一次"): [found["search_ms"] + n * found["fast_ms"] for n in steps]},
          xlabel=t("steps", "步数"), ylabel=t("total time (ms), from the medians", "总耗时（ms），由中位数算出"))


def settle_toy_cost(record: Any) -> dict[str, float | None]:
    """The price of the first step in later steps, as the median over the repeats; None where it is unsure."""
    ratios = [row["first_ms"] / row["later_ms"] for row in record.rows if row["search"] == "on"]
    interval = median_interval(ratios) if len(ratios) >= 10 else None
    sure = interval is not None and interval.high <= 1.5 * interval.low
    return {"05-bet-price": median(ratios) if sure else None}


# --- 05-winners -------------------------------------------------------------------------------------------

def winners(record: Any) -> Text:
    counts = Counter(row["winner"] for row in record.rows)
    if sum(counts.values()) < 10:
        return NOTHING
    en = ", ".join(f"{name} {count}" for name, count in counts.most_common())
    zh = "、".join(f"{name} {count} 次" for name, count in counts.most_common())
    total = sum(counts.values())
    winners = f"{len(counts)} different winners" if len(counts) > 1 else "one winner"
    return both(f"{total} searches of the same shape had {winners}: {en}.",
                f"对同一个形状搜索 {total} 次，出现了 {len(counts)} 种赢家：{zh}。")


def draw_winners(record: Any, ax: Any) -> None:
    counts = Counter(row["winner"] for row in record.rows).most_common()[::-1]
    bars = ax.barh([name for name, _ in counts], [count for _, count in counts], color=BLUE)
    ax.bar_label(bars, padding=3)
    ax.set_xlabel(t("searches won", "赢下的搜索次数"))
    ax.margins(x=0.12)


def settle_winners(record: Any) -> dict[str, str | None]:
    count = len({row["winner"] for row in record.rows})
    if len(record.rows) < 10:
        return {"05-bet-winners": None}
    return {"05-bet-winners": "a" if count == 1 else "b" if count == 2 else "c"}

"""Sentences, pictures and settled bets of the CUDA records of lesson 05: pure functions on a record."""

from __future__ import annotations

import math
from typing import Any

from course.i18n import Text, both, t
from course.lessons.l05_cudnn_benchmark.findings import BLUE, NOTHING, ORANGE, middle
from course.timing.stats import median

NAMES = {"off": both("search off", "不搜索"), "on": both("search on", "开搜索"),
         "flipped": both("flipped after call 10", "第 10 次之后打开")}


def _stories(record: Any) -> dict[str, dict[int, list[dict]]]:
    """story -> process -> its rows in order of call."""
    found: dict[str, dict[int, list[dict]]] = {}
    for row in record.rows:
        found.setdefault(row["story"], {}).setdefault(row["process"], []).append(row)
    return found


def _times(process: list[dict], first: int, last: int) -> list[float]:
    """call_ms of the calls first..last (counted from 1, both included)."""
    return [row["call_ms"] for row in process if first <= row["call"] <= last]


def _has(stories: dict, *names: str) -> bool:
    return all(stories.get(name) for name in names)


# --- 05-first-call-cuda -----------------------------------------------------------------------------------

def first_call(record: Any) -> Text:
    stories = _stories(record)
    if not _has(stories, "off", "on"):
        return NOTHING
    first = {name: middle([p[0]["call_ms"] for p in stories[name].values()]) for name in ("off", "on")}
    later = {name: middle([ms for p in stories[name].values() for ms in _times(p, 3, 999)])
             for name in ("off", "on")}
    n = len(stories["on"])
    return both(
        f"First call of the shape: {first['off']} ms with the search off, {first['on']} ms with it on ({n} "
        f"new processes each). Later calls: {later['off']} ms and {later['on']} ms.",
        f"这个形状的第一次调用：关搜索 {first['off']} ms，开搜索 {first['on']} ms（各 {n} 个新进程）。"
        f"之后的调用：{later['off']} ms 与 {later['on']} ms。")


def draw_first_call(record: Any, ax: Any) -> None:
    _draw_calls(record, ax, ("off", "on"))


def _draw_calls(record: Any, ax: Any, names: tuple[str, ...]) -> None:
    """call_ms over the number of the call: one line a story (medians over processes), logarithmic."""
    from course.figures import lines

    stories = _stories(record)
    names = tuple(name for name in names if name in stories)
    calls = sorted({row["call"] for row in record.rows})
    series = {}
    for name in names:
        processes = stories[name].values()
        series[t(NAMES[name]["en"], NAMES[name]["zh"])] = [
            median([row["call_ms"] for p in processes for row in p if row["call"] == call] or [float("nan")])
            for call in calls]
    lines(ax, calls, series, xlabel=t("call", "第几次调用"), ylabel="ms", log_y=True)


# --- 05-sizes-cuda ----------------------------------------------------------------------------------------

def sizes(record: Any) -> Text:
    stories = _stories(record)
    if not _has(stories, "off", "on"):
        return NOTHING
    parts = {"en": [], "zh": []}
    for size in sorted({row["size"] for row in record.rows}):
        first, again = [], []
        for process in stories["on"].values():
            mine = [row["call_ms"] for row in process if row["size"] == size]
            first.append(mine[0])
            again += mine[1:]
        parts["en"].append(f"{size}: first {middle(first)} ms, again {middle(again)} ms")
        parts["zh"].append(f"{size}：第一次 {middle(first)} ms，再来 {middle(again)} ms")
    return both(f"With the search on, {'; '.join(parts['en'])}.", f"开搜索时，{'；'.join(parts['zh'])}。")


def draw_sizes(record: Any, ax: Any) -> None:
    _draw_calls(record, ax, ("off", "on"))
    seen = {row["call"]: row["size"] for row in record.rows}
    ax.set_xticks(sorted(seen), [str(seen[call]) for call in sorted(seen)])
    ax.set_xlabel(t("size of the image, in order of the calls", "图像尺寸，按调用顺序"))


# --- 05-flip-cuda -----------------------------------------------------------------------------------------

def _extra(process: list[dict], call: int, later: tuple[int, int]) -> float:
    """Milliseconds a call took beyond the median of the calls ``later``."""
    return _times(process, call, call)[0] - median(_times(process, *later))


def _flip_numbers(record: Any) -> dict[str, list[float]] | None:
    stories = _stories(record)
    if not _has(stories, "on", "flipped") or any(len(p) < 21 for p in stories["on"].values()):
        return None
    on, flipped = list(stories["on"].values()), list(stories["flipped"].values())
    return {"search": [_extra(p, 1, (3, 20)) for p in on], "later": [median(_times(p, 3, 20)) for p in on],
            "flip": [_extra(p, 11, (13, 20)) for p in flipped],
            "new": [_extra(p, 21, (22, 24)) for p in flipped],
            "ratio": [median(_times(p, 13, 20)) / median(_times(p, 3, 10)) for p in flipped]}


def flip(record: Any) -> Text:
    numbers = _flip_numbers(record)
    if numbers is None:
        return NOTHING
    search, at_flip, new, ratio = (middle(numbers[key]) for key in ("search", "flip", "new", "ratio"))
    doubt = both("", "")
    if settle_flip(record)["05-bet-flip"] is None:
        doubt = both("Inconclusive, run it again on a quiet machine. ", "尚无定论，请在机器空闲时再运行。")
    return both(
        f"{doubt['en']}A search from the start cost {search} ms more than a later call. The first call after the "
        f"flip cost {at_flip} ms more, and the calls after it took {ratio} times as long as before. A shape never "
        f"seen cost {new} ms more.",
        f"{doubt['zh']}一开始就搜索，首次比之后多花 {search} ms。打开开关后的第一次调用多花 {at_flip} ms，"
        f"之后的耗时是打开前的 {ratio} 倍。换一个没见过的形状，多花 {new} ms。")


def draw_flip(record: Any, ax: Any) -> None:
    _draw_calls(record, ax, ("off", "flipped", "on"))
    ax.axvline(10.5, color="gray", linestyle=":")
    ax.axvline(20.5, color="gray", linestyle=":")


def settle_flip(record: Any) -> dict[str, str | None]:
    """a: the flip starts a search. b: nothing happens. c: quicker at once, without a search.

    None as long as the process that searched from the start shows no clear search (three later calls long).
    """
    numbers = _flip_numbers(record)
    answer = None
    if numbers is not None and min(numbers["search"]) > 3 * max(numbers["later"]):
        share = [ms / median(numbers["search"]) for ms in numbers["flip"]]
        if min(share) > 0.5:
            answer = "a"
        elif max(share) < 0.2 and min(numbers["ratio"]) > 0.95:
            answer = "b"
        elif max(share) < 0.2 and max(numbers["ratio"]) < 0.95:
            answer = "c"
    return {"05-bet-flip": answer}


# --- 05-memory-cuda ---------------------------------------------------------------------------------------

def memory(record: Any) -> Text:
    stories = _stories(record)
    if not _has(stories, "off", "on"):
        return NOTHING
    first = {name: middle([p[0]["peak_reserved_mib"] for p in stories[name].values()], 4)
             for name in ("off", "on")}
    later = {name: middle([row["peak_reserved_mib"] for p in stories[name].values() for row in p[2:]], 4)
             for name in ("off", "on")}
    return both(
        f"Peak of reserved memory during the first call: {first['off']} MiB with the search off, "
        f"{first['on']} MiB with it on. During later calls: {later['off']} MiB and {later['on']} MiB.",
        f"第一次调用期间的保留显存峰值：关搜索 {first['off']} MiB，开搜索 {first['on']} MiB。"
        f"之后的调用：{later['off']} MiB 与 {later['on']} MiB。")


def draw_memory(record: Any, ax: Any) -> None:
    stories = _stories(record)
    for name, colour, shift in (("off", ORANGE, -0.15), ("on", BLUE, 0.15)):
        for i, process in enumerate(stories.get(name, {}).values()):
            ax.plot([row["call"] + shift for row in process], [row["peak_reserved_mib"] for row in process],
                    "s" if name == "off" else "o", color=colour,
                    label=t(NAMES[name]["en"], NAMES[name]["zh"]) if i == 0 else None)
    ax.set_xlabel(t("call", "第几次调用"))
    ax.set_ylabel(t("peak of reserved memory (MiB)", "保留显存峰值（MiB）"))
    ax.set_ylim(bottom=0)
    ax.legend()


# --- 05-limit-cuda ----------------------------------------------------------------------------------------

def _limits(record: Any) -> list[tuple[str, list[float], list[float]]]:
    """(limit, first calls, later calls) in the order measured, milliseconds."""
    return [(name, [p[0]["call_ms"] for p in processes.values()],
             [ms for p in processes.values() for ms in _times(p, 3, 999)])
            for name, processes in _stories(record).items()]


def limit(record: Any) -> Text:
    found = _limits(record)
    if len(found) < 2:
        return NOTHING
    en = "; ".join(f"{name}: first call {middle(first)} ms, later {middle(later)} ms"
                   for name, first, later in found)
    zh = "；".join(f"取 {name}：第一次 {middle(first)} ms，之后 {middle(later)} ms" for name, first, later in found)
    return both(f"By benchmark_limit (0: no limit): {en}.", f"按 benchmark_limit（0 表示不限）。{zh}。")


def draw_limit(record: Any, ax: Any) -> None:
    from course.figures import grouped

    found = _limits(record)
    series = {t("first call", "第一次调用"): [(median(first), min(first), max(first)) for _, first, _ in found],
              t("later calls", "之后的调用"): [(median(later), min(later), max(later)) for _, _, later in found]}
    grouped(ax, [f"limit {name}" for name, _, _ in found], series, "ms", log=True, what=t("time", "耗时"))


# --- 05-pays-cuda -----------------------------------------------------------------------------------------

def _pay_numbers(record: Any) -> dict[str, float] | None:
    runs = {name: [row["samples_ms"] for row in record.rows if row["story"] == name]
            for name in ("off", "on")}
    if not runs["off"] or not runs["on"] or min(len(r) for rows in runs.values() for r in rows) < 20:
        return None
    later = {name: median([median(run[10:]) for run in rows]) for name, rows in runs.items()}
    return {"slow_ms": later["off"], "fast_ms": later["on"],
            "first_off_ms": median([r[0] for r in runs["off"]]),
            "first_on_ms": median([r[0] for r in runs["on"]]),
            "low": min(median(r[10:]) for r in runs["on"]) / max(median(r[10:]) for r in runs["off"]),
            "high": max(median(r[10:]) for r in runs["on"]) / min(median(r[10:]) for r in runs["off"])}


def pays(record: Any) -> Text:
    n = _pay_numbers(record)
    if n is None:
        return NOTHING
    search = n["first_on_ms"] - n["first_off_ms"]
    lines = both(
        f"The first step took {n['first_off_ms']:.4g} ms with the search off and {n['first_on_ms']:.4g} ms "
        f"with it on; "
        f"a later step {n['slow_ms']:.4g} ms and {n['fast_ms']:.4g} ms (ratio of any two processes within "
        f"[{n['low']:.3f}, {n['high']:.3f}]).",
        f"第一步：关搜索 {n['first_off_ms']:.4g} ms，开搜索 {n['first_on_ms']:.4g} ms；之后每步 {n['slow_ms']:.4g} ms 与 "
        f"{n['fast_ms']:.4g} ms（任意两个进程之比在 [{n['low']:.3f}, {n['high']:.3f}] 内）。")
    if n["high"] >= 1:
        return both(lines["en"] + " No gain is certain, so no break-even can be named.",
                    lines["zh"] + "没有确定的收益，所以说不出回本点。")
    steps = max(0, math.ceil(search / (n["slow_ms"] - n["fast_ms"])))
    return both(lines["en"] + f" By the medians, the search is paid back {steps} steps after the first.",
                lines["zh"] + f"按中位数，搜索在第一步之后再走 {steps} 步回本。")


def draw_pays(record: Any, ax: Any) -> None:
    for name, colour, style in (("off", ORANGE, "--"), ("on", BLUE, "-")):
        for i, row in enumerate(row for row in record.rows if row["story"] == name):
            total, totals = 0.0, []
            for ms in row["samples_ms"]:
                total += ms
                totals.append(total)
            ax.plot(range(1, len(totals) + 1), totals, style, color=colour,
                    label=t(NAMES[name]["en"], NAMES[name]["zh"]) if i == 0 else None)
    ax.set_xlabel(t("steps", "步数"))
    ax.set_ylabel(t("total time so far (ms)", "累计耗时（ms）"))
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.legend()


# --- 05-kernels-cuda --------------------------------------------------------------------------------------

def _longest(record: Any) -> dict[tuple[int, str], list[str]]:
    """(size, story) -> the name of the longest kernel in each process."""
    found: dict[tuple[int, str], list[str]] = {}
    for row in record.rows:
        if row["place"] == 1:
            found.setdefault((row["size"], row["story"]), []).append(row["kernel"])
    return found


def kernels(record: Any) -> Text:
    found = _longest(record)
    if not found:
        return NOTHING

    def short(names: list[str], sign: str) -> str:
        return sign.join(dict.fromkeys(name[:70] for name in names))

    en = "; ".join(f"{size}, {NAMES[story]['en']}: {short(names, ' or ')}"
                   for (size, story), names in found.items())
    zh = "；".join(f"{size}，{NAMES[story]['zh']}：{short(names, ' 或 ')}"
                  for (size, story), names in found.items())
    return both(f"The longest kernel by size: {en}.", f"各尺寸下耗时最长的 kernel。{zh}。")


def draw_kernels(record: Any, ax: Any) -> None:
    from course.figures import intervals

    rows = [row for row in record.rows if row["place"] == 1]
    labels = [f"{row['size']}, "
              f"{t(NAMES[row['story']]['en'], NAMES[row['story']]['zh'])}\n{row['kernel'][:34]}"
              for row in rows]
    times = [row["mean_us"] for row in rows]
    intervals(ax, labels, times, times, times, "µs", what=t("mean time of the longest kernel", "最长 kernel "
                                                                                               "的平均耗时"))

"""Experiments of lesson 05 that need a GPU."""

from __future__ import annotations

import math
from collections.abc import Iterator

from course.experiment.base import Budget, experiment
from course.experiment.kernels import differing_parts
from course.experiment.new_process import call_in_new_process
from course.experiment.words import NOTHING, TOO_NOISY, groups, middle, word
from course.figures.curves import cost_curve
from course.figures.kinds import Bar, Bet, bars, fold, time_words
from course.figures.svg import SvgPicture
from course.i18n import Text, both, t
from course.lessons.l05_cudnn_benchmark.experiments import FRESH, LESSON, PROBES, REPEATS
from course.records import Record
from course.timing.stats import median

NAMES = {
    "off": both("search off", "不搜索"),
    "on": both("search on", "开搜索"),
    "flipped": both("flipped after call 10", "第 10 次之后打开"),
    "threads": both("search on, a new thread a call", "开搜索，每次新线程"),
}


def _by_story(record: Record) -> dict[str, dict[int, list[dict]]]:
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


def _by_process(processes: dict[int, list[dict]], first: int, last: int = 999, key: str = "call_ms") -> list[float]:
    """One value a process, so that a process counts once: the median of its calls first..last."""
    found = ([row[key] for row in one if first <= row["call"] <= last] for one in processes.values())
    return [median(values) for values in found if values]


def _stories(
    budget: Budget, stories: dict[str, list[list[int]]], repeats: int = REPEATS, threads: tuple[str, ...] = ()
) -> Iterator[dict]:
    """Every story in a new process, round by round; rows carry story, process and call.

    Each process gets its share of the seconds left; one that had to stop early marks the record incomplete.
    threads: the stories whose every call runs in a new thread.
    """
    left = repeats * len(stories)
    for process in budget.loop(range(repeats), desc=FRESH):
        for story, visits in stories.items():
            answer, _ = call_in_new_process(
                PROBES, "conv_visits", visits, 10, budget.share(left), story in threads, timeout_s=180
            )
            left -= 1
            budget.complete = budget.complete and len(answer) == len(visits)
            yield from [
                {
                    "story": story,
                    "process": process,
                    "call": call,
                    "benchmark": visit[0],
                    "batch": visit[1],
                    "size": visit[2],
                    **seen,
                }
                for call, (visit, seen) in enumerate(zip(visits, answer, strict=False), start=1)
            ]


# --- 05-first-call-cuda -------------------------------------------------------------------------------------


def _bar(name: str, remark: str, ms: float, quiet: bool) -> Bar:
    """A bar of milliseconds."""
    return Bar(name, max(0.0, ms), time_words(max(0.0, ms) / 1e3), quiet, remark)


def headline_first_call_cuda(record: Record) -> Text:
    stories = _by_story(record)
    if not _has(stories, "off", "on"):
        return TOO_NOISY
    off, on = (median(_by_process(stories[name], 1, 1)) for name in ("off", "on"))
    if on < 1.2 * off:
        return both("The first call shows no search here.", "在这里，第一次调用看不出搜索的开销。")
    return fold(
        on / off,
        "With the search, the first call takes {} as long as without.",
        "开了搜索，第一次调用的耗时是不开时的{}。",
    )


def say_first_call_cuda(record: Record) -> Text:
    stories = _by_story(record)
    if not _has(stories, "off", "on"):
        return NOTHING
    first = {name: middle(_by_process(stories[name], 1, 1)) for name in ("off", "on")}
    later = {name: middle(_by_process(stories[name], 3)) for name in ("off", "on")}
    n = len(stories["on"])
    more = both("", "")
    if stories.get("threads"):
        again, one = _by_process(stories["threads"], 3), _by_process(stories["on"], 3)
        searched = median(again) > 3 * median(one)
        more = both(
            f" With every call in a new thread, as DataParallel makes them, later calls took {middle(again)} ms: "
            + ("each searched again." if searched else "no sign of another search."),
            f"每次调用都放进新线程（DataParallel 就是这样）时，之后的调用要 {middle(again)} ms："
            + ("每次都重新搜索。" if searched else "看不出又搜索过。"),
        )
    return both(
        f"First call of the shape: {first['off']} ms with the search off, "
        f"{first['on']} ms with it on ({n} new process{'es' * (n > 1)} each). "
        f"Later calls: {later['off']} ms and {later['on']} ms.{more['en']}",
        f"这个形状的第一次调用：关搜索 {first['off']} ms，开搜索 {first['on']} ms（各 {n} 个新进程）。"
        f"之后的调用：{later['off']} ms 与 {later['on']} ms。{more['zh']}",
    )


def draw_first_call_cuda(record: Record, bets: dict) -> SvgPicture:
    stories = _by_story(record)
    first = {name: median(_by_process(stories[name], 1, 1)) for name in ("off", "on")}
    later = {name: median(_by_process(stories[name], 3)) for name in ("off", "on")}
    names = {
        "off": (t("search off", "不搜索"), t("first call", "第一次调用")),
        "on": (t("search on", "开搜索"), t("first call", "第一次调用")),
    }
    rows = [_bar(*names[name], first[name], name == "off") for name in names]
    return bars([*rows, _bar(t("search on", "开搜索"), t("later calls", "之后的调用"), later["on"], True)])


@experiment(
    name="05-first-call-cuda",
    lesson=LESSON,
    version=2,
    needs="cuda",
    seconds=110,
    title=both(
        "cuDNN: the first call of a shape and the later ones, search off and on",
        "cuDNN：一个形状的第一次调用与之后的调用，关搜索与开搜索",
    ),
)
def first_call_cuda(budget: Budget, batch: int = 8, size: int = 128) -> Iterator[dict]:
    """Twelve fenced calls of one convolution in new processes: search off, on, on with every call in a new thread."""
    visit = [batch, size]
    stories = {"off": [[0, *visit]] * 12, "on": [[1, *visit]] * 12, "threads": [[1, *visit]] * 12}
    return _stories(budget, stories, threads=("threads",))


# --- 05-sizes-cuda ------------------------------------------------------------------------------------------


def _sizes(record: Record) -> dict[int, tuple[list[float], list[float]]]:
    """size -> (first call, median of the calls of the same size after it), one of each a process, search on."""
    found: dict[int, tuple[list[float], list[float]]] = {}
    for process in _by_story(record).get("on", {}).values():
        for size, rows in groups(process, "size").items():
            calls = [row["call_ms"] for row in rows]
            if len(calls) > 1:
                first, again = found.setdefault(size, ([], []))
                first.append(calls[0])
                again.append(median(calls[1:]))
    return dict(sorted(found.items()))


def headline_sizes_cuda(record: Record) -> Text:
    found = _sizes(record)
    if not found:
        return TOO_NOISY
    dear = [median(first) > 2 * median(again) for first, again in found.values()]
    if all(dear):
        return both("Every new size costs once; when it returns it is quick.", "每个新尺寸只慢一次，再来就快了。")
    if any(dear):
        return both("Some new sizes cost extra, others do not.", "有的新尺寸会多花时间，有的不会。")
    return both("New sizes cost nothing extra here.", "在这里，新尺寸不会多花时间。")


def say_sizes_cuda(record: Record) -> Text:
    stories = _by_story(record)
    if not _has(stories, "off", "on"):
        return NOTHING
    parts = {"en": [], "zh": []}
    for size, (first, again) in _sizes(record).items():
        parts["en"].append(f"{size}: first {middle(first)} ms, again {middle(again)} ms")
        parts["zh"].append(f"{size}：第一次 {middle(first)} ms，再来 {middle(again)} ms")
    if not parts["en"]:
        return NOTHING
    return both(f"With the search on, {'; '.join(parts['en'])}.", f"开搜索时，{'；'.join(parts['zh'])}。")


def draw_sizes_cuda(record: Record, bets: dict) -> SvgPicture:
    rows = []
    for size, (first, again) in _sizes(record).items():
        rows.append(_bar(t(f"size {size}", f"尺寸 {size}"), t("first time", "第一次"), median(first), False))
        rows.append(_bar(t(f"size {size}", f"尺寸 {size}"), t("again", "再来"), median(again), True))
    return bars(rows)


@experiment(
    name="05-sizes-cuda",
    lesson=LESSON,
    version=1,
    needs="cuda",
    seconds=75,
    whole=True,
    title=both("cuDNN: sizes 128, 256, 512, and the same again", "cuDNN：尺寸 128、256、512，再来一遍"),
)
def sizes_cuda(budget: Budget, batch: int = 4, sizes: tuple[int, ...] = (128, 256, 512)) -> Iterator[dict]:
    """The sizes three times over, search off and on, three new processes each."""
    return _stories(budget, {story: [[on, batch, s] for s in [*sizes] * 3] for on, story in enumerate(("off", "on"))})


# --- 05-flip-cuda -------------------------------------------------------------------------------------------


def _extra(process: list[dict], call: int, later: tuple[int, int]) -> float:
    """Milliseconds a call took beyond the median of the calls ``later``."""
    return _times(process, call, call)[0] - median(_times(process, *later))


def _flip_numbers(record: Record) -> dict[str, list[float]] | None:
    """By process; ratio: calls 13-20 over calls 3-10 after the flip, divided by what the same calls do without one."""
    stories = _by_story(record)
    off, on, flipped = (
        [p for p in stories.get(name, {}).values() if len(p) >= 22] for name in ("off", "on", "flipped")
    )
    if min(len(off), len(on), len(flipped)) < 2:  # a process that was cut short says nothing about call eleven
        return None
    control = [median(_times(p, 13, 20)) / median(_times(p, 3, 10)) for p in off]
    return {
        "search": [_extra(p, 1, (3, 20)) for p in on],
        "later": [median(_times(p, 3, 20)) for p in on],
        "flip": [_extra(p, 11, (13, 20)) for p in flipped],
        "new": [_extra(p, 21, (22, 24)) for p in flipped],
        "control": control,
        "ratio": [median(_times(p, 13, 20)) / median(_times(p, 3, 10)) / median(control) for p in flipped],
    }


def headline_flip_cuda(record: Record) -> Text:
    said = {
        "a": both("Turned on late, the search still runs at once.", "中途才打开搜索，也会立刻搜一遍。"),
        "b": both(
            "A shape seen before the search is turned on keeps its old plan.",
            "见过的形状，中途才打开搜索，也一直沿用旧计划。",
        ),
        "c": both("Turned on late, it is faster at once, without a search.", "中途才打开搜索，没搜就立刻变快了。"),
        None: TOO_NOISY,
    }
    return said[settle_flip_cuda(record)["05-bet-flip"]]


def say_flip_cuda(record: Record) -> Text:
    numbers = _flip_numbers(record)
    if numbers is None:
        return NOTHING
    search, at_flip, new, ratio, control = (
        middle(numbers[key]) for key in ("search", "flip", "new", "ratio", "control")
    )
    doubt = both("", "")
    if settle_flip_cuda(record)["05-bet-flip"] is None:
        doubt = both("Inconclusive, run it again on a quiet machine. ", "无法判定，请在机器空闲时再运行。")
    return both(
        f"{doubt['en']}A search from the start cost {search} ms more than a later call. "
        f"The first call after the search was turned on cost {at_flip} ms more. "
        f"The calls after it took {ratio} times as long as before (the change of the same calls with the search left off, "
        f"{control}, is taken out). "
        f"A shape never seen cost {new} ms more.",
        f"{doubt['zh']}一开始就搜索，首次比之后多花 {search} ms。打开开关后的第一次调用多花 {at_flip} ms，"
        f"之后的耗时是打开前的 {ratio} 倍（已除去不打开时这些调用自己的变化 {control}）。换一个没见过的形状，多花 {new} ms。",
    )


def draw_flip_cuda(record: Record, bets: dict) -> SvgPicture:
    """What three first calls cost beyond a later one; the bet is on the one after the flip."""
    numbers = _flip_numbers(record)
    search, flip, new = (median(numbers[key]) for key in ("search", "flip", "new"))
    extra = t("beyond a later call", "比之后的调用多出")
    rows = [
        _bar(t("on from the start", "一开始就打开"), extra, search, True),
        _bar(t("turned on late, same shape", "打开后，同一形状"), extra, flip, False),
        _bar(t("turned on late, new shape", "打开后，新形状"), extra, new, True),
    ]
    said = {"a": t("a search", "一次搜索"), "b": t("nothing", "什么都不变"), "c": t("faster at once", "立刻变快")}
    mine = bets.get("05-bet-flip")
    return bars(rows, Bet(said[mine], rows=[1], span=(0, search if mine == "a" else search / 50)) if mine else None)


def settle_flip_cuda(record: Record) -> dict[str, str | None]:
    """a: the flip starts a search. b: nothing happens. c: quicker at once, without a search.

    None as long as the process that searched from the start shows no clear search (three later calls long), or
    where the control, calls that never saw a flip, moves by itself by more than 5 % from process to process.
    """
    numbers = _flip_numbers(record)
    answer = None
    if numbers is not None and min(numbers["search"]) > 3 * max(numbers["later"]):
        share = [ms / median(numbers["search"]) for ms in numbers["flip"]]
        if min(share) > 0.5:
            answer = "a"
        elif max(numbers["control"]) > 1.05 * min(numbers["control"]):
            answer = None
        elif max(share) < 0.2 and min(numbers["ratio"]) > 0.95:
            answer = "b"
        elif max(share) < 0.2 and max(numbers["ratio"]) < 0.95:
            answer = "c"
    return {"05-bet-flip": answer}


@experiment(
    name="05-flip-cuda",
    lesson=LESSON,
    version=1,
    needs="cuda",
    seconds=110,
    title=both("cuDNN: the switch is turned on after the shape was seen", "cuDNN：见过这个形状之后再打开开关"),
)
def flip_cuda(budget: Budget, batch: int = 8, sizes: tuple[int, int] = (128, 160)) -> Iterator[dict]:
    """Ten calls off, then ten on; off or on all the way; at the end of each a shape never seen."""
    old, new = ([batch, size] for size in sizes)
    return _stories(
        budget,
        {
            "off": [[0, *old]] * 20 + [[0, *new]] * 4,
            "flipped": [[0, *old]] * 10 + [[1, *old]] * 10 + [[1, *new]] * 4,
            "on": [[1, *old]] * 20 + [[1, *new]] * 4,
        },
    )


# --- 05-memory-cuda -----------------------------------------------------------------------------------------


def headline_memory_cuda(record: Record) -> Text:
    stories = _by_story(record)
    if not _has(stories, "off", "on"):
        return TOO_NOISY
    off, on = (median(_by_process(stories[name], 1, 1, key="peak_reserved_mib")) for name in ("off", "on"))
    if on > 1.1 * off:
        return both("While it searches, the first call needs more memory.", "搜索期间，第一次调用要用更多显存。")
    if on < 0.9 * off:
        return both("With the search on, the first call needs less memory.", "开了搜索，第一次调用反而少用显存。")
    return both("The search needs no extra memory here.", "在这里，搜索不多用显存。")


def say_memory_cuda(record: Record) -> Text:
    stories = _by_story(record)
    if not _has(stories, "off", "on"):
        return NOTHING
    first, later = (
        {name: middle(_by_process(stories[name], *calls, key="peak_reserved_mib"), 4) for name in ("off", "on")}
        for calls in ((1, 1), (3,))
    )
    return both(
        f"Peak of reserved memory during the first call: {first['off']} MiB with the search off, "
        f"{first['on']} MiB with it on. During later calls: {later['off']} MiB and {later['on']} MiB.",
        f"第一次调用期间的保留显存峰值：关搜索 {first['off']} MiB，开搜索 {first['on']} MiB。"
        f"之后的调用：{later['off']} MiB 与 {later['on']} MiB。",
    )


def draw_memory_cuda(record: Record, bets: dict) -> SvgPicture:
    rows = []
    for name in ("off", "on"):
        for remark, calls in ((t("first call", "第一次调用"), (1, 1)), (t("later", "之后"), (3,))):
            mib = median(_by_process(_by_story(record)[name], *calls, key="peak_reserved_mib"))
            rows.append(Bar(word(NAMES[name]), mib, f"{mib:,.0f} MiB", name == "off", remark))
    return bars(rows)


@experiment(
    name="05-memory-cuda",
    lesson=LESSON,
    version=1,
    needs="cuda",
    seconds=75,
    title=both("cuDNN: memory around the first call", "cuDNN：第一次调用前后的显存"),
)
def memory_cuda(budget: Budget, batch: int = 16, size: int = 256) -> Iterator[dict]:
    """Peak of reserved memory at each of five calls, search off and on, three new processes each."""
    return _stories(budget, {story: [[on, batch, size]] * 5 for on, story in enumerate(("off", "on"))})


# --- 05-limit-cuda ------------------------------------------------------------------------------------------


def headline_limit_cuda(record: Record) -> Text:
    found = {limit: median([row["first_ms"] for row in rows]) for limit, rows in groups(record.rows, "limit").items()}
    if len(found) < 2:
        return TOO_NOISY
    longest = max(found, key=found.__getitem__)
    if found[longest] < 1.2 * min(found.values()):
        return both("The limit hardly changes the first call here.", "在这里，上限几乎不影响第一次调用。")
    if longest == 0:
        return both("The first call is slowest when every plan is tried.", "把计划全试一遍，第一次调用最慢。")
    return both(f"The first call is slowest with a limit of {longest}.", f"上限取 {longest} 时，第一次调用最慢。")


def say_limit_cuda(record: Record) -> Text:
    found = groups(record.rows, "limit")
    if len(found) < 2:
        return NOTHING
    parts: dict[str, list[str]] = {"en": [], "zh": []}
    for limit, rows in found.items():
        first, later = (middle([row[key] for row in rows]) for key in ("first_ms", "later_ms"))
        memory = middle([row["later_mib"] for row in rows])
        parts["en"].append(f"{limit}: first call {first} ms, later {later} ms and {memory} MiB")
        parts["zh"].append(f"取 {limit}：第一次 {first} ms，之后 {later} ms、{memory} MiB")
    winners = differing_parts(row["kernels"] for row in record.rows)
    one = len(winners) == 1
    en = (
        "the same kernels won every time"
        if one
        else "the winners, where they differ: "
        + "; ".join(
            f"{limit} {' or '.join(dict.fromkeys(winners[row['kernels']] for row in rows))}"
            for limit, rows in found.items()
        )
    )
    zh = (
        "每次胜出的 kernel 都一样"
        if one
        else "胜出的 kernel（只列不同之处）："
        + "；".join(
            f"取 {limit} 为 {' 或 '.join(dict.fromkeys(winners[row['kernels']] for row in rows))}"
            for limit, rows in found.items()
        )
    )
    return both(
        f"By benchmark_limit (0: no limit) {'; '.join(parts['en'])}; {en}.",
        f"按 benchmark_limit（0 表示不限）：{'；'.join(parts['zh'])}；{zh}。",
    )


def draw_limit_cuda(record: Record, bets: dict) -> SvgPicture:
    found = {limit: median([row["first_ms"] for row in rows]) for limit, rows in groups(record.rows, "limit").items()}
    names = {
        limit: t("every plan", "试全部") if limit == 0 else t(f"{limit} plan{'s' * (limit > 1)}", f"试 {limit} 个")
        for limit in found
    }
    return bars([_bar(names[limit], t("first call", "第一次调用"), ms, False) for limit, ms in found.items()])


@experiment(
    name="05-limit-cuda",
    lesson=LESSON,
    version=2,
    needs="cuda",
    seconds=110,
    whole=True,
    title=both(
        "cuDNN: benchmark_limit 1, 3, 10 and 0 (no limit): time, memory, winner",
        "cuDNN：benchmark_limit 取 1、3、10 和 0（不限）：耗时、显存、赢家",
    ),
)
def limit_cuda(budget: Budget, batch: int = 8, size: int = 128) -> Iterator[dict]:
    """First and later calls of one shape for four limits, with memory and winner, two new processes each."""
    limits = (1, 3, 10, 0)
    left = 2 * len(limits)
    for process in budget.loop(range(2), desc=FRESH):
        for limit in limits:
            found, _ = call_in_new_process(PROBES, "limited", limit, batch, size, 10, budget.share(left), timeout_s=180)
            left -= 1
            budget.complete = budget.complete and found["calls"] == 10
            yield {"limit": limit, "process": process, **found}


# --- 05-pays-cuda -------------------------------------------------------------------------------------------


def _pay_numbers(record: Record) -> dict[str, float] | None:
    runs = {
        name: [row["samples_ms"] for row in record.rows if row["story"] == name and len(row["samples_ms"]) >= 20]
        for name in ("off", "on")
    }
    if not runs["off"] or not runs["on"]:
        return None
    later = {name: median([median(run[10:]) for run in rows]) for name, rows in runs.items()}
    return {
        "slow_ms": later["off"],
        "fast_ms": later["on"],
        "first_off_ms": median([r[0] for r in runs["off"]]),
        "first_on_ms": median([r[0] for r in runs["on"]]),
        "low": min(median(r[10:]) for r in runs["on"]) / max(median(r[10:]) for r in runs["off"]),
        "high": max(median(r[10:]) for r in runs["on"]) / min(median(r[10:]) for r in runs["off"]),
    }


def _paid_after(numbers: dict[str, float]) -> int | None:
    """Steps after the first until the search is paid back, by the medians; None where no gain is certain."""
    if numbers["high"] >= 1:
        return None
    search = numbers["first_on_ms"] - numbers["first_off_ms"]
    return max(0, math.ceil(search / (numbers["slow_ms"] - numbers["fast_ms"])))


def headline_pays_cuda(record: Record) -> Text:
    numbers = _pay_numbers(record)
    if numbers is None:
        return TOO_NOISY
    steps = _paid_after(numbers)
    if steps is None:
        return both("Here no gain is certain, so nothing is paid back.", "在这里没有确定的收益，也就谈不上回本。")
    if steps == 0:
        return both("The search is paid back at once.", "搜索立刻就回本。")
    return both(f"The search is paid back after {steps} step{'s' * (steps > 1)}.", f"走完 {steps} 步，搜索就回本。")


def say_pays_cuda(record: Record) -> Text:
    n = _pay_numbers(record)
    if n is None:
        return NOTHING
    lines = both(
        f"The first step took {n['first_off_ms']:.4g} ms with the search off and {n['first_on_ms']:.4g} ms with it on; "
        f"a later step {n['slow_ms']:.4g} ms and {n['fast_ms']:.4g} ms (ratio of any two processes from {n['low']:.3f} to "
        f"{n['high']:.3f}).",
        f"第一步：关搜索 {n['first_off_ms']:.4g} ms，开搜索 {n['first_on_ms']:.4g} ms；"
        f"之后每步 {n['slow_ms']:.4g} ms 与 {n['fast_ms']:.4g} ms（任意两个进程之比从 {n['low']:.3f} 到 "
        f"{n['high']:.3f}）。",
    )
    steps = _paid_after(n)
    if steps is None:
        return both(
            lines["en"] + " No gain is certain, so no break-even can be named.",
            lines["zh"] + "没有确定的收益，所以说不出回本点。",
        )
    return both(
        lines["en"] + f" By the medians, the search is paid back {steps} steps after the first.",
        lines["zh"] + f"按中位数，搜索在第一步之后再走 {steps} 步回本。",
    )


def draw_pays_cuda(record: Record, bets: dict) -> SvgPicture:
    n = _pay_numbers(record)
    steps = _paid_after(n)
    when = (
        t(f"paid back after {steps} steps", f"{steps} 步后回本")
        if steps is not None
        else t("no gain is certain", "没有确定的收益")
    )
    return cost_curve(
        max(0.0, n["first_on_ms"] - n["first_off_ms"]),
        n["slow_ms"],
        n["fast_ms"] if steps is not None else n["slow_ms"],
        (t("search off", "不搜索"), t("search on", "开搜索")),
        (t("not yet paid back", "还没回本"), t("paid back", "回本了"), when),
    )


@experiment(
    name="05-pays-cuda",
    lesson=LESSON,
    version=1,
    needs="cuda",
    seconds=110,
    title=both(
        "cuDNN: a ResNet18, 150 steps of one shape: when is the search paid back?",
        "cuDNN：ResNet18，同一形状 150 步：搜索什么时候回本？",
    ),
)
def pays_cuda(budget: Budget, steps: int = 150, batch: int = 32, size: int = 224) -> Iterator[dict]:
    """Forward passes of a ResNet18, 32 images of 224x224, search off and on, three new processes each."""
    left = 2 * REPEATS
    for process in budget.loop(range(REPEATS), desc=FRESH):
        for benchmark, story in enumerate(("off", "on")):
            found, _ = call_in_new_process(
                PROBES, "model_steps", benchmark, steps, batch, size, budget.share(left), timeout_s=180
            )
            left -= 1
            budget.complete = budget.complete and len(found) == steps
            yield {"story": story, "process": process, "samples_ms": found}

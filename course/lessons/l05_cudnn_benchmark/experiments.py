"""Experiments of lesson 05 on new shapes: what one costs, and what counts as new.

They show oneDNN's cache of primitives, an analogy to cuDNN's plans: oneDNN times nothing.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from time import perf_counter

import torch

from course import toy_search
from course.experiment.base import Budget, experiment
from course.experiment.new_process import call_in_new_process
from course.experiment.words import FEW, NOTHING, TOO_NOISY, middle, word
from course.figures.kinds import Bar, Ratio, bars, ratio_rows
from course.figures.svg import SvgPicture
from course.i18n import Text, both, t
from course.lessons.l05_cudnn_benchmark.probes import CHANGES, created
from course.records import Record
from course.tables import Table
from course.timing.stats import median, median_interval

LESSON = "05_cudnn_benchmark"
PROBES = "course.lessons.l05_cudnn_benchmark.probes"
REPEATS = 3
FRESH = both("new processes", "新进程")


# --- 05-first-call ------------------------------------------------------------------------------------------


def _by_visit(record: Record) -> dict[tuple[int, int], list[float]]:
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


def headline_first_call(record: Record) -> Text:
    groups = _by_visit(record)
    if len(groups) < 6 or len(groups[1, 1]) < FEW:
        return TOO_NOISY
    spans = [median_interval(groups[visit, 1]) for visit in (1, 2)]
    if any(span.low <= 1.2 < span.high for span in spans):
        return TOO_NOISY
    new, back = (span.low > 1.2 for span in spans)
    if new and back:
        return both("A new shape costs extra time, and so does going back.", "换新形状要多花时间，换回来又要花一次。")
    if new:
        return both(
            "A new shape costs extra once; going back costs nothing.", "换新形状只多花一次时间，换回来不用再花。"
        )
    if back:
        return both("Only going back costs extra here, not the new shape.", "在这里，换新形状不多花时间，换回来才花。")
    return both("Here not even a new shape costs extra.", "在这里，换新形状也不多花时间。")


def say_first_call(record: Record) -> Text:
    groups = _by_visit(record)
    if len(groups) < 6:
        return NOTHING
    new, back = (middle(groups[visit, 1]) for visit in (1, 2))
    return both(
        f"The first call of a new shape took {new} times as long as a later one; "
        f"the first call after coming back took {back} times as long.",
        f"新形状的第一次调用，耗时是之后的 {new} 倍；离开再回来后的第一次调用，是 {back} 倍。",
    )


def draw_first_call(record: Record, bets: dict) -> SvgPicture:
    groups = _by_visit(record)
    names = {
        (1, 1): t("new: first call", "新形状：第 1 次"),
        (1, 2): t("new: second call", "新形状：第 2 次"),
        (2, 1): t("back: first call", "回来：第 1 次"),
        (2, 2): t("back: second call", "回来：第 2 次"),
    }
    rows = []
    for visit in filter(groups.__contains__, names):
        span = median_interval(groups[visit])
        rows.append(Ratio(names[visit], median(groups[visit]), span.low, span.high))
    sides = (t("shorter than a later call", "比之后的调用短"), t("longer", "更长"))
    return ratio_rows(rows, sides, middle=t("as long", "一样久"))


@experiment(
    name="05-first-call",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=2,
    title=both(
        "Leave a shape and come back: is the first call expensive again?", "离开一个形状再回来：第一次调用又会很贵吗？"
    ),
)
def first_call(budget: Budget) -> list[dict]:
    """Ten pairs of shapes new to this process, visited A A A B B B A A A B B B, every call timed alone."""
    rng = random.Random()
    layer = torch.nn.Conv2d(rng.randrange(3, 30), rng.randrange(3, 30), 3, padding=1).eval()
    sizes = rng.sample(range(10, 34), 20)
    rows = []
    with toy_search.one_thread(), torch.inference_mode():
        layer(torch.randn(2, layer.in_channels, 9, 9))
        for pair in budget.loop(range(10), desc=both("new shapes", "新形状")):
            images = [torch.randn(2, layer.in_channels, s, s + 1) for s in sizes[2 * pair : 2 * pair + 2]]
            for visit in (1, 2):
                for name, x in zip("AB", images, strict=True):
                    for call in (1, 2, 3):
                        start = perf_counter()
                        layer(x)
                        rows.append(
                            {
                                "pair": pair,
                                "shape": name,
                                "visit": visit,
                                "call": call,
                                "call_ms": (perf_counter() - start) * 1e3,
                            }
                        )
    return rows


# --- 05-primitive-cache -------------------------------------------------------------------------------------

SIZES = [64, 96, 64, 96]


def _events(record: Record, setting: str) -> list[str]:
    return [row["event"] for row in record.rows if row["setting"] == setting]


ANSWERS = {
    "a": ("miss", "miss", "miss", "miss"),
    "b": ("miss", "hit", "hit", "hit"),
    "c": ("miss", "miss", "hit", "hit"),
    "d": ("miss", "miss", "miss", "hit"),
}
"""What each option of the bet says of the four calls."""


def headline_primitive_cache(record: Record) -> Text:
    said = {
        "a": both(
            "oneDNN prepares every call anew, even for a size it has seen.",
            "oneDNN 每次调用都重新准备，见过的尺寸也一样。",
        ),
        "b": both("Prepared once, oneDNN is ready for every size.", "只准备一次，所有尺寸都能用。"),
        "c": both("For a size it has seen, oneDNN prepares nothing again.", "见过的尺寸，oneDNN 不用再准备。"),
        "d": both("Only after two calls did oneDNN remember a size.", "一个尺寸要来两次，oneDNN 才记得住。"),
    }
    events = _events(record, "as it comes")
    if "not seen" in events:
        return both("oneDNN's log names no such convolution here.", "oneDNN 的日志里没有这样的卷积。")
    if len(events) < len(SIZES):
        return TOO_NOISY
    mixed = both("Some calls find their size ready, others must prepare it.", "有的调用有现成的，有的要重新准备。")
    return said.get(settle_primitive_cache(record)["05-bet-revisit"], mixed)


def say_primitive_cache(record: Record) -> Text:
    normal, off = _events(record, "as it comes"), _events(record, "cache off")
    sizes = [str(row["size"]) for row in record.rows if row["setting"] == "as it comes"]
    if not normal:
        return NOTHING
    if "not seen" in normal:
        return both(
            "Inconclusive: oneDNN's log names no convolution here, so this machine computes it another way.",
            "无法判定：oneDNN 的日志里没有卷积，说明这台机器用别的方式计算它。",
        )
    extra = both("", "")
    if off:
        extra = both(f" With the cache switched off: {', '.join(off)}.", f"把缓存关掉：{'、'.join(off)}。")
    return both(
        f"Sizes {', '.join(sizes)}: {', '.join(normal)}.{extra['en']}",
        f"尺寸 {'、'.join(sizes)}：{'、'.join(normal)}。{extra['zh']}",
    )


def draw_primitive_cache(record: Record, bets: dict) -> Table:
    """What the log says of each call, with the cache and without; the line that was bet on stands below."""
    names = {"as it comes": t("with the cache", "有缓存"), "cache off": t("cache off", "关掉缓存")}
    said = {
        "miss": t("miss: builds it", "miss：现做"),
        "hit": t("hit: found", "hit：找到"),
        "not seen": t("not seen", "没看到"),
    }
    lines = [["", *(t(f"size {size}", f"尺寸 {size}") for size in SIZES)]]
    marks, mine = {}, ANSWERS.get(bets.get("05-bet-revisit", ""))
    for setting in (name for name in names if _events(record, name)):
        marks |= {(len(lines) - 1, at): "told" for at, one in enumerate(_events(record, setting), 1) if one == "hit"}
        lines.append([names[setting], *(said[one] for one in _events(record, setting))])
    if mine:
        lines.append(["", *(said[one] for one in mine)])
    return Table(
        [[*line, *[""] * (5 - len(line))] for line in lines],
        marks,
        {(len(lines) - 2, at) for at in (1, 2, 3, 4) if mine},
    )


def settle_primitive_cache(record: Record) -> dict[str, str | None]:
    seen = tuple(_events(record, "as it comes"))
    return {"05-bet-revisit": next((option for option, said in ANSWERS.items() if said == seen), None)}


@experiment(
    name="05-primitive-cache",
    lesson=LESSON,
    version=1,
    needs="mkldnn",
    seconds=12,
    title=both(
        "Sizes 64, 96, 64, 96: what does oneDNN's own log say?", "尺寸 64、96、64、96：oneDNN 自己的日志怎么说？"
    ),
)
def primitive_cache(budget: Budget) -> Iterator[dict]:
    """Read hit or miss from the creation log of a new process, with the cache as it comes and without it."""
    settings = {"as it comes": {}, "cache off": {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "0"}}
    for setting, variables in budget.loop(settings.items(), desc=FRESH):
        _, log = call_in_new_process(PROBES, "conv_sizes", SIZES, variables=variables)
        events = [seen["event"] for seen in created(log)]
        if len(events) != len(SIZES):
            events = ["not seen"] * len(SIZES)
        yield from [
            {"setting": setting, "call": call, "size": size, "event": event}
            for call, (size, event) in enumerate(zip(SIZES, events, strict=True), start=1)
        ]


# --- 05-what-is-new -----------------------------------------------------------------------------------------

CHANGES_SAID = {
    "first call": both("the very first call", "第一次调用"),
    "nothing": both("nothing changed", "什么都没改"),
    "new values": both("other pixel values", "像素值换了"),
    "twin layer": both("another layer, same numbers", "另一个同参数的层"),
    "last small batch": both("batch 32 → 20", "batch 32 → 20"),
    "two pixels more": both("40×40 → 42×42", "40×40 → 42×42"),
    "channels_last": both("channels_last", "channels_last"),
    "stride 2": both("stride 1 → 2", "stride 1 → 2"),
}


def _changed(record: Record, event: str, code: str, sign: str) -> str:
    return sign.join(CHANGES_SAID[row["change"]][code] for row in record.rows if row["event"] == event)


def headline_what_is_new(record: Record) -> Text:
    events = [row["event"] for row in record.rows if row["change"] not in ("first call", "nothing")]
    if "not seen" in events or not record.rows:
        return both("oneDNN's log names no such convolution here.", "oneDNN 的日志里没有这样的卷积。")
    new = events.count("miss")
    if not new:
        return both("Not one of these changes makes oneDNN prepare again.", "这些改动之后，oneDNN 都不用重新准备。")
    if new == len(events):
        return both("Every one of these changes makes oneDNN prepare again.", "每种改动之后，oneDNN 都要重新准备。")
    return both(
        f"{new} of these {len(events)} changes make{'s' * (new == 1)} oneDNN prepare again.",
        f"这 {len(events)} 种改动里，有 {new} 种要让 oneDNN 重新准备。",
    )


def say_what_is_new(record: Record) -> Text:
    if {row["event"] for row in record.rows} != {"hit", "miss"}:
        return NOTHING
    return both(
        f"New entry for: {_changed(record, 'miss', 'en', ', ')}. "
        f"Found in the cache: {_changed(record, 'hit', 'en', ', ')}.",
        f"需要新条目：{_changed(record, 'miss', 'zh', '、')}。缓存里已有：{_changed(record, 'hit', 'zh', '、')}。",
    )


def draw_what_is_new(record: Record, bets: dict) -> Table:
    said = {
        "miss": t("miss: a new entry", "miss：新条目"),
        "hit": t("hit: found", "hit：找到"),
        "not seen": t("not seen", "没看到"),
    }
    lines = [["", ""], *([word(CHANGES_SAID[row["change"]]), said[row["event"]]] for row in record.rows)]
    return Table(lines, {(at, 1): "told" for at, row in enumerate(record.rows) if row["event"] == "miss"})


@experiment(
    name="05-what-is-new",
    lesson=LESSON,
    version=1,
    needs="mkldnn",
    seconds=8,
    title=both("Change one thing: does it need a new entry?", "只改一样东西：需要新条目吗？"),
)
def what_is_new(budget: Budget) -> list[dict]:
    """Seven calls that each differ from the first in one thing; hit or miss from the creation log."""
    _, log = call_in_new_process(PROBES, "conv_changes", list(CHANGES))
    seen = created(log)
    if len(seen) != len(CHANGES):
        return [{"change": change, "event": "not seen"} for change in CHANGES]
    return [
        {"change": change, "event": one["event"], "problem": one["problem"]}
        for change, one in zip(CHANGES, seen, strict=True)
    ]


# --- 05-model-keys ------------------------------------------------------------------------------------------


def headline_model_keys(record: Record) -> Text:
    if not record.rows:
        return TOO_NOISY
    model, calls, keys = (record.rows[-1][name] for name in ("model", "calls", "keys"))
    if keys == calls:
        return both(f"In {model}, no two convolutions are the same.", f"{model} 里没有两个相同的卷积。")
    return both(
        f"Only {keys} of the {calls} convolutions in {model} are different.",
        f"{model} 的 {calls} 个卷积里，不重样的只有 {keys} 种。",
    )


def say_model_keys(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    en = "; ".join(f"{r['model']}: {r['calls']} convolutions, {r['keys']} different" for r in record.rows)
    zh = "；".join(f"{r['model']} 有 {r['calls']} 个卷积，{r['keys']} 种" for r in record.rows)
    return both(f"In one forward pass at 224×224: {en}.", f"一次 224×224 的前向计算里：{zh}。")


def draw_model_keys(record: Record, bets: dict) -> SvgPicture:
    rows = []
    for row in record.rows:
        calls, keys = row["calls"], row["keys"]
        rows.append(Bar(row["model"], calls, t(f"{calls} convolutions", f"{calls} 个卷积"), quiet=True))
        rows.append(Bar("", keys, t(f"{keys} different", f"{keys} 种不同的")))
    return bars(rows)


def forward_keys(model: torch.nn.Module, *inputs: torch.Tensor) -> list[tuple]:
    """One key for each convolution of a forward pass: what the cache looks at besides dtype and device."""
    keys: list[tuple] = []

    def note(layer: torch.nn.Module, given: tuple, result: torch.Tensor) -> None:
        keys.append(
            (
                tuple(given[0].shape),
                tuple(layer.weight.shape),
                layer.stride,
                layer.padding,
                layer.dilation,
                layer.groups,
            )
        )

    kinds = (torch.nn.Conv1d, torch.nn.Conv2d, torch.nn.Conv3d)
    handles = [layer.register_forward_hook(note) for layer in model.modules() if isinstance(layer, kinds)]
    try:
        model(*inputs)
    finally:
        for handle in handles:
            handle.remove()
    return keys


@experiment(
    name="05-model-keys",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=8,
    title=both("How many different convolutions does a model hold?", "一个模型里有多少种不同的卷积？"),
)
def model_keys(budget: Budget) -> Iterator[dict]:
    """Convolution calls and distinct keys of one forward pass at 224x224, counted by hooks."""
    from course import models

    for name in budget.loop(("vgg16", "resnet18", "resnet50"), desc=both("counting", "计数中")):
        with torch.device("meta"), torch.no_grad():
            keys = forward_keys(getattr(models, name)().eval(), torch.zeros(1, 3, 224, 224))
        yield {"model": name, "calls": len(keys), "keys": len(set(keys))}

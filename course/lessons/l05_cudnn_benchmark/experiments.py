"""Experiments of lesson 05 on new shapes: what one costs, and what counts as new.

They show oneDNN's cache of primitives, an analogy to cuDNN's plans: oneDNN times nothing.
"""

from __future__ import annotations

import random
from time import perf_counter
from typing import Any

import torch

from course import toy_search
from course.experiment.base import Budget, experiment
from course.experiment.new_process import call_in_new_process
from course.experiment.plots import BLUE, ORANGE, tiles
from course.experiment.words import NOTHING, middle, word
from course.figures.style import colors, guide
from course.i18n import Text, both, t
from course.lessons.l05_cudnn_benchmark.probes import CHANGES, created
from course.records import Record
from course.timing.stats import median

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


def draw_first_call(record: Record, ax: Any) -> None:
    from course.figures import samples

    groups = _by_visit(record)
    names = {
        (1, 1): t("new: call 1", "新形状：第 1 次"),
        (1, 2): t("new: call 2", "新形状：第 2 次"),
        (1, 3): t("new: call 3", "新形状：第 3 次"),
        (2, 1): t("back: call 1", "回来：第 1 次"),
        (2, 2): t("back: call 2", "回来：第 2 次"),
        (2, 3): t("back: call 3", "回来：第 3 次"),
    }
    samples(
        ax,
        {names[key]: groups[key] for key in names if key in groups},
        "",
        log=True,
        what=t("time / time of a later call of the same shape", "耗时 / 同一形状之后的调用"),
    )


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


def say_primitive_cache(record: Record) -> Text:
    normal, off = _events(record, "as it comes"), _events(record, "cache off")
    sizes = [str(row["size"]) for row in record.rows if row["setting"] == "as it comes"]
    if not normal:
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


def draw_primitive_cache(record: Record, ax: Any) -> None:
    """The cache after each call, from left to right: an entry is added at a miss; below, the same without a cache."""
    from matplotlib.patches import FancyBboxPatch

    names = {"as it comes": t("with the cache", "有缓存"), "cache off": t("cache off", "关掉缓存")}
    said = {"miss": t("miss: build it", "miss：现做"), "hit": t("hit: found", "hit：找到")}
    settings = [name for name in names if _events(record, name)]
    for line, setting in enumerate(settings):
        top, kept = 2.5 * line, []
        ax.text(0, top + 0.1, names[setting], va="center", fontsize=11, fontweight="bold")
        for row in (one for one in record.rows if one["setting"] == setting):
            left, hit = 2.0 * (row["call"] - 1), row["event"] == "hit"
            colour = colors()[0 if hit else 1]
            ax.text(
                left + 0.9,
                top + 0.5,
                t(f"size {row['size']}", f"尺寸 {row['size']}"),
                ha="center",
                va="center",
                fontsize=11,
            )
            ax.text(
                left + 0.9,
                top + 0.9,
                said[row["event"]],
                ha="center",
                va="center",
                fontsize=11,
                color=colour,
                fontweight="bold",
            )
            kept += [row["size"]] if setting == "as it comes" and not hit else []
            ax.add_patch(
                FancyBboxPatch(
                    (left, top + 1.2),
                    1.8,
                    0.7,
                    boxstyle="round,pad=0,rounding_size=0.1",
                    facecolor="none",
                    edgecolor=guide(),
                    linestyle="-" if kept else ":",
                )
            )
            for place, size in enumerate(kept):
                used = size == row["size"]
                ax.text(
                    left + 1.8 * (place + 0.5) / max(2, len(kept)),
                    top + 1.55,
                    str(size),
                    ha="center",
                    va="center",
                    fontsize=12,
                    color=colour if used else guide(),
                    fontweight="bold" if used else "normal",
                )
            if not kept:
                ax.text(left + 0.9, top + 1.55, t("nothing kept", "什么也不留"), ha="center", va="center", fontsize=10)
    ax.set(xlim=(-0.05, 7.9), ylim=(2.5 * len(settings) - 0.4, -0.15), xticks=[], yticks=[])
    ax.grid(False)
    ax.spines[:].set_visible(False)
    ax.set_xlabel(t("boxes: what the cache holds after the call", "框里：这次调用之后缓存里有什么"))


def settle_primitive_cache(record: Record) -> dict[str, str | None]:
    answers = {
        ("miss", "miss", "miss", "miss"): "a",
        ("miss", "hit", "hit", "hit"): "b",
        ("miss", "miss", "hit", "hit"): "c",
        ("miss", "miss", "miss", "hit"): "d",
    }
    return {"05-bet-revisit": answers.get(tuple(_events(record, "as it comes")))}


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
def primitive_cache(budget: Budget) -> list[dict]:
    """Read hit or miss from the creation log of a new process, with the cache as it comes and without it."""
    settings = {"as it comes": {}, "cache off": {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "0"}}
    rows = []
    for setting, variables in budget.loop(settings.items(), desc=FRESH):
        _, log = call_in_new_process(PROBES, "conv_sizes", SIZES, variables=variables)
        rows += [
            {"setting": setting, "call": call, "size": size, "event": seen["event"]}
            for call, (size, seen) in enumerate(zip(SIZES, created(log), strict=False), start=1)
        ]
    return rows


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


def say_what_is_new(record: Record) -> Text:
    if {row["event"] for row in record.rows} != {"hit", "miss"}:
        return NOTHING
    return both(
        f"New entry for: {_changed(record, 'miss', 'en', ', ')}. "
        f"Found in the cache: {_changed(record, 'hit', 'en', ', ')}.",
        f"需要新条目：{_changed(record, 'miss', 'zh', '、')}。缓存里已有：{_changed(record, 'hit', 'zh', '、')}。",
    )


def draw_what_is_new(record: Record, ax: Any) -> None:
    tiles(ax, [(word(CHANGES_SAID[row["change"]]), row["event"], row["event"] == "hit") for row in record.rows])


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


def say_model_keys(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    en = "; ".join(f"{r['model']}: {r['calls']} convolutions, {r['keys']} different" for r in record.rows)
    zh = "；".join(f"{r['model']} 有 {r['calls']} 个卷积，{r['keys']} 种" for r in record.rows)
    return both(f"In one forward pass at 224×224: {en}.", f"一次 224×224 的前向计算里：{zh}。")


def draw_model_keys(record: Record, ax: Any) -> None:
    names = [row["model"] for row in record.rows]
    for shift, key, label, colour in (
        (-0.2, "calls", t("convolution layers", "卷积层"), ORANGE),
        (0.2, "keys", t("different keys", "不同的 key"), BLUE),
    ):
        bars = ax.bar(
            [i + shift for i in range(len(names))], [row[key] for row in record.rows], 0.38, label=label, color=colour
        )
        ax.bar_label(bars)
    ax.set_xticks(range(len(names)), names)
    ax.set_ylabel(t("count", "个数"))
    ax.legend()


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
def model_keys(budget: Budget) -> list[dict]:
    """Convolution calls and distinct keys of one forward pass at 224x224, counted by hooks."""
    from course import models

    rows = []
    for name in budget.loop(("vgg16", "resnet18", "resnet50"), desc=both("counting", "计数中")):
        with torch.device("meta"), torch.no_grad():
            keys = forward_keys(getattr(models, name)().eval(), torch.zeros(1, 3, 224, 224))
        rows.append({"model": name, "calls": len(keys), "keys": len(set(keys))})
    return rows

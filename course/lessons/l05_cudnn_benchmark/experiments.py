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
from course.experiment.reading import Reading
from course.experiment.rows import FEW
from course.i18n import both
from course.lessons.l05_cudnn_benchmark.probes import CHANGES, created
from course.timing.stats import median, median_interval

LESSON = "05_cudnn_benchmark"
PROBES = "course.lessons.l05_cudnn_benchmark.probes"
REPEATS = 3
FRESH = both("new processes", "新进程")


# --- 05-first-call ------------------------------------------------------------------------------------------


@experiment(name="05-first-call", lesson=LESSON, needs="cpu", seconds=2)
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
                        call_ms = (perf_counter() - start) * 1e3
                        rows.append({"pair": pair, "shape": name, "visit": visit, "call": call, "call_ms": call_ms})
    return rows


VISITS = {"new, call 1": (1, 1), "new, call 2": (1, 2), "back, call 1": (2, 1), "back, call 2": (2, 2)}


def read_first_call(rows: list[dict]) -> Reading:
    """A call costs extra when it takes 1.2 times a later one of its shape, by the whole interval over the shapes."""
    least = 1.2
    ratios = _by_visit(rows)
    spans = {name: median_interval(ratios[visit]) for name, visit in VISITS.items() if visit in ratios}
    drawn = [
        {"visit": name, "ratio": median(ratios[VISITS[name]]), "low": span.low, "high": span.high}
        for name, span in spans.items()
    ]
    first = [spans.get("new, call 1"), spans.get("back, call 1")]
    sure = len(ratios) >= 6 and len(ratios[1, 1]) >= FEW and not any(span.low <= least < span.high for span in first)
    if not sure:
        return Reading(None, {"same": least}, drawn)
    new, back = (span.low > least for span in first)
    outcome = "both" if new and back else "new" if new else "back" if back else "neither"
    return Reading(outcome, {"ratio": median(ratios[VISITS["new, call 1"]]), "same": least}, drawn)


def _by_visit(rows: list[dict]) -> dict[tuple[int, int], list[float]]:
    """(visit, call) -> time of each shape over the median of that shape's later calls."""
    shapes: dict[tuple, list[dict]] = {}
    for row in rows:
        shapes.setdefault((row["pair"], row["shape"]), []).append(row)
    ratios: dict[tuple[int, int], list[float]] = {}
    for calls in shapes.values():
        later = [row["call_ms"] for row in calls if row["call"] > 1]
        for row in calls if later else []:
            ratios.setdefault((row["visit"], row["call"]), []).append(row["call_ms"] / median(later))
    return ratios


# --- 05-primitive-cache -------------------------------------------------------------------------------------

SIZES = [64, 96, 64, 96]


@experiment(name="05-primitive-cache", lesson=LESSON, needs="mkldnn", seconds=12)
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


def read_primitive_cache(rows: list[dict]) -> Reading:
    """What the log says of the four calls with the cache; only the first four lines of an option settle the bet."""
    options = {"miss miss miss miss": "a", "miss hit hit hit": "b", "miss miss hit hit": "c", "miss miss miss hit": "d"}
    settings: dict[str, list[str]] = {}
    for row in rows:
        settings.setdefault(row["setting"], []).append(row["event"])
    drawn = [
        {"setting": setting, **{f"call {at}": event for at, event in enumerate(events, 1)}}
        | {"told": [f"call {at}" for at, event in enumerate(events, 1) if event == "hit"]}
        for setting, events in settings.items()
    ]
    events = settings.get("as it comes", [])
    if "not seen" in events:
        return Reading("not seen", drawn=drawn, bets={"05-bet-revisit": None})
    option = options.get(" ".join(events))
    outcome = None if len(events) < len(SIZES) else option or "mixed"
    return Reading(outcome, drawn=drawn, bets={"05-bet-revisit": option})


# --- 05-what-is-new -----------------------------------------------------------------------------------------


@experiment(name="05-what-is-new", lesson=LESSON, needs="mkldnn", seconds=8)
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


def read_what_is_new(rows: list[dict]) -> Reading:
    events = [row["event"] for row in rows if row["change"] not in ("first call", "nothing")]
    new = events.count("miss")
    if "not seen" in [row["event"] for row in rows]:
        outcome = "not seen"
    else:
        outcome = "none" if not new else "all" if new == len(events) else "some"
    drawn = [{**row, "told": ["event"] * (row["event"] == "miss")} for row in rows]
    return Reading(outcome, {"new": new, "changes": len(events)}, drawn)


# --- 05-model-keys ------------------------------------------------------------------------------------------


def forward_keys(model: torch.nn.Module, *inputs: torch.Tensor) -> list[tuple]:
    """One key for each convolution of a forward pass: what the cache looks at besides dtype and device."""
    keys: list[tuple] = []

    def note(layer: torch.nn.Module, given: tuple, result: torch.Tensor) -> None:
        shapes = (tuple(given[0].shape), tuple(layer.weight.shape))
        keys.append((*shapes, layer.stride, layer.padding, layer.dilation, layer.groups))

    kinds = (torch.nn.Conv1d, torch.nn.Conv2d, torch.nn.Conv3d)
    handles = [layer.register_forward_hook(note) for layer in model.modules() if isinstance(layer, kinds)]
    try:
        model(*inputs)
    finally:
        for handle in handles:
            handle.remove()
    return keys


@experiment(name="05-model-keys", lesson=LESSON, needs="cpu", seconds=8)
def model_keys(budget: Budget) -> Iterator[dict]:
    """Convolution calls and distinct keys of one forward pass at 224x224, counted by hooks."""
    from course import models

    for name in budget.loop(("vgg16", "resnet18", "resnet50"), desc=both("counting", "计数中")):
        with torch.device("meta"), torch.no_grad():
            keys = forward_keys(getattr(models, name)().eval(), torch.zeros(1, 3, 224, 224))
        yield {"model": name, "calls": len(keys), "keys": len(set(keys))}


def read_model_keys(rows: list[dict]) -> Reading:
    """The last model is the one that the sentence speaks of."""
    last = rows[-1]
    drawn = [
        {"model": name, "count": row[kind], "kind": kind, "quiet": kind == "calls"}
        for row in rows
        for kind, name in (("calls", row["model"]), ("keys", ""))
    ]
    return Reading("all differ" if last["keys"] == last["calls"] else "repeats", last, drawn)

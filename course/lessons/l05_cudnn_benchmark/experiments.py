"""Experiments of lesson 05 on new shapes: what oneDNN's log says of them.

They show oneDNN's cache of primitives, an analogy to cuDNN's plans: oneDNN times nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from course.core.i18n import both
from course.experiment.base import Budget, experiment
from course.experiment.new_process import call_in_new_process
from course.experiment.reading import Reading
from course.lessons.l05_cudnn_benchmark.probes import created

LESSON = "05_cudnn_benchmark"
PROBES = "course.lessons.l05_cudnn_benchmark.probes"
REPEATS = 3
FRESH = both("new processes", "新进程")


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

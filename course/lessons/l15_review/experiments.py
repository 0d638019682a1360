"""Experiments of lesson 15, live on a CPU: every switch flipped once, three well-known lines timed, and what moves more than they."""

from __future__ import annotations

import copy
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import nn

from course import flags
from course.core.i18n import both
from course.experiment.base import Budget, experiment
from course.experiment.reading import Reading, kind_of
from course.flags import GROUPS, SWITCHES, FlagError, Switch

LESSON = "15_review"
CONTROL = "(nothing)"
STATES = ("changed", "same", "refused", "absent", "untried")
"""What can come of flipping a switch."""
OTHER = {"precision": ("bf16", "tf32", "ieee"), "text": ("medium", "native", "onednn", "greedy")}
"""What is tried for a switch that is neither a bool nor a number: the first value that torch takes."""
LIKELY = ("mkldnn.enabled", "torch.num_threads", "torch.float32_matmul_precision", "mha.set_fastpath_enabled")
"""Tried first: the other switches of a CPU follow, then those for everything, attention's, and those of other devices."""


def job() -> dict[str, Callable[[], torch.Tensor]]:
    """Seven small computations on the CPU, each with inputs of its own that stay the same."""
    made = torch.Generator().manual_seed(15)

    def numbers(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=made)

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(15)
        conv, lstm, linear = nn.Conv2d(16, 32, 3, padding=1), nn.LSTM(32, 64), nn.Linear(512, 512)
        half, encoder = nn.Linear(256, 256).bfloat16(), nn.TransformerEncoderLayer(64, 4, batch_first=True).eval()
    image, words, table, tokens, long = (
        numbers(8, 16, 32, 32),
        numbers(12, 4, 32),
        numbers(64, 512),
        numbers(4, 20, 64),
        numbers(3_000_001),
    )
    small = numbers(32, 256).bfloat16()
    return {
        "conv": lambda: conv(image),
        "lstm": lambda: lstm(words)[0],
        "linear": lambda: linear(table),
        "linear_bf16": lambda: half(small),
        "encoder": lambda: encoder(tokens),
        "gelu": lambda: nn.functional.gelu(table),
        "sum": lambda: long.sum(),
    }


# --- 15-flip-all --------------------------------------------------------------------------------------------


def _rank(switch: Switch) -> int:
    """The place of a switch in the row of those to try: the smaller, the likelier that it changes something on a CPU."""
    if switch.name in LIKELY:
        return LIKELY.index(switch.name)
    if "_sdp" in switch.name:
        return len(LIKELY) + 2
    return len(LIKELY) + {"cpu": 0, "all": 1}.get(GROUPS[switch.group].place, 3)


def flipped(switch: Switch) -> list[Any]:
    """The values to try in place of the one in force, in this order."""
    now = switch.read()
    if isinstance(now, bool):
        return [not now]
    if isinstance(now, int):
        return [1 if now > 1 else 2]
    return [value for value in OTHER.get(switch.takes, ()) if value != now]


def _bits(calls: dict[str, Callable[[], torch.Tensor]]) -> dict[str, bytes]:
    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: call().float().numpy().tobytes() for name, call in calls.items()}


def _different(one: dict[str, bytes], other: dict[str, bytes]) -> str:
    return " ".join(name for name in one if one[name] != other[name])


def _flip(
    switch: Switch, calls: dict[str, Callable[[], torch.Tensor]], before: dict[str, bytes], shaky: set[str]
) -> dict:
    row = {"switch": switch.name, "from": repr(switch.read()), "to": "", "parts": "", "state": "refused"}
    if switch.read() == flags.ABSENT:
        return {**row, "state": "absent"}
    for value in flipped(switch):
        try:
            with flags.using({switch.name: value}):
                parts = [name for name in _different(before, _bits(calls)).split() if name not in shaky]
        except (FlagError, RuntimeError):  # torch takes no such value here, or a part refuses to run with it
            continue
        return {**row, "to": repr(value), "parts": " ".join(parts), "state": "changed" if parts else "same"}
    return row


@experiment(name="15-flip-all", lesson=LESSON, needs="cpu", seconds=12, whole=True)
def flip_all(budget: Budget, names: Sequence[str] | None = None) -> Iterator[dict]:
    """Each switch of the table (or of ``names``) alone against everything as it stands, the likely ones first; a part that
    differs from itself does not count.
    """
    calls = job()
    before = _bits(calls)
    shaky = set(_different(before, _bits(calls)).split())
    yield {"switch": CONTROL, "from": "", "to": "", "parts": " ".join(sorted(shaky)), "state": "control"}
    switches = [one for one in SWITCHES.values() if one.changeable and (names is None or one.name in names)]
    switches.sort(key=_rank)
    tried = set()
    for switch in budget.loop(switches, desc=both("switches", "开关")):
        tried.add(switch.name)
        yield _flip(switch, calls, before, shaky)
    for switch in switches:
        if switch.name not in tried:
            yield {"switch": switch.name, "from": "", "to": "", "parts": "", "state": "untried"}


def read_flip_all(rows: list[dict]) -> Reading:
    """How many of the switches tried changed a bit. Drawn: each of them, then how many switches there are of each state."""
    counts = Counter(row["state"] for row in rows)
    drawn = [
        {"line": f"{row['switch']} = {row['to']}", "where": "parts", "parts": row["parts"].split(), "told": ["where"]}
        for row in rows
        if row["state"] == "changed"
    ]
    for state in STATES:
        if counts[state] or state == "changed":
            told = ["where"] * (state == "changed")
            drawn.append({"line": state, "where": "count", "count": counts[state], "told": told})
    changed, tried = counts["changed"], counts["changed"] + counts["same"]
    option = "a" if not changed else "b" if changed <= 10 else "c" if changed <= 20 else "d"
    numbers = {"changed": changed, "tried": tried}
    return Reading("told" if tried else None, numbers, drawn, {"15-bet-flips": option if tried else None})


# --- 15-three-lines -----------------------------------------------------------------------------------------

LINES = {
    "conv_off": ("mkldnn.enabled", False, "conv"),
    "linear_off": ("mkldnn.enabled", False, "linear"),
    "conv_search": ("cudnn.benchmark", True, "conv"),
}
"""name -> (switch, value, part of the job): the line is timed against the same part with the default."""
PATTERNS = {
    (): "a",
    ("conv_off",): "b",
    ("conv_off", "linear_off"): "c",
    ("conv_off", "linear_off", "conv_search"): "d",
}
"""The lines that changed the time -> the option of the bet; any other set of lines is none of them."""


@experiment(name="15-three-lines", lesson=LESSON, needs="mkldnn", seconds=9)
def three_lines(budget: Budget) -> Iterator[dict]:
    """Each line against the default, taking turns, one thread, inference."""
    from course.timing import compare

    calls = job()

    def with_value(switch: Switch, value: Any, call: Callable[[], torch.Tensor]) -> Callable[[], torch.Tensor]:
        def run() -> torch.Tensor:
            switch.write(value)
            return call()

        return run

    for done, (name, (switch_name, value, part)) in enumerate(budget.loop(LINES.items(), desc=both("lines", "代码行"))):
        switch = SWITCHES[switch_name]
        with flags.using({"torch.num_threads": 1, switch_name: not value}), torch.inference_mode():
            found = compare(
                {"default": with_value(switch, not value, calls[part]), "line": with_value(switch, value, calls[part])},
                baseline="default",
                max_time=max(0.4, min(2.5, budget.share(len(LINES) - done))),
            )
        yield {
            "line": name,
            "ratio": found.ratio,
            "low": found.low,
            "high": found.high,
            "default_ms": found.medians_ms["default"],
            "line_ms": found.medians_ms["line"],
            "rounds": found.rounds,
        }


def read_three_lines(rows: list[dict]) -> Reading | None:
    kinds = {row["line"]: kind_of(row) for row in rows}
    if set(kinds) != set(LINES) or "undecided" in kinds.values():
        return None
    option = PATTERNS.get(tuple(name for name in LINES if kinds[name] != "same"))
    faster = option == "b" and kinds["conv_off"] == "faster"
    return Reading("others" if faster or not option else option, bets={"15-bet-lines": option})


# --- 15-what-moves ------------------------------------------------------------------------------------------

CHANGES = {"benchmark": "a", "channels_last": "b", "inference": "c", "batch": "d", "threads": "e"}
"""One change each, against eight images of SIZE x SIZE pixels in eight calls on one thread, with gradients -> its option of the bet."""
IMAGES, SIZE = 8, 12


@experiment(name="15-what-moves", lesson=LESSON, needs="cpu", seconds=10)
def what_moves(budget: Budget) -> Iterator[dict]:
    """Five changes to the forward pass of a small network, each alone against the same start, taking turns."""
    from course.timing import compare

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(15)
        net = nn.Sequential(nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1), nn.ReLU())
        images = torch.randn(IMAGES, 16, SIZE, SIZE)
    last = copy.deepcopy(net).to(memory_format=torch.channels_last)
    single = [images[place : place + 1] for place in range(IMAGES)]
    single_last = [image.to(memory_format=torch.channels_last) for image in single]
    every = max(torch.get_num_threads(), os.cpu_count() or 1)

    def start() -> None:
        for image in single:
            net(image)

    def searching() -> None:
        torch.backends.cudnn.benchmark = True
        start()
        torch.backends.cudnn.benchmark = False

    def in_channels_last() -> None:
        for image in single_last:
            last(image)

    def without_gradients() -> None:
        with torch.inference_mode():
            start()

    def with_threads() -> None:
        torch.set_num_threads(every)
        start()
        torch.set_num_threads(1)

    calls = (searching, in_channels_last, without_gradients, lambda: net(images), with_threads)
    for done, (name, call) in enumerate(budget.loop(zip(CHANGES, calls, strict=True), desc=both("changes", "改动"))):
        with flags.using({"torch.num_threads": 1, "cudnn.benchmark": False}):
            found = compare(
                {"before": start, "after": call},
                max_time=max(0.4, min(2.0, budget.share(len(CHANGES) - done))),
                same=False,
            )
        yield {
            "change": name,
            "ratio": found.ratio,
            "low": found.low,
            "high": found.high,
            "before_ms": found.medians_ms["before"],
            "after_ms": found.medians_ms["after"],
            "rounds": found.rounds,
        }


def read_what_moves(rows: list[dict]) -> Reading | None:
    """The change that saves most: its whole interval lies below all others' and below 1."""
    if {row["change"] for row in rows if row["low"] is not None} != set(CHANGES):
        return None
    first, *others = sorted(rows, key=lambda row: row["ratio"])
    if first["high"] < 1 and all(first["high"] < row["low"] for row in others):
        numbers = {"best": first["change"], "ratio": first["ratio"]}
        return Reading("told", numbers, bets={"15-bet-moves": CHANGES[first["change"]]})
    kinds = [kind_of(row) for row in rows]
    outcome = "several" if kinds.count("faster") > 1 else None if {"faster", "undecided"} & set(kinds) else "none"
    return Reading(outcome, bets={"15-bet-moves": None})

"""What the clients of the live cases run: built new for each measurement, with seeded weights and inputs.

A workload gives a call without arguments for a configuration (control -> value of its panel), and the facts that its limits ask for.
``rows`` measures every configuration against today's, paired, with its switches set for each call (``under``); whoever runs it puts
them back. One run of a player is the same experiment on one configuration.
"""

from __future__ import annotations

import contextlib
import copy
import os
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from course.experiment.base import Budget
from course.experiment.reading import race_row
from course.lessons.l10_tuning_master.panel import FEW, Config, Plan, in_words, key

Call = Callable[[], Any]
GRAD = {"grad": contextlib.nullcontext, "no_grad": torch.no_grad, "inference_mode": torch.inference_mode}


@dataclass(frozen=True)
class Workload:
    """build(config): the call. facts(config): limit -> value, measured apart from the time."""

    build: Callable[[Config], Call]
    facts: Callable[[Config], dict[str, float | bool]] = lambda config: {}


def seeded(make: Callable[[], Any]) -> Any:
    """What ``make`` gives after seed 0."""
    torch.manual_seed(0)
    return make()


def error(exact: torch.Tensor, got: torch.Tensor) -> float:
    """Largest difference, as a share of the largest exact value."""
    exact, got = exact.detach().double(), got.detach().double()
    return float((got - exact).abs().max() / exact.abs().max())


# --- switches and memory --------------------------------------------------------------------------------


def cores() -> int:
    """Threads that "all cores" means."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def under(config: Config, call: Call, machine: int | None = None) -> Call:
    """`call` with the switches of a configuration set at every call; a control that is absent costs nothing.

    machine: the threads that "all" means (default: all cores). Whoever runs it restores the switches (``experiment.restored``).
    """
    steps: list[Callable[[], Any]] = []
    if "onednn" in config:
        steps.append(lambda on=config["onednn"] == "on": setattr(torch.backends.mkldnn, "enabled", on))
    if "threads" in config:
        count = 1 if config["threads"] == "1" else machine or cores()
        steps.append(lambda: torch.set_num_threads(count))
    grad = GRAD[config["grad"]] if "grad" in config else None

    def run() -> Any:
        for step in steps:
            step()
        if grad is None:
            return call()
        with grad():
            return call()

    return run


def peak_mib(call: Call) -> float:
    """Peak of what torch's allocator holds during one call, above the level before it, MiB.

    Exact: from the profiler's memory events. What libraries keep for themselves is not in it.
    """
    call()
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, profile_memory=True) as recorded:
        call()
    level = peak = 0
    for event in recorded.profiler.kineto_results.events():
        if event.name() == "[memory]":
            level += event.nbytes()
            peak = max(peak, level)
    return round(peak / 2**20, 2)


# --- an LSTM, one frame or a hundred ----------------------------------------------------------------------


def lstm(steps: int, batch: int) -> Workload:
    """An LSTM 128 -> 256 that carries its state on."""

    def build(config: Config) -> Call:
        layer = seeded(lambda: nn.LSTM(128, 256)).eval()
        x, state = torch.randn(steps, batch, 128), (torch.zeros(1, batch, 256), torch.zeros(1, batch, 256))
        return lambda: layer(x, state)

    return Workload(build)


# --- stacks of convolutions -------------------------------------------------------------------------------


def block(inside: int, out: int, stride: int = 1, groups: int = 1, kernel: int = 3) -> nn.Sequential:
    """Convolution, BatchNorm, ReLU."""
    conv = nn.Conv2d(inside, out, kernel, stride, kernel // 2, groups=groups, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(out), nn.ReLU())


def photo_net(width: int = 32) -> nn.Sequential:
    """Six ordinary convolutions."""
    w = width
    blocks = [
        block(3, w, 2),
        block(w, w),
        block(w, 2 * w, 2),
        block(2 * w, 2 * w),
        block(2 * w, 4 * w, 2),
        block(4 * w, 4 * w),
    ]
    return nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4 * w, 10))


def _evaluation() -> Workload:
    """Three batches of a network with BatchNorm, as in an evaluation loop."""

    def model_of(config: Config) -> tuple[nn.Module, torch.Tensor]:
        return seeded(lambda: photo_net(16)).train(config["mode"] == "train"), seeded(lambda: torch.randn(8, 3, 64, 64))

    def build(config: Config) -> Call:
        model, x = model_of(config)
        return lambda: sum(model(x).square().mean() for _ in range(3)).item()

    def facts(config: Config) -> dict[str, bool]:
        model, x = model_of(config)
        before = model[0][1].running_mean.clone()
        under(config, lambda: model(x))()
        return {"statistics": torch.equal(before, model[0][1].running_mean)}

    return Workload(build, facts)


# --- number types on a bank's network ---------------------------------------------------------------------


def possible(config: Config) -> bool:
    """Whether this build can run it: int8 quantises a Linear layer on the fly; that door is deprecated and may be gone."""
    if config.get("dtype") != "int8":
        return True
    try:
        _quantised(nn.Sequential(nn.Linear(4, 4)))(torch.zeros(1, 4))
    except Exception:  # noqa: BLE001  (no engine, no module: many types, one answer)
        return False
    return True


def _quantised(model: nn.Module) -> nn.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.ao.quantization.quantize_dynamic(model, {nn.Linear}, dtype=torch.qint8)


def customers(batch: int, width: int = 1024) -> Workload:
    """A network of two Linear layers on so many customers at once; the panel chooses the number type."""

    def prepared(config: Config) -> tuple[nn.Module, torch.Tensor, Call]:
        model = seeded(
            lambda: nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))
        ).eval()
        x, kind = seeded(lambda: torch.randn(batch, width)), config["dtype"]
        if kind == "bf16":
            low, y = copy.deepcopy(model).bfloat16(), x.bfloat16()
            return model, x, lambda: low(y)
        if kind == "int8":
            low = _quantised(copy.deepcopy(model))
            return model, x, lambda: low(x)
        if kind == "autocast":
            return model, x, lambda: _autocast(model, x)
        return model, x, lambda: model(x)

    def build(config: Config) -> Call:
        return torch.no_grad()(prepared(config)[2])

    def facts(config: Config) -> dict[str, float]:
        model, x, call = prepared(config)
        with torch.no_grad():
            got = under(config, call)()
            return {"error": error(model.double()(x.double()), got)}

    return Workload(build, facts)


def _autocast(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return model(x)


# --- training in little memory ----------------------------------------------------------------------------


def _training(total: int = 16, size: int = 48) -> Workload:
    """One training step on 16 pictures, all at once or in micro-batches, with or without activation checkpoints."""
    from torch.utils.checkpoint import checkpoint

    def build(config: Config) -> Call:
        torch.manual_seed(0)
        blocks = nn.ModuleList([block(3, 32), *(block(32, 32) for _ in range(3))])
        for one in blocks:
            one[1] = nn.GroupNorm(8, 32)  # BatchNorm would see other statistics in a micro-batch
        head, x, y = nn.Linear(32, 10), torch.randn(total, 3, size, size), torch.randint(0, 10, (total,))
        micro, again = int(config["micro_batch"]), config["checkpoint"] == "on"

        def step() -> None:
            for pictures, labels in zip(x.split(micro), y.split(micro), strict=True):
                h = pictures
                for one in blocks:
                    h = checkpoint(one, h, use_reentrant=False) if again else one(h)
                (F.cross_entropy(head(h.mean((2, 3))), labels, reduction="sum") / total).backward()
            blocks.zero_grad(set_to_none=True)
            head.zero_grad(set_to_none=True)

        return step

    return Workload(build, lambda config: {"peak": peak_mib(build(config))})


WORKLOADS: dict[str, Workload] = {
    "10-museum": _evaluation(),
    "10-voice": lstm(1, 1),
    "10-archive": lstm(100, 16),
    "10-bank": customers(1),
    "10-payday": customers(256),
    "10-laptop": _training(),
}


# --- measuring --------------------------------------------------------------------------------------------


def rows(work: Workload, plan: Plan, configs: Sequence[Config] | None, budget: Budget) -> Iterable[dict[str, Any]]:
    """Rows of these configurations (None: all) and of today's for one Workload; none of what this build of torch cannot run.

    What must not break is looked at first: it needs no clock. The rest of the budget is for the rounds.

    Keys: config, words, ratio, low, high, verdict, median_ms, and a fact_... for each limit.
    """
    from course.timing import compare

    today = dict(plan.today)
    every = {key(one): dict(one) for one in (configs if configs is not None else plan.configs()) if possible(one)}
    asked = {key(today): today, **every}
    with torch.random.fork_rng(devices=[]):
        calls = {name: under(config, work.build(config)) for name, config in asked.items()}
    facts = {name: work.facts(config) if plan.limits else {} for name, config in asked.items()}
    found = compare(calls, baseline=key(today), ci=0.02, max_time=budget.share(1), gate=0.03, same=False)
    pairs = {pair.name: pair for pair in found.pairs.values()}
    result = []
    for name, config in asked.items():
        row = {
            "config": name,
            "words": in_words(plan, config),
            **_ratio(pairs.get(name)),
            "median_ms": found.medians_ms[name],
        }
        result.append(row | {f"fact_{limit}": value for limit, value in facts[name].items()})
    return result


def _ratio(pair: Any) -> dict[str, Any]:
    """Time over today's with its interval and verdict; of the baseline itself (None) 1. A few rounds carry no interval."""
    if pair is None:
        return {"ratio": 1.0, "low": 1.0, "high": 1.0, "verdict": "same"}
    if pair.low is None:
        return {"ratio": pair.ratio, "low": pair.ratio, "high": pair.ratio, "verdict": FEW}
    return race_row(pair)


# --- two small blocks, as written and through torch.compile: what the first call costs and what every later one does ---


class Block(nn.Module):
    """Two linear layers between many element operations, which a compiler can join: (batch, length, 64) -> the same."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(64), nn.Linear(64, 256), nn.Linear(256, 64)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inside = nn.functional.silu(self.up(self.norm(x))) * torch.sigmoid(x.mean(-1, keepdim=True)) + 0.1
        return x + self.down(inside * torch.tanh(inside) * 1.5 - inside.square() * 0.1)


def job(compiled: bool, seconds: float) -> list[dict[str, Any]]:
    """One row: seconds of the first call, then milliseconds a call with their interval; or why nothing was compiled.

    Run it in a new process: what is compiled once stays. seconds: for timing the later calls.
    """
    from course.flags.switch import first_sentence
    from course.timing import measure

    torch.manual_seed(0)
    model, x = nn.Sequential(Block(), Block()).eval(), torch.randn(4, 128, 64)
    run = torch.compile(model) if compiled else model
    with torch.inference_mode():
        start = time.perf_counter()
        try:
            run(x)
        except Exception as error:  # without a C++ compiler torch.compile cannot work here; its errors have many types
            if not compiled:
                raise
            return [{"refused": first_sentence(error).split(" in torch.")[0]}]
        first_s = time.perf_counter() - start
        found = measure(lambda: run(x), max_time=seconds)
    return [{"first_s": first_s, "call_ms": found.median_ms, "low_ms": found.low_ms, "high_ms": found.high_ms}]

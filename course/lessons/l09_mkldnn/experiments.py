"""Experiments of lesson 09: what oneDNN runs on this CPU, how, and what it is worth. All live on a CPU.

Layers, routes and what needs a new process stand in ``onednn_probes``; sentences and pictures in
``onednn_findings``, ``onednn_route_findings`` and ``onednn_ladder_findings``.
"""

from __future__ import annotations

import platform
import statistics
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.i18n import both
from course.lessons.l09_mkldnn import findings as say
from course.lessons.l09_mkldnn import findings_ladder as ladder
from course.lessons.l09_mkldnn import findings_routes as way
from course.lessons.l09_mkldnn.probes import ROUTES, layers, logged, routes_of, typical_log
from course.onednn_log import log_of, on_off, time_in

LESSON = "09_mkldnn"
PROBES = "course.lessons.l09_mkldnn.probes"
STEPS = (1, 2, 4, 16, 64)
RUNGS = ("SSE41", "AVX2", "AVX512_CORE", "DEFAULT")
HALF_RUNGS = ("DEFAULT", "AVX512_CORE", "AVX2")
X86 = ("x86_64", "AMD64", "amd64", "i386", "i686")
LOGGED_CALLS, PROCESSES = 9, 2


def _verdict_row(race: Any) -> dict[str, Any]:
    return {"ratio": race.ratio, "low": race.low, "high": race.high, "verdict": race.verdict,
            "on_ms": race.medians_ms["on"], "off_ms": race.medians_ms["off"], "rounds": race.rounds}


@experiment(name="09-one-step", lesson=LESSON, version=1, needs="mkldnn", seconds=7,
            title=both("An LSTM, one sequence, step by step or many steps at once: oneDNN on against off",
                       "一条序列送进 LSTM，一次一步或一次多步：oneDNN 开与关的对比"),
            finding=say.one_step, draw=say.draw_one_step)
def one_step(budget: Budget) -> list[dict]:
    """Time with oneDNN over time without, for one call of 1 to 64 steps, and the share of reorders in the log."""
    torch.set_num_threads(1)
    rows, layer = [], nn.LSTM(128, 256)
    for done, steps in enumerate(budget.loop(STEPS, desc=both("lengths", "步数"))):
        x = torch.randn(steps, 1, 128)
        race = on_off(lambda x=x: layer(x), max_time=max(0.3, min(1.2, budget.share(len(STEPS) - done))))
        with torch.inference_mode():
            logs = [log_of(lambda x=x: layer(x)) for _ in range(LOGGED_CALLS)]
        share = [time_in(log, "reorder") / time_in(log) for log in logs if time_in(log)]
        rows.append({"steps": steps, **_verdict_row(race),
                     "reorder_share": statistics.median(share) if share else 0.0})
    return rows


@experiment(name="09-on-off", lesson=LESSON, version=1, needs="mkldnn", seconds=10,
            title=both("oneDNN on against off: which layers notice?", "oneDNN 开与关：哪些层感觉得到？"),
            finding=say.race, draw=say.draw_race, settles=say.settle_race)
def race(budget: Budget) -> list[dict]:
    """Time with oneDNN over time without, for nine layers, forward, on one thread."""
    rows, calls = [], layers()
    for done, (layer, call) in enumerate(budget.loop(calls.items(), desc=both("layers", "层"))):
        found = on_off(call, max_time=max(0.3, min(1.2, budget.share(len(calls) - done))))
        rows.append({"layer": layer, **_verdict_row(found), "threads": 1})
    return rows


@experiment(name="09-where-time", lesson=LESSON, version=1, needs="mkldnn", seconds=3,
            title=both("Where does the logged time go?", "日志里的时间花在了哪里？"),
            finding=say.where_time, draw=say.draw_where_time)
def where_time(budget: Budget) -> list[dict]:
    """Primitives of one call of each layer: lines, implementation, median time; 0 lines where oneDNN is silent."""
    torch.set_num_threads(1)
    rows = []
    with torch.inference_mode():
        for layer, call in budget.loop(layers().items(), desc=both("layers", "层")):
            found = typical_log(call, LOGGED_CALLS)
            rows += [{"layer": layer, **one} for one in found]
            if not found:
                rows.append({"layer": layer, "primitive": "", "implementation": "", "lines": 0, "logged_ms": 0.0})
    return rows


@experiment(name="09-logs", lesson=LESSON, version=1, needs="mkldnn", seconds=2,
            title=both("The raw log of a few calls", "几次调用的原始日志"),
            finding=say.logs, draw=say.draw_logs)
def logs(budget: Budget) -> list[dict]:
    """Lines as oneDNN prints them, for readers whose PyTorch has no oneDNN (course.onednn_log.recorded_log)."""
    with torch.inference_mode():
        return logged()


def _chains() -> dict[str, Callable[[], Any]]:
    """Three convolutions in a row, in three memory layouts; dense tensors in and out."""
    from torch.utils import mkldnn as packed

    image = torch.randn(2, 16, 40, 40)
    plain = nn.Sequential(*[nn.Conv2d(16, 16, 3, padding=1) for _ in range(3)]).eval()
    last = nn.Sequential(*[nn.Conv2d(16, 16, 3, padding=1) for _ in range(3)]).eval()
    last = last.to(memory_format=torch.channels_last)
    image_last = image.to(memory_format=torch.channels_last)
    opaque = nn.Sequential(*[packed.to_mkldnn(layer) for layer in plain])
    return {"NCHW": lambda: plain(image), "channels_last": lambda: last(image_last),
            "to_mkldnn": lambda: opaque(image.to_mkldnn()).to_dense()}


@experiment(name="09-layouts", lesson=LESSON, version=1, needs="mkldnn", seconds=5,
            title=both("Three convolutions in a row, three memory layouts", "三个卷积连成一串，三种内存布局"),
            finding=say.layouts, draw=say.draw_layouts, settles=say.settle_layouts)
def layouts(budget: Budget) -> list[dict]:
    """Reorder lines and their time for each layout, and its time against NCHW; one lone convolution for the bet."""
    from course.timing import compare

    torch.set_num_threads(1)
    one, image = nn.Conv2d(16, 16, 3, padding=1), torch.randn(2, 16, 40, 40)
    rows = []
    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch.utils.mkldnn announces its own retirement
        chains = _chains()
        alone = sum(line.primitive == "reorder" for line in log_of(lambda: one(image)))
        found = compare(chains, baseline="NCHW", max_time=max(1.0, min(3.0, budget.left() - 1)))
        for name in budget.loop(chains, desc=both("layouts", "布局")):
            seen = {row["primitive"]: row for row in typical_log(chains[name], LOGGED_CALLS)}
            pair = found.pairs.get(name)
            rows.append({"layout": name, "reorders": seen.get("reorder", {}).get("lines", 0),
                         "reorder_ms": seen.get("reorder", {}).get("logged_ms", 0.0),
                         "compute_ms": sum(row["logged_ms"] for key, row in seen.items() if key != "reorder"),
                         "ratio": pair.ratio if pair else 1.0, "low": pair.low if pair else 1.0,
                         "high": pair.high if pair else 1.0, "reorders_of_one_conv": alone})
    return rows


@experiment(name="09-routes", lesson=LESSON, version=1, needs="mkldnn", seconds=2,
            title=both("Eight convolutions, the switch on: who gets the work?", "八个卷积，开关都开着：活儿给了谁？"),
            finding=way.routes, draw=way.draw_routes, settles=way.settle_routes)
def routes(budget: Budget) -> list[dict]:
    """The backend the dispatcher names, with oneDNN on and off, and oneDNN's own lines as a witness."""
    with torch.inference_mode():
        return [routes_of(case) for case in budget.loop(ROUTES)]


def _on_rungs(budget: Budget, probe: str, rungs: tuple[str, ...], repeats: int) -> list[dict]:
    """Rows of `probe`, each from a new process, the rungs taking turns.

    A CPU that is not x86 has another ladder and is left as it is.
    """
    if platform.machine() not in X86:
        rungs = ("DEFAULT",)
    plan = [(repeat, name) for repeat in range(repeats) for name in rungs]
    rows = []
    for repeat, name in budget.loop(plan, desc=both("new processes", "新进程")):
        found = rows_of(PROBES, probe, variables={"ONEDNN_MAX_CPU_ISA": name} if name != "DEFAULT" else {})
        rows += [{"rung": name, "process": repeat, **row} for row in found]
    return rows


@experiment(name="09-isa-ladder", lesson=LESSON, version=1, needs="mkldnn", seconds=24,
            title=both("The same convolution on four rungs of instruction sets", "同一个卷积，站在指令集的四级台阶上"),
            finding=ladder.isa, draw=ladder.draw_isa)
def isa_ladder(budget: Budget) -> list[dict]:
    """ONEDNN_MAX_CPU_ISA in new processes; each times a convolution against a product that is not oneDNN's.

    Several processes a rung, for equal processes differ: where memory lies is drawn anew in each.
    """
    return _on_rungs(budget, "rung", RUNGS, PROCESSES)


@experiment(name="09-bf16", lesson=LESSON, version=1, needs="mkldnn", seconds=15,
            title=both("Linear in bfloat16 against float32, with and without bfloat16 instructions",
                       "Linear 用 bfloat16 还是 float32：有和没有 bfloat16 指令时"),
            finding=ladder.half, draw=ladder.draw_half, settles=ladder.settle_half)
def bf16(budget: Budget) -> list[dict]:
    """As the CPU is, with the newest instructions hidden from oneDNN, and with AVX-512 hidden as well."""
    return _on_rungs(budget, "half", HALF_RUNGS, 1)


@experiment(name="09-threads", lesson=LESSON, version=1, needs="mkldnn", seconds=14,
            title=both("One thread or all of them: a small and a large convolution", "单线程还是全部线程：一个小卷积，一个大卷积"),
            finding=ladder.threads, draw=ladder.draw_threads)
def threads(budget: Budget) -> list[dict]:
    """All threads against one, each in a process of its own, the processes taking turns."""
    from course.timing import compare

    rows, count = [], torch.get_num_threads()
    for size in budget.loop(("small", "large"), desc=both("sizes", "规模")):
        found = compare({"one": f"{PROBES}:{size}_one_thread", "all": f"{PROBES}:{size}_all_threads"},
                        baseline="one", max_time=2.0, fresh_process=True)
        rows.append({"size": size, "threads": count, "ratio": found.ratio, "low": found.low, "high": found.high,
                     "verdict": found.verdict, "one_ms": found.medians_ms["one"],
                     "all_ms": found.medians_ms["all"]})
    return rows


@experiment(name="09-deterministic", lesson=LESSON, version=1, needs="mkldnn", seconds=2,
            title=both("Three ways to ask for determinism: what does oneDNN's log say?",
                       "三种要求“确定性”的写法：oneDNN 的日志怎么说？"),
            finding=way.deterministic, draw=way.draw_deterministic)
def deterministic(budget: Budget) -> list[dict]:
    """As it is; mkldnn.deterministic = True; and inside flags(deterministic=True): switch, lines, bits."""
    mkldnn, layer, image = torch.backends.mkldnn, nn.Conv2d(16, 16, 3, padding=1), torch.randn(4, 16, 24, 24)

    def row(asked: str) -> dict[str, Any]:
        results: list[torch.Tensor] = []
        log = log_of(lambda: results.append(layer(image)))
        same = float((results[0] == first).float().mean())
        return {"asked": asked, "enabled": int(mkldnn.enabled), "lines": len(log), "same_share": same,
                "implementation": next((one.implementation for one in log if one.primitive == "convolution"), "")}

    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # flags() also touches a TF32 switch that only Intel GPUs have
        first = layer(image)
        rows = [row("nothing")]
        mkldnn.deterministic = True
        rows.append(row("the switch"))
        mkldnn.deterministic = False
        with mkldnn.flags(deterministic=True):
            rows.append(row("flags()"))
    return rows


def _whole(*shape: int) -> torch.Tensor:
    """Whole numbers from -4 to 4, as float32: their products and small sums have no digits to round off."""
    return torch.randint(-4, 5, shape).float()


def _twins(whole: bool) -> dict[str, tuple[Callable[[], torch.Tensor], Callable[[], torch.Tensor]]]:
    """name -> (the operation in float32, the same in float64), on random or whole numbers."""
    make = _whole if whole else torch.randn
    image, kernel = make(4, 32, 20, 20), make(32, 32, 3, 3)
    rows, weight = make(64, 128), make(128, 128)
    found = {"Conv2d": (lambda: F.conv2d(image, kernel, padding=1),
                        lambda: F.conv2d(image.double(), kernel.double(), padding=1)),
             "Linear": (lambda: F.linear(rows, weight), lambda: F.linear(rows.double(), weight.double()))}
    if not whole:
        single = nn.LSTM(32, 64)
        double = nn.LSTM(32, 64).double()
        double.load_state_dict(single.state_dict())
        sequence = make(16, 4, 32)
        found["LSTM"] = (lambda: single(sequence)[0], lambda: double(sequence.double())[0])
        found["GELU"] = (lambda: F.gelu(image), lambda: F.gelu(image.double()))
    return found


@experiment(name="09-bits", lesson=LESSON, version=1, needs="mkldnn", seconds=2,
            title=both("oneDNN on and off: how many results differ in a bit?",
                       "oneDNN 开与关：有多少结果的比特不同？"),
            finding=way.bits, draw=way.draw_bits, settles=way.settle_bits)
def bits(budget: Budget) -> list[dict]:
    """Share of results that differ between on and off, and each side's largest error against float64."""
    torch.set_num_threads(1)
    mkldnn, rows = torch.backends.mkldnn, []
    with torch.inference_mode():
        for numbers in ("random", "whole"):
            for operation, (single, double) in _twins(numbers == "whole").items():
                seen = {}
                for name, state in (("on", True), ("off", False), ("again", True)):
                    mkldnn.enabled = state
                    seen[name] = single()
                exact = double()
                rows.append({"operation": operation, "numbers": numbers,
                             "differ_share": float((seen["on"] != seen["off"]).float().mean()),
                             "repeat_differs": float((seen["on"] != seen["again"]).float().mean()),
                             "error_on": float((seen["on"].double() - exact).abs().max()),
                             "error_off": float((seen["off"].double() - exact).abs().max())})
    return rows

"""What the experiments of lesson 09 run: layers, routes of the dispatcher, and probes for a new process.

torch alone is needed. A rung of the instruction-set ladder has to be chosen before oneDNN is first used, so
``rung`` and ``half`` are called in processes of their own, with ONEDNN_MAX_CPU_ISA set.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from course.experiment.reading import race_row
from course.trace.onednn_log import Log, log_of, time_in

Call = Callable[[], Any]
CHANNELS, SIZE, BATCH = 64, 14, 2


def layers() -> dict[str, Call]:
    """One call of each layer, forward, on inputs of its own. Call them inside ``torch.inference_mode``."""
    image, sequence, rows = torch.randn(BATCH, CHANNELS, SIZE, SIZE), torch.randn(16, 8, 64), torch.randn(128, 256)
    wide = torch.randn(128, 1024)
    last = {"memory_format": torch.channels_last}
    conv, conv_last = nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1), nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1)
    depthwise = nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1, groups=CHANNELS)
    lstm, gru, rnn = nn.LSTM(64, 128), nn.GRU(64, 128), nn.RNN(64, 128)
    linear, linear_half = nn.Linear(256, 256), nn.Linear(256, 256).bfloat16()
    conv_last.to(**last)
    image_last, rows_half = image.to(**last), rows.bfloat16()
    return {
        "Conv2d": lambda: conv(image),
        "Conv2d (channels_last)": lambda: conv_last(image_last),
        "Conv2d (depthwise)": lambda: depthwise(image),
        "LSTM": lambda: lstm(sequence),
        "GRU": lambda: gru(sequence),
        "RNN": lambda: rnn(sequence),
        "Linear": lambda: linear(rows),
        "Linear (bfloat16)": lambda: linear_half(rows_half),
        "GELU": lambda: F.gelu(wide),
    }


def typical_log(call: Call, calls: int = 9) -> list[dict[str, Any]]:
    """Median milliseconds of each primitive over several logged calls, after two unlogged ones.

    Rows in order of appearance: primitive, implementation (of its first line), lines, logged_ms.
    """
    call()
    call()
    logs = [log_of(call) for _ in range(calls)]
    first = logs[0]
    return [
        {
            "primitive": name,
            "implementation": next(one.implementation for one in first if one.primitive == name),
            "lines": sum(one.primitive == name for one in first),
            "logged_ms": statistics.median(time_in(log, name) for log in logs),
        }
        for name in dict.fromkeys(one.primitive for one in first)
    ]


def logged() -> list[dict[str, str]]:
    """Raw lines, on one thread: a convolution, four sizes with creation lines, an LSTM of one and of 64 steps.

    Of the convolution and the LSTM the quickest of nine logged calls, which other programs disturbed least.
    """

    def quickest(call: Call) -> Log:
        call()
        return min((log_of(call) for _ in range(9)), key=time_in)

    conv, lstm, image = nn.Conv2d(16, 32, 3, padding=1), nn.LSTM(128, 256), torch.randn(8, 16, 64, 64)
    logs = {"conv": quickest(lambda: conv(image))}
    for number, x in enumerate((torch.zeros(8, 16, size, size) for size in (33, 47, 33, 47)), start=1):
        logs[f"cache {number}"] = log_of(lambda x=x: conv(x), creation=True)
    for steps, x in {steps: torch.randn(steps, 1, 128) for steps in (1, 64)}.items():
        logs[f"lstm {steps}"] = quickest(lambda x=x: lstm(x))
    return [{"call": call, "line": line} for call, log in logs.items() for line in log.raw]


# --- routes -----------------------------------------------------------------------------------------------

# case: input shape, weight shape, options of conv2d, dtype
ROUTES: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, int], torch.dtype]] = {
    "batch": ((8, 3, 64, 64), (16, 3, 3, 3), {"padding": 1}, torch.float32),
    "large batch": ((16, 3, 64, 64), (16, 3, 3, 3), {"padding": 1}, torch.float32),
    "one large image": ((1, 3, 224, 224), (16, 3, 3, 3), {"padding": 1}, torch.float32),
    "one small image": ((1, 3, 32, 32), (16, 3, 3, 3), {"padding": 1}, torch.float32),
    "one small image, 5x5": ((1, 3, 32, 32), (16, 3, 5, 5), {"padding": 2}, torch.float32),
    "depthwise": ((1, 16, 32, 32), (16, 1, 3, 3), {"padding": 1, "groups": 16}, torch.float32),
    "dilation 2": ((8, 3, 64, 64), (16, 3, 3, 3), {"padding": 2, "dilation": 2}, torch.float32),
    "float64": ((8, 3, 64, 64), (16, 3, 3, 3), {"padding": 1}, torch.float64),
}


def route(x: torch.Tensor, weight: torch.Tensor, padding: int = 0, dilation: int = 1, groups: int = 1) -> str:
    """The backend PyTorch's dispatcher names for this convolution; "" where this torch does not tell."""
    try:
        chosen = torch._C._select_conv_backend(
            x, weight, None, [1, 1], [padding] * 2, [dilation] * 2, False, [0, 0], groups
        )
    except (AttributeError, TypeError, RuntimeError):
        return ""
    return str(chosen).rpartition(".")[2]


def routes_of(case: str) -> dict[str, Any]:
    """Where a case of ROUTES goes with oneDNN on and off, and how many lines it leaves in the log when on."""
    shape, weight_shape, options, dtype = ROUTES[case]
    x, weight = torch.zeros(shape, dtype=dtype), torch.zeros(weight_shape, dtype=dtype)
    mkldnn, seen = torch.backends.mkldnn, {}
    for name, state in (("off", False), ("on", True)):
        mkldnn.enabled = state
        seen[name] = route(x, weight, **options)
    lines = sum(one.primitive == "convolution" for one in log_of(lambda: F.conv2d(x, weight, **options)))
    return {"case": case, "on": seen["on"], "off": seen["off"], "convolution_lines": lines}


# --- probes for a new process -----------------------------------------------------------------------------


def _race(baseline: Call, candidate: Call) -> dict[str, Any]:
    """candidate / baseline as a row, on one thread."""
    from course.timing import compare

    race = compare({"baseline": baseline, "candidate": candidate}, baseline="baseline", max_time=0.7)
    return {**race_row(race), "median_ms": race.medians_ms["candidate"], "baseline_ms": race.medians_ms["baseline"]}


def _implementation(log: Log, *primitives: str) -> str:
    return next((one.implementation for one in log if one.primitive in primitives), "")


def rung() -> list[dict[str, Any]]:
    """A float32 convolution against a float32 matrix product (which is not oneDNN's), on one thread."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    layer, image, square = nn.Conv2d(64, 64, 3, padding=1), torch.randn(2, 64, 14, 14), torch.randn(128, 128)
    with torch.inference_mode():
        log = log_of(lambda: layer(image))
        isa = next((one.rpartition("isa:")[2] for one in log.header if "isa:" in one), "")
        row = _race(lambda: square @ square, lambda: layer(image))
    return [
        {
            **row,
            "implementation": _implementation(log, "convolution"),
            "isa": isa,
            "product_lines": len(log_of(lambda: square @ square)),
        }
    ]


def half() -> list[dict[str, Any]]:
    """A Linear layer in bfloat16 against the same in float32, on one thread."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    layer, rows = nn.Linear(256, 256), torch.randn(128, 256)
    layer_half, rows_half = nn.Linear(256, 256).bfloat16(), rows.bfloat16()
    with torch.inference_mode():
        log = log_of(lambda: layer_half(rows_half))
        row = _race(lambda: layer(rows), lambda: layer_half(rows_half))
    return [{**row, "implementation": _implementation(log, "matmul", "inner_product")}]


# --- threads: two candidates each, in a process of its own ------------------------------------------------

_ready: dict[str, Call] = {}


def _conv(name: str, size: int, channels: int, threads: int | None) -> None:
    """One call; the first one sets the number of threads of this process and makes the layer."""
    if name not in _ready:
        if threads is not None:
            torch.set_num_threads(threads)
        torch.set_grad_enabled(False)
        layer, image = nn.Conv2d(channels, channels, 3, padding=1), torch.randn(2, channels, size, size)
        _ready[name] = lambda: layer(image)
    _ready[name]()


def small_one_thread() -> None:
    """A small convolution on one thread; for a process of its own."""
    _conv("small", 8, 8, 1)


def small_all_threads() -> None:
    """The same on all the threads a process gets."""
    _conv("small", 8, 8, None)


def large_one_thread() -> None:
    """A large convolution on one thread; for a process of its own."""
    _conv("large", 56, 64, 1)


def large_all_threads() -> None:
    """The same on all the threads a process gets."""
    _conv("large", 56, 64, None)

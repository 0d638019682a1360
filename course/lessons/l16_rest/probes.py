"""What lesson 16 runs in a new process: einsum orders, flushed denormals, int8 engines, a busy neighbour, frozen weights.

torch alone is needed, opt_einsum where the name says einsum, a C++ compiler for the frozen model. Every function returns rows of
plain data.
"""

from __future__ import annotations

import copy
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from course.experiment.reading import race_row
from course.trace.onednn_log import log_of

Call = Callable[[], torch.Tensor]

# --- einsum: the order of three operands or more --------------------------------------------------------------

# case: equation, shapes
EINSUMS: dict[str, tuple[str, tuple[tuple[int, ...], ...]]] = {
    "vector last": ("ij,jk,k->i", ((1000, 1000), (1000, 1000), (1000,))),
    "vector first": ("i,ij,jk->k", ((1000,), (1000, 1000), (1000, 1000))),
    "adapter": ("ir,ro,bi->bo", ((1024, 8), (8, 1024), (16, 1024))),
    "two operands": ("ij,jk->ik", ((256, 256), (256, 256))),
    "tiny": ("ij,jk,kl->il", ((4, 4), (4, 4), (4, 4))),
}


def einsums(seconds: float) -> list[dict[str, Any]]:
    """Each case of EINSUMS raced on one thread: ratio = time with the path search / time without; same_bits of the results."""
    from torch.backends import opt_einsum

    from course.timing import compare

    torch.manual_seed(0)
    torch.set_num_threads(1)
    rows = []
    for case, (equation, shapes) in EINSUMS.items():
        operands = [torch.randn(shape) for shape in shapes]

        def searched(enabled: bool, equation: str = equation, operands: Any = operands) -> Call:
            def call() -> torch.Tensor:
                opt_einsum.enabled = enabled
                return torch.einsum(equation, *operands)

            return call

        sides = {"off": searched(False), "on": searched(True)}
        race = compare(sides, baseline="off", max_time=seconds / len(EINSUMS))
        rows.append(
            {
                "case": case,
                "equation": equation,
                **race_row(race),
                "off_ms": race.medians_ms["off"],
                "on_ms": race.medians_ms["on"],
                "rounds": race.rounds,
                "same_bits": int(torch.equal(sides["off"](), sides["on"]())),
            }
        )
    return rows


# --- denormal numbers and threads -----------------------------------------------------------------------------

NUMBERS = 2**20
FLUSH_ORDERS = ("never", "set, then threads", "threads, then set", "set, threads, taken back", "set in another thread")


def flushed(order: str) -> list[dict[str, Any]]:
    """One multiplication of 2^20 denormal numbers on two threads: the share kept above zero, in all and in either half.

    order: one of FLUSH_ORDERS; when torch.set_flush_denormal is called, and when the second thread starts to exist.
    Call it in a new process: a thread keeps what it was born with.
    """
    import threading

    import numpy

    torch.set_num_threads(2)
    tiny = torch.from_numpy(numpy.full(NUMBERS, 1e-39, dtype="float32"))  # below 1.2e-38, the smallest ordinary one
    flush = torch.set_flush_denormal

    def start_threads() -> None:
        torch.ones(NUMBERS).mul(0.5)

    supported = True
    if order == "set, then threads":
        supported = flush(True)
        start_threads()
    elif order == "threads, then set":
        start_threads()
        supported = flush(True)
    elif order == "set, threads, taken back":
        supported = flush(True)
        start_threads()
        flush(False)
    elif order == "set in another thread":
        start_threads()
        said: list[bool] = []
        other = threading.Thread(target=lambda: said.append(flush(True)))
        other.start()
        other.join()
        supported = said[0]
    else:
        start_threads()
    kept = (tiny * 0.5).view(torch.int32) != 0  # the bits: a comparison of floats would be flushed, too
    flush(False)
    halves = [half.float().mean().item() for half in kept.chunk(2)]
    return [
        {
            "order": order,
            "supported": int(supported),
            "threads": torch.get_num_threads(),
            "kept": sum(halves) / 2,
            "first": halves[0],
            "second": halves[1],
        }
    ]


# --- int8: weights packed by one engine and run under another -------------------------------------------------

SHAPE = (128, 512, 512)  # rows, inputs, outputs


def _engines() -> list[str]:
    return [
        name for name in ("x86", "fbgemm", "onednn", "qnnpack") if name in torch.backends.quantized.supported_engines
    ]


class Product:
    """One quantized product: `pack` under an engine, `run` a packed weight under an engine, the same product in float32."""

    def __init__(self) -> None:
        rows, inputs, outputs = SHAPE
        torch.manual_seed(0)
        self.x, self.weight = torch.randn(rows, inputs), torch.randn(outputs, inputs) * 0.05
        self.bias = torch.randn(outputs) * 0.1
        self.quantized_x = torch.quantize_per_tensor(self.x, 8 / 255, 128, torch.quint8)
        largest = self.weight.abs().max().item()
        self.quantized_weight = torch.quantize_per_tensor(self.weight, largest / 127, 0, torch.qint8)
        self.scale = self.float32().abs().max().item() / 127

    def float32(self) -> torch.Tensor:
        return torch.nn.functional.linear(self.x, self.weight, self.bias)

    def pack(self, engine: str) -> Any:
        torch.backends.quantized.engine = engine
        return torch.ops.quantized.linear_prepack(self.quantized_weight, self.bias)

    def run(self, packed: Any, engine: str) -> torch.Tensor:
        torch.backends.quantized.engine = engine
        return torch.ops.quantized.linear(self.quantized_x, packed, self.scale, 128)


def packed_and_run() -> list[dict[str, Any]]:
    """Weights packed under two engines, each run under both: whose bits come out, the maker's or the runner's.

    like: "maker" | "runner" | "both" (the two engines give the same bits) | "neither" | "error".
    """
    warnings.simplefilter("ignore")
    here, product = _engines(), Product()
    pair = [name for name in ("x86", "fbgemm", "onednn") if name in here][:1] + [
        name for name in ("qnnpack",) if name in here
    ]
    packed = {name: product.pack(name) for name in pair}
    own = {name: product.run(packed[name], name).int_repr() for name in pair}
    rows = []
    for maker in pair:
        for runner in pair:
            try:
                got = product.run(packed[maker], runner).int_repr()
            except RuntimeError:
                like = "error"
            else:
                as_maker, as_runner = torch.equal(got, own[maker]), torch.equal(got, own[runner])
                like = {(True, True): "both", (True, False): "maker", (False, True): "runner"}.get(
                    (as_maker, as_runner), "neither"
                )
            rows.append({"packed": maker, "engine": runner, "like": like})
    return rows


# --- two threads beside a busy neighbour ------------------------------------------------------------------------

CALLS, LEAST_CALLS, LEAST_ROUNDS = 600, 20, 6


NEIGHBOUR = [
    sys.executable,
    "-c",
    "import os, sys, threading\n"
    "threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()\n"
    "while True: pass",
]
"""A busy Python loop. It ends when its input closes, so also when the process that started it is killed."""


def two_cores() -> set[int]:
    """The two processors that this process may use first; an empty set where the system does not tell."""
    return set(sorted(os.sched_getaffinity(0))[:2]) if hasattr(os, "sched_getaffinity") else set()


def beside_a_neighbour(seconds: float, rounds: int = 12) -> list[dict[str, Any]]:
    """A convolution on one thread and on two, in turn, on two processors, alone and then beside one busy Python loop.

    Each row: 600 calls, fewer where they take long; their median and the time that 99 % of them stay below, in ms. On
    Linux this process and the neighbour stay on the same two processors.
    """
    cores = two_cores()
    if cores:
        os.sched_setaffinity(0, cores)
    torch.manual_seed(0)
    layer, x, rows = torch.nn.Conv2d(32, 32, 3, padding=1), torch.randn(1, 32, 56, 56), []
    with torch.inference_mode():
        for neighbours in (0, 1):
            busy = [subprocess.Popen(NEIGHBOUR, stdin=subprocess.PIPE) for _ in range(neighbours)]
            try:
                end = time.perf_counter() + seconds / 2
                for number in range(rounds):
                    for threads in (1, 2) if number % 2 else (2, 1):
                        found = _timed(layer, x, threads, seconds / 4 / LEAST_ROUNDS)
                        rows.append({"neighbours": neighbours, "round": number, "threads": threads, **found})
                    if time.perf_counter() > end and number + 1 >= LEAST_ROUNDS:
                        break
            finally:
                for one in busy:
                    one.kill()
                    one.communicate()
    return rows


def _timed(layer: Any, x: torch.Tensor, threads: int, seconds: float) -> dict[str, float]:
    torch.set_num_threads(threads)
    for _ in range(3):
        layer(x)
    times, end = [], time.perf_counter() + seconds
    while len(times) < CALLS and (len(times) < LEAST_CALLS or time.perf_counter() < end):
        start = time.perf_counter()
        layer(x)
        times.append((time.perf_counter() - start) * 1e3)
    times.sort()
    return {"calls": len(times), "median_ms": times[len(times) // 2], "p99_ms": times[int(0.99 * len(times))]}


# --- a model with frozen weights ----------------------------------------------------------------------------------


def _net() -> nn.Sequential:
    torch.manual_seed(0)
    layers = (nn.Conv2d(32, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    return nn.Sequential(*layers, nn.Linear(32, 10)).eval()


def _doubled(model: nn.Module) -> dict[str, torch.Tensor]:
    return {name: 2 * one if one.is_floating_point() else one for name, one in model.state_dict().items()}


def _new_parameter(model: nn.Module) -> None:
    model[5].weight = nn.Parameter(model[5].weight.data * 2)


CHANGES: dict[str, Callable[[nn.Module], Any]] = {
    "conv.weight.mul_(2)": lambda model: model[0].weight.data.mul_(2),
    "bn.running_mean.add_(1)": lambda model: model[1].running_mean.add_(1),
    "linear.weight.mul_(2)": lambda model: model[5].weight.data.mul_(2),
    "linear.bias.add_(1)": lambda model: model[5].bias.data.add_(1),
    "load_state_dict(other)": lambda model: model.load_state_dict(_doubled(model)),
    "linear.weight = nn.Parameter(...)": _new_parameter,  # the last: it compiles anew
}


def changes(frozen: bool) -> list[dict[str, Any]]:
    """Compile once, frozen or not; then one change of the weights after the other, each taken back.

    answers: whether the compiled model then computes like the "new" model, the "old" one, or "neither".
    A further row where torch has oneDNN, change "mkldnn.enabled = False": "old" where oneDNN still computes the convolution. Bits would
    not tell: with AVX-512 oneDNN and torch's own kernel may give the same.
    """
    import torch._inductor.config as inductor

    warnings.simplefilter("ignore")
    inductor.freezing = frozen
    torch.set_num_threads(1)
    model, x = _net(), torch.randn(4, 32, 32, 32)
    before = copy.deepcopy(model.state_dict())
    rows = []
    with torch.no_grad():
        start = time.perf_counter()
        compiled = torch.compile(model)
        old = compiled(x).clone()
        first_s = time.perf_counter() - start
        if torch.backends.mkldnn.is_available():
            torch.backends.mkldnn.enabled = False
            kept = any(line.primitive == "convolution" for line in log_of(lambda: compiled(x)))
            torch.backends.mkldnn.enabled = True
            rows.append({"change": "mkldnn.enabled = False", "answers": "old" if kept else "new"})
        for change, make in CHANGES.items():
            make(model)
            new, got = model(x), compiled(x)
            like_new, like_old = torch.allclose(got, new, atol=1e-5), torch.allclose(got, old, atol=1e-5)
            answers = {(True, False): "new", (False, True): "old"}.get((like_new, like_old), "neither")
            rows.append({"change": change, "answers": answers})
            model.load_state_dict(before)
    return [{"frozen": int(frozen), **row, "first_s": first_s} for row in rows]

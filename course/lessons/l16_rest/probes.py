"""What lesson 16 runs in a new process: einsum orders, flushed denormals, attention's order, instruction sets.

torch alone is needed, and opt_einsum where the name says einsum. Every function returns rows of plain data.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from course.experiment.rows import race_row

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


def searches(seconds: float, operands: int = 8) -> list[dict[str, Any]]:
    """Milliseconds of one einsum of many 3x3 matrices: without a search, and with each strategy, taking turns."""
    from torch.backends import opt_einsum

    from course.timing import compare

    torch.set_num_threads(1)
    letters = "abcdefghijklm"
    equation = ",".join(letters[i : i + 2] for i in range(operands)) + f"->{letters[0]}{letters[operands]}"
    matrices = [torch.randn(3, 3) for _ in range(operands)]

    def with_strategy(name: str) -> Call:
        def call() -> torch.Tensor:
            opt_einsum.enabled = name != "off"
            opt_einsum.strategy = "auto" if name == "off" else name
            return torch.einsum(equation, *matrices)

        return call

    names = ("off", "greedy", "auto", "optimal")
    race = compare({name: with_strategy(name) for name in names}, baseline="off", max_time=seconds, same=False)
    return [
        {
            "strategy": name,
            "ms": race.medians_ms[name],
            "ratio": race.pairs[name].ratio if name != "off" else 1.0,
            "low": race.pairs[name].low if name != "off" else 1.0,
            "high": race.pairs[name].high if name != "off" else 1.0,
            "rounds": race.rounds,
        }
        for name in names
    ]


class _Largest(TorchDispatchMode):
    """The number of elements of the largest product of matrices that was computed inside."""

    numel = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func.name() in ("aten::mm", "aten::bmm"):
            self.numel = max(self.numel, result.numel())
        return result


def trap() -> list[dict[str, Any]]:
    """What opt_einsum.enabled reads after each of five steps, and whether einsum then multiplies the two matrices first."""
    from torch.backends import opt_einsum

    a, b, v = torch.ones(20, 20), torch.ones(20, 20), torch.ones(20)
    rows = []

    def look(step: str, asked: bool) -> None:
        with _Largest() as seen:
            torch.einsum("ij,jk,k->i", a, b, v)
        reads = bool(opt_einsum.enabled)
        rows.append({"step": step, "asked": int(asked), "reads": int(reads), "searched": int(seen.numel < 400)})

    look("start", True)
    with opt_einsum.flags(enabled=False):
        look("block off", False)
    opt_einsum.enabled = False
    look("assigned off", False)
    with opt_einsum.flags(enabled=True):
        look("block on", True)
    opt_einsum.enabled = True
    look("assigned on", True)
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


# --- attention on a CPU: which kernel, whatever the order says ------------------------------------------------


def attention(seconds: float) -> list[dict[str, Any]]:
    """Attention on this CPU under five settings: the order that torch reads back, the kernel, the bits; and one race.

    ratio, low, high: time with flash switched off / time as it comes, on one thread; 0 in the other rows.
    """
    import contextlib

    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention

    from course.attention import kernel_of
    from course.timing import compare

    torch.manual_seed(0)
    torch.set_num_threads(1)
    flash, math, efficient = SDPBackend.FLASH_ATTENTION, SDPBackend.MATH, SDPBackend.EFFICIENT_ATTENTION
    q, k, v = (torch.randn(1, 8, 512, 64) for _ in range(3))

    def attend() -> torch.Tensor:
        return scaled_dot_product_attention(q, k, v)

    @contextlib.contextmanager
    def switched_off() -> Any:
        torch.backends.cuda.enable_flash_sdp(False)
        try:
            yield
        finally:
            torch.backends.cuda.enable_flash_sdp(True)

    settings = {
        "as it comes": contextlib.nullcontext,
        "math first": lambda: sdpa_kernel([math, flash], set_priority=True),
        "math alone": lambda: sdpa_kernel(math),
        "efficient alone": lambda: sdpa_kernel(efficient),
        "flash off": switched_off,
    }
    read_order = getattr(torch._C, "_get_sdp_priority_order", list)
    rows, plain = [], attend()
    for setting, entered in settings.items():
        with entered(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            row = {"setting": setting, "first": _named(read_order()), "error": 0, "ratio": 0.0, "low": 0.0, "high": 0.0}
            try:
                row |= {"kernel": kernel_of(attend), "same_bits": int(torch.equal(attend(), plain))}
            except RuntimeError:
                row |= {"kernel": "", "same_bits": 0, "error": 1}
            rows.append(row)

    def without_flash() -> torch.Tensor:
        with switched_off():
            return attend()

    with torch.inference_mode():
        race = compare({"on": attend, "off": without_flash}, baseline="on", max_time=seconds)
    rows[-1] |= {"ratio": race.ratio, "low": race.low, "high": race.high}
    return rows


def _named(order: list[int]) -> str:
    """The first of flash and math in an order of kernels as torch gives it, numbers of SDPBackend; "" where it gives none."""
    from torch.nn.attention import SDPBackend

    names = {int(SDPBackend.FLASH_ATTENTION): "flash", int(SDPBackend.MATH): "math"}
    return next((names[one] for one in order if one in names), "")


# --- instruction sets: whose bits change -----------------------------------------------------------------------


def bits() -> list[dict[str, str]]:
    """A short hash of what nine calls give with seed 0, and the instructions that ATen's own kernels use."""

    def hashed(made: torch.Tensor) -> str:
        return hashlib.sha1(made.detach().contiguous().numpy().tobytes()).hexdigest()[:12]

    torch.set_num_threads(1)
    numbers = (torch.arange(2**16) - 2**15) / 2**13  # exact on every machine, from -4 to 4
    table = numbers.view(256, 256)
    calls = {
        "torch.rand(1000)": lambda: torch.rand(1000),
        "torch.randn(1000)": lambda: torch.randn(1000),
        "torch.randperm(1000)": lambda: torch.randperm(1000),
        "nn.Linear(8, 8)": lambda: torch.nn.Linear(8, 8).weight,
        "a * b + a": lambda: table * table.mT + table,
        "a @ b": lambda: table @ table,
        "exp": lambda: numbers.exp(),
        "sum": lambda: numbers.exp().sum().view(1),
        "softmax": lambda: numbers.view(64, 1024).softmax(1),
    }
    rows = []
    for what, call in calls.items():
        torch.manual_seed(0)
        rows.append({"what": what, "bits": hashed(call()), "uses": torch.backends.cpu.get_cpu_capability()})
    return rows

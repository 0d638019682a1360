"""What lesson 16 runs in a new process: einsum orders, flushed denormals, attention's order, instruction sets.

torch alone is needed, and opt_einsum where the name says einsum. Every function returns rows of plain data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

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


# --- instruction sets: whose bits change -----------------------------------------------------------------------

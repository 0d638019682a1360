"""Probes of lesson 07 that write and read the precision switches: each runs in a process of its own.

Two leaves of the tree (cuDNN's conv and rnn) start with a value that cannot be written back, so nothing here
may run in the learner's process. torch alone is needed, and no GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import torch

from course.experiment.probes import device, within
from course.experiment.reading import race_row

B = torch.backends
READ: dict[str, Callable[[], str]] = {
    "fp32_precision": lambda: B.fp32_precision,
    "cudnn": lambda: B.cudnn.fp32_precision,
    "cudnn.conv": lambda: B.cudnn.conv.fp32_precision,
    "cudnn.rnn": lambda: B.cudnn.rnn.fp32_precision,
    "cuda.matmul": lambda: B.cuda.matmul.fp32_precision,
    "mkldnn": lambda: B.mkldnn.fp32_precision,
    "mkldnn.matmul": lambda: B.mkldnn.matmul.fp32_precision,
    "mkldnn.conv": lambda: B.mkldnn.conv.fp32_precision,
    "mkldnn.rnn": lambda: B.mkldnn.rnn.fp32_precision,
}
NODES = {
    "cudnn": B.cudnn,
    "cudnn.conv": B.cudnn.conv,
    "cudnn.rnn": B.cudnn.rnn,
    "cuda.matmul": B.cuda.matmul,
    "mkldnn": B.mkldnn,
    "mkldnn.matmul": B.mkldnn.matmul,
    "mkldnn.conv": B.mkldnn.conv,
    "mkldnn.rnn": B.mkldnn.rnn,
    "fp32_precision": B,
}
OLD: dict[str, Callable[[], Any]] = {
    "cuda.matmul.allow_tf32": lambda: B.cuda.matmul.allow_tf32,
    "get_float32_matmul_precision()": torch.get_float32_matmul_precision,
    "cudnn.allow_tf32": lambda: B.cudnn.allow_tf32,
}


def write(node: str, value: str) -> None:
    """Set one node of the tree, named as in READ."""
    NODES[node].fp32_precision = value


def state() -> dict[str, str]:
    """What every node of the tree reads now."""
    return {name: read() for name, read in READ.items()}


def clear() -> None:
    """Let everything but conv and rnn of cuDNN inherit again."""
    torch.set_float32_matmul_precision("highest")
    for node in ("fp32_precision", "cudnn", "cuda.matmul", "mkldnn.matmul", "mkldnn.conv", "mkldnn.rnn"):
        write(node, "none")


STEPS = (
    ("fp32_precision", "ieee"),
    ("fp32_precision", "tf32"),
    ("cudnn", "ieee"),
    ("cuda.matmul", "tf32"),
    ("mkldnn.matmul", "bf16"),
    ("mkldnn", "bf16"),
)


def tree() -> list[dict]:
    """Set one node at a time; what each node reads before and after. The last line sets two."""
    before = state()
    rows = [{"set": "nothing", "node": node, "before": value, "after": value} for node, value in before.items()]

    def note(label: str) -> None:
        rows.extend(
            {"set": label, "node": node, "before": before[node], "after": value} for node, value in state().items()
        )

    for node, value in STEPS:
        write(node, value)
        note(f"{node} = {value}")
        clear()
    torch.set_float32_matmul_precision("high")
    note("set_float32_matmul_precision(high)")
    clear()
    write("cudnn.conv", "ieee")
    write("fp32_precision", "tf32")
    note("cudnn.conv = ieee, fp32_precision = tf32")
    return rows


def _told(read: Callable[[], Any]) -> tuple[str, str]:
    """The value as text, or "raises" and the first sentence of the error."""
    try:
        return str(read()), ""
    except RuntimeError as error:
        return "raises", str(error).split(". ")[0][:200]


def _old_matmul() -> None:
    B.cuda.matmul.allow_tf32 = True


def _old_then_new() -> None:
    B.cuda.matmul.allow_tf32 = True
    write("cuda.matmul", "ieee")


MIXES: dict[str, tuple[str, Callable[[], None]]] = {
    "nothing": ("old", lambda: None),
    "set_float32_matmul_precision(high)": ("old", lambda: torch.set_float32_matmul_precision("high")),
    "cuda.matmul.allow_tf32 = True": ("old", _old_matmul),
    "cuda.matmul.fp32_precision = tf32": ("new", lambda: write("cuda.matmul", "tf32")),
    "fp32_precision = tf32": ("new", lambda: write("fp32_precision", "tf32")),
    "fp32_precision = ieee": ("new", lambda: write("fp32_precision", "ieee")),
    "allow_tf32 = True, then fp32_precision = ieee": ("both", _old_then_new),
}


def mixing() -> list[dict]:
    """Write with one API, read with the old one: the value or the error."""
    rows = []
    for wrote, (api, change) in MIXES.items():
        change()
        for read, old in OLD.items():
            outcome, message = _told(old)
            rows.append({"wrote": wrote, "api": api, "read": read, "outcome": outcome, "message": message})
        clear()
    return rows


def allow(on: bool) -> None:
    """TF32 for cuDNN and cuBLAS through the old switches: the same words for every version of torch."""
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = on


def speed(sizes: list[int], seconds: float) -> list[dict]:
    """time(TF32 allowed) / time(forbidden), by size; the switch is turned inside each call. seconds: for all together."""
    from course.timing import compare

    rows, where = [], device()
    end, left = perf_counter() + seconds, 2 * len(sizes)
    with torch.no_grad():
        for size in within(seconds, sizes):
            torch.manual_seed(0)
            a, b = torch.randn(size, size, device=where), torch.randn(size, size, device=where)
            x, w = torch.randn(16, 64, size // 16, size // 16, device=where), torch.randn(64, 64, 3, 3, device=where)
            calls = {
                "matmul": lambda a=a, b=b: a @ b,
                "conv": lambda x=x, w=w: torch.nn.functional.conv2d(x, w, padding=1),
            }
            for name, call in calls.items():
                race = compare(
                    {"ieee": _under(call, False), "tf32": _under(call, True)},
                    baseline="ieee",
                    device=where,
                    max_time=max(0.1, min(6.0, (end - perf_counter()) / left)),
                )
                left -= 1
                rows.append(
                    {
                        "operation": name,
                        "size": size,
                        **race_row(race),
                        "ieee_ms": race.medians_ms["ieee"],
                        "tf32_ms": race.medians_ms["tf32"],
                    }
                )
    return rows


def _under(call: Callable[[], torch.Tensor], on: bool) -> Callable[[], torch.Tensor]:
    def run() -> torch.Tensor:
        allow(on)
        return call()

    return run

"""Probes of lesson 07 that write and read the precision switches: each runs in a process of its own.

Two leaves of the tree (cuDNN's conv and rnn) start with a value that cannot be written back, so nothing here
may run in the learner's process. torch alone is needed, and no GPU.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable
from typing import Any

import torch

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


def _conv_after_root(story: str) -> list[dict]:
    write("fp32_precision", "ieee")
    seen = [{"story": story, "node": node, "reads": READ[node]()} for node in ("cudnn.conv", "cudnn.rnn")]
    write("fp32_precision", "none")
    return seen


def no_op() -> list[dict]:
    """Ask for ieee at the root: untouched, and after allow_tf32 was assigned the value it had."""
    rows = _conv_after_root("untouched")
    B.cudnn.allow_tf32 = B.cudnn.allow_tf32
    return rows + _conv_after_root("assigned")


def no_op_block() -> list[dict]:
    """The same after an empty block `with cudnn.flags(enabled=True)`."""
    with B.cudnn.flags(enabled=B.cudnn.enabled):
        pass
    return _conv_after_root("block")


# --- which calls of torch read the old words -----------------------------------------------------------------


def _new_and_old() -> None:
    """Each kind of work in the word that the card `fp32_precision` names."""
    write("cuda.matmul", "tf32")
    B.cudnn.allow_tf32 = False


def _old_only() -> None:
    torch.set_float32_matmul_precision("high")
    B.cudnn.allow_tf32 = False


WRITINGS: dict[str, Callable[[], None]] = {
    "nothing": lambda: None,
    "matmul new": lambda: write("cuda.matmul", "tf32"),
    "conv new": lambda: write("cudnn.conv", "ieee"),
    "root": lambda: write("fp32_precision", "ieee"),
    "matmul new, cudnn old": _new_and_old,
    "old only": _old_only,
}


def _layers() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    return torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.Flatten(), torch.nn.Linear(8, 2)), (
        torch.ones(1, 1, 4, 4),
    )


def _forward() -> None:
    model, inputs = _layers()
    model(*inputs)


def _compile() -> None:
    model, inputs = _layers()
    torch.compile(model, backend="eager")(*inputs)


def _profile() -> None:
    with torch.profiler.profile():
        _forward()


def _cudnn_flags() -> None:
    with B.cudnn.flags(enabled=True):
        pass


def _mkldnn_flags() -> None:
    with B.mkldnn.flags(enabled=True):
        pass


CALLS: dict[str, Callable[[], Any]] = {
    **OLD,
    "model(x)": _forward,
    "torch.jit.trace": lambda: torch.jit.trace(*_layers()),
    "torch.profiler.profile": _profile,
    "torch.compile": _compile,
    "mkldnn.flags": _mkldnn_flags,
    "torch.export": lambda: torch.export.export(*_layers()),
    "cudnn.flags": _cudnn_flags,
}
"""The calls, those that write switches on their way last."""


def old_words(wrote: str) -> list[dict]:
    """Every call once after these words were written: it works, warns about the words, or raises (with its first sentence)."""
    WRITINGS[wrote]()
    torch.set_warn_always(True)  # or only the first of the calls would warn
    rows = []
    for name, call in CALLS.items():
        with warnings.catch_warnings(record=True) as said, contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("always")
            outcome, message = _told(call)
        about = [str(one.message)[:200] for one in said if "control TF32 behavior" in str(one.message)]
        if outcome != "raises":
            outcome, message = ("warns", about[0]) if about else ("works", "")
        rows.append({"wrote": wrote, "call": name, "outcome": outcome, "message": message})
    return rows

"""Saving and restoring the whole float32 precision state exactly, inherited values included.

torch answers every question about a node of the precision tree with the value in force, so a leaf that
inherits 'ieee' and a leaf set to 'ieee' read the same. Which of the two it is shows when its parent is
moved for a moment; every move here is undone at once, with nothing but these few calls in between.

What cannot be restored: in torch 2.13 `cudnn.conv` and `cudnn.rnn` start with a value that no public call can
write (TF32 unless a parent says otherwise; `Float32Precision::DEFAULT` in aten/src/ATen/Context.h). Once one
of them, or `cudnn.allow_tf32`, has been assigned, it can read 'tf32' again but no longer follows its parents.
`restore` names such leaves.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from course.flags.switch import quietly

ROOT = ("generic", "all")
BRANCHES = (("cuda", "all"), ("mkldnn", "all"))
LEAVES = (
    ("cuda", "conv"),
    ("cuda", "rnn"),
    ("cuda", "matmul"),
    ("mkldnn", "matmul"),
    ("mkldnn", "conv"),
    ("mkldnn", "rnn"),
)
NAMES = {("cuda", "conv"): "cudnn.conv.fp32_precision", ("cuda", "rnn"): "cudnn.rnn.fp32_precision"}
# Changing one of these can change the stored value of others: they are saved and restored together.
LINKED = frozenset(
    {
        "fp32_precision",
        "cudnn.fp32_precision",
        "cudnn.conv.fp32_precision",
        "cudnn.rnn.fp32_precision",
        "cudnn.allow_tf32",
        "cuda.matmul.allow_tf32",
        "cuda.matmul.fp32_precision",
        "mkldnn.fp32_precision",
        "mkldnn.matmul.fp32_precision",
        "mkldnn.conv.fp32_precision",
        "mkldnn.rnn.fp32_precision",
        "torch.float32_matmul_precision",
    }
)
INHERIT = "none"
FACTORY = "factory"  # the starting value of cudnn.conv and cudnn.rnn that no call can write

Node = tuple[str, str]


@dataclass(frozen=True)
class Precision:
    """The stored (not the inherited) value of every node, and the two older settings beside the tree.

    nodes: node -> 'none' (inherits), 'ieee', 'tf32', 'bf16', ... or FACTORY.
    cudnn_tf32: the older cuDNN flag. matmul: 'highest', 'high' or 'medium'.
    """

    nodes: dict[Node, str]
    cudnn_tf32: bool
    matmul: str


def save() -> Precision | None:
    """The precision state now; None on a torch without the tree."""
    return quietly(_save)


def restore(saved: Precision | None) -> list[str]:
    """Put the precision state back; gives the leaves that read the same but no longer follow a parent."""
    if saved is None:
        return []
    return quietly(lambda torch: _restore(torch, saved))


def _get(torch: Any, node: Node) -> str:
    return torch._C._get_fp32_precision_getter(*node)


def _set(torch: Any, node: Node, value: str) -> None:
    torch._C._set_fp32_precision_setter(*node, value)


@contextlib.contextmanager
def _moved(torch: Any, node: Node, back: str) -> Iterator[None]:
    """Writes made inside to `node` are undone: it gets the stored value `back`."""
    try:
        yield
    finally:
        _set(torch, node, back)


def _save(torch: Any) -> Precision | None:
    if not hasattr(torch._C, "_get_fp32_precision_getter"):
        return None
    nodes = {ROOT: _get(torch, ROOT)}
    for branch in BRANCHES:
        nodes[branch] = _stored(torch, branch, ROOT, nodes[ROOT])
    for leaf in LEAVES:
        parent = (leaf[0], "all")
        nodes[leaf] = _stored(torch, leaf, parent, nodes[parent])
    return Precision(nodes, _cudnn_tf32(torch, nodes), _matmul(torch, nodes))


def _stored(torch: Any, node: Node, parent: Node, parent_value: str) -> str:
    """What `node` itself holds, told by whether it follows its parent."""
    with _moved(torch, parent, parent_value):
        seen = []
        for value in ("ieee", "tf32"):
            _set(torch, parent, value)
            seen.append(_get(torch, node))
        if seen != ["ieee", "tf32"]:
            return seen[0]
    if node[1] == "all" or node[0] != "cuda" or node[1] == "matmul":
        return INHERIT
    root = _get(torch, ROOT)
    with _moved(torch, ROOT, root), _moved(torch, parent, parent_value):
        _set(torch, ROOT, "none")
        _set(torch, parent, "none")
        return INHERIT if _get(torch, node) == "none" else FACTORY


def _cudnn_tf32(torch: Any, nodes: dict[Node, str]) -> bool:
    """The older flag itself: torch tells it only when the conv and rnn leaves agree with it."""
    branch = ("cuda", "all")
    with contextlib.ExitStack() as undo:
        undo.enter_context(_moved(torch, branch, nodes[branch]))
        _set(torch, branch, "tf32")
        for leaf in (("cuda", "conv"), ("cuda", "rnn")):
            if nodes[leaf] not in (INHERIT, FACTORY):
                undo.enter_context(_moved(torch, leaf, nodes[leaf]))
                _set(torch, leaf, "tf32")
        try:
            return bool(torch._C._get_cudnn_allow_tf32())
        except RuntimeError:  # both leaves say tf32, the flag does not
            return False


def _matmul(torch: Any, nodes: dict[Node, str]) -> str:
    """The float32 matmul setting itself: with both leaves at 'ieee' torch always tells it."""
    leaves = (("cuda", "matmul"), ("mkldnn", "matmul"))
    with _moved(torch, leaves[0], nodes[leaves[0]]), _moved(torch, leaves[1], nodes[leaves[1]]):
        for leaf in leaves:
            _set(torch, leaf, "ieee")
        return torch.get_float32_matmul_precision()


def _restore(torch: Any, saved: Precision) -> list[str]:
    now = _save(torch)
    if now == saved:
        return []
    if now.matmul != saved.matmul:
        torch.set_float32_matmul_precision(saved.matmul)
    if now.cudnn_tf32 != saved.cudnn_tf32:
        torch._C._set_cudnn_allow_tf32(saved.cudnn_tf32)
    for node, value in saved.nodes.items():
        if value != FACTORY:
            _set(torch, node, value)
    after = _save(torch)
    factory = [node for node, value in saved.nodes.items() if value == FACTORY]
    pinned = [node for node in factory if after.nodes[node] != FACTORY]
    for node in pinned:
        _set(torch, node, _factory_value(saved, node))
    return [NAMES[node] for node in pinned]


def _factory_value(saved: Precision, node: Node) -> str:
    """What a factory leaf read when it was saved: its parents' value, else TF32."""
    for parent in ((node[0], "all"), ROOT):
        if saved.nodes[parent] == "bf16":
            return INHERIT  # CUDA has no bf16 here: the leaf read 'none'
        if saved.nodes[parent] != INHERIT:
            return saved.nodes[parent]
    return "tf32"

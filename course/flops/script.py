"""TorchScript: which nodes of a graph run without passing through torch's dispatcher, where nobody can count them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import torch

_STRUCTURE = frozenset(
    """
Constant GetAttr SetAttr ListConstruct ListUnpack TupleConstruct TupleUnpack TupleIndex TupleSlice DictConstruct If
Loop CallMethod CallFunction RaiseException Print Uninitialized unchecked_cast unchecked_unwrap_optional isinstance
NumToTensor TensorToNum ImplicitTensorToNum dtype device layout shape requires_grad is_cuda is_cpu is_mkldnn
is_quantized is_nested is_meta is_sparse data min max abs type index CreateObject Enter Exit rangelist profile Param
Return ConstantChunk ModuleContainerIndex tolist grad ConstantMKLDNNTensor EnumName EnumValue unpackedtuple
""".split()
)


def _nodes(block: Any) -> Iterator[Any]:
    for node in block.nodes():
        yield node
        for inner in node.blocks():
            yield from _nodes(inner)


def hidden_nodes(module: torch.jit.ScriptModule) -> Counter[str]:
    """Node kinds, with their number, that fuse or move work out of sight (optimised graphs have them).

    Operators of `aten` and of other libraries go through the dispatcher; of the interpreter's own nodes (`prim`)
    only those known to hold structure pass.
    """
    scripts = [one._c for one in module.modules() if isinstance(one, torch.jit.ScriptModule)]
    graphs = [one._get_method(name).graph for one in scripts for name in one._method_names()]
    kinds = [node.kind().partition("::") for graph in graphs for node in _nodes(graph)]
    return Counter(
        f"TorchScript prim::{name}" for space, _, name in kinds if space == "prim" and name not in _STRUCTURE
    )

"""A model of torch.export, whose operators are given back to the modules that they came from."""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch
from torch import nn
from torch.fx.passes.split_module import split_module

REST = "submod_"
"""How the names of parts begin that no module but the model itself has."""


def is_exported(model: nn.Module) -> bool:
    """Whether torch.export made it: of its layers operators are left. (A graph of torch.fx alone keeps the layers.)"""
    nodes = model.graph.nodes if isinstance(model, torch.fx.GraphModule) else ()
    return any(isinstance(node.target, torch._ops.OpOverload) for node in nodes)


def regrouped(model: Any) -> Any:
    """A new module on the same weights: operators in a row from one module are a module of its name and class, operators of the
    forward of the model itself are parts called REST.
    """
    runs = list[tuple[str, str]]()

    def run_of(node: Any) -> int:
        path, kind = [("", ""), *(node.meta.get("nn_module_stack") or {}).values()][-1]
        if node.op == "call_module":  # the check of the inputs, which has the name of whatever comes next
            path = ""
        if not runs or runs[-1][0] != path:
            runs.append((path, str(kind).split(".")[-1]))
        return len(runs) - 1

    new, seen = split_module(model, model, run_of), Counter[str]()
    calls = {node.target: node for node in new.graph.nodes}
    for at, (path, kind) in enumerate(runs):
        if not path:
            continue
        part, name = new.get_submodule(f"{REST}{at}"), path + f"_{seen[path]}" * (seen[path] > 0)
        seen[path] += 1
        type(part).__name__ = kind
        if name in dict(new.named_modules()):  # it holds the weights
            for held in ("_parameters", "_buffers", "_modules"):
                getattr(part, held).update(getattr(new.get_submodule(name), held))
        new.add_submodule(name, part)
        calls[f"{REST}{at}"].target = name
        new.delete_submodule(f"{REST}{at}")
    new.graph.set_codegen(model.graph._codegen)
    new.recompile()
    return new

"""A model of torch.export, whose operators are given back to the modules that they came from."""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch
from torch import nn
from torch.fx.passes.split_module import split_module

REST = "submod_outside_"
"""How the names of parts begin that are outside the layers."""


def _module_of(node: Any) -> tuple[str, str]:
    """Path and class of the module that a node of the graph came from; no path for the model itself. What makes a weight belongs to
    the layer that has it.
    """
    if node.op == "call_module":  # the check of the inputs, which has the name of whatever comes next
        return "", ""
    inside = (node.meta.get("nn_module_stack") or {}).values()
    path, kind = [("", ""), *(at for at in inside if "parametrizations" not in at[0].split("."))][-1]
    return path, str(kind).split(".")[-1]


def regrouped(model: nn.Module) -> nn.Module:
    """The model as it is; of one that torch.export made, which has operators in the place of layers, a new module on the same weights:
    operators in a row from one layer are a module of its name and class, operators of a module that calls others, such as the model
    itself, are parts called REST. (A graph of torch.fx alone keeps the layers.)
    """
    nodes = model.graph.nodes if isinstance(model, torch.fx.GraphModule) else ()
    if not any(isinstance(node.target, torch._ops.OpOverload) for node in nodes):
        return model
    runs, came_from = list[tuple[str, str]](), {node: _module_of(node) for node in nodes}
    callers = {path[:at] for path, _ in came_from.values() for at, letter in enumerate(path) if letter == "."}

    def run_of(node: Any) -> int:
        path, kind = came_from[node]
        if path in callers:
            path = ""
        if not runs or runs[-1][0] != path:
            runs.append((path, kind))
        return len(runs) - 1

    new, seen = split_module(model, model, run_of, partition_affix="outside"), Counter[str]()
    calls, holders = {node.target: node for node in new.graph.nodes}, dict(new.named_modules())
    for at, (path, kind) in enumerate(runs):
        if not path:
            continue
        part, name = new.get_submodule(f"{REST}{at}"), path + f"@{seen[path]}" * (seen[path] > 0)
        seen[path] += 1
        type(part).__name__ = kind
        if name in holders:  # it holds the weights
            for held in ("_parameters", "_buffers", "_modules"):
                getattr(part, held).update(getattr(holders[name], held))
        new.add_submodule(name, part)
        calls[f"{REST}{at}"].target = name
        new.delete_submodule(f"{REST}{at}")
    new.graph.set_codegen(model.graph._codegen)
    new.recompile()
    return new

"""The running sums of a count, and which module the work belongs to.

Forward: hooks on the modules keep a stack of those being run. Backward: autograd nodes carry the sequence number
they got in the forward; the stack's history says which module was running then.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from typing import Any

import torch
from torch import nn

from course.flops.result import ModuleCount


def module_tree(roots: list[nn.Module], kind: str) -> tuple[ModuleCount, dict[int, ModuleCount]]:
    """The tree of the modules under a nameless root, and each module's place by id.

    A module reachable by two names stands where it is found first.
    """
    root = ModuleCount("", kind)
    places: dict[int, ModuleCount] = {}
    tensors: set[int] = set()

    def place(node: ModuleCount, module: nn.Module) -> None:
        places[id(module)] = node
        for parameter in module._parameters.values():
            if parameter is not None and id(parameter) not in tensors:
                tensors.add(id(parameter))
                node.params += parameter.numel()
        for name, child in module._modules.items():
            if child is not None and id(child) not in places:
                below = ModuleCount(f"{node.name}.{name}" if node.name else name, type(child).__name__)
                node.children.append(below)
                place(below, child)

    for at, module in enumerate(roots):
        if id(module) not in places:
            node = root
            if len(roots) > 1:
                node = ModuleCount(f"{type(module).__name__.lower()}_{at}", type(module).__name__)
                root.children.append(node)
            place(node, module)
    return root, places


def all_parameters(modules: Iterable[nn.Module]) -> int:
    """Number of distinct parameter elements."""
    return sum({id(p): p.numel() for m in modules for p in m._parameters.values() if p is not None}.values())


class Tally:
    """MACs, calls, unknown operators and element operations seen so far."""

    def __init__(self, root: ModuleCount, places: dict[int, ModuleCount]) -> None:
        self.root, self.places = root, places
        self.by_operator: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self.element_operations = 0
        self.summed_products = 0
        self._stack = [root]
        self._history: list[tuple[int, ModuleCount]] = [(torch.autograd._get_sequence_nr(), root)]
        self._thread = threading.get_ident()

    def place(self) -> ModuleCount:
        """The module the operator running now belongs to."""
        if len(self._stack) == 1:
            node = torch._C._current_autograd_node()
            if node is not None:
                at = bisect_right(self._history, node._sequence_nr(), key=lambda entry: entry[0])
                return self._history[max(at - 1, 0)][1]
        return self._stack[-1]

    def contraction(self, name: str, macs: int) -> None:
        """One call of a counted operator."""
        self.by_operator[name] += macs
        self.calls[name] += 1
        self.place().own += macs

    def elements(self, number: int) -> None:
        """One call of an element operator on that many elements."""
        self.element_operations += number
        self.place().element_operations += number

    def follow(self, modules: Iterable[nn.Module]) -> None:
        """Hook on to modules that are thrown away after the count."""
        for module in modules:
            if id(module) in self.places and not isinstance(module, torch.jit.ScriptModule):
                module.register_forward_pre_hook(self._enter, prepend=True)
                module.register_forward_hook(self._leave, always_call=True)

    def _enter(self, module: nn.Module, _args: Any) -> None:
        if threading.get_ident() == self._thread:
            node = self.places[id(module)]
            node.calls += 1
            self._stack.append(node)
            self._note()

    def _leave(self, _module: nn.Module, _args: Any, _output: Any) -> None:
        if threading.get_ident() == self._thread and len(self._stack) > 1:
            self._stack.pop()
            self._note()

    def _note(self) -> None:
        self._history.append((torch.autograd._get_sequence_nr(), self._stack[-1]))

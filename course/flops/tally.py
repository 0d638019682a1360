"""The running sums of a count, and which module the work belongs to.

Forward: a stack of the modules being run. Backward: autograd nodes carry the sequence number they got in the
forward; the stack's history says which module was running then.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

from course.flops.result import ModuleCount


class Tally:
    """MACs and unknown operators seen so far.

    Modules of a callable are found when it calls them.
    """

    def __init__(self) -> None:
        self.root = ModuleCount("", "")
        self.places: dict[int, ModuleCount] = {}
        self.by_operator: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self.depth = 0  # how many functions of torch are running, one inside the other
        self._alive: dict[int, Any] = {}  # an id means something only while its object lives
        self._stack = [self.root]
        self._history = [(torch.autograd._get_sequence_nr(), self.root)]
        self._found, self._thread = 0, threading.get_ident()
        self._whole = False

    def start(self, model: Any) -> None:
        """Makes places for the modules of a model."""
        owner = getattr(model, "__self__", model)
        self.root.kind = getattr(model, "__name__", type(model).__name__)
        self._whole = isinstance(owner, nn.Module)
        if self._whole:
            self._plant(self.root, owner)

    def _plant(self, node: ModuleCount, module: nn.Module) -> None:
        """Places for a module and all below it; one reachable by two names stands where it is found first."""
        node.kind = type(module).__name__
        self.places[id(module)] = node
        self._alive[id(module)] = module
        for parameter in getattr(module, "_parameters", {}).values():  # a module never set up has none
            if parameter is not None and id(parameter) not in self._alive:
                self._alive[id(parameter)] = parameter
                node.params += parameter.numel()
        for name, child in getattr(module, "_modules", {}).items():
            if child is not None and id(child) not in self.places:
                below = ModuleCount(f"{node.name}.{name}" if node.name else name, "")
                node.children.append(below)
                self._plant(below, child)

    def tree(self) -> ModuleCount:
        """Returns all modules with their work. A function that only wraps one module counts as that module."""
        if self._found != 1:
            return self.root
        (only,), start = self.root.children, len(self.root.children[0].name)
        for _, module in only.walk():
            module.name = module.name[start:].removeprefix(".")
        only.own += self.root.own
        return only

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
        self.place().own += macs

    @contextmanager
    def following(self) -> Iterator[None]:
        """Notice every forward of a module that this thread runs in this block."""
        pre = register_module_forward_pre_hook(self._enter)
        with pre, register_module_forward_hook(self._leave, always_call=True):
            yield

    def _enter(self, module: nn.Module, _args: Any) -> None:
        if threading.get_ident() != self._thread:
            if id(module) in self.places:
                self.unknown["work in another thread"] += 1
            return
        if id(module) not in self.places and not self._whole and len(self._stack) == 1:
            node = ModuleCount(f"{type(module).__name__.lower()}_{self._found}", "")
            self._found += 1
            self.root.children.append(node)
            self._plant(node, module)
        if isinstance(module, torch.jit.ScriptModule):
            self.unknown["TorchScript (compiled code)"] += 1
        self._stack.append(self.places.get(id(module), self._stack[-1]))
        self._note()

    def _leave(self, _module: nn.Module, _args: Any, _output: Any) -> None:
        if threading.get_ident() == self._thread and len(self._stack) > 1:
            self._stack.pop()
            self._note()

    def _note(self) -> None:
        self._history.append((torch.autograd._get_sequence_nr(), self._stack[-1]))

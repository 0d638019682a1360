"""The running sums of a count, and which module the work belongs to.

Forward: two global module hooks keep a stack of the modules being run. Backward: autograd nodes carry
the sequence number they got in the forward; the stack's history says which module was running then.
"""

from __future__ import annotations

import functools
import threading
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from multiprocessing.pool import ThreadPool
from typing import Any

import torch
from torch import nn
from torch.nn.modules import module as hooks
from torch.optim.optimizer import register_optimizer_step_pre_hook

from course.flops.result import ModuleCount

_ELEMENTWISE = frozenset("ASGD Adadelta Adagrad Adam AdamW Adamax NAdam RAdam RMSprop Rprop SGD SparseAdam".split())
"""Optimizers of torch whose step is element operations alone."""


def module_tree(roots: list[tuple[str, nn.Module]], kind: str) -> tuple[ModuleCount, dict[int, ModuleCount]]:
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
                path = f"{node.name}.{name}" if node.name else name
                below = ModuleCount(path, type(child).__name__)
                node.children.append(below)
                place(below, child)

    for name, module in roots:
        node = root
        if name:
            node = ModuleCount(name, type(module).__name__)
            root.children.append(node)
        if id(module) not in places:
            place(node, module)
    return root, places


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

    def _enter(self, module: nn.Module, _args: Any) -> None:
        if threading.get_ident() != self._thread:
            self.unknown[f"{type(module).__name__} in another thread"] += 1
            return
        node = self.places.get(id(module), self._stack[-1])
        node.calls += 1
        self._push(node)

    def _leave(self, _module: nn.Module, _args: Any, _output: Any) -> None:
        if threading.get_ident() == self._thread and len(self._stack) > 1:
            self._stack.pop()
            self._note()

    def _push(self, node: ModuleCount) -> None:
        self._stack.append(node)
        self._note()

    def _note(self) -> None:
        self._history.append((torch.autograd._get_sequence_nr(), self._stack[-1]))

    @contextmanager
    def following(self) -> Iterator[None]:
        """Follow the modules while the block runs; the hooks are gone afterwards, whatever happens."""
        handles = (
            hooks.register_module_forward_pre_hook(self._enter),
            hooks.register_module_forward_hook(self._leave, always_call=True),
            register_optimizer_step_pre_hook(self._optimizing),
        )
        try:
            with self._threads_seen():
                yield
        finally:
            for handle in handles:
                handle.remove()

    def _optimizing(self, optimizer: Any, _args: Any, _kwargs: Any) -> None:
        """A step of an optimizer meets the real parameters, not the stand-ins: what it multiplies is not seen."""
        if type(optimizer).__name__ not in _ELEMENTWISE or not type(optimizer).__module__.startswith("torch.optim"):
            self.unknown[f"{type(optimizer).__name__}.step"] += 1

    @contextmanager
    def _threads_seen(self) -> Iterator[None]:
        """Note as unknown what is handed to another thread while the block runs: its operators cannot be seen."""
        doors = [(threading.Thread, "start"), (ThreadPoolExecutor, "submit"), (ThreadPool, "apply_async"),
                 (ThreadPool, "_map_async")]

        def watched(door: Any) -> Any:
            @functools.wraps(door)
            def through(*args: Any, **kwargs: Any) -> Any:
                if threading.get_ident() == self._thread and not type(args[0]).__module__.startswith("tqdm"):
                    self.unknown["work in another thread"] += 1
                return door(*args, **kwargs)

            return through

        with ExitStack() as stack:
            for owner, name in doors:
                stack.enter_context(replaced(owner, name, watched(getattr(owner, name))))
            yield


@contextmanager
def replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    """An attribute of a class replaced while the block runs."""
    before = vars(owner).get(name)
    try:
        setattr(owner, name, value)
        yield
    finally:
        if before is not None:
            setattr(owner, name, before)
        elif name in vars(owner):
            delattr(owner, name)


def all_parameters(modules: Iterable[nn.Module]) -> int:
    """Number of distinct parameter elements."""
    seen = {id(p): p.numel() for module in modules for p in module._parameters.values() if p is not None}
    return sum(seen.values())

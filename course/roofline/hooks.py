"""Hooks: ours around the calls of layers, and those of the user, which run as often as in one forward."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from torch import nn
from torch.nn.modules import module as torch_module

OWN = "_forward_pre_hooks", "_forward_hooks"
"""Where a module keeps its hooks; torch keeps those of all modules under the same names with `_global` before them."""


@contextlib.contextmanager
def around(
    modules: Iterable[nn.Module], before: Callable[[nn.Module, Any, Any], None], after: Callable[[nn.Module, Any], None]
) -> Iterator[None]:
    """In the block, `before(module, args, kwargs)` and `after(module, output)` run around every call of these modules.

    They are hooks of all modules: one of a module's own turns off the fast path of nn.TransformerEncoderLayer. `after` gets None for a
    call that raised.
    """
    wanted = {id(module): module for module in modules}

    def enter(module: nn.Module, args: Any, kwargs: Any = None) -> None:
        if id(module) in wanted:
            before(module, args, kwargs or {})

    def leave(module: nn.Module, _args: Any, output: Any) -> None:
        if id(module) in wanted:
            after(module, output)

    first = torch_module.register_module_forward_pre_hook(enter)
    last = torch_module.register_module_forward_hook(leave, always_call=True)
    for module in wanted.values():
        module._forward_pre_hooks_with_kwargs[first.id] = True  # torch asks here also for a hook of all modules
    try:
        yield
    finally:
        first.remove()
        last.remove()
        for module in wanted.values():
            del module._forward_pre_hooks_with_kwargs[first.id]


class Noted:
    """The hooks that a copy of a model shares with its original (functions are not copied), and whether they gave something back."""

    def __init__(self, original: nn.Module, copied: nn.Module) -> None:
        self.shared: list[tuple[dict[int, Any], int, Callable[..., Any]]] = []
        self.gave: set[int] = set()
        for mine, module in zip(original.modules(), copied.modules(), strict=True):
            for name in OWN:
                hooks, others = getattr(module, name), getattr(mine, name)
                self.shared += [(hooks, key, hook) for key, hook in hooks.items() if others.get(key) is hook]
        for at, (hooks, key, hook) in enumerate(self.shared):
            hooks[key] = partial(self._call, at, hook)

    def _call(self, at: int, hook: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        answer = hook(*args, **kwargs)
        if answer is not None:
            self.gave.add(at)
        return answer

    def take_off(self) -> None:
        """Remove the hooks that only looked from the copy: what the others give back is part of the forward.

        Hooks that were copied (objects, bound methods) stay, too: they may do a layer's work, as spectral_norm does.
        """
        for at, (hooks, key, _) in enumerate(self.shared):
            if at not in self.gave:
                del hooks[key]


@contextlib.contextmanager
def none_of_all_modules() -> Iterator[None]:
    """In the block, the user's hooks of all modules (register_module_forward_hook) are off."""
    held = [(hooks, dict(hooks)) for hooks in (getattr(torch_module, f"_global{name}") for name in OWN)]
    for hooks, _ in held:
        hooks.clear()
    try:
        yield
    finally:
        for hooks, before in held:
            hooks.clear()
            hooks.update(before)

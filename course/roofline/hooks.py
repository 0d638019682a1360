"""Hooks of all modules: ours around the calls of layers; and the user's, which run as often as in one forward."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from torch import nn
from torch.nn.modules import module as torch_module

KEPT = "_global_forward_pre_hooks", "_global_forward_hooks"
"""Where torch keeps them."""


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


@contextlib.contextmanager
def none_of_all_modules() -> Iterator[None]:
    """In the block, the user's hooks of all modules (register_module_forward_hook) are off."""
    held = [(hooks, dict(hooks)) for hooks in (getattr(torch_module, name) for name in KEPT)]
    for hooks, _ in held:
        hooks.clear()
    try:
        yield
    finally:
        for hooks, before in held:
            hooks.clear()
            hooks.update(before)

"""What happens inside one run of a model, seen by hooks around its layers: where the time goes, and what runs outside them.

On a GPU the time of a layer is that of the kernels that torch.profiler saw inside a range of its name. Elsewhere a clock is read when a
layer begins and when it ends. Either way the parts add up to all there is.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any
from unittest.mock import patch

import torch
from torch import nn
from torch.nn.modules import module as torch_module
from torch.profiler import record_function

from course.core.profiled import events_of, is_kernel
from course.roofline.layer import OUTSIDE
from course.roofline.machine import clock, wait

LAYER = "layer: "
EMPTY_CALLS, EMPTY_RUNS = 20, 5


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
def no_hooks_of_all_modules() -> Iterator[None]:
    """In the block, the user's hooks of all modules (register_module_forward_hook) are off."""
    hooks = torch_module._global_forward_pre_hooks, torch_module._global_forward_hooks
    with patch.dict(hooks[0], clear=True), patch.dict(hooks[1], clear=True):
        yield


def by_clock(run: Callable[[], Any], layers: dict[str, nn.Module], device: str) -> dict[str, float]:
    """Layer -> seconds of its calls in one run; OUTSIDE: of all else, without what our hooks cost."""
    found, whole, calls = _clocked(run, layers, device)
    return {**found, OUTSIDE: max(0.0, whole - sum(found.values()) - calls * hooks_s(device))}


def _clocked(run: Callable[[], Any], layers: dict[str, nn.Module], device: str) -> tuple[dict[str, float], float, int]:
    """Layer -> seconds, those of the whole run, and the number of calls of layers."""
    names, now = {id(module): name for name, module in layers.items()}, clock(device)
    found, began, calls = dict.fromkeys(layers, 0.0), 0.0, 0

    def enter(_module: nn.Module, _args: Any, _kwargs: Any) -> None:
        nonlocal began
        wait(device)
        began = now()

    def leave(module: nn.Module, _output: Any) -> None:
        nonlocal calls
        wait(device)
        found[names[id(module)]] += now() - began
        calls += 1

    with around(layers.values(), enter, leave):
        wait(device)
        start = now()
        run()
        wait(device)
        return found, now() - start, calls


@lru_cache(maxsize=4)
def hooks_s(device: str) -> float:
    """Seconds outside of a layer that our hooks around one call of it cost: the least of several runs."""
    nothing, x = nn.Identity(), torch.zeros(1)
    runs = [
        _clocked(lambda: [nothing(x) for _ in range(EMPTY_CALLS)], {"": nothing}, device) for _ in range(EMPTY_RUNS)
    ]
    return min(whole - found[""] for found, whole, _ in runs) / EMPTY_CALLS


def by_kernels(run: Callable[[], Any], layers: dict[str, nn.Module]) -> dict[str, float]:
    """Layer -> seconds of its kernels in one run on a GPU; OUTSIDE: of all others. A kernel belongs to the innermost layer around it."""
    names, opened = {id(module): LAYER + name for name, module in layers.items()}, list[Any]()

    def enter(module: nn.Module, _args: Any, _kwargs: Any) -> None:
        opened.append(record_function(names[id(module)]))
        opened[-1].__enter__()

    def leave(_module: nn.Module, _output: Any) -> None:
        opened.pop().__exit__(None, None, None)

    with around(layers.values(), enter, leave):
        events = events_of(run, on_cuda=True)
    found = defaultdict[str, float](float)
    for event in events:
        if not is_kernel(event):
            found[_layer_of(event)] += kernels_us(event) * 1e-6
    return {name: found[name] for name in (*layers, OUTSIDE)}


def kernels_us(event: Any) -> float:
    """Microseconds of the kernels that this operation itself started."""
    label = getattr(event, "is_user_annotation", False)
    return 0.0 if label else float(sum(kernel.duration for kernel in event.kernels))


def _layer_of(event: Any) -> str:
    """The innermost layer around an event; OUTSIDE where there is none."""
    while event is not None:
        if event.name.startswith(LAYER):
            return event.name[len(LAYER) :]
        event = event.cpu_parent
    return OUTSIDE

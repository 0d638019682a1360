"""The memory of tensors: saved just before an operator first writes to it, put back afterwards."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from course.isolation.journal import BY_THEMSELVES, plain

_DECLARED = frozenset("aten prim prims quantized onednn mkldnn mkl".split())
"""Namespaces of torch whose operators say what they write to; one of anybody else may write to all it is given."""
_SILENT = ("running_mean", "running_var")


@functools.cache
def written(func: Any) -> tuple[tuple[int, str], ...]:
    """(position, name) of the arguments that an operator (an OpOverload) writes to; old batch norms do not declare theirs."""
    arguments = enumerate(func._schema.arguments)
    writes = [(at, x) for at, x in arguments if x.name in _SILENT or x.alias_info is not None and x.alias_info.is_write]
    return tuple((at, one.name) for at, one in writes)


def argument(args: tuple[Any, ...], kwargs: dict[str, Any], place: tuple[int, str]) -> Any:
    """The argument of a call at this (position, name), None if it was not given."""
    at, name = place
    return args[at] if at < len(args) else kwargs.get(name)


def as_they_are(types: Iterable[Any]) -> bool:
    """Whether tensors of these classes are handed to operators as they are; others explain themselves in plain operators."""
    return all(kind.__torch_dispatch__ in BY_THEMSELVES for kind in types)


def tensors_in(args: Iterable[Any], kwargs: dict[str, Any] | None = None) -> list[torch.Tensor]:
    """All tensors among the arguments of an operator, also inside lists of tensors."""
    found = []
    for value in (*args, *kwargs.values()) if kwargs else args:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += [item for item in value if isinstance(item, torch.Tensor)]
    return found


class LightMode(TorchDispatchMode):
    """A dispatch mode for which torch need not import its compiler."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False


class SavingMode(LightMode):
    """Inside, the memory of `tensors` is copied before it is written to; `restore()` copies it back."""

    supports_higher_order_operators = True

    def __init__(self, tensors: Iterable[torch.Tensor]) -> None:
        super().__init__()
        with torch._C.DisableTorchFunctionSubclass():
            self.tensors = [x for x in tensors if plain(x)]
        self._stores = {x.untyped_storage()._cdata: x for x in self.tensors}
        self._saved: list[tuple[torch.UntypedStorage, torch.Tensor]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not as_they_are(types):
            return NotImplemented
        if isinstance(func, torch._ops.OpOverload):
            if func.namespace in _DECLARED:
                given = [argument(args, kwargs, place) for place in written(func)]
            else:
                given = [*args, *kwargs.values()]
            for tensor in tensors_in(given):
                self.save(tensor)
        return func(*args, **kwargs)

    def save(self, tensor: torch.Tensor) -> None:
        """Copies the memory of a tensor, if it is the caller's, unless that is done."""
        store = tensor.untyped_storage() if self._stores and plain(tensor) else None
        if store is not None and self._stores.pop(store._cdata, None) is not None:
            with torch._C._DisableTorchDispatch():
                self._saved.append((store, _bytes(store).clone()))

    def restore(self) -> None:
        """Copies back what was saved."""
        for store, kept in self._saved:
            if store.nbytes() != kept.nbytes:
                store.resize_(kept.nbytes)
            _bytes(store).copy_(kept)


def _bytes(store: torch.UntypedStorage) -> torch.Tensor:
    return torch.empty(0, dtype=torch.uint8, device=store.device).set_(store)

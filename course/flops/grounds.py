"""The three grounds a count is tried on, the cheapest first.

meta  Parameters, buffers and float inputs are replaced by stand-ins without memory, integer and bool
      tensors by copies; operators on a stand-in compute shapes alone. Tensors made by the forward become
      stand-ins too, whatever device the code names, so nothing is computed and nothing is copied.
fake  torch's FakeTensorMode: tensors without memory that still say which device they are on.
real  One real run on the data: only when control flow or a kernel needs values.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_map

from course.flops.disguise import Leaving, NotHere, data_kept, disguised, is_meta
from course.flops.formulas import tensors_in
from course.flops.outside import Made
from course.flops.restore import WriteGuard
from course.flops.shapes import output_of
from course.flops.tally import Tally

_META = torch.device("meta")
KEEP_BYTES = 1 << 20
"""Integer and bool tensors up to this size stay real on the meta ground: masks, token ids, lengths."""


@cache
def _written(func: Any) -> tuple[tuple[int, str], ...]:
    """(position, name) of the arguments an operator writes to; old batch norms do not declare theirs."""
    arguments = func._schema.arguments
    name = func._schema.name
    silent = ("running_mean", "running_var") if "batch_norm" in name else ()
    return tuple(
        (position, argument.name)
        for position, argument in enumerate(arguments)
        if argument.name in silent or (argument.alias_info is not None and argument.alias_info.is_write)
    )


@cache
def _takes_device(func: Any) -> bool:
    return any(argument.name == "device" for argument in func._schema.arguments)


def written_tensors(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor]:
    """The tensors this call writes to."""
    values = [args[at] if at < len(args) else kwargs.get(name) for at, name in _written(func)]
    return tensors_in(values)


def _has_operators(tensor: torch.Tensor) -> bool:
    """Whether its class brings operators of its own (quantized weights, masked tensors)."""
    return type(tensor).__torch_dispatch__ is not torch._C._disabled_torch_dispatch_impl


def _leaf(stand_in: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """The stand-in as a parameter or with requires_grad, like the tensor it stands for."""
    if nn.Parameter in type(like).__mro__[1:]:
        return torch.Tensor._make_subclass(type(like), stand_in, like.requires_grad)
    if isinstance(like, nn.Parameter):
        return nn.Parameter(stand_in, requires_grad=like.requires_grad)
    return stand_in.requires_grad_() if like.requires_grad else stand_in


class RealGround:
    """Runs operators for real; what they overwrite is put back by `undo`."""

    name = "real"
    plain_types: tuple[type, ...] = ()

    def __init__(self) -> None:
        self.guard = WriteGuard()
        self.made = Made()
        self.refused: NotHere | None = None
        """The first time the forward asked for what this ground does not have; it may swallow the exception."""

    def refuse(self, why: str) -> NotHere:
        """The exception to raise; it is kept."""
        self.refused = self.refused or NotHere(why)
        return self.refused

    @contextmanager
    def around(self, tally: Tally) -> Iterator[None]:
        """The block the forward runs in; what leaves torch in it is noted in `tally` as unknown."""
        try:
            with Leaving(tally):
                yield
        finally:
            self.guard.undo()

    def stand_in(self, tensor: torch.Tensor) -> torch.Tensor:
        """The same memory under a new leaf, so that gradients and hooks of the original stay untouched."""
        return _leaf(tensor.detach(), tensor)

    def run(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run it, after copying what it is about to overwrite."""
        for tensor in written_tensors(func, args, kwargs):
            self.guard.before_write(tensor)
        out = func(*args, **kwargs)
        self.guard.after(tensors_in(args, kwargs), tensors_in((out,)))
        return out


class MetaGround(RealGround):
    """Shapes alone; small integer tensors stay real, so lengths and masks may steer the control flow."""

    name = "meta"

    def __init__(self) -> None:
        super().__init__()
        self._devices: set[torch.device] = set()

    @contextmanager
    def around(self, tally: Tally) -> Iterator[None]:
        """The block the forward runs in; stand-ins name the device of the real tensors and give no data."""
        try:
            with data_kept(self.refuse), disguised(self._where):
                yield
        finally:
            self.guard.undo()

    def _where(self) -> torch.device | None:
        """The device all the real tensors lie on; None where they are on meta themselves."""
        if len(self._devices) > 1 and _META not in self._devices:
            raise self.refuse("tensors on several devices")
        device = next(iter(self._devices), torch.get_default_device())
        return None if _META in self._devices else device

    def stand_in(self, tensor: torch.Tensor) -> torch.Tensor:
        """Without memory for float tensors and large ones, a copy for small integer and bool ones."""
        if tensor.layout is not torch.strided or tensor.is_nested:
            raise NotHere(f"a tensor of layout {tensor.layout}")
        if type(tensor) not in (torch.Tensor, nn.Parameter):
            raise NotHere(f"{type(tensor).__name__} is a class of its own")
        small = not (tensor.is_floating_point() or tensor.is_complex()) and tensor.numel() <= KEEP_BYTES
        if small and not tensor.is_quantized and tensor.nbytes <= KEEP_BYTES:
            copy = tensor.clone()
            self.guard.adopt((copy,))
            return copy
        self._devices.add(tensor.device)
        return _leaf(_shape_of(tensor), tensor)

    def run(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run it on shapes if any argument is a stand-in, else for real."""
        tensors = tensors_in(args, kwargs)
        if not tensors:
            return (
                self._factory(func, args, kwargs) if _takes_device(func) else super().run(func, args, kwargs)
            )
        metas = sum(map(is_meta, tensors))
        if not metas:
            return super().run(func, args, kwargs)
        if metas < len(tensors):
            if any(not is_meta(tensor) for tensor in written_tensors(func, args, kwargs)):
                raise NotHere(f"{func} writes an unknown value into a known tensor")
            args, kwargs = tree_map(_to_meta, (args, kwargs))
        if kwargs.get("device") is not None:
            kwargs = {**kwargs, "device": _META}
        out = output_of(func, args, kwargs)
        return func(*args, **kwargs) if out is None else out

    def _factory(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """torch.zeros and its kin: a stand-in for floats and large tensors, whatever device was named."""
        on_meta = {name: value for name, value in kwargs.items() if name not in ("pin_memory", "generator")}
        out = func(*args, **{**on_meta, "device": _META})
        if out.is_floating_point() or out.is_complex() or out.nbytes > KEEP_BYTES:
            return out
        return super().run(func, args, kwargs)


def _shape_of(tensor: torch.Tensor) -> torch.Tensor:
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")


def _to_meta(value: Any) -> Any:
    return _shape_of(value) if isinstance(value, torch.Tensor) and not is_meta(value) else value


class FakeGround(RealGround):
    """torch's FakeTensorMode."""

    name = "fake"

    def __init__(self) -> None:
        super().__init__()
        from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

        self._mode = FakeTensorMode(allow_non_fake_inputs=True)
        self.plain_types: tuple[type, ...] = (FakeTensor,)

    @contextmanager
    def around(self, tally: Tally) -> Iterator[None]:
        """The block the forward runs in; torch's own report of a kernel that stops is not printed."""
        log = logging.getLogger("torch._subclasses.fake_tensor")
        before, log.disabled = log.disabled, True
        try:
            with self._mode, data_kept(self.refuse):
                yield
        finally:
            log.disabled = before

    def stand_in(self, tensor: torch.Tensor) -> torch.Tensor:
        """A fake tensor of the same shape, dtype and device."""
        if not _has_operators(tensor) and type(tensor) not in (torch.Tensor, nn.Parameter):
            raise NotHere(f"{type(tensor).__name__} is a class of its own")
        return _leaf(self._mode.from_tensor(tensor.detach(), static_shapes=True), tensor)

    def run(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run it on fake tensors."""
        if not all(hasattr(tensor, "fake_mode") for tensor in written_tensors(func, args, kwargs)):
            raise NotHere(f"{func} writes into a real tensor")
        return func(*args, **kwargs)


@contextmanager
def swapped(modules: list[nn.Module], stand_in: Callable[[torch.Tensor], torch.Tensor]) -> Iterator[None]:
    """Parameters, buffers and plain tensor attributes of the modules replaced while the block runs.

    The same idea as torch.func.functional_call, for any number of modules and any callable: no copy of the
    model, tied weights stay tied because each tensor has one stand-in. `stand_in` must remember what it gave.
    """
    undo: list[tuple[dict[str, Any], str, torch.Tensor]] = []
    try:
        for module in modules:
            if isinstance(module, torch.jit.ScriptModule):
                raise NotHere("a TorchScript module keeps its own tensors")
            for place in (module._parameters, module._buffers, vars(module)):
                for name, value in place.items():
                    if isinstance(value, torch.Tensor):
                        place[name] = stand_in(value)
                        undo.append((place, name, value))
        yield
    finally:
        for place, name, value in undo:
            place[name] = value


def remembering(ground: RealGround) -> Callable[[torch.Tensor], torch.Tensor]:
    """The stand-ins of a ground, with a memory: the same tensor always gets the same one, with its attributes."""
    given: dict[int, torch.Tensor] = {}

    def remembered(tensor: torch.Tensor) -> torch.Tensor:
        if id(tensor) not in given:
            given[id(tensor)] = ground.stand_in(tensor)
            ground.made.note(given[id(tensor)])
            if not _has_operators(tensor):
                vars(given[id(tensor)]).update(vars(tensor))  # what the model has noted on it
        return given[id(tensor)]

    return remembered

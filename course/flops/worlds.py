"""Where the operators of a forward run: `Shapes` gives every tensor a stand-in without memory, `Real` none.

The model itself runs in both. In `Shapes` no operator meets a tensor of the caller's: it is replaced when a function
or an operator is given it. Small integer and bool tensors keep their values, so lengths, masks and token ids may steer
the control flow.
"""

from __future__ import annotations

import functools
import gc
import types
import weakref
from collections import OrderedDict
from contextlib import nullcontext
from math import prod
from typing import Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor

from course.flops.operators import COUNTED, META, Operator, is_meta, mapped, only_asks
from course.flops.validation import NotHere
from course.i18n import t
from course.isolation.journal import plain
from course.isolation.saving import SavingMode, argument, tensors_in

KEEP_BYTES = 1 << 20
"""Integer and bool tensors up to this size keep their values."""
READ_GRADIENT, SET_GRADIENT = torch.Tensor.grad.__get__, torch.Tensor.grad.__set__
REPLACED = (torch.Tensor, nn.Parameter, FakeTensor)
"""Classes of tensors that a stand-in without memory can pass for."""


class Real:
    """Operators run as they are. outside: the caller's tensors, by id; saving: copies their memory before it is written to."""

    name = "real"

    def __init__(self, outside: dict[int, torch.Tensor], saving: SavingMode | None = None) -> None:
        self.outside = outside
        self.broken: Exception | None = None  # what went wrong first: a forward that swallows it takes another path
        self.hooked = 0  # hooks on gradients of tensors that were replaced: stand-ins do not run them
        self.lent: dict[int, torch.Tensor] = {}  # tensors that came in on memory of another library's
        self._saving = saving
        with torch._C.DisableTorchFunctionSubclass():
            self._memory = {x.untyped_storage()._cdata for x in outside.values() if plain(x)}

    def refuse(self, why: str) -> NotHere:
        """Returns the exception to raise, and remembers it."""
        self.broken = self.broken or NotHere(why)
        return NotHere(why)

    def known(self, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor to use in the place of one."""
        self._look(tensor)
        return tensor

    def _look(self, tensor: torch.Tensor) -> None:
        """Notes a tensor on memory that is neither torch's nor the caller's."""
        if id(tensor) not in self.outside and plain(tensor):
            store = tensor.untyped_storage()
            if not store.resizable() and store._cdata not in self._memory:
                self.lent[id(tensor)] = tensor

    def leaves(self, tensor: torch.Tensor) -> None:
        """Data of a tensor are handed out of torch, where they may be changed."""
        if plain(tensor):
            self._memory.add(tensor.untyped_storage()._cdata)
        if self._saving:
            self._saving.save(tensor)

    def meets(self, compiled: str) -> None:
        """The forward calls compiled code of somebody else's, which may write to any tensor."""
        for tensor in self._saving.tensors if self._saving else ():
            self._saving.save(tensor)

    def run(self, known: Operator, func: Any, args: Any, kwargs: dict[str, Any], tensors: list[torch.Tensor]) -> Any:
        """The output of an operator; tensors: those among its arguments."""
        return func(*args, **kwargs)

    def view(self, func: Any, args: Any, kwargs: dict[str, Any], tensors: list[torch.Tensor]) -> Any:
        """A tensor looked at in another way."""
        return func(*args, **kwargs)


class Shapes(Real):
    """Operators run on shapes. outside: the caller's tensors, by id."""

    name = "meta"

    def __init__(self, outside: dict[int, torch.Tensor]) -> None:
        super().__init__(outside)
        with torch._C.DisableTorchFunctionSubclass():
            devices = {x.device for x in outside.values()}
        self._here = torch.get_default_device()
        self._meta = META in devices
        self.elsewhere = any(device.type not in ("cpu", "meta") for device in (*devices, self._here))
        self._given: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        self._stores: dict[int, tuple[Any, Any]] = {}  # storages of values and their copies
        self._born: dict[int, Any] = {}  # storages of the values made in this run
        self._gradients: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}  # set on tensors that nobody replaced
        self._made: list[Any] = []

    # --- tensors from outside ---

    def known(self, tensor: torch.Tensor) -> torch.Tensor:
        """The stand-in of a tensor from outside the run; one from inside as it is."""
        if type(tensor) not in REPLACED:
            return tensor
        if is_meta(tensor):
            return self.stand_in(tensor) if id(tensor) in self.outside else tensor
        wrapped = torch._C._functorch.is_functorch_wrapped_tensor(tensor)
        if not wrapped and tensor.layout is torch.strided and tensor.untyped_storage()._cdata not in self._born:
            return self.stand_in(tensor)
        return tensor

    def stand_in(self, tensor: torch.Tensor) -> torch.Tensor:
        """Always the same one: without memory for float and large tensors, a copy on the CPU for small others."""
        if id(tensor) not in self._given:
            self._look(tensor)
            self.hooked += bool(tensor._backward_hooks or getattr(tensor, "_post_accumulate_grad_hooks", None))
            self._given[id(tensor)] = tensor, self.put(self._stand_in(tensor), tensor.device)
        return self._given[id(tensor)][1]

    def _stand_in(self, tensor: torch.Tensor) -> torch.Tensor:
        if type(tensor) not in REPLACED or tensor.layout is not torch.strided or tensor.is_nested:
            kind, layout = type(tensor).__name__, tensor.layout
            raise self.refuse(t(f"a tensor of class {kind}, layout {layout}", f"类型为 {kind}、布局为 {layout} 的张量"))
        without = tensor.is_meta or isinstance(tensor, FakeTensor)
        if not (without or tensor.is_floating_point() or tensor.is_complex() or tensor.is_quantized):
            if tensor.nbytes <= KEEP_BYTES and tensor.untyped_storage().nbytes() <= KEEP_BYTES:
                store, look = tensor.untyped_storage(), (tensor.storage_offset(), tensor.shape, tensor.stride())
                with torch._C._DisableTorchDispatch():  # nothing of the run; all views of a storage share its copy
                    copy = self._stores.setdefault(store._cdata, (store, store.clone().cpu()))[1]
                    return self._hold(torch.empty(0, dtype=tensor.dtype, device="cpu").set_(copy, *look))
        shape = _shape_of(tensor)
        if isinstance(tensor, nn.Parameter):
            kind = nn.Parameter if isinstance(tensor, FakeTensor) else type(tensor)
            return torch.Tensor._make_subclass(kind, shape, tensor.requires_grad)
        shape.requires_grad_(tensor.requires_grad)
        if tensor.is_leaf or not tensor.requires_grad:
            return shape
        with torch._C._DisableTorchDispatch(), torch.enable_grad():
            return shape.clone()  # like the original it may be written to

    def _hold(self, value: Any) -> Any:
        for tensor in tensors_in((value,)):
            storage = tensor.untyped_storage()
            self._born[storage._cdata] = storage
        return value

    def gradient(self, func: Any, tensor: torch.Tensor, new: Any = None) -> Any:
        """Reads or sets the gradient of a tensor of a class of its own: it may have data where the gradient has none."""
        if func == READ_GRADIENT:
            return self._gradients[id(tensor)][1] if id(tensor) in self._gradients else func(tensor)
        self._gradients.pop(id(tensor), None)
        if new is None:
            return func(tensor, new)
        self._gradients[id(tensor)] = tensor, new
        return None

    def meets(self, compiled: str) -> None:
        """Compiled code needs data."""
        raise self.refuse(t(f"compiled code: `{compiled}`", f"编译的代码：`{compiled}`"))

    # --- devices ---

    def device(self, tensor: torch.Tensor) -> torch.device:
        """Where a tensor would be; all say meta where a part of the model has no memory.

        A tensor of a class of its own says where it is, but never meta: FSDP2 would refuse to run.
        """
        if type(tensor) in REPLACED:
            return META if self._meta else getattr(tensor, "_course_device", self._here)
        device = tensor.device
        return self._here if device == META else device

    def put(self, value: Any, device: torch.device | None) -> Any:
        """Notes where the tensors of an output would be."""
        if self.elsewhere and device is not None:
            for tensor in tensors_in(value if isinstance(value, (tuple, list)) else (value,)):
                tensor._course_device = device
        return value

    def _beside(self, tensors: list[torch.Tensor], asked: torch.device | None) -> torch.device | None:
        """Where the output of an operator would be: with its tensors (a single number does not decide), or as asked."""
        if not self.elsewhere or asked is not None or not tensors:
            return asked or (torch.get_default_device() if self.elsewhere else None)
        return self.device(next((x for x in tensors if x.dim()), tensors[0]))

    # --- operators ---

    def run(self, known: Operator, func: Any, args: Any, kwargs: dict[str, Any], tensors: list[torch.Tensor]) -> Any:
        """On shapes if an argument is a stand-in, else with values while they are small."""
        place = self._beside(tensors, kwargs.get("device"))
        return self._keep(self._run(known, func, args, kwargs, tensors), place)

    def view(self, func: Any, args: Any, kwargs: dict[str, Any], tensors: list[torch.Tensor]) -> Any:
        """A view lies on the memory of its tensor, also of one from outside: classes of tensors rely on it."""
        return self._keep(func(*args, **kwargs), self.device(tensors[0]) if self.elsewhere else None)

    def _keep(self, out: Any, place: torch.device | None) -> Any:
        self._made += [weakref.ref(x) for x in tensors_in(out if isinstance(out, (tuple, list)) else (out,))]
        return self.put(out, place)

    def _run(self, known: Operator, func: Any, args: Any, kwargs: dict[str, Any], tensors: list[torch.Tensor]) -> Any:
        metas, contracts = sum(map(is_meta, tensors)), known.kind == COUNTED
        if not tensors and not known.takes_device:
            return func(*args, **kwargs)
        if kwargs.get("device") is not None:
            kwargs = {name: value for name, value in kwargs.items() if name != "pin_memory"}
            kwargs["device"] = META if metas else torch.device("cpu")
        if metas and metas == len(tensors):
            return known.on_shapes(func, args, kwargs)
        if metas or contracts or not tensors or prod(t.numel() for t in tensors) > KEEP_BYTES:
            given, named = mapped(lambda x: x if is_meta(x) else _shape_of(x), (args, kwargs))
            if tensors:
                shape = known.on_shapes(func, given, named)
            else:
                named = {name: value for name, value in named.items() if name not in ("generator", "pin_memory")}
                shape = func(*given, **{**named, "device": META})
            found = tensors_in((shape,))
            drawn = not tensors and any(x.is_floating_point() or x.is_complex() for x in found)
            if metas or contracts or drawn or any(x.nbytes > KEEP_BYTES for x in found):
                writes = tensors_in([argument(args, kwargs, place) for place in known.written])
                if not all(map(is_meta, writes)):
                    what = f"`{known.name}` writes an unknown value into a known tensor"
                    raise NotHere(t(what, f"`{known.name}` 把未知的值写进已知的张量"))
                return shape
        return self._hold(func(*args, **kwargs))

    # --- afterwards ---

    def evict(self) -> None:
        """Takes the tensors of the run out of what has kept them, such as a cache of a library: they have no data."""
        made, self._made = [ref for ref in self._made if id(ref()) not in self.outside], []
        self._given.clear()
        self._gradients.clear()
        if any(ref() is not None for ref in made):
            gc.collect(0)  # the collector was off during the run: what it made is young
        inside: list[Any] = [ref() for ref in made if ref() is not None]
        for _ in range(4):  # climb out of tuples and the like
            if not inside:
                return
            found = gc.get_referrers(*inside)
            holders = [one for one in found if one is not inside and type(one) is not types.FrameType]
            wanted = set(map(id, inside))
            for holder in holders:
                _take_out(holder, wanted)
            inside = [one for one in holders if isinstance(one, (tuple, list))]


def _take_out(holder: Any, wanted: set[int]) -> None:
    if isinstance(holder, functools._lru_cache_wrapper):
        holder.cache_clear()
    elif isinstance(holder, dict):
        base = OrderedDict if isinstance(holder, OrderedDict) else dict  # a subclass may forbid it
        for name in [name for name, item in dict.items(holder) if id(item) in wanted or id(name) in wanted]:
            base.__delitem__(holder, name)


def _shape_of(tensor: torch.Tensor) -> torch.Tensor:
    with nullcontext() if only_asks() else torch._C._DisableTorchDispatch():  # nothing of the run
        return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")

"""Count every operator of a forward with a dispatch mode. (For questions about devices and data: course.flops.asking.)

`Shapes` runs operators on stand-ins without memory (the meta device); small integer and bool tensors keep their
values, so lengths, masks and token ids may steer the control flow. `Real` runs everything as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import torch
from torch import nn
from torch._ops import HigherOrderOperator
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import TorchDispatchMode

from course.flops.formulas import FORMULAS, from_torch_registry, tensors_in
from course.flops.free import is_free, moves_only
from course.flops.tally import Tally
from course.flops.validation import NotHere
from course.i18n import t

KEEP_BYTES = 1 << 20
"""Integer and bool tensors up to this size keep their values."""
_META = torch.device("meta")
is_meta: Callable[[Any], bool] = vars(torch._C.TensorBase)["is_meta"].__get__
COUNTED, ELEMENTS, STILL, COMPOSITE, UNKNOWN = range(5)


class Operator:
    """What is known of an operator (an OpOverload) before it runs.

    name: `convolution` for one of aten, `library::name` for others. kind, formula: how it counts. written: (position,
    name) of the arguments it writes to; old batch norms do not declare them. takes_device: whether it can make a
    tensor of its own. by_value: whether what comes out, or its shape, may depend on values. is_view: whether it looks
    at its first argument in another way. plain: whether it writes nothing and its outputs are new tensors. role: what
    it does to products, "makes", "keeps", "sums", "puts" or "".
    """

    def __init__(self, func: Any) -> None:
        self._func = func  # an id means something only while its object lives
        name, arguments, returns = func._schema.name, func._schema.arguments, func._schema.returns
        self.name, views = name.removeprefix("aten::"), getattr(func, "is_view", False)
        self.formula = FORMULAS.get(name) or FORMULAS.get(name.removesuffix("_"))
        if self.formula is not None:
            self.kind = COUNTED
        elif moves_only(name) or name.startswith(("prim::", "profiler::")) or views:
            self.kind = STILL
        elif torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd"):
            self.kind = COMPOSITE
        else:
            self.kind = ELEMENTS if is_free(func) else UNKNOWN
        silent = ("running_mean", "running_var") if "batch_norm" in name else ()
        aliases = [(at, one) for at, one in enumerate(arguments) if one.alias_info is not None or one.name in silent]
        self.written = [(at, one.name) for at, one in aliases if one.name in silent or one.alias_info.is_write]
        new = all(one.alias_info is None and str(one.type) in ("Tensor", "Optional[Tensor]") for one in returns)
        self.plain, self.is_view = new and not aliases, views and self.kind == STILL
        self.takes_device = any(one.name == "device" for one in arguments)
        self.by_value = not {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape}.isdisjoint(func.tags)
        self.role = _ROLES.get(self.name.removesuffix("_"), "keeps" if self.kind == STILL else "")
        self._shapes: dict[Any, Any] = {}

    def on_shapes(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The output on meta tensors, remembered by shapes: torch's own rules take up to a millisecond a call."""
        try:
            return self._remembered(func, args, kwargs) if self.plain else func(*args, **kwargs)
        except RuntimeError as error:
            if not self.by_value:
                raise
            raise NotHere(t(f"`{self.name}` depends on values", f"`{self.name}` 的结果取决于数值")) from error

    def _remembered(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        key = _key(args), tuple((name, _key(value)) for name, value in kwargs.items()), torch.get_default_dtype()
        try:
            several, outs = self._shapes[key]
        except TypeError:  # an argument without a hash
            return func(*args, **kwargs)
        except KeyError:
            if len({x.dtype for x in tensors_in(args, kwargs)}) > 1 and self.name in _OF_ONE_TYPE:
                what = t(f"`{self.name}` got tensors of several types", f"`{self.name}` 得到了几种类型的张量")
                raise NotHere(what) from None  # no shape rule asks
            if self.name in _IN_BFLOAT16:
                given, named = mapped(_narrow, (args, kwargs))
                out = func(*given, **named).to(kwargs.get("out_dtype") or args[0].dtype)
            else:
                out = func(*args, **kwargs)
            outs = out if isinstance(out, tuple) else (out,)
            if len(self._shapes) > 1000:
                self._shapes.clear()
            if not any(x is not None and x.is_complex() for x in outs):  # those may be conjugate views
                self._shapes[key] = isinstance(out, tuple), [x if x is None else _key(x) for x in outs]
            return out
        made = [x if x is None else torch.empty_strided(x[0], x[1], dtype=x[2], device=_META) for x in outs]
        return tuple(made) if several else made[0]


def _narrow(x: torch.Tensor) -> torch.Tensor:
    return x.to(torch.bfloat16) if x.is_floating_point() else x


def _key(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.shape, value.stride(), value.dtype
    return tuple(map(_key, value)) if isinstance(value, (list, tuple)) else (type(value), value)


_known: dict[int, Operator] = {}
READ_GRADIENT, SET_GRADIENT = torch.Tensor.grad.__get__, torch.Tensor.grad.__set__
REPLACED = (torch.Tensor, nn.Parameter, FakeTensor)
"""Classes of tensors that a stand-in without memory can pass for."""
_OF_ONE_TYPE = frozenset("mm addmm bmm baddbmm convolution".split())
_IN_BFLOAT16 = frozenset(("_grouped_mm",))
"""Operators whose shape rule in torch takes bfloat16 alone, although their kernels take other types."""
_ROLES = {
    **dict.fromkeys("mul addcmul".split(), "makes"),
    **dict.fromkeys("div neg positive where masked_fill".split(), "keeps"),
    **dict.fromkeys("index_put _index_put_impl put".split(), "puts"),
    **dict.fromkeys(
        "sum mean nansum cumsum trace index_add scatter_add scatter_reduce index_reduce segment_reduce avg_pool2d "
        "avg_pool3d _adaptive_avg_pool2d _adaptive_avg_pool3d".split(),
        "sums",
    ),
}
"""What operators do to products of two tensors; one that puts sums where it accumulates, and else keeps."""


class Real:
    """Operators run as they are. stand_in: a copy with the same values."""

    name = "real"

    def __init__(self) -> None:
        self.broken: Exception | None = None  # what went wrong first: a forward that swallows it takes another path
        self.hooked = 0  # hooks on gradients of tensors that were replaced: stand-ins do not run them

    def refuse(self, why: str) -> NotHere:
        """Returns the exception to raise, and remembers it."""
        self.broken = self.broken or NotHere(why)
        return NotHere(why)

    def stand_in(self, tensor: torch.Tensor) -> torch.Tensor:
        """A copy, a leaf like the original."""
        self._look(tensor)
        with torch.no_grad():
            return _leaf(tensor.detach().clone(), tensor)

    def _look(self, tensor: torch.Tensor) -> None:
        self.hooked += bool(tensor._backward_hooks or getattr(tensor, "_post_accumulate_grad_hooks", None))

    def run(self, known: Operator, func: Any, args: Any, kwargs: dict[str, Any], tensors: list[torch.Tensor]) -> Any:
        """The output of an operator; tensors: those among its arguments."""
        return func(*args, **kwargs)


class Shapes(Real):
    """Operators run on shapes. strays: whether tensors may turn up that nobody replaced (in a forked child)."""

    name = "meta"

    def __init__(self, strays: bool = False) -> None:
        super().__init__()
        self.strays = strays
        self._devices: list[torch.device] = []
        self._given: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        self._stores: dict[int, tuple[Any, Any]] = {}  # storages of values and their copies
        self._born: dict[int, Any] = {}  # storages of the values made in this run
        self._gradients: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}  # set on tensors that nobody replaced

    def stand_in(self, tensor: torch.Tensor) -> torch.Tensor:
        """Always the same one: without memory for float and large tensors, a copy on the CPU for small others."""
        if id(tensor) not in self._given:
            self._look(tensor)
            self._given[id(tensor)] = tensor, self._stand_in(tensor)
        return self._given[id(tensor)][1]

    def _stand_in(self, tensor: torch.Tensor) -> torch.Tensor:
        if type(tensor) not in REPLACED or tensor.layout is not torch.strided or tensor.is_nested:
            kind, layout = type(tensor).__name__, tensor.layout
            raise self.refuse(t(f"a tensor of class {kind}, layout {layout}", f"类型为 {kind}、布局为 {layout} 的张量"))
        if tensor.device not in self._devices:
            self._devices.append(tensor.device)
        without = tensor.is_meta or isinstance(tensor, FakeTensor)
        if not (without or tensor.is_floating_point() or tensor.is_complex() or tensor.is_quantized):
            if tensor.nbytes <= KEEP_BYTES and tensor.untyped_storage().nbytes() <= KEEP_BYTES:
                if self.strays and not tensor.is_shared():  # a child may write to the original
                    return self._hold(tensor.cpu())
                store, look = tensor.untyped_storage(), (tensor.storage_offset(), tensor.shape, tensor.stride())
                with torch._C._DisableTorchDispatch():  # nothing of the run; all views of a storage share its copy
                    copy = self._stores.setdefault(store._cdata, (store, store.clone().cpu()))[1]
                    return self._hold(torch.empty(0, dtype=tensor.dtype, device="cpu").set_(copy, *look))
        return _leaf(_shape_of(tensor), tensor)

    def _hold(self, value: Any) -> Any:
        for tensor in tensors_in((value,)) if self.strays else ():
            storage = tensor.untyped_storage()
            self._born[storage._cdata] = storage
        return value

    def known(self, tensor: torch.Tensor) -> torch.Tensor:
        """The stand-in of a tensor from outside the run; one from inside as it is."""
        if type(tensor) in REPLACED and not is_meta(tensor):
            wrapped = torch._C._functorch.is_functorch_wrapped_tensor(tensor)
            if not wrapped and tensor.layout is torch.strided and tensor.untyped_storage()._cdata not in self._born:
                return self.stand_in(tensor)
        return tensor

    def gradient(self, func: Any, tensor: torch.Tensor, new: Any = None) -> Any:
        """Reads or sets the gradient of a tensor of a class of its own: it may have data where the gradient has none."""
        if func == READ_GRADIENT:
            return self._gradients[id(tensor)][1] if id(tensor) in self._gradients else func(tensor)
        self._gradients.pop(id(tensor), None)
        if new is None:
            return func(tensor, new)
        self._gradients[id(tensor)] = tensor, new
        return None

    def device(self) -> torch.device:
        """The device the model believes to be on: meta where a part of it is."""
        if _META in self._devices:
            return _META
        if len({device.type for device in self._devices}) > 1:
            raise self.refuse(t("tensors on devices of several types", "张量分布在不同类型的设备上"))
        return self._devices[0] if self._devices else torch.get_default_device()

    def run(self, known: Operator, func: Any, args: Any, kwargs: dict[str, Any], tensors: list[torch.Tensor]) -> Any:
        """On shapes if an argument is a stand-in, else with values while they are small."""
        metas, contracts = sum(map(is_meta, tensors)), known.kind == COUNTED
        if not tensors and not known.takes_device:
            return func(*args, **kwargs)
        if kwargs.get("device") is not None:
            kwargs = {name: value for name, value in kwargs.items() if name != "pin_memory"}
            kwargs["device"] = _META if metas else torch.device("cpu")
        if metas and metas == len(tensors):
            return known.on_shapes(func, args, kwargs)
        if metas or contracts or not tensors or prod(t.numel() for t in tensors) > KEEP_BYTES:
            given, named = mapped(lambda x: x if is_meta(x) else _shape_of(x), (args, kwargs))
            if tensors:
                shape = known.on_shapes(func, given, named)
            else:
                named = {name: value for name, value in named.items() if name not in ("generator", "pin_memory")}
                shape = func(*given, **{**named, "device": _META})
            found = tensors_in((shape,))
            drawn = not tensors and any(x.is_floating_point() or x.is_complex() for x in found)
            if metas or contracts or drawn or any(x.nbytes > KEEP_BYTES for x in found):
                written = [args[at] if at < len(args) else kwargs.get(name) for at, name in known.written]
                if any(not is_meta(tensor) for tensor in tensors_in(written)):
                    what = f"`{known.name}` writes an unknown value into a known tensor"
                    raise NotHere(t(what, f"`{known.name}` 把未知的值写进已知的张量"))
                return shape
        return self._hold(func(*args, **kwargs))


def mapped(change: Callable[[torch.Tensor], torch.Tensor], value: Any) -> Any:
    """Returns the arguments of an operator with `change` applied to every tensor."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if type(value) in (list, tuple):
        return type(value)([mapped(change, item) for item in value])
    return {name: mapped(change, item) for name, item in value.items()} if type(value) is dict else value


def _leaf(stand_in: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """The stand-in as a parameter or with requires_grad, like the tensor it stands for."""
    if isinstance(like, nn.Parameter):
        kind = nn.Parameter if isinstance(like, FakeTensor) else type(like)
        return torch.Tensor._make_subclass(kind, stand_in, like.requires_grad)
    return stand_in.requires_grad_() if like.requires_grad else stand_in


def _shape_of(tensor: torch.Tensor) -> torch.Tensor:
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")


_PLAIN = (torch._C._disabled_torch_dispatch_impl, FakeTensor.__torch_dispatch__)
"""Of the classes whose tensors are handed to operators as they are."""


class CountingMode(TorchDispatchMode):
    """Counts every operator into `tally` and runs it in `world`."""

    supports_higher_order_operators = True

    def __init__(self, tally: Tally, world: Real) -> None:
        super().__init__()
        self.tally, self.world = tally, world
        self._products: set[int] = set()  # storages that hold products of two tensors, moved or cast since

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Compiled code is switched off while counting: torch need not import its compiler for this mode."""
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.FAKE) is not None:
            return func(*args, **kwargs)  # a shape is asked for, as DTensor does before it runs an operator: no work
        if not all(kind.__torch_dispatch__ in _PLAIN for kind in types):
            return NotImplemented  # the subclass explains itself in plain operators, and those are counted
        if isinstance(func, HigherOrderOperator):
            return self._higher_order(func, args, kwargs)
        known = _known.get(id(func)) or _known.setdefault(id(func), Operator(func))
        if known.is_view and not self._products and is_meta(args[0]):  # the most frequent, and nothing to count
            return self._guarded(func, *args, **kwargs)
        tensors = tensors_in(args, kwargs)
        if known.kind == COMPOSITE and not any(x.is_nested for x in tensors):  # those have no size to decompose by
            with self:
                out = func.decompose(*args, **kwargs)
            if out is not NotImplemented:
                return out
        out = self._guarded(self.world.run, known, func, args, kwargs, tensors)
        if known.kind == ELEMENTS:
            sizes = [x.numel() for x in (out, *args[:1]) if isinstance(x, torch.Tensor)]
            self.tally.element_operations += max(sizes, default=0)
        elif known.kind != STILL:
            self._counted(func, known, out, args, kwargs, tensors)
        if self._products or known.role == "makes":
            self._follow(known.role, out, args, kwargs, tensors)
        return out

    def _counted(self, func: Any, known: Operator, out: Any, args: Any, kwargs: Any, tensors: Any) -> None:
        formula = known.formula or known.kind == UNKNOWN and from_torch_registry(func)  # registered since, perhaps
        if formula and not all(t.layout in (torch.strided, torch._mkldnn) and not t.is_nested for t in tensors):
            # on the shape of a sparse or nested tensor it would claim too much
            self.tally.unknown[known.name + " (sparse or nested)"] += 1
        else:
            factor = 4 if tensors and tensors[0].is_complex() else 1
            self._count(known.name, formula, out, args, kwargs, factor)

    def _guarded(self, run: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        try:
            with torch._C.DisableTorchFunction():  # torch's own rules for shapes hear the truth about devices
                return run(*args, **kwargs)
        except Exception as error:
            self.world.broken = self.world.broken or error
            raise

    def _higher_order(self, func: Any, args: Any, kwargs: Any) -> Any:
        if str(func) in _CHOICES:  # ordinary control flow once the values are there
            with self:
                return _CHOICES[str(func)](*args, **kwargs)
        out = self._guarded(func, *args, **kwargs)
        self._count(str(func), from_torch_registry(func), out, args, kwargs, 1)
        return out

    def _count(self, name: str, formula: Any, out: Any, args: Any, kwargs: Any, factor: int) -> None:
        if not formula:
            self.tally.unknown[name] += 1
            return
        try:
            given = {name: value for name, value in kwargs.items() if name != "out"}
            macs = int(formula(out, *args, **given)) * factor
        except (TypeError, IndexError, KeyError, AttributeError, RuntimeError, ValueError):
            self.tally.unknown[name + " (unusual arguments)"] += 1
        else:
            self.tally.contraction(name, macs)

    def _follow(self, role: str, out: Any, args: Any, kwargs: Any, tensors: list[torch.Tensor]) -> None:
        """Follow products of two tensors through moves, casts and scalings to the operator that sums them."""
        held = sum(tensor.numel() for tensor in tensors if _storage(tensor) in self._products)
        sums = role == "sums" or role == "puts" and bool(args[3] if len(args) > 3 else kwargs.get("accumulate"))
        if held and sums:
            self.tally.summed_products += held
        several = role == "makes" and sum(tensor.numel() > 1 for tensor in tensors) > 1
        is_product = several or held and not sums and role != ""
        for tensor in tensors_in(out if isinstance(out, (tuple, list)) else (out,)):
            (self._products.add if is_product else self._products.discard)(_storage(tensor))


def _storage(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata if tensor.layout is torch.strided and not tensor.is_nested else 0


def _while_loop(goes_on: Any, body: Any, carried: Any, more: Any = ()) -> Any:
    while bool(goes_on(*carried, *more)):
        carried = body(*carried, *more)
    return carried


_CHOICES: dict[str, Callable[..., Any]] = {
    "cond": lambda predicate, if_true, if_false, operands: (if_true if bool(predicate) else if_false)(*operands),
    "while_loop": _while_loop,
}
"""Operators that choose what runs: the branch taken and every round of the loop are counted."""

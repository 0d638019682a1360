"""What is known of an operator before it runs, and its output on shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from course.flops.formulas import FORMULAS
from course.flops.free import is_free, moves_only
from course.flops.validation import NotHere
from course.i18n import t
from course.isolation.saving import argument, tensors_in, written

META = torch.device("meta")
is_meta: Callable[[Any], bool] = vars(torch._C.TensorBase)["is_meta"].__get__
COUNTED, ELEMENTS, STILL, COMPOSITE, UNKNOWN = range(5)
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


class Operator:
    """What is known of an operator (an OpOverload) before it runs.

    name: `convolution` for one of aten, `library::name` for others. kind, formula: how it counts. written: (position,
    name) of the arguments it writes to. takes_device: whether it can make a tensor of its own. by_value: whether what
    comes out, or its shape, may depend on values. is_view: whether it looks at its first argument in another way.
    returned: for each output the place of the argument that it is (`add_`), None for a new tensor; None as a whole for an
    operator whose outputs shapes do not decide. role: what it does to products, "makes", "keeps", "sums", "puts" or "".
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
        self.written = written(func)
        self.returned = None if torch.Tag.inplace_view in func.tags else _returned(arguments, returns)
        self.is_view = views and self.kind == STILL
        self.takes_device = any(one.name == "device" for one in arguments)
        self.by_value = not {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape}.isdisjoint(func.tags)
        self.role = _ROLES.get(self.name.removesuffix("_"), "keeps" if self.kind == STILL else "")
        self._shapes: dict[Any, Any] = {}

    def on_shapes(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The output on meta tensors, remembered by shapes: torch's own rules take up to a millisecond a call."""
        try:
            return func(*args, **kwargs) if self.returned is None else self._remembered(func, args, kwargs)
        except RuntimeError as error:
            if not self.by_value:
                raise
            raise NotHere(t(f"`{self.name}` depends on values", f"`{self.name}` 的结果取决于数值")) from error

    def _remembered(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        key = _call_key(args, kwargs)
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
            complex_ones = any(x is not None and x.is_complex() for x in outs)  # those may be conjugate views
            if not complex_ones and _call_key(args, kwargs) == key:  # nothing was resized
                self._shapes[key] = isinstance(out, tuple), [x if x is None else _key(x) for x in outs]
            return out
        made = [
            argument(args, kwargs, place) if place else x and torch.empty_strided(x[0], x[1], dtype=x[2], device=META)
            for place, x in zip(self.returned, outs, strict=True)
        ]
        return tuple(made) if several else made[0]


def _returned(arguments: Any, returns: Any) -> list[tuple[int, str] | None] | None:
    """See `Operator.returned`."""
    written = {frozenset(x.alias_info.before_set): (at, x.name) for at, x in enumerate(arguments) if x.alias_info}
    if any(x.alias_info and not (x.alias_info.is_write and str(x.type) == "Tensor") for x in arguments):
        return None
    known = all(one.alias_info or str(one.type) in ("Tensor", "Optional[Tensor]") for one in returns)
    found = [one.alias_info and written.get(frozenset(one.alias_info.before_set)) for one in returns]
    return found if known and found else None


_known: dict[int, Operator] = {}


def operator_of(func: Any) -> Operator:
    """What is known of an OpOverload."""
    return _known.get(id(func)) or _known.setdefault(id(func), Operator(func))


def only_asks() -> bool:
    """Whether a shape is asked for on fake tensors, as DTensor does before it runs an operator: no work."""
    return torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.FAKE) is not None


def mapped(change: Callable[[torch.Tensor], torch.Tensor], value: Any) -> Any:
    """Returns the arguments of an operator with `change` applied to every tensor."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if type(value) in (list, tuple):
        return type(value)([mapped(change, item) for item in value])
    return {name: mapped(change, item) for name, item in value.items()} if type(value) is dict else value


def _narrow(x: torch.Tensor) -> torch.Tensor:
    return x.to(torch.bfloat16) if x.is_floating_point() else x


def _call_key(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return _key(args), _key(tuple(kwargs.items())), torch.get_default_dtype()


def _key(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.shape, value.stride(), value.dtype
    return tuple(map(_key, value)) if isinstance(value, (list, tuple)) else (type(value), value)

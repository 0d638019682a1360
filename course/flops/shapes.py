"""Output shapes of the commonest operators on the meta ground, without asking torch's meta kernels.

Several of those kernels are written in Python and take a millisecond a call, more than the arithmetic they
stand for. The rules here cover the plain case (contiguous, one floating dtype, matching shapes) and give it
back in microseconds; anything else returns None and goes to torch's kernel, which also raises where shapes
do not fit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Rule = Callable[..., Any]

_POINTWISE = (
    "add.Tensor sub.Tensor mul.Tensor mul.Scalar div.Tensor add.Scalar sub.Scalar div.Scalar relu.default "
    "gelu.default "
    "silu.default sigmoid.default tanh.default hardtanh.default hardswish.default hardsigmoid.default "
    "leaky_relu.default elu.default exp.default neg.default sqrt.default rsqrt.default abs.default "
    "mish.default "
    "gelu_backward.default sigmoid_backward.default tanh_backward.default hardtanh_backward.default "
    "threshold_backward.default silu_backward.default hardswish_backward.default leaky_relu_backward.default "
    "elu_backward.default pow.Tensor_Scalar tril.default triu.default"
)
_IN_PLACE = (
    "add_.Tensor sub_.Tensor mul_.Tensor mul_.Scalar div_.Tensor div_.Scalar relu_.default silu_.default "
    "sigmoid_.default tanh_.default hardtanh_.default hardswish_.default hardsigmoid_.default "
    "leaky_relu_.default "
    "elu_.default"
)


_META = torch.device("meta")


def _like(tensor: torch.Tensor) -> torch.Tensor:
    """A stand-in of the same shape (torch.empty_like is one of the slow ones)."""
    return torch.empty(tensor.shape, dtype=tensor.dtype, device=_META)


def _new(tensor: torch.Tensor, shape: Any) -> torch.Tensor:
    return torch.empty(shape, dtype=tensor.dtype, device=_META)


def _plain(*tensors: Any) -> bool:
    """Whether all are contiguous tensors of one floating dtype (None counts as fitting)."""
    given = [tensor for tensor in tensors if tensor is not None]
    dtype = given[0].dtype
    return dtype.is_floating_point and all(x.dtype is dtype and x.is_contiguous() for x in given)


def _broadcasts(small: torch.Size, large: torch.Size) -> bool:
    """Whether `small` fits into `large` without changing it."""
    return len(small) <= len(large) and all(
        a == b or a == 1 for a, b in zip(reversed(small), reversed(large), strict=False)
    )


def _dense(tensor: torch.Tensor) -> bool:
    """Whether the elements fill their memory in some order of the dimensions (a transposed view does)."""
    expected = 1
    for stride, size in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if size != 1:
            if stride != expected:
                return False
            expected *= size
    return True


def _pointwise(*args: Any, **kwargs: Any) -> Any:
    tensors = [value for value in args if isinstance(value, torch.Tensor)]
    first = tensors[0]
    if len(tensors) == 1 and first.dtype.is_floating_point and not first.is_contiguous():
        plain = _dense(first) and not any(isinstance(value, complex) for value in args)
        return (
            torch.empty_strided(first.shape, first.stride(), dtype=first.dtype, device=_META)
            if plain
            else None
        )
    if not _plain(*tensors) or any(isinstance(value, complex) for value in args):
        return None
    largest = max(tensors, key=lambda tensor: (tensor.dim(), tensor.numel()))
    if not all(_broadcasts(tensor.shape, largest.shape) for tensor in tensors):
        return None
    return _like(largest)


def _in_place(*args: Any, **kwargs: Any) -> Any:
    tensors = [value for value in args if isinstance(value, torch.Tensor)]
    if not _plain(*tensors) or any(isinstance(value, complex) for value in args):
        return None
    return args[0] if all(_broadcasts(tensor.shape, args[0].shape) for tensor in tensors[1:]) else None


def _softmax(x: Any, dim: int, last: Any = None) -> Any:
    """_softmax, _log_softmax (last: half_to_float) and _safe_softmax (last: dtype)."""
    fits = -x.dim() <= dim < max(x.dim(), 1)
    return _like(x) if fits and not last and _plain(x) else None


def _softmax_backward(grad: Any, output: Any, dim: int, dtype: Any) -> Any:
    return _like(output) if _plain(grad, output) and grad.shape == output.shape else None


def _addmm(bias: Any, a: Any, b: Any, **kwargs: Any) -> Any:
    if a.dim() != 2 or b.dim() != 2 or a.shape[1] != b.shape[0]:
        return None
    size = (a.shape[0], b.shape[1])
    same = bias.dtype is a.dtype is b.dtype
    return _new(a, size) if same and _broadcasts(bias.shape, torch.Size(size)) else None


def _convolution(
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    extra: Any,
    groups: int,
) -> Any:
    spatial = weight.dim() - 2
    inside = weight.shape[0] if transposed else weight.shape[1] * groups
    outside = weight.shape[1] * groups if transposed else weight.shape[0]
    if x.dim() != weight.dim() or x.shape[1] != inside or outside % groups or not _plain(x, weight, bias):
        return None
    stride, padding, dilation, extra = (
        list(v) * (spatial if len(v) == 1 else 1) for v in (stride, padding, dilation, extra)
    )
    sizes = []
    for at in range(spatial):
        reach = dilation[at] * (weight.shape[at + 2] - 1)
        if transposed:
            size = (x.shape[at + 2] - 1) * stride[at] - 2 * padding[at] + reach + extra[at] + 1
        else:
            size = (x.shape[at + 2] + 2 * padding[at] - reach - 1) // stride[at] + 1
        if size <= 0:
            return None
        sizes.append(size)
    return _new(x, (x.shape[0], outside, *sizes))


def _convolution_backward(grad: Any, x: Any, weight: Any, bias_sizes: Any, *rest: Any) -> Any:
    if not _plain(grad, x, weight):
        return None
    mask = rest[-1]
    return (
        _like(x) if mask[0] else None,
        _like(weight) if mask[1] else None,
        _new(grad, (grad.shape[1],)) if mask[2] else None,
    )


def _layer_norm(x: Any, shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    normed = len(shape)
    affine = [tensor for tensor in (weight, bias) if tensor is not None]
    if not _plain(x, *affine) or not normed or tuple(x.shape[-normed:]) != tuple(shape):
        return None
    if any(tuple(tensor.shape) != tuple(shape) for tensor in affine):
        return None
    statistics = (*x.shape[:-normed], *[1] * normed)
    return _like(x), _new(x, statistics), _new(x, statistics)


def _layer_norm_backward(
    grad: Any, x: Any, shape: Any, mean: Any, rstd: Any, weight: Any, bias: Any, mask: Any
) -> Any:
    if not _plain(grad, x, weight, bias):
        return None
    return tuple(
        _like(tensor) if wanted and tensor is not None else None
        for wanted, tensor in zip(mask, (x, weight, bias), strict=True)
    )


def _batch_norm(
    x: Any, weight: Any, bias: Any, mean: Any, var: Any, training: bool, momentum: float, eps: float
) -> Any:
    vectors = [tensor for tensor in (weight, bias, mean, var) if tensor is not None]
    if x.dim() < 2 or not _plain(x, *vectors) or any(tuple(v.shape) != (x.shape[1],) for v in vectors):
        return None
    size = (x.shape[1] if training else 0,)
    return _like(x), _new(x, size), _new(x, size)


def _batch_norm_backward(grad: Any, x: Any, weight: Any, *rest: Any) -> Any:
    if not _plain(grad, x, weight):
        return None
    mask, channels = rest[-1], (x.shape[1],)
    return (
        _like(x) if mask[0] else None,
        _new(x, channels) if mask[1] else None,
        _new(x, channels) if mask[2] else None,
    )


def _named(names: str, rule: Rule) -> dict[str, Rule]:
    return {"aten." + name: rule for name in names.split()}


RULES: dict[str, Rule] = {
    **_named(_POINTWISE, _pointwise),
    **_named(_IN_PLACE, _in_place),
    **_named("_softmax.default _log_softmax.default _safe_softmax.default", _softmax),
    **_named("_softmax_backward_data.default _log_softmax_backward_data.default", _softmax_backward),
    **_named("addmm.default", _addmm),
    **_named("convolution.default", _convolution),
    **_named("convolution_backward.default", _convolution_backward),
    **_named("native_layer_norm.default", _layer_norm),
    **_named("native_layer_norm_backward.default", _layer_norm_backward),
    **_named("native_batch_norm.default", _batch_norm),
    **_named("native_batch_norm_backward.default", _batch_norm_backward),
}
"""Operator overload -> rule; a rule gives the output or None for "ask torch"."""

_by_operator: dict[Any, Rule | None] = {}


def output_of(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The output stand-in of the operator if a rule here covers the call, else None."""
    if func not in _by_operator:
        _by_operator[func] = RULES.get(str(func))
    rule = _by_operator[func]
    return None if rule is None else rule(*args, **kwargs)

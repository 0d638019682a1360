"""How many multiply-accumulates (MACs) one call of an operator does: one formula an operator.

Convention of the whole package: one MAC is one multiply feeding one accumulate in a contraction
(matrix product, convolution, attention, recurrent layer); FLOPs = 2 x MACs. Padding taps count,
a transposed convolution counts by its input positions, attention counts as dense (a causal mask
saves nothing), the bias counts nothing. A complex MAC is four real ones (of a complex convolution torch
makes three real ones by itself, and those are what is seen).

Every formula takes the arguments of the operator and its output and returns MACs as an int.
Formulas stand for the work the mathematics asks for, not for what a kernel repeats: the backward
of fused attention counts its four products and not the recomputed scores, so that the count does
not depend on the kernel the device picks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import prod
from typing import Any

import torch
from torch._ops import HigherOrderOperator

from course.flops.recurrent import RECURRENT

Formula = Callable[..., int]


def positions(shape: Any) -> int:
    """Batch x spatial positions of a tensor of shape (batch, channels, *spatial)."""
    return shape[0] * prod(shape[2:])


def out_times_inner(out: Any, a: Any, *_: Any, **__: Any) -> int:
    """Every output element sums over the last dimension of the first operand."""
    return out.numel() * a.shape[-1]


def out_times_inner_second(out: Any, _bias: Any, a: Any, *_: Any, **__: Any) -> int:
    """As `out_times_inner`, for operators whose first argument is the matrix added at the end."""
    return out.numel() * a.shape[-1]


def dot(out: Any, a: Any, *_: Any, **__: Any) -> int:
    """Inner product of two vectors."""
    return a.numel()


def addbmm(out: Any, _bias: Any, a: Any, b: Any, **__: Any) -> int:
    """(batch, m, k) @ (batch, k, n), summed over the batch too."""
    return a.numel() * b.shape[-1]


def grouped_mm(out: Any, a: Any, b: Any, *_: Any, **__: Any) -> int:
    """Products over groups of rows (2-D x 3-D) or batched (3-D x 3-D); each output sums over a's last
    size.
    """
    if a.dim() == 2 and b.dim() == 2:  # the groups cut the summed dimension: each of its slices is used once
        return a.shape[0] * a.shape[1] * b.shape[1]
    if a.dim() == 3 and b.dim() == 2:  # the groups cut the columns of b
        return a.shape[1] * a.shape[2] * b.shape[1]
    return out.numel() * a.shape[-1]


def convolution(out: Any, x: Any, w: Any, *rest: Any, **__: Any) -> int:
    """aten.convolution(input, weight, bias, stride, padding, dilation, transposed, ...): groups are in the
    weight.
    """
    transposed = len(rest) > 4 and bool(rest[4])
    return positions(x.shape if transposed else out.shape) * w.numel()


def plain_convolution(out: Any, x: Any, w: Any, *_: Any, **__: Any) -> int:
    """A convolution operator that is never transposed."""
    return positions(out.shape) * w.numel()


def transposed_convolution(out: Any, x: Any, w: Any, *_: Any, **__: Any) -> int:
    """A convolution operator that is always transposed."""
    return positions(x.shape) * w.numel()


def convolution_backward(out: Any, grad: Any, x: Any, w: Any, *rest: Any, **kwargs: Any) -> int:
    """Each gradient asked for (input, weight) costs one forward, groups included."""
    transposed, mask = bool(rest[4]), kwargs.get("output_mask", rest[-1])
    return positions(x.shape if transposed else grad.shape) * w.numel() * (bool(mask[0]) + bool(mask[1]))


def conv_tbc(out: Any, x: Any, w: Any, *_: Any, **__: Any) -> int:
    """Time-batch-channel convolution; the weight is (kernel, in, out)."""
    return out.numel() * w.shape[0] * w.shape[1]


def attention(out: Any, q: Any, k: Any, v: Any, *_: Any, **__: Any) -> int:
    """Scores and weighted values, dense: q (batch, heads, L, E), k (.., S, E), v (.., S, Ev)."""
    return prod(q.shape[:-1]) * k.shape[-2] * (q.shape[-1] + v.shape[-1])


def attention_backward(out: Any, grad: Any, q: Any, k: Any, v: Any, *_: Any, **__: Any) -> int:
    """The products behind the gradients that are wanted: of v and of the scores (as wide as v), of q and k.

    The fused kernels compute all four, twice the forward, also where keys and values are fixed.
    """
    wants = [x.requires_grad for x in (q, k, v)]
    for_q, for_k, for_v = wants if any(wants) else (True, True, True)
    widths = q.shape[-1] * (for_q + for_k) + v.shape[-1] * (for_v + (for_q or for_k))
    return prod(q.shape[:-1]) * k.shape[-2] * widths


def native_attention(out: Any, q: Any, k: Any, v: Any, embed: int, *_: Any, **__: Any) -> int:
    """Fused nn.MultiheadAttention: four projections and the attention, q, k, v (batch, length, embed)."""
    n, length, source = q.shape[0], q.shape[1], k.shape[1]
    projections = n * embed * embed * (2 * length + 2 * source)
    return projections + 2 * n * length * source * embed


def trilinear(
    out: Any, a: Any, b: Any, c: Any, expand1: Any, expand2: Any, expand3: Any, *_: Any, **__: Any
) -> int:
    """nn.Bilinear: every point of the joint index space is one product feeding one sum."""
    shapes = []
    for operand, expand in ((a, expand1), (b, expand2), (c, expand3)):
        shape = list(operand.shape)
        for dim in sorted(expand):
            shape.insert(dim, 1)
        shapes.append(shape)
    return prod(max(sizes) for sizes in zip(*shapes, strict=True))


def weighted_bag(out: Any, weight: Any, indices: Any, *rest: Any, **kwargs: Any) -> int:
    """nn.EmbeddingBag: only a bag with one weight per sample multiplies."""
    weights = kwargs.get("per_sample_weights", rest[4] if len(rest) > 4 else None)
    return 0 if weights is None else indices.numel() * weight.shape[-1]


def weighted_bag_backward(out: Any, grad: Any, indices: Any, *rest: Any, **kwargs: Any) -> int:
    """Gradient of the table: with weights, every looked-up row is one scaled addition."""
    weights = kwargs.get("per_sample_weights", rest[6] if len(rest) > 6 else None)
    return 0 if weights is None else indices.numel() * grad.shape[-1]


def whole_bag_backward(out: Any, grad: Any, indices: Any, *rest: Any, **kwargs: Any) -> int:
    """As `weighted_bag_backward`, for the operator in front of it, which has two arguments more."""
    return weighted_bag_backward(out, grad, indices, *rest[2:], **kwargs)


def bag_weights_backward(out: Any, grad: Any, weight: Any, indices: Any, *_: Any, **__: Any) -> int:
    """Gradient of the weights: one dot product a looked-up row."""
    return indices.numel() * weight.shape[-1]


def distances(out: Any, x: Any, y: Any, p: float = 2.0, *_: Any, **__: Any) -> int:
    """Euclidean distances of all pairs: one squared difference a coordinate. Other norms: no formula."""
    if p != 2.0:
        raise ValueError("no product of two numbers")
    return out.numel() * x.shape[-1]


def own_distances(out: Any, x: Any, p: float = 2.0, *_: Any, **__: Any) -> int:
    """As `distances`, of the rows of one matrix among themselves."""
    return distances(out, x, x, p)


def distances_backward(out: Any, grad: Any, x: Any, y: Any, p: float, *_: Any, **__: Any) -> int:
    """The gradient of one side: a weighted sum of the differences."""
    return distances(grad, x, y, p)


def own_distances_backward(out: Any, grad: Any, x: Any, p: float, *_: Any, **__: Any) -> int:
    """Every pair adds its weighted difference to both of its rows."""
    return 2 * distances(grad, x, x, p)


def quantized_convolution(out: Any, x: Any, packed: Any, *_: Any, **__: Any) -> int:
    """int8 convolution with a packed weight."""
    return positions(out.shape) * packed.unpack()[0].numel()


def _table() -> dict[str, Formula]:
    inner, second = out_times_inner, out_times_inner_second
    table: dict[str, Formula] = {
        "aten::" + name: inner
        for name in (
            "mm bmm mv linear _int_mm _scaled_mm _weight_int8pack_mm _weight_int4pack_mm "
            "_weight_int4pack_mm_for_cpu "
            "mkldnn_linear _dyn_quant_matmul_4bit _mixed_dtypes_linear affine_grid_generator "
            "cudnn_affine_grid_generator"
        ).split()
    }
    table |= {"aten::" + name: second for name in "addmm baddbmm addmv _addmm_activation".split()}
    table |= {"aten::" + name: dot for name in ("dot", "vdot")}
    table |= {
        "aten::" + name: plain_convolution
        for name in (
            "cudnn_convolution cudnn_convolution_relu cudnn_convolution_add_relu miopen_convolution "
            "miopen_convolution_relu miopen_convolution_add_relu miopen_depthwise_convolution "
            "mkldnn_convolution "
            "_mps_convolution _conv_depthwise2d conv_depthwise3d _slow_conv2d_forward slow_conv3d_forward "
            "slow_conv_dilated2d slow_conv_dilated3d _nnpack_spatial_convolution"
        ).split()
    }
    table |= {
        "aten::" + name: transposed_convolution
        for name in (
            "cudnn_convolution_transpose miopen_convolution_transpose slow_conv_transpose2d "
            "slow_conv_transpose3d"
        ).split()
    }
    table |= {
        "aten::" + name: convolution for name in "convolution _convolution convolution_overrideable".split()
    }
    kinds = "flash_attention efficient_attention cudnn_attention flash_attention_for_cpu "
    kinds += "fused_attention_overrideable"
    for kind in kinds.split():
        table[f"aten::_scaled_dot_product_{kind}"] = attention
        table[f"aten::_scaled_dot_product_{kind}_backward"] = attention_backward
    table["aten::_scaled_dot_product_attention_math_for_mps"] = attention
    table |= {
        "aten::addbmm": addbmm,
        "aten::_grouped_mm": grouped_mm,
        "aten::conv_tbc": conv_tbc,
        "aten::convolution_backward": convolution_backward,
        "aten::convolution_backward_overrideable": convolution_backward,
        "aten::_native_multi_head_attention": native_attention,
        "aten::_trilinear": trilinear,
        "aten::_embedding_bag": weighted_bag,
        "aten::_embedding_bag_forward_only": weighted_bag,
        "aten::_embedding_bag_dense_backward": weighted_bag_backward,
        "aten::_embedding_bag_sparse_backward": weighted_bag_backward,
        "aten::_embedding_bag_backward": whole_bag_backward,
        "aten::_embedding_bag_per_sample_weights_backward": bag_weights_backward,
        "aten::_cdist_forward": distances,
        "aten::_euclidean_dist": distances,
        "aten::_cdist_backward": distances_backward,
        "aten::_pdist_forward": own_distances,
        "aten::_pdist_backward": own_distances_backward,
    }
    table |= {
        "quantized::" + name: inner
        for name in (
            "linear linear_relu linear_dynamic linear_relu_dynamic linear_dynamic_fp16 linear_leaky_relu "
            "linear_tanh"
        ).split()
    }
    table |= {
        "quantized::" + name: quantized_convolution
        for name in (
            "conv1d conv1d_relu conv2d conv2d_relu conv3d conv3d_relu conv2d_add conv2d_add_relu"
        ).split()
    }
    table["onednn::qlinear_pointwise"] = inner
    return table | RECURRENT


FORMULAS: dict[str, Formula] = _table()


def from_torch_registry(func: Any) -> Formula | None:
    """A formula somebody registered with torch.utils.flop_counter.register_flop_formula, halved into MACs.

    It covers operators this package does not know (flex attention, a custom operator with a formula). Whoever
    registered one has imported that module; it takes a second to import, so nobody else pays for it.
    """
    if "torch.utils.flop_counter" not in sys.modules and not isinstance(func, HigherOrderOperator):
        return None
    from torch.utils.flop_counter import flop_registry

    theirs = flop_registry.get(getattr(func, "_overloadpacket", func))
    if theirs is None:
        return None

    def formula(out: Any, *args: Any, **kwargs: Any) -> int:
        return int(theirs(*args, out_val=out, **kwargs)) // 2

    return formula


def tensors_in(args: Any, kwargs: Any | None = None) -> list[torch.Tensor]:
    """All tensors among the arguments of an operator, also inside lists of tensors."""
    found = []
    for value in (*args, *kwargs.values()) if kwargs else args:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += [item for item in value if isinstance(item, torch.Tensor)]
    return found

"""How many multiply-accumulates (MACs) one call of an operator does: one formula an operator.

One MAC is one multiply feeding one accumulate in a contraction (matrix product, convolution, attention, recurrent
layer). Padding taps count, a transposed convolution counts by its input positions, attention as dense, the bias
nothing. A complex MAC is four real ones (of a complex convolution torch makes three real ones by itself). A recurrent
layer of H units on I inputs does `gates x H x (I + H)` a step and sequence: every weight matrix is used once.

A formula takes the output and the arguments of the operator. It stands for the work the mathematics asks for, not
for what a kernel repeats: the backward of fused attention counts its products and not the recomputed scores, so
that the count does not depend on the kernel the device picks.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

Formula = Callable[..., int]


def positions(shape: Any) -> int:
    """Batch x spatial positions of a tensor of shape (batch, channels, *spatial)."""
    return shape[0] * prod(shape[2:])


def inner(at: int) -> Formula:
    """Returns the formula of a product in which each output element sums over the last dimension of argument ``at``."""
    return lambda out, *args, **_: out.numel() * args[at].shape[-1]


def grouped_mm(out: Any, a: Any, b: Any, *_: Any, **__: Any) -> int:
    """Products over groups: of the summed dimension (2-D x 2-D), of the columns (3-D x 2-D), or of the rows."""
    return a.shape[-2] * a.shape[-1] * b.shape[1] if b.dim() == 2 else out.numel() * a.shape[-1]


def convolution(out: Any, x: Any, w: Any, *rest: Any, **__: Any) -> int:
    """aten.convolution(input, weight, bias, stride, padding, dilation, transposed, ...): groups are in the weight."""
    return positions(x.shape if len(rest) > 4 and rest[4] else out.shape) * w.numel()


def by_positions(at: int) -> Formula:
    """Returns the formula of a convolution, which uses its weights once for each position: of its output (``at`` 0)
    or, transposed, of its input (1).
    """
    return lambda *given, **_: positions(given[at].shape) * given[2].numel()


def convolution_backward(out: Any, grad: Any, x: Any, w: Any, *rest: Any, **kwargs: Any) -> int:
    """Each gradient asked for (input, weight) costs one forward, groups included."""
    mask = kwargs.get("output_mask", rest[-1])
    return positions(x.shape if rest[4] else grad.shape) * w.numel() * (bool(mask[0]) + bool(mask[1]))


def attention(out: Any, q: Any, k: Any, v: Any, *_: Any, **__: Any) -> int:
    """Scores and weighted values, dense: q (batch, heads, L, E), k (.., S, E), v (.., S, Ev)."""
    return prod(q.shape[:-1]) * k.shape[-2] * (q.shape[-1] + v.shape[-1])


def attention_backward(out: Any, grad: Any, q: Any, k: Any, v: Any, *_: Any, **__: Any) -> int:
    """The products behind the gradients that are wanted: of v and of the scores (as wide as v), of q and k."""
    wants = [x.requires_grad for x in (q, k, v)]
    for_q, for_k, for_v = wants if any(wants) else (True, True, True)
    widths = q.shape[-1] * (for_q + for_k) + v.shape[-1] * (for_v + (for_q or for_k))
    return prod(q.shape[:-1]) * k.shape[-2] * widths


def native_attention(out: Any, q: Any, k: Any, v: Any, embed: int, *_: Any, **__: Any) -> int:
    """Fused nn.MultiheadAttention: four projections and the attention, q, k, v (batch, length, embed)."""
    n, length, source = q.shape[0], q.shape[1], k.shape[1]
    return n * embed * embed * (2 * length + 2 * source) + 2 * n * length * source * embed


def weighted_bag(at: int) -> Formula:
    """nn.EmbeddingBag: only a bag with one weight per sample multiplies. at: the place of the weights."""

    def macs(out: Any, *args: Any, **kwargs: Any) -> int:
        weights = kwargs.get("per_sample_weights", args[at] if len(args) > at else None)
        return 0 if weights is None else args[1].numel() * args[0].shape[-1]

    return macs


def distances(out: Any, x: Any, y: Any, p: float = 2.0, *_: Any, **__: Any) -> int:
    """Euclidean distances of all pairs: one squared difference a coordinate. Other norms: no formula."""
    if p != 2.0:
        raise ValueError("no product of two numbers")
    return out.numel() * x.shape[-1]


def onednn_rnn(out: Any, x: Any, w_ih: Any, w_hh: Any, *_: Any, **__: Any) -> int:
    """One layer and direction of an LSTM in oneDNN; x is (time, batch, features)."""
    return x.shape[0] * x.shape[1] * (w_ih.numel() + w_hh.numel())


def onednn_rnn_backward(out: Any, x: Any, w_ih: Any, w_hh: Any, *rest: Any, **__: Any) -> int:
    """Gradients of the weights, of the states between the steps, and of input and first state if wanted."""
    wants = [one.requires_grad for one in (x, w_ih, rest[2])]
    for_x, for_w, for_state = wants if any(wants) else (True, True, True)
    rows, steps, between = x.shape[1], x.shape[0], x.shape[0] - 1 + for_state
    return rows * (steps * (w_ih.numel() * (for_x + for_w) + w_hh.numel() * for_w) + between * w_hh.numel())


def cudnn_rnn(out: Any, x: Any, weights: Any, *rest: Any, batch_sizes: Any = None, **_: Any) -> int:
    """All layers of a cuDNN RNN."""
    sizes = rest[-2] if len(rest) >= 12 else batch_sizes
    return (sum(sizes) if sizes else x.shape[0] * x.shape[1]) * sum(w.numel() for w in weights if w.dim() == 2)


def cudnn_rnn_backward(out: Any, x: Any, weights: Any, *rest: Any, **_: Any) -> int:
    """Gradients of input and states in full, so twice the forward, or once if the weights are frozen."""
    return cudnn_rnn(out, x, weights, batch_sizes=rest[-4]) * (1 + bool(rest[-1][3]))


def _fused(end: str) -> str:
    """Fused attention by every kernel of torch."""
    kinds = "flash_attention efficient_attention cudnn_attention flash_attention_for_cpu fused_attention_overrideable"
    return " ".join(f"_scaled_dot_product_{kind}{end}" for kind in kinds.split())


_ATEN: dict[Formula, str] = {
    inner(0): "mm bmm mv linear _int_mm _scaled_mm _weight_int8pack_mm _weight_int4pack_mm _weight_int4pack_mm_for_cpu "
    "mkldnn_linear _dyn_quant_matmul_4bit _mixed_dtypes_linear affine_grid_generator cudnn_affine_grid_generator",
    inner(1): "addmm baddbmm addmv _addmm_activation",
    lambda out, a, *_, **__: a.numel(): "dot vdot",
    lambda out, _bias, a, b, **__: a.numel() * b.shape[-1]: "addbmm",  # summed over the batch too
    grouped_mm: "_grouped_mm",
    lambda out, x, w, *_, **__: out.numel() * w.shape[0] * w.shape[1]: "conv_tbc",  # w is (kernel, in, out)
    convolution: "convolution _convolution convolution_overrideable",
    by_positions(0): "cudnn_convolution cudnn_convolution_relu cudnn_convolution_add_relu miopen_convolution "
    "miopen_convolution_relu miopen_convolution_add_relu miopen_depthwise_convolution mkldnn_convolution "
    "_mps_convolution _conv_depthwise2d conv_depthwise3d _slow_conv2d_forward slow_conv3d_forward slow_conv_dilated2d "
    "slow_conv_dilated3d _nnpack_spatial_convolution",
    by_positions(1): "cudnn_convolution_transpose miopen_convolution_transpose slow_conv_transpose2d "
    "slow_conv_transpose3d",
    convolution_backward: "convolution_backward convolution_backward_overrideable",
    attention: _fused("") + " _scaled_dot_product_attention_math_for_mps",
    attention_backward: _fused("_backward"),
    native_attention: "_native_multi_head_attention",
    onednn_rnn: "mkldnn_rnn_layer",
    onednn_rnn_backward: "mkldnn_rnn_layer_backward",
    cudnn_rnn: "_cudnn_rnn miopen_rnn",
    cudnn_rnn_backward: "_cudnn_rnn_backward",
    weighted_bag(6): "_embedding_bag _embedding_bag_forward_only",
    weighted_bag(8): "_embedding_bag_dense_backward _embedding_bag_sparse_backward",
    weighted_bag(10): "_embedding_bag_backward",
    # the gradient of the weights is one dot product a looked-up row
    lambda out, grad, w, indices, *_, **__: indices.numel() * w.shape[-1]: "_embedding_bag_per_sample_weights_backward",
    distances: "_cdist_forward _euclidean_dist",
    lambda out, x, p=2.0, *_, **__: distances(out, x, x, p): "_pdist_forward",
    # the gradient of one side is a weighted sum of the differences; every pair of rows adds it to both
    lambda out, grad, x, y, p, *_, **__: distances(grad, x, y, p): "_cdist_backward",
    lambda out, grad, x, p, *_, **__: 2 * distances(grad, x, x, p): "_pdist_backward",
}
_QUANTIZED: dict[Formula, str] = {
    inner(0): "linear linear_relu linear_dynamic linear_relu_dynamic linear_dynamic_fp16 linear_leaky_relu linear_tanh",
    lambda out, x, packed, *_, **__: (
        positions(out.shape) * packed.unpack()[0].numel()
    ): "conv1d conv1d_relu conv2d conv2d_relu conv3d conv3d_relu conv2d_add conv2d_add_relu",
}
FORMULAS: dict[str, Formula] = {
    **{f"aten::{name}": formula for formula, names in _ATEN.items() for name in names.split()},
    **{f"quantized::{name}": formula for formula, names in _QUANTIZED.items() for name in names.split()},
    "onednn::qlinear_pointwise": inner(0),
    "flex_attention": attention,
    "flex_attention_backward": lambda out, q, k, v, *_, **__: 2 * attention(out, q, k, v),
}

"""Which operators certainly contain no contraction, and therefore count no MACs.

Four proofs, tried in turn: torch itself tags the operator (or its twin in aten) as pointwise; it is a view; it is a
factory of torch that reads no tensor; or it is on the audited lists below. Everything else is unknown: FFTs, linear
solvers, custom kernels. Interpolation and norms do arithmetic, which the convention counts as element operations.
"""

from __future__ import annotations

from typing import Any

import torch

_ATEN = """
_adaptive_avg_pool2d _adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d avg_pool2d avg_pool3d
fractional_max_pool2d fractional_max_pool3d max_pool2d_with_indices max_pool3d_with_indices max_unpool2d max_unpool3d
mkldnn_adaptive_avg_pool2d mkldnn_max_pool2d mkldnn_max_pool3d quantized_max_pool1d quantized_max_pool2d
quantized_max_pool3d max_pool2d adaptive_avg_pool3d native_batch_norm _native_batch_norm_legit
_native_batch_norm_legit_no_training _batch_norm_no_update _batch_norm_with_update _batch_norm_with_update_functional
_native_batch_norm_legit_functional cudnn_batch_norm miopen_batch_norm batch_norm batch_norm_stats batch_norm_elemt
batch_norm_update_stats batch_norm_gather_stats batch_norm_gather_stats_with_counts native_group_norm
native_layer_norm _fused_rms_norm rms_norm native_norm norm linalg_vector_norm renorm embedding_renorm
_weight_norm_interface quantized_batch_norm _thnn_fused_lstm_cell _thnn_fused_gru_cell
_thnn_fused_lstm_cell_backward_impl sum nansum mean prod all any amax amin aminmax _aminmax argmax argmin max min
median nanmedian mode kthvalue std std_mean var var_mean logsumexp count_nonzero cumsum cumprod cummax cummin
_cummax_helper _cummin_helper logcumsumexp _logcumsumexp trace allclose _is_all_true _is_any_true histc histogram
bincount segment_reduce sum_to_size linalg__powsum _softmax _log_softmax _safe_softmax _masked_softmax
_sample_dirichlet dist binary_cross_entropy binary_cross_entropy_with_logits huber_loss mse_loss nll_loss_forward
nll_loss2d_forward smooth_l1_loss soft_margin_loss multi_margin_loss multilabel_margin_loss_forward _ctc_loss
_cudnn_ctc_loss _use_cudnn_ctc_loss addr glu hardswish gelu elu log_sigmoid_forward _prelu_kernel quantize_per_tensor
quantize_per_tensor_dynamic quantize_per_channel dequantize _make_per_tensor_quantized_tensor
_make_per_channel_quantized_tensor fake_quantize_per_tensor_affine_cachemask
fake_quantize_per_channel_affine_cachemask _fake_quantize_learnable_per_tensor_affine
_fake_quantize_learnable_per_channel_affine _fake_quantize_per_tensor_affine_cachemask_tensor_qparams
_fused_moving_avg_obs_fq_helper linalg_cross rsub floor_divide threshold softplus softshrink hardshrink hardsigmoid
hardtanh leaky_relu _add_relu abs eq ge gt le lt ne grid_sampler_2d grid_sampler_3d _grid_sampler_2d_cpu_fallback
cudnn_grid_sampler upsample_nearest1d upsample_nearest2d upsample_nearest3d _upsample_nearest_exact1d
_upsample_nearest_exact2d _upsample_nearest_exact3d upsample_linear1d upsample_bilinear2d upsample_bicubic2d
upsample_trilinear3d _upsample_bilinear2d_aa _upsample_bicubic2d_aa _upsample_lanczos2d_aa _softmax_backward_data
_log_softmax_backward_data _sparse_softmax_backward_data select_backward slice_backward diagonal_backward
value_selecting_reduction_backward
_to_copy copy clone cat stack _chunk_cat block_diag constant_pad_nd contiguous embedding embedding_dense
_embedding_bag_dense flip roll rot90 repeat repeat_interleave gather index index_add index_copy index_fill index_put
_index_put_impl index_reduce index_select isin masked_fill masked_scatter masked_select nonzero nonzero_static put
take scatter scatter_add scatter_reduce select_scatter slice_scatter diagonal_scatter as_strided_scatter bucketize
searchsorted sort topk unique_consecutive unique_dim _unique _unique2 tril triu pixel_shuffle pixel_unshuffle
channel_shuffle im2col col2im unfold reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d
replication_pad2d replication_pad3d unsafe_split unsafe_split_with_sizes _unsafe_view _reshape_copy
_reshape_alias_copy _unsafe_index _unsafe_index_put _unsafe_masked_index _unsafe_masked_index_put_accumulate lift
lift_fresh lift_fresh_copy detach squeeze unsqueeze t transpose as_strided resize set_ resize_as _pack_padded_sequence
one_hot view_copy expand_copy permute_copy slice_copy select_copy split_copy split_with_sizes_copy unbind_copy
narrow_copy detach_copy alias_copy diagonal_copy transpose_copy squeeze_copy unsqueeze_copy unfold_copy t_copy
diag_embed to_mkldnn to_dense _to_dense _pin_memory mkldnn_reorder_conv2d_weight mkldnn_reorder_conv3d_weight
_mkldnn_reshape _mkldnn_transpose record_stream _nested_view_from_buffer _cudnn_rnn_flatten_weight complex polar
view_as_complex_copy view_as_real_copy _conj_copy _convert_weight_to_int4pack _lazy_clone _fused_sdp_choice
_transform_bias_rescale_qkv _local_scalar_dense is_same_size is_set_to is_pinned is_nonzero _assert_async
_functional_assert_async _assert_tensor_metadata _has_same_storage_numel q_scale q_zero_point qscheme
q_per_channel_scales q_per_channel_zero_points q_per_channel_axis int_repr size stride numel dim is_contiguous
sym_size sym_stride sym_numel sym_storage_offset storage_offset device layout fill zero empty_like full_like ones_like
zeros_like new_empty new_empty_strided new_full new_ones new_zeros rand_like randn_like randint_like bernoulli
binomial cauchy exponential geometric log_normal normal random uniform poisson multinomial native_dropout
_fused_dropout _masked_scale _standard_gamma rrelu_with_noise linspace logspace alpha_dropout
_new_zeros_with_same_feature_meta random_from random_to
"""  # pooling, norms, reductions, losses, sampling, gradients; then moving, asking, filling
_FOREACH = """
add sub mul div neg abs sqrt exp norm zero copy clamp_max clamp_min addcdiv addcmul lerp pow reciprocal sign sigmoid
tanh max maximum minimum clone rsqrt log
"""  # of lists of tensors, as in optimizers
_QUANTIZED = """
add add_relu add_scalar mul mul_relu cat batch_norm batch_norm2d relu6 leaky_relu hardswish sigmoid elu layer_norm
group_norm instance_norm clamp threshold dropout prelu softmax
"""  # of int8 tensors


_MESSAGES = frozenset("c10d _c10d_functional _c10d_functional_autograd fsdp prim profiler".split())
"""Namespaces of messages between processes, which move tensors or add them element by element, and of questions."""


def _named(space: str, names: str) -> frozenset[str]:
    return frozenset(space + name for name in names.split())


FREE: frozenset[str] = _named("aten::", _ATEN) | _named("aten::_foreach_", _FOREACH) | _named("quantized::", _QUANTIZED)


def _listed(name: str) -> bool:
    """Whether the list has the name, its out-of-place twin (`relu_`), or the forward of a gradient.

    The gradient of an operator without a contraction has none either: pooling, norms, losses, indexing and
    interpolation are sums, selections and element operations in both directions.
    """
    for ending in ("_backward", "_backward_reduce", "_backward_elemt", "_dense_backward"):
        if name.endswith(ending):
            forward = name[: -len(ending)]
            if any(stem in FREE for stem in (forward, forward + "_forward", forward.replace("::", "::_", 1))):
                return True
    return name in FREE or name.rstrip("_") in FREE


def is_free(func: Any) -> bool:
    """Whether the operator (an OpOverload) provably holds no contraction."""
    space, _, name = func._schema.name.partition("::")
    if space in _MESSAGES:
        return True
    twin = getattr(torch.ops.aten, name, None) if space == "prims" else None  # forward-mode derivatives use some
    twins = [getattr(twin, one) for one in twin.overloads()] if twin is not None else []
    if any(torch.Tag.pointwise in one.tags for one in (func, *twins)) or _listed(func._schema.name):
        return True
    reads = any("Tensor" in str(argument.type) for argument in func._schema.arguments)
    return space in ("aten", "prims") and (bool(getattr(func, "is_view", False)) or not reads)

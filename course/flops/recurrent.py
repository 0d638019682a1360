"""MACs of recurrent layers that run as one fused operator: oneDNN, cuDNN, MIOpen and int8.

A layer of H units on I inputs does `gates x H x (I + H)` MACs a step and sequence: every weight matrix is used
once. The backward of oneDNN counts the gradients that are wanted; that of cuDNN, which has all layers in one
operator, those of the input and the states in full.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def onednn_rnn(out: Any, x: Any, w_ih: Any, w_hh: Any, *_: Any, **__: Any) -> int:
    """One layer and direction of an LSTM in oneDNN; x is (time, batch, features)."""
    return x.shape[0] * x.shape[1] * (w_ih.numel() + w_hh.numel())


def onednn_rnn_backward(out: Any, x: Any, w_ih: Any, w_hh: Any, *rest: Any, **__: Any) -> int:
    """Gradients of the weights, of the states between the steps, and of input and first state if wanted."""
    wants = [one.requires_grad for one in (x, w_ih, rest[2])]
    for_x, for_w, for_state = wants if any(wants) else (True, True, True)
    rows, steps = x.shape[1], x.shape[0]
    between = steps - 1 + for_state
    return rows * (steps * (w_ih.numel() * (for_x + for_w) + w_hh.numel() * for_w) + between * w_hh.numel())


def cudnn_rnn(out: Any, x: Any, weights: Any, *rest: Any, batch_sizes: Any = None, **_: Any) -> int:
    """All layers of a cuDNN RNN; every weight matrix is used once a step and sequence."""
    sizes = rest[-2] if len(rest) >= 12 else batch_sizes
    return (sum(sizes) if sizes else x.shape[0] * x.shape[1]) * sum(w.numel() for w in weights if w.dim() == 2)


def cudnn_rnn_backward(out: Any, x: Any, weights: Any, *rest: Any, **_: Any) -> int:
    """Twice the forward, or once if the weights are frozen."""
    return cudnn_rnn(out, x, weights, batch_sizes=rest[-4]) * (1 + bool(rest[-1][3]))


def _int8(gates: int) -> Callable[..., int]:
    """int8 layers (`quantize_dynamic`): the weights are packed, so sizes come from input and state.

    x is (time, batch, inputs) in any order of the first two, or packed (rows, inputs) with its batch sizes next;
    then the state (layers x directions, batch, H), packed weights, and the settings.
    """

    def macs(out: Any, x: Any, *rest: Any, **__: Any) -> int:
        packed = hasattr(rest[0], "dtype") and not rest[0].is_floating_point()
        state, settings = rest[packed], rest[packed + 1 :]
        hidden = (state if hasattr(state, "shape") else state[0]).shape[-1]
        layers, directions = settings[2], 1 + bool(settings[5])
        inputs = x.shape[-1] + hidden + (layers - 1) * (directions * hidden + hidden)
        return x.numel() // x.shape[-1] * directions * gates * hidden * inputs

    return macs


RECURRENT: dict[str, Callable[..., int]] = {
    "aten::mkldnn_rnn_layer": onednn_rnn,
    "aten::mkldnn_rnn_layer_backward": onednn_rnn_backward,
    "aten::_cudnn_rnn": cudnn_rnn,
    "aten::_cudnn_rnn_backward": cudnn_rnn_backward,
    "aten::miopen_rnn": cudnn_rnn,
    "aten::quantized_lstm": _int8(4),
    "aten::quantized_gru": _int8(3),
}
"""Operator -> MACs."""

"""The ways out of PyTorch in a few lines each, a small network to send, and onnxruntime as the kitchen at the other end."""

from __future__ import annotations

import contextlib
import copy
import functools
import io
import logging
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import nn

from course.core import arguments

SIDE = 16  # pixels of the images in this lesson


class SmallNet(nn.Module):
    """Two convolutions, batch norm, dropout and a linear layer: images (batch, 3, 16, 16) to scores (batch, 5)."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, padding=1)
        self.norm = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 16, 3, padding=1)
        self.drop = nn.Dropout(0.5)
        self.linear = nn.Linear(16, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.norm(self.conv1(x)))
        return self.linear(self.drop(torch.relu(self.conv2(x)).mean((2, 3))))


@functools.cache
def _trained() -> SmallNet:
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        model = SmallNet().train()
        for step in range(4):
            model(images(8, seed=100 + step))
    return model.eval()


def small_net() -> SmallNet:
    """A SmallNet, the same each time, its running statistics moved as by some training, in eval mode."""
    return copy.deepcopy(_trained())


def images(batch: int = 4, seed: int = 1) -> torch.Tensor:
    """Made-up images (batch, 3, 16, 16), the same for the same seed."""
    arguments.whole("batch", batch, 1)
    arguments.whole("seed", seed)
    return 2 * torch.rand(batch, 3, SIDE, SIDE, generator=torch.Generator().manual_seed(seed)) + 1


class SideBySide(nn.Module):
    """Several layers in one module, each with its own input, so that one export serves all; gives back a tuple."""

    def __init__(self, layers: Sequence[nn.Module]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(layer(x) for layer, x in zip(self.layers, inputs, strict=True))


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Without the notes of the exporters: what is deprecated, what other models would need, the graph at a refusal."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def to_onnx(model: Any, args: tuple, **more: Any) -> Any:
    """The `torch.onnx.ONNXProgram` of a model (or of an exported program), with nothing printed."""
    import torch._dynamo  # else torch loads it while an interrupt passes through: seconds on a busy machine

    with quiet():
        return torch.onnx.export(model, args, dynamo=True, verbose=False, **more)


def traced(model: Any, args: tuple) -> Any:
    """What the deprecated `torch.jit.trace` makes of a model."""
    with quiet(), torch.no_grad():
        return torch.jit.trace(model, args)


def session_of(file: bytes, threads: int = 0) -> Any:
    """An onnxruntime session on the CPU for the bytes of an ONNX file. threads: 0 lets onnxruntime choose."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])


def run_onnx(file: bytes, *inputs: torch.Tensor) -> list[torch.Tensor]:
    """The outputs of an ONNX file, computed by onnxruntime on the CPU."""
    session = session_of(file)
    given = {slot.name: x.numpy() for slot, x in zip(session.get_inputs(), inputs, strict=True)}
    return [torch.from_numpy(one) for one in session.run(None, given)]


# --- what a file says, without notes and names of places ------------------------------------------------------


def said_by_trace(program: Any) -> str:
    """The graph of a traced program, without the comments that name lines of source and the numbers in names of classes."""
    return re.sub(r" *#.*|\.___torch_mangle_\d+", "", str(program.inlined_graph))


def said_by_export(program: torch.export.ExportedProgram) -> str:
    """What an exported program computes: operators with their arguments, shapes and types of weights and inputs.

    The types that are noted beside each step are left out: the program does not compute by them.
    """

    def told(node: torch.fx.Node) -> str:
        value = node.meta.get("val") if node.op == "placeholder" else None
        return f"{node.format_node()} " + (
            f"{tuple(value.shape)} {value.dtype}" if isinstance(value, torch.Tensor) else ""
        )

    return "\n".join(map(told, program.graph.nodes))


def without_notes(program: Any) -> Any:
    """The ONNX model (a protobuf message) of a program without its notes: where each node came from, in which source file."""
    model = program.model_proto
    graph = model.graph
    for part in (model, graph, *graph.node, *graph.initializer, *graph.input, *graph.output, *graph.value_info):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")
    return model


def graph_and_weights(model: Any) -> tuple[bytes, bytes]:
    """An ONNX model without notes in two parts: the graph, and the numbers of its weights."""
    weights = b"".join(one.SerializeToString(deterministic=True) for one in model.graph.initializer)
    copied = type(model)()
    copied.CopyFrom(model)
    copied.graph.ClearField("initializer")
    return copied.SerializeToString(deterministic=True), weights


def weights_of(state: Mapping[str, torch.Tensor]) -> list[bytes]:
    """The bytes of the weights in a state dict, in order of their names."""
    return [tensor.detach().numpy().tobytes() for _, tensor in sorted(state.items())]


def flags_in_trace(model: nn.Module, x: torch.Tensor) -> list[str]:
    """The last four arguments of the first convolution in a trace: benchmark, deterministic, enabled, allow_tf32."""
    arguments.of_type("model", model, nn.Module)
    arguments.of_type("x", x, torch.Tensor)
    graph = traced(model, (x,)).inlined_graph
    convolution = next(node for node in graph.nodes() if node.kind() == "aten::_convolution")
    return [str(bool(value.toIValue())) for value in list(convolution.inputs())[-4:]]

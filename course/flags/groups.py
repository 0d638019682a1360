"""The submodules of torch.backends in the order of the map: what each is about, and where it computes.

Sources: the modules under torch/backends/, https://docs.pytorch.org/docs/stable/backends.html
"""

from __future__ import annotations

from dataclasses import dataclass

from course.i18n import Text, both

PLACES: dict[str, Text] = {
    "all": both("everywhere", "哪里都管"),
    "gpu": both("GPU of NVIDIA or AMD", "NVIDIA 或 AMD 的 GPU"),
    "apple": both("Apple GPU", "苹果 GPU"),
    "cpu": both("CPU", "CPU"),
}
"""Where a submodule computes."""


@dataclass(frozen=True)
class Group:
    """One submodule. place: a key of PLACES. text: what it is about, in one sentence."""

    place: str
    text: Text


def _group(place: str, en: str, zh: str) -> Group:
    return Group(place, both(en, zh))


GROUPS: dict[str, Group] = {
    "root": _group(
        "all",
        "What belongs to all libraries: the root of the precision tree, and the freezing of switches.",
        "所有库共用的：精度树的根，以及冻结开关。",
    ),
    "cudnn": _group(
        "gpu",
        "NVIDIA's library for convolutions, recurrent layers and batch norm; on an AMD GPU the same names drive MIOpen.",
        "NVIDIA 的库，算卷积、循环层和 BatchNorm；在 AMD GPU 上，同样的名字控制的是 MIOpen。",
    ),
    "cuda": _group(
        "gpu",
        "Matrix products, attention, linear algebra and FFT on a GPU.",
        "GPU 上的矩阵乘、注意力、线性代数和 FFT。",
    ),
    "miopen": _group("gpu", "AMD's library for convolutions and recurrent layers.", "AMD 的库，算卷积和循环层。"),
    "mkldnn": _group(
        "cpu",
        "oneDNN, once called MKL-DNN: convolutions, LSTM and low-precision products on a CPU.",
        "oneDNN，以前叫 MKL-DNN：CPU 上的卷积、LSTM 和低精度矩阵乘。",
    ),
    "mkl": _group("cpu", "Intel's MKL: matrix products, LAPACK, FFT.", "英特尔的 MKL：矩阵乘、LAPACK、FFT。"),
    "openmp": _group("cpu", "The threads inside one operator.", "单个算子内部的线程。"),
    "nnpack": _group("cpu", "A small library for float32 convolutions on a CPU.", "CPU 上算 float32 卷积的一个小库。"),
    "mha": _group("all", "The fused path of multi-head attention in inference.", "多头注意力推理时的融合路径。"),
    "opt_einsum": _group("all", "The order in which torch.einsum contracts.", "torch.einsum 的收缩顺序。"),
    "quantized": _group("cpu", "Who computes quantized operators.", "量化算子由谁来算。"),
    "cpu": _group(
        "cpu", "Which vector instructions PyTorch's own kernels use.", "PyTorch 自己的 kernel 用哪种向量指令。"
    ),
    "kleidiai": _group("cpu", "Arm's kernels for int4.", "Arm 的 int4 kernel。"),
    "xnnpack": _group("cpu", "A library for inference, mostly on phones.", "做推理的库，多用在手机上。"),
    "xeon": _group("cpu", "A start script for servers, no switches.", "给服务器用的启动脚本，没有开关。"),
    "mps": _group("apple", "Metal on a Mac: questions only, nothing to set.", "Mac 上的 Metal：只能问，没有可设的。"),
    "cusparselt": _group("gpu", "NVIDIA's library for 2:4 sparse matrix products.", "NVIDIA 的 2:4 稀疏矩阵乘库。"),
    "python_native": _group(
        "all", "Kernels written in Python languages such as Triton.", "用 Triton 等 Python 语言写的 kernel。"
    ),
    "torch": _group(
        "all",
        "Settings of torch beside torch.backends, for the whole process.",
        "torch.backends 旁边、torch 的进程级设置。",
    ),
}
"""Every group of the table of switches, in the order of the map."""


def module_of(group: str) -> str:
    """The name a learner types: `torch.backends.cudnn`; `torch.backends` for the root, `torch` for what stands beside it."""
    return {"root": "torch.backends", "torch": "torch"}.get(group, f"torch.backends.{group}")

"""The switches and queries of torch.backends itself and of torch.backends.cudnn.

Sources: torch/backends/__init__.py, torch/backends/cudnn/__init__.py, aten/src/ATen/Context.h,
https://docs.pytorch.org/docs/stable/backends.html
"""

from __future__ import annotations

from typing import Any

from course.flags.switch import ABSENT, DEPENDS, Switch
from course.i18n import both


def _limit(torch: Any) -> Any:
    """A build without cuDNN has a plain attribute here that nobody reads: no switch."""
    return torch.backends.cudnn.benchmark_limit if torch.backends.cudnn.is_available() else ABSENT


CONV = both("convolutions on a GPU", "GPU 上的卷积")
TREE = both(
    "A permission, not a command: the kernel may use the lower precision if the hardware has it.",
    "这是许可，不是命令：硬件支持时，kernel 才可以用较低的精度。",
)

ROOT = (
    Switch(
        "fp32_precision",
        "switch",
        "none",
        both(
            "The root of the precision tree: how exactly float32 is computed where no node below has a say.",
            "精度树的根：下面的节点没有说明时，float32 要算到多精确。",
        ),
        both("every leaf of the tree that has no value of its own", "精度树中没有自己取值的所有叶子"),
        takes="precision",
        since="2.9",
        frozen=True,
        note=both(
            "Up to 2.12 the root did not reach cudnn.conv and cudnn.rnn (pytorch/pytorch#179445).",
            "2.12 及更早版本中，根的取值传不到 cudnn.conv 和 cudnn.rnn（pytorch/pytorch#179445）。",
        ),
    ),
    Switch(
        "flags_frozen",
        "query",
        False,
        both(
            "Whether disable_global_flags() has forbidden plain assignments.",
            "是否已经用 disable_global_flags() 禁止直接赋值。",
        ),
    ),
    Switch(
        "disable_global_flags",
        "tool",
        DEPENDS,
        both(
            "Forbids plain assignments to many flags until the process ends; there is no public way back.",
            "禁止对许多开关直接赋值，直到进程结束；没有公开的办法撤销。",
        ),
    ),
)

CUDNN = (
    Switch(
        "cudnn.enabled",
        "switch",
        True,
        both(
            "May PyTorch use cuDNN (MIOpen on ROCm) at all where an operator asks this flag?",
            "凡是会查看这个开关的算子，是否允许使用 cuDNN（ROCm 上是 MIOpen）？",
        ),
        both(
            "convolution, batch norm, RNN, CTC loss and grid_sample on a GPU",
            "GPU 上的卷积、批归一化、RNN、CTC 损失和 grid_sample",
        ),
        takes="bool",
        frozen=True,
        note=both(
            "Attention through cuDNN has its own switch: cuda.enable_cudnn_sdp.",
            "cuDNN 注意力有自己的开关：cuda.enable_cudnn_sdp。",
        ),
    ),
    Switch(
        "cudnn.benchmark",
        "switch",
        False,
        both(
            "On the first call with a new key, time several cuDNN plans and keep the fastest in a cache.",
            "遇到新的 key 时，第一次调用会实测多个 cuDNN 执行计划，把最快的存入缓存。",
        ),
        CONV,
        takes="bool",
        frozen=True,
        note=both(
            "The flag is not part of the cache key: a shape seen before keeps its plan.",
            "这个开关不在缓存 key 里：已经见过的形状会沿用原来的执行计划。",
        ),
    ),
    Switch(
        "cudnn.benchmark_limit",
        "switch",
        10,
        both(
            "At most how many cuDNN plans the search times for one key; 0 lifts the limit.",
            "一次搜索最多实测多少个 cuDNN 执行计划；0 表示不限制。",
        ),
        both("the plan search of cudnn.benchmark", "cudnn.benchmark 的搜索"),
        takes="int",
        frozen=True,
        get=_limit,
        note=both(
            "On a build without cuDNN this is a plain attribute that nobody reads.",
            "没有 cuDNN 的构建里，它只是一个没人读取的普通属性。",
        ),
    ),
    Switch(
        "cudnn.deterministic",
        "switch",
        False,
        both(
            "Drop the cuDNN plans marked as nondeterministic; the rest is chosen as before.",
            "剔除标记为非确定性的 cuDNN 执行计划；其余的照常挑选。",
        ),
        CONV,
        takes="bool",
        frozen=True,
        note=both(
            "It does not cancel cudnn.benchmark, and it covers convolutions alone.",
            "它不会取消 cudnn.benchmark，而且只管卷积。",
        ),
    ),
    Switch(
        "cudnn.allow_tf32",
        "switch",
        True,
        both(
            "The older way to allow TF32 in cuDNN convolutions and RNNs.", "允许 cuDNN 卷积和 RNN 使用 TF32 的旧接口。"
        ),
        both(
            "cuDNN convolution and RNN on GPUs with TF32 (compute capability 8.0 on)",
            "支持 TF32 的 GPU（计算能力 8.0 起）上的 cuDNN 卷积和 RNN",
        ),
        takes="bool",
        frozen=True,
        note=both(
            "Reading it raises after conv and rnn were set apart through fp32_precision.",
            "用 fp32_precision 让 conv 和 rnn 取值不同之后，读它会抛出异常。",
        ),
    ),
    Switch(
        "cudnn.depthwise_kernel",
        "switch",
        "auto",
        both(
            "Who computes depthwise convolutions on CUDA: 'auto', 'cudnn' or 'native'.",
            "CUDA 上的逐通道卷积由谁计算：'auto'、'cudnn' 或 'native'。",
        ),
        both("depthwise convolution on CUDA", "CUDA 上的逐通道卷积"),
        takes="text",
        since="2.13",
        frozen=True,
    ),
    Switch(
        "cudnn.fp32_precision",
        "switch",
        "none",
        both(
            "The CUDA branch of the precision tree: parent of cudnn.conv, cudnn.rnn and cuda.matmul.",
            "精度树的 CUDA 分支：cudnn.conv、cudnn.rnn 和 cuda.matmul 的父节点。",
        ),
        both("the CUDA leaves that have no value of their own", "没有自己取值的 CUDA 叶子"),
        takes="precision",
        since="2.9",
        frozen=True,
        note=TREE,
    ),
    Switch(
        "cudnn.conv.fp32_precision",
        "switch",
        "tf32",
        both("The float32 precision of cuDNN convolutions.", "cuDNN 卷积的 float32 精度。"),
        both("cuDNN convolution", "cuDNN 卷积"),
        takes="precision",
        since="2.9",
        note=TREE,
    ),
    Switch(
        "cudnn.rnn.fp32_precision",
        "switch",
        "tf32",
        both("The float32 precision of cuDNN RNNs.", "cuDNN RNN 的 float32 精度。"),
        both("cuDNN RNN", "cuDNN RNN"),
        takes="precision",
        since="2.9",
        note=TREE,
    ),
    Switch(
        "cudnn.is_available",
        "query",
        DEPENDS,
        both(
            "Was this torch built with cuDNN (or MIOpen)? It says nothing about a GPU being present.",
            "这个 torch 编译时是否带了 cuDNN（或 MIOpen）？它不说明有没有 GPU。",
        ),
    ),
    Switch(
        "cudnn.version",
        "query",
        DEPENDS,
        both(
            "The cuDNN version as one number, None without cuDNN.", "cuDNN 的版本号（一个整数），没有 cuDNN 时为 None。"
        ),
    ),
    Switch(
        "cudnn.is_acceptable",
        "tool",
        DEPENDS,
        both(
            "Would cuDNN accept this tensor: enabled, on CUDA, and half, float or double?",
            "cuDNN 是否接受这个张量：已启用、在 CUDA 上、类型为 half、float 或 double？",
        ),
    ),
)

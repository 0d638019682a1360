"""The switches and queries that speak about the CPU: mkldnn, mkl, openmp, nnpack, quantized and small ones.

Sources: torch/backends/mkldnn/__init__.py and its neighbours, aten/src/ATen/native/Convolution.cpp,
https://docs.pytorch.org/docs/stable/backends.html, https://docs.pytorch.org/docs/stable/notes/mkldnn.html
"""

from __future__ import annotations

from course.flags.switch import DEPENDS, Switch
from course.i18n import both

ONEDNN = both("the oneDNN primitive of that operator", "对应算子的 oneDNN primitive")


def _leaf(op: str, en: str, zh: str) -> Switch:
    return Switch(
        f"mkldnn.{op}.fp32_precision",
        "switch",
        "none",
        both(f"The float32 precision oneDNN may use in {en}.", f"oneDNN 在{zh}中可以使用的 float32 精度。"),
        ONEDNN,
        takes="precision",
        since="2.9",
        note=both(
            "A permission: without hardware for it the results stay the same.", "这是许可：没有相应硬件时，结果不变。"
        ),
    )


MKLDNN = (
    Switch(
        "mkldnn.enabled",
        "switch",
        True,
        both("May CPU operators use oneDNN?", "CPU 算子能否使用 oneDNN？"),
        both(
            "convolution, nn.LSTM, gelu and low-precision matrix products on a CPU",
            "CPU 上的卷积、nn.LSTM、gelu 和低精度矩阵乘",
        ),
        takes="bool",
        frozen=True,
        note=both(
            "float32 nn.Linear does not pass through oneDNN by default.", "float32 的 nn.Linear 默认不走 oneDNN。"
        ),
    ),
    Switch(
        "mkldnn.deterministic",
        "switch",
        False,
        both(
            "Asks oneDNN for deterministic primitives on Intel GPUs; a CPU does not read it.",
            "要求 oneDNN 在 Intel GPU 上使用确定性 primitive；CPU 不读取它。",
        ),
        both("oneDNN on Intel GPUs alone", "仅 Intel GPU 上的 oneDNN"),
        takes="bool",
        frozen=True,
    ),
    Switch(
        "mkldnn.allow_tf32",
        "switch",
        False,
        both(
            "Allows TF32 in oneDNN on Intel GPUs; other builds have no value for it.",
            "允许 Intel GPU 上的 oneDNN 使用 TF32；其他构建没有这个值。",
        ),
        both("oneDNN on Intel GPUs alone", "仅 Intel GPU 上的 oneDNN"),
        takes="bool",
        frozen=True,
    ),
    Switch(
        "mkldnn.fp32_precision",
        "switch",
        "none",
        both(
            "The oneDNN branch of the precision tree: parent of mkldnn.matmul, .conv and .rnn.",
            "精度树的 oneDNN 分支：mkldnn.matmul、.conv、.rnn 的父节点。",
        ),
        both("the oneDNN leaves that have no value of their own", "没有自己取值的 oneDNN 叶子"),
        takes="precision",
        since="2.9",
        frozen=True,
        set=lambda torch, value: torch._C._set_fp32_precision_setter("mkldnn", "all", value),
        note=both(
            "The plain assignment writes the root of the tree, in torch 2.15 still; `using` writes this node.",
            "直接赋值写到的是树根，到 torch 2.15 还是这样；`using` 写的是这个节点。",
        ),
    ),
    _leaf("matmul", "matrix products", "矩阵乘"),
    _leaf("conv", "convolutions", "卷积"),
    _leaf("rnn", "recurrent layers", "循环层"),
    Switch(
        "mkldnn.is_available",
        "query",
        DEPENDS,
        both("Was this torch built with oneDNN?", "这个 torch 编译时是否带了 oneDNN？"),
    ),
    Switch(
        "mkldnn.is_acl_available",
        "query",
        DEPENDS,
        both("Was the Arm Compute Library built in?", "编译时是否带了 Arm Compute Library？"),
    ),
    Switch(
        "mkldnn.verbose",
        "tool",
        DEPENDS,
        both(
            "A context manager: oneDNN prints one line for each primitive it runs.",
            "上下文管理器：oneDNN 每执行一个 primitive 就打印一行。",
        ),
    ),
)

CPU = (
    Switch(
        "mkl.is_available",
        "query",
        DEPENDS,
        both(
            "Was Intel MKL (BLAS, FFT) built in? It is not MKL-DNN.",
            "编译时是否带了 Intel MKL（BLAS、FFT）？它不是 MKL-DNN。",
        ),
    ),
    Switch(
        "mkl.verbose",
        "tool",
        DEPENDS,
        both("A context manager: MKL prints one line for each call.", "上下文管理器：MKL 每次调用打印一行。"),
    ),
    Switch("openmp.is_available", "query", DEPENDS, both("Was OpenMP built in?", "编译时是否带了 OpenMP？")),
    Switch(
        "nnpack.set_flags",
        "setter",
        True,
        both("May CPU convolutions use NNPACK?", "CPU 卷积能否使用 NNPACK？"),
        both("float32 convolution on a CPU where oneDNN is not chosen", "未选中 oneDNN 时的 CPU float32 卷积"),
        takes="bool",
        get=lambda torch: torch._C._get_nnpack_enabled(),
        set=lambda torch, value: torch.backends.nnpack.set_flags(value),
        note=both(
            "There is no nnpack.enabled: assigning one changes nothing.",
            "没有 nnpack.enabled：给它赋值什么也不会改变。",
        ),
    ),
    Switch(
        "nnpack.is_available",
        "query",
        DEPENDS,
        both("Is NNPACK built in and does it support this CPU?", "是否带了 NNPACK 且支持本机 CPU？"),
    ),
    Switch(
        "mha.set_fastpath_enabled",
        "setter",
        True,
        both(
            "May nn.MultiheadAttention use its fused path for inference?",
            "nn.MultiheadAttention 推理时能否走融合的快速路径？",
        ),
        both(
            "nn.MultiheadAttention and nn.TransformerEncoderLayer in inference",
            "推理时的 nn.MultiheadAttention 与 nn.TransformerEncoderLayer",
        ),
        takes="bool",
        get=lambda torch: torch.backends.mha.get_fastpath_enabled(),
        set=lambda torch, value: torch.backends.mha.set_fastpath_enabled(value),
    ),
    Switch(
        "opt_einsum.enabled",
        "switch",
        DEPENDS,
        both(
            "May torch.einsum let opt_einsum choose the order of contraction? On where installed.",
            "torch.einsum 能否让 opt_einsum 选择收缩顺序？装了该包时默认开启。",
        ),
        both("torch.einsum with three or more operands", "三个及以上操作数的 torch.einsum"),
        takes="bool",
    ),
    Switch(
        "opt_einsum.strategy",
        "switch",
        DEPENDS,
        both(
            "How the order is sought: 'auto', 'greedy' or 'optimal'.",
            "怎样寻找收缩顺序：'auto'、'greedy' 或 'optimal'。",
        ),
        both("torch.einsum, when opt_einsum is enabled", "启用 opt_einsum 时的 torch.einsum"),
        takes="text",
    ),
    Switch(
        "opt_einsum.is_available",
        "query",
        DEPENDS,
        both("Is the package opt_einsum installed?", "是否安装了 opt_einsum 包？"),
    ),
    Switch(
        "quantized.engine",
        "switch",
        DEPENDS,
        both("Which library runs quantized operators.", "量化算子由哪个库执行。"),
        both("quantized operators on a CPU", "CPU 上的量化算子"),
        takes="text",
    ),
    Switch(
        "quantized.supported_engines",
        "query",
        DEPENDS,
        both("The quantized engines of this build.", "这个构建支持的量化引擎。"),
    ),
    Switch(
        "cpu.get_cpu_capability",
        "query",
        DEPENDS,
        both(
            "Which vector width PyTorch's own CPU kernels use; oneDNN decides for itself.",
            "PyTorch 自己的 CPU kernel 使用哪种向量宽度；oneDNN 自行决定。",
        ),
        note=both(
            "ATEN_CPU_CAPABILITY, set before the start, lowers it.", "启动前设置 ATEN_CPU_CAPABILITY 可以把它调低。"
        ),
    ),
    Switch(
        "kleidiai.is_available",
        "query",
        DEPENDS,
        both("Was KleidiAI (int4 kernels for Arm) built in?", "编译时是否带了 KleidiAI（Arm int4 kernel）？"),
    ),
    Switch(
        "xnnpack.enabled",
        "query",
        DEPENDS,
        both(
            "Was XNNPACK built in? The name looks like a switch, but it cannot be assigned.",
            "编译时是否带了 XNNPACK？名字像开关，却不能赋值。",
        ),
        get=lambda torch: torch._C._is_xnnpack_enabled(),
    ),
    Switch(
        "xeon.run_cpu",
        "tool",
        DEPENDS,
        both(
            "A launcher: python -m torch.backends.xeon.run_cpu. No flags.",
            "启动脚本：python -m torch.backends.xeon.run_cpu。没有开关。",
        ),
    ),
)

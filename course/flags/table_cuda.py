"""The switches and queries of torch.backends.cuda, .cusparselt and .miopen.

Sources: torch/backends/cuda/__init__.py, torch/backends/{miopen,cusparselt}/__init__.py,
https://docs.pytorch.org/docs/stable/backends.html#torch-backends-cuda
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from course.flags.switch import CUDA_ASLEEP, DEPENDS, Switch
from course.i18n import Text, both

GEMM = both("cuBLAS and cuBLASLt matrix products on a GPU", "GPU 上的 cuBLAS 与 cuBLASLt 矩阵乘")
ATTENTION = both("the backend selection of scaled_dot_product_attention", "scaled_dot_product_attention 的后端选择")
PAIR = both(
    "Assigning a plain bool also sets its split_k partner to True; `using` keeps the partner.",
    "直接赋一个布尔值会顺带把对应的 split_k 设为 True；`using` 会保留它。",
)


def _pair(kind: str, position: int) -> Callable[[Any, Any], None]:
    """Sets one half of the (reduced precision, split k) pair and keeps the other."""
    name = f"allow_{kind}_reduced_precision_reduction"

    def write(torch: Any, value: bool) -> None:
        matmul = torch.backends.cuda.matmul
        if not hasattr(matmul, f"{name}_split_k"):
            setattr(matmul, name, value)
            return
        pair = [getattr(matmul, name), getattr(matmul, f"{name}_split_k")]
        pair[position] = value
        setattr(matmul, name, tuple(pair))

    return write


def _library(name: str, text: Text, note: Text) -> Switch:
    """A preferred library: read and set through one function; the value is shown as its lower-case name."""
    return Switch(
        f"cuda.{name}",
        "setter",
        DEPENDS,
        text,
        both("GPU operators, at dispatch", "GPU 算子分发时"),
        takes="text",
        note=note,
        get=lambda torch: getattr(torch.backends.cuda, name)().name.lower(),
        set=lambda torch, value: getattr(torch.backends.cuda, name)(value),
    )


def _sdp(setter: str, getter: str, default: bool, text: Text, note: Text | None = None) -> Switch:
    return Switch(
        f"cuda.{setter}",
        "setter",
        default,
        text,
        ATTENTION,
        takes="bool",
        note=note,
        get=lambda torch: getattr(torch.backends.cuda, getter)(),
        set=lambda torch, value: getattr(torch.backends.cuda, setter)(value),
    )


def _reduction(kind: str) -> tuple[Switch, Switch]:
    name = f"cuda.matmul.allow_{kind}_reduced_precision_reduction"
    return (
        Switch(
            name,
            "switch",
            True,
            both(
                f"May {kind} matrix products add up partial sums in reduced precision?",
                f"{kind} 矩阵乘能否用较低的精度累加部分和？",
            ),
            GEMM,
            takes="bool",
            note=PAIR,
            set=_pair(kind, 0),
        ),
        Switch(
            f"{name}_split_k",
            "switch",
            True,
            both(
                f"May {kind} matrix products split the inner dimension and reduce in lower precision?",
                f"{kind} 矩阵乘在低精度归约时能否切分内维（split-k）？",
            ),
            GEMM,
            takes="bool",
            set=_pair(kind, 1),
            note=both(
                "torch sets it only as the second of a pair of bools, and refuses (True, False).",
                "torch 只允许以二元组 (bool, bool) 的第二项来设置它，并且不接受 (True, False)。",
            ),
        ),
    )


def _started(torch: Any, name: str) -> Any:
    """This member of torch.backends.cuda, once CUDA runs: a reading must not start it."""
    member = getattr(torch.backends.cuda, name)
    if not torch.backends.cuda.is_built():
        raise AttributeError(name)
    if not torch.cuda.is_initialized():
        raise RuntimeError(CUDA_ASLEEP)
    return member


CUDA = (
    Switch(
        "cuda.matmul.allow_tf32",
        "switch",
        False,
        both(
            "The older way to allow TF32 in float32 matrix products; off by default.",
            "允许 float32 矩阵乘使用 TF32 的旧接口；默认关闭。",
        ),
        GEMM,
        takes="bool",
        note=both(
            "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE=1 before the start turns it on.",
            "启动前设置 TORCH_ALLOW_TF32_CUBLAS_OVERRIDE=1 会把它打开。",
        ),
    ),
    Switch(
        "cuda.matmul.fp32_precision",
        "switch",
        "none",
        both("The float32 precision of matrix products on CUDA.", "CUDA 矩阵乘的 float32 精度。"),
        GEMM,
        takes="precision",
        since="2.9",
    ),
    *_reduction("fp16"),
    *_reduction("bf16"),
    Switch(
        "cuda.matmul.allow_fp16_accumulation",
        "switch",
        False,
        both(
            "May fp16 matrix products accumulate in fp16 instead of float32?",
            "fp16 矩阵乘能否用 fp16（而不是 float32）累加？",
        ),
        GEMM,
        takes="bool",
    ),
    Switch(
        "cuda.matmul.prefer_cublaslt_grouped_gemm",
        "switch",
        False,
        both(
            "Should grouped matrix products go to cuBLASLt first? torch 2.15 has it, 2.13 has not.",
            "分组矩阵乘是否优先用 cuBLASLt？torch 2.15 有，2.13 没有。",
        ),
        GEMM,
        takes="bool",
    ),
    Switch(
        "cuda.cufft_plan_cache.max_size",
        "switch",
        DEPENDS,
        both(
            "How many FFT plans the current GPU keeps; readable once CUDA is in use.",
            "当前 GPU 最多保留多少个 FFT 计划；CUDA 启用后才可读取。",
        ),
        both("FFTs on a GPU", "GPU 上的 FFT"),
        takes="int",
        get=lambda torch: _started(torch, "cufft_plan_cache").max_size,
    ),
    _library(
        "preferred_linalg_library",
        both(
            "Which library solves dense linear algebra: cuSOLVER or MAGMA.",
            "稠密线性代数用哪个库：cuSOLVER 还是 MAGMA。",
        ),
        both(
            "On a build without MAGMA, asking for it raises and still leaves it chosen.",
            "在没有 MAGMA 的构建上选它会抛出异常，但选择已经生效。",
        ),
    ),
    _library(
        "preferred_blas_library",
        both(
            "Which library multiplies matrices: cuBLAS, cuBLASLt or, on ROCm, CK.",
            "矩阵乘用哪个库：cuBLAS、cuBLASLt，ROCm 上还有 CK。",
        ),
        both("Experimental in torch.", "在 torch 中属于实验性接口。"),
    ),
    _library(
        "preferred_rocm_fa_library",
        both("Which flash attention ROCm uses: AOTriton or CK.", "ROCm 使用哪种 flash attention：AOTriton 或 CK。"),
        both("Only ROCm reads it.", "只有 ROCm 会读取。"),
    ),
    _sdp(
        "enable_flash_sdp",
        "flash_sdp_enabled",
        True,
        both("May attention use the flash kernels?", "注意力能否使用 flash kernel？"),
    ),
    _sdp(
        "enable_mem_efficient_sdp",
        "mem_efficient_sdp_enabled",
        True,
        both("May attention use the memory-efficient kernels?", "注意力能否使用省显存的 kernel？"),
    ),
    _sdp(
        "enable_math_sdp",
        "math_sdp_enabled",
        True,
        both("May attention fall back to plain matrix products?", "注意力能否退回普通矩阵乘实现？"),
    ),
    _sdp(
        "enable_cudnn_sdp",
        "cudnn_sdp_enabled",
        True,
        both("May attention use cuDNN? cudnn.enabled is not asked.", "注意力能否使用 cuDNN？与 cudnn.enabled 无关。"),
    ),
    _sdp(
        "allow_fp16_bf16_reduction_math_sdp",
        "fp16_bf16_reduction_math_sdp_allowed",
        False,
        both(
            "May the plain attention keep fp16 and bf16 in its reductions?", "普通注意力实现的归约能否保持 fp16/bf16？"
        ),
    ),
    Switch(
        "cuda.cublas_workspace_size",
        "query",
        DEPENDS,
        both(
            "The cuBLAS workspace in bytes; the same function with a number sets it.",
            "cuBLAS 工作区的字节数；同一个函数传入数字即可设置。",
        ),
        get=lambda torch: _started(torch, "cublas_workspace_size")(),
    ),
    Switch(
        "cuda.is_built",
        "query",
        DEPENDS,
        both(
            "Was this torch built with CUDA? It says nothing about a GPU being present.",
            "这个 torch 编译时是否带了 CUDA？它不说明有没有 GPU。",
        ),
    ),
    Switch(
        "cuda.is_flash_attention_available",
        "query",
        DEPENDS,
        both("Was flash attention built in?", "编译时是否带了 flash attention？"),
    ),
    Switch(
        "cuda.is_ck_sdpa_available",
        "query",
        DEPENDS,
        both("May composable_kernel (ROCm) serve attention?", "composable_kernel（ROCm）能否用于注意力？"),
    ),
    Switch(
        "cuda.sdp_kernel",
        "tool",
        DEPENDS,
        both("Deprecated: use torch.nn.attention.sdpa_kernel.", "已弃用：请用 torch.nn.attention.sdpa_kernel。"),
    ),
)


ELSEWHERE = (
    Switch(
        "cusparselt.is_available",
        "query",
        DEPENDS,
        both("Was cuSPARSELt (semi-structured sparsity) built in?", "编译时是否带了 cuSPARSELt（半结构化稀疏）？"),
    ),
    Switch(
        "cusparselt.version",
        "query",
        DEPENDS,
        both("The cuSPARSELt version, None without it.", "cuSPARSELt 版本，没有时为 None。"),
    ),
    Switch(
        "cusparselt.get_max_alg_id",
        "query",
        DEPENDS,
        both(
            "The highest algorithm number of cuSPARSELt, None when unknown.",
            "cuSPARSELt 的最大算法编号，未知时为 None。",
        ),
    ),
    Switch(
        "miopen.immediate",
        "switch",
        False,
        both(
            "Use MIOpen's immediate mode, which picks without a search (ROCm).",
            "使用 MIOpen 的立即模式，不做搜索（ROCm）。",
        ),
        both("MIOpen on ROCm", "ROCm 上的 MIOpen"),
        takes="bool",
        frozen=True,
    ),
)

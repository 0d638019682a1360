"""Kernel names as NVIDIA's libraries and PyTorch print them, and what the pieces of a name say.

The names were published by others, each with its link; none was made up. What a piece says is a habit of the libraries and no
contract: a new version may name things otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from course.core import arguments
from course.core.i18n import Text, both, pick


@dataclass(frozen=True)
class Published:
    """A kernel name as somebody printed it (… where it was cut there) and where."""

    name: str
    link: str


NAMES = (
    Published(
        "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x128x16_stage4_warpsize2…",
        "https://github.com/pytorch/pytorch/issues/81940",
    ),
    Published(
        "void cudnn::ops::nchwToNhwcKernel<float, float, float, (bool)1, (bool)1, (cudnnKernelDataType_t)2>(…",
        "https://github.com/pytorch/pytorch/issues/81940",
    ),
    Published("maxwell_scudnn_winograd_128x128_…", "https://github.com/pytorch/pytorch/issues/13412"),
    Published("volta_scudnn_128x64_stridedB_splitK_small_nn_v1", "https://github.com/pytorch/pytorch/issues/22961"),
    Published("cudnn::detail::wgrad_alg1_nd_float_engine", "https://github.com/pytorch/pytorch/issues/22961"),
    Published(
        "ampere_bf16_s16816gemm_bf16_256x128_ldg8_f2f_stages_32x3_nn", "https://github.com/karpathy/nanochat/pull/105"
    ),
    Published(
        "void at::native::vectorized_elementwise_kernel<(int)4, at::native::FillFunctor<int>, at::detail::…",
        "https://github.com/pytorch/pytorch/issues/95347",
    ),
    Published("[CUDA memcpy DtoD]", "https://github.com/pytorch/pytorch/issues/34977"),
)

PIECES: tuple[tuple[str, Text], ...] = (
    ("tonhwc", both("changes the layout: channels first to channels last", "转换布局：通道在前变成通道在后")),
    ("tonchw", both("changes the layout: channels last to channels first", "转换布局：通道在后变成通道在前")),
    ("memcpy htod", both("a copy: from the CPU's memory to the GPU's", "拷贝：从内存到显存")),
    ("memcpy dtoh", both("a copy: from the GPU's memory to the CPU's", "拷贝：从显存到内存")),
    ("memcpy dtod", both("a copy inside the GPU's memory", "显存内部的拷贝")),
    ("at::native", both("PyTorch's own kernel, of no library", "PyTorch 自己的 kernel，不属于任何库")),
    ("cudnn", both("of the library cuDNN", "属于 cuDNN 库")),
    ("cutlass", both("made with CUTLASS, NVIDIA's building set for products", "用 NVIDIA 的矩阵乘模板库 CUTLASS 写的")),
    ("xmma", both("one of NVIDIA's families of kernels", "NVIDIA 的一族 kernel")),
    ("winograd", both("a convolution by Winograd's method", "用 Winograd 方法做的卷积")),
    (
        "implicit_",
        both(
            "a convolution as a product of matrices that is never written out", "把卷积当矩阵乘来算，但不把矩阵真的展开"
        ),
    ),
    ("fprop", both("forward", "前向")),
    ("dgrad", both("backward, for the input", "反向，求输入的梯度")),
    ("wgrad", both("backward, for the weights", "反向，求权重的梯度")),
    ("tf32", both("TF32", "TF32")),
    ("bf16", both("bfloat16", "bfloat16")),
    ("s16816", both("tensor cores", "Tensor Core")),
    ("s1688", both("tensor cores", "Tensor Core")),
    ("tensorop", both("tensor cores", "Tensor Core")),
    ("splitk", both("the sum is cut into parts that are added at the end", "把求和拆成几段，最后再加起来")),
    ("maxwell", both("written for cards of the Maxwell family", "为 Maxwell 系列显卡写的")),
    ("volta", both("written for cards of the Volta family", "为 Volta 系列显卡写的")),
    ("ampere", both("written for cards of the Ampere family", "为 Ampere 系列显卡写的")),
    ("sm80", both("built for compute capability 8.0; may run on newer cards", "为计算能力 8.0 编译，更新的卡也能跑")),
    ("elementwise", both("one number at a time, as an addition does", "逐元素，比如加法")),
)
"""A piece, in small letters, and what it says; from the libraries' documentation and the issues linked above."""


def spoken(name: str) -> list[tuple[str, str]]:
    """The pieces of a kernel's name that are known, each with what it says, in the learner's language."""
    small = name.lower()
    return [(piece, pick(said)) for piece, said in PIECES if piece in small]


def read_aloud(name: str) -> None:
    """Print the known pieces of a kernel's name, one a line."""
    arguments.of_type("name", name, str)
    print(name)
    for piece, said in spoken(name) or [("?", pick(both("no piece of it is known here", "这里没有认得的部分")))]:
        print(f"  {piece:<12} {said}")


def differing_parts(names: Iterable[str], most: int = 60) -> dict[str, str]:
    """name -> the part of it that the others do not share, between … where something is left out.

    A single name comes back without ``void`` and arguments. most: longer parts lose their middle.
    """
    listed = list(dict.fromkeys(names))
    if len(listed) < 2:
        return {name: _clipped(name.removeprefix("void ").split("(")[0], most) for name in listed}
    parts = [re.findall(r"[A-Za-z0-9]+|_+|[^A-Za-z0-9_]+", name) for name in listed]
    start = _common(parts)
    rest = [one[start:] for one in parts]
    end = _common([one[::-1] for one in rest])
    return {
        name: ("…" if start else "") + _clipped("".join(one[: len(one) - end]) or "–", most) + ("…" if end else "")
        for name, one in zip(listed, rest, strict=True)
    }


def _common(parts: Sequence[Sequence[str]]) -> int:
    """How many pieces all the lists begin with."""
    count = 0
    for column in zip(*parts, strict=False):
        if len(set(column)) > 1:
            break
        count += 1
    return count


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most // 2] + "…" + text[-(most // 2) :]

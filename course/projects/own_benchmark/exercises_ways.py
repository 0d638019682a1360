"""Checks of the project, part 1: the two ways that the learner writes, im2col and FFT, against F.conv2d on small images."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from course.i18n import Text, both
from course.verdict import Verdict, correct, incorrect

if TYPE_CHECKING:
    from torch import Tensor

CASES = (
    ((2, 3, 7, 9), (4, 3, 3, 3), 1, 0),
    ((1, 2, 6, 5), (3, 2, 3, 2), 1, 0),
    ((2, 3, 7, 8), (4, 3, 3, 3), 1, 1),
    ((1, 2, 9, 8), (2, 2, 3, 3), 2, 0),
    ((2, 2, 8, 11), (3, 2, 5, 3), 3, 2),
)
"""Shape of the image, shape of the weight, stride, padding; each adds one thing to those before. 1 and 0 are left to the defaults."""


def check_way(way: Callable[..., Any]) -> Verdict:
    """Every case: a tensor, its shape, its numbers; what is wrong is compared with the usual slips."""
    import torch
    import torch.nn.functional as F

    dice = torch.Generator().manual_seed(0)
    for image, kernel, stride, padding in CASES:
        x, weight = torch.randn(image, generator=dice), torch.randn(kernel, generator=dice)
        setting = {"stride": stride, "padding": padding} if stride > 1 or padding else {}
        case = ", ".join([f"x {image}", f"weight {kernel}", *(f"{name}={value}" for name, value in setting.items())])
        try:
            got = way(x.clone(), weight.clone(), **setting)
        except RuntimeError as error:  # what torch says of shapes that do not fit; NotImplementedError is judge's
            if isinstance(error, NotImplementedError):
                raise
            line = f"{type(error).__name__}: {error}"
            said = both(f"With {case} it stops: `{line}`.", f"{case} 时出错：`{line}`。")
            return incorrect(said, reason="raised", error=line)
        if got is None or got is Ellipsis or not isinstance(got, torch.Tensor):
            said = both(
                f"A tensor is expected, not {type(got).__name__}.", f"应返回张量，而不是 {type(got).__name__}。"
            )
            return incorrect(said, reason="no-tensor")
        right = F.conv2d(x, weight, None, stride, padding)
        if not _same(got, right):
            reason, said = next(_slips(got, right, x, weight, stride, padding))
            return incorrect(both(f"With {case}: {said['en']}", f"{case} 时：{said['zh']}"), reason=reason)
    return correct(
        both(
            "The same numbers as F.conv2d, up to rounding, with padding, stride and kernels that are not square.",
            "和 F.conv2d 的结果一致（只差舍入），padding、stride、非正方形的核都试过了。",
        )
    )


def _same(got: Tensor, right: Tensor) -> bool:
    import torch

    return got.shape == right.shape and torch.allclose(got.double(), right.double(), rtol=1e-3, atol=1e-4)


def _slips(
    got: Tensor, right: Tensor, x: Tensor, weight: Tensor, stride: int, padding: int
) -> Iterator[tuple[str, Text]]:
    """(code, sentence) of what may have gone wrong, the likeliest first."""
    import torch
    import torch.nn.functional as F

    if padding and _same(got, F.conv2d(x, weight, None, stride)):
        yield "padding", both("`padding` is not used.", "没有用到 `padding`。")
    if stride > 1 and _same(got, F.conv2d(x, weight, None, 1, padding)):
        yield (
            "stride",
            both(
                "`stride` is not used: every position is there, one in `stride` is asked for.",
                "没有用到 `stride`：每个位置都算了，而要的是每隔 `stride` 个取一个。",
            ),
        )
    padded = F.pad(x, (padding,) * 4)
    image, kernel = torch.fft.rfft2(padded), torch.fft.rfft2(weight, s=padded.shape[2:])

    def back(kernel: Tensor, **size: Any) -> Tensor:
        high, wide = (size - tap + 1 for size, tap in zip(padded.shape[2:], weight.shape[2:], strict=True))
        whole = torch.fft.irfft2(torch.einsum("nchw,kchw->nkhw", image, kernel), **size)
        return whole[:, :, :high:stride, :wide:stride]

    turned = F.conv2d(x, weight.flip(2, 3), None, stride, padding), back(kernel, s=padded.shape[2:])
    if any(_same(got, one) for one in turned):
        yield (
            "turned",
            both(
                "the kernel is turned by 180 degrees. F.conv2d does not turn it; with an FFT, `.conj()` of the kernel's spectrum "
                "does the same.",
                "卷积核被转了 180 度。F.conv2d 并不翻转；用 FFT 时，对核的频谱取 `.conj()` 就对了。",
            ),
        )
    if _same(got, back(kernel.conj())) or _same(got, back(kernel)):
        yield (
            "width",
            both(
                "an odd width does not show in a spectrum, so `irfft2` makes it one smaller: tell it the size, `s=...`.",
                "从频谱看不出宽度是奇数，`irfft2` 会少给一列：请用 `s=...` 告诉它大小。",
            ),
        )
    if got.shape[2:] == padded.shape[2:] and got.shape != right.shape:
        yield (
            "crop",
            both(
                f"{tuple(got.shape[2:])} came out, as large as the padded image. At the last rows and columns the kernel wraps around "
                f"to the other side: cut down to {tuple(right.shape[2:])}.",
                f"得到 {tuple(got.shape[2:])}，和填充后的图一样大。最后几行几列，核已经绕到另一边去了：要裁成 {tuple(right.shape[2:])}。",
            ),
        )
    if got.shape != right.shape:
        yield (
            "shape",
            both(
                f"the shape is {tuple(got.shape)}, and {tuple(right.shape)} is right.",
                f"形状是 {tuple(got.shape)}，应为 {tuple(right.shape)}。",
            ),
        )
    yield (
        "numbers",
        both(
            f"the shape is right, the numbers are not: they differ by up to {(got - right).abs().max():.2g}.",
            f"形状对，数字不对：最多差 {(got - right).abs().max():.2g}。",
        ),
    )


CHECKS = {"own-im2col": check_way, "own-fft": check_way}

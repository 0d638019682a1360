"""The main idea of lesson 01 as a picture: one program, and who computes each of its lines."""

from __future__ import annotations

from course.core.i18n import t
from course.figures.panels import Panel, panels
from course.figures.shown import Block


def who_does_what() -> Block:
    """Four lines of a program, and who usually computes them on a CPU and on an NVIDIA GPU."""
    own = t("-PyTorch itself", "-PyTorch 自己")
    found = (
        Panel(t("Your program", "你的程序"), ("x = load()", "y = conv(x)", "y = y.relu()", "z = y @ weight")),
        Panel("CPU", ("-Python", "+oneDNN", own, t("+MKL, OpenBLAS", "+MKL、OpenBLAS"))),
        Panel("NVIDIA GPU", ("-Python", "+cuDNN", own, "+cuBLAS")),
    )
    alt = t(
        "Loading is done by Python. The convolution is computed by oneDNN on a CPU, by cuDNN on an NVIDIA GPU; relu by "
        "PyTorch itself; the matrix product by MKL or OpenBLAS, or by cuBLAS.",
        "读数据的是 Python。卷积在 CPU 上由 oneDNN 算，在 NVIDIA GPU 上由 cuDNN 算；relu 由 PyTorch 自己算；"
        "矩阵乘由 MKL 或 OpenBLAS 算，GPU 上由 cuBLAS 算。",
    )
    headline = t("You write one program. Several others compute it.", "代码是你写的，干活的却有好几家。")
    return Block(headline, "", panels(found, alt), "")

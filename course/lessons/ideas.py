"""The main ideas of four lessons as pictures: who computes, what a hunt is, when a switch is read, what travels in a file."""

from __future__ import annotations

from course.core.i18n import t
from course.figures.block import Block
from course.figures.panels import Panel, panels


def moments() -> Block:
    """Start, first call of a size, each call: which switches count there, and what turning them later does."""
    found = (
        Panel(
            t("1. At the start", "1. 程序启动时"),
            ("import torch", "OMP_NUM_THREADS"),
            t("Later: no effect", "之后再改：没用"),
        ),
        Panel(
            t("2. At the first call of a size", "2. 某个尺寸第一次调用时"),
            ("cudnn.benchmark",),
            t("Later: it keeps its plan", "之后再改：这个尺寸还用旧计划"),
        ),
        Panel(
            t("3. At each call", "3. 每次调用时"),
            ("mkldnn.enabled", "cudnn.enabled"),
            t("Later: counts at once", "之后再改：马上管用"),
        ),
    )
    alt = t(
        "Three moments. At the start torch reads OMP_NUM_THREADS; a later change has no effect. At the first call "
        "of a size cudnn.benchmark counts; later this size keeps its plan. At each call "
        "mkldnn.enabled and cudnn.enabled are read; a change counts at once.",
        "三个时刻。程序启动时，torch 读 OMP_NUM_THREADS，之后再改没用。某个尺寸第一次调用时，"
        "cudnn.benchmark 起作用，之后再改，这个尺寸还用旧计划。每次调用时，读 mkldnn.enabled 和 cudnn.enabled，一改马上管用。",
    )
    headline = t("A switch counts only if it is set before it is read.", "开关要赶在被读之前拨，才管用。")
    return Block(headline, "", panels(found, alt, ("", "")), "")


def kitchens() -> Block:
    """This process, the file, the process at the other end. Filled marks travel, hollow ones stay."""
    taken = (t("+the steps", "+步骤"), t("+the weights", "+权重"))
    found = (
        Panel(
            t("Your kitchen", "你的厨房"), (*taken, t("-your switches", "-你的开关"), t("-your threads", "-你的线程数"))
        ),
        Panel(
            t("The file", "文件"),
            (*taken, t("+types and shapes", "+类型和形状"), t("+train or eval mode", "+train 还是 eval")),
        ),
        Panel(
            t("The other kitchen", "那边的厨房"),
            (*taken, t("-its own switches", "-那边的开关"), t("-its own threads", "-那边的线程数")),
        ),
    )
    alt = t(
        "Your process, the file, the process over there. Steps and weights go into the file, with types, shapes and "
        "the mode. Your switches and threads stay; over there its own count.",
        "你的进程、文件、那边的进程。步骤和权重写进文件，类型、形状、模式也跟着走。你的开关和线程数留下；到了那边，用那边自己的。",
    )
    headline = t("The recipe travels. The kitchen stays.", "菜谱寄走，厨房不寄。")
    return Block(headline, "", panels(found, alt, (t("export", "导出"), t("run", "运行"))), "")


def three_steps() -> Block:
    """The three steps of a hunt, told of a lamp."""
    found = (
        Panel(
            t("1. Symptom", "1. 症状"), (t("seen or measured", "看得见、测得到"),), t("The lamp is dark.", "台灯不亮")
        ),
        Panel(
            t("2. One guess", "2. 一个猜测"),
            (t("it may be wrong", "有可能是错的"),),
            t("“The bulb is dead.”", "“灯泡坏了”"),
        ),
        Panel(
            t("3. One test", "3. 一个测试"),
            (t("wrong? guess again", "猜错了就再猜"),),
            t("Try another bulb.", "换个灯泡试试"),
        ),
    )
    alt = t(
        "Symptom: the lamp is dark. One guess, which may be wrong: the bulb is dead. One test: try another bulb. "
        "If the guess was wrong, guess again.",
        "症状：台灯不亮。一个猜测，有可能是错的：灯泡坏了。一个测试：换个灯泡试试。猜错了，就再猜一个。",
    )
    headline = t("One guess, one test: then you know.", "猜一个，测一次，就有答案。")
    return Block(headline, "", panels(found, alt, ("", "")), "")


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

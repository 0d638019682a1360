"""The verb ``passport``: this machine on one page, each line with the reason why it matters."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from course.cards.page import page, table
from course.core import machine
from course.core.i18n import Text, both, pick, t
from course.core.markup import inline
from course.verbs.say import in_words, put

FIRST = ("device", "device_name", "memory_gib", "threads", "torch")
"""The lines that everybody needs; the others are folded."""
LINES: tuple[tuple[str, Text, Text], ...] = (
    (
        "device",
        both("Experiments run on", "实验在哪里跑"),
        both(
            "`cuda`: an NVIDIA or AMD GPU, `mps`: an Apple GPU, `cpu`: the processor",
            "`cuda`：NVIDIA 或 AMD 的 GPU；`mps`：苹果 GPU；`cpu`：处理器",
        ),
    ),
    (
        "device_name",
        both("Its name", "型号"),
        both("the same code takes another time on another model", "同样的代码，换个型号，耗时就不同"),
    ),
    (
        "capability",
        both("GPU generation", "GPU 代号"),
        both("decides whether TF32 and bf16 exist (from `sm_80` on)", "决定有没有 TF32 和 bf16（`sm_80` 起才有）"),
    ),
    ("driver", both("GPU driver", "GPU 驱动"), both("decides which CUDA can run here", "决定这里能跑哪个版本的 CUDA")),
    (
        "memory_gib",
        both("Memory, GiB", "内存（显存），GiB"),
        both("limits the batch size, and what a search may try", "限制批大小，也限制搜索能试哪些算法"),
    ),
    ("torch", both("PyTorch", "PyTorch"), both("switches come and go with versions", "不同版本，开关会增减")),
    (
        "cuda",
        both("CUDA it was built for", "编译时的 CUDA"),
        both("the layer below the GPU libraries", "GPU 各个库下面的那一层"),
    ),
    ("hip", both("ROCm it was built for", "编译时的 ROCm"), both("the same for AMD GPUs", "AMD GPU 上对应的那一层")),
    ("cudnn", both("cuDNN", "cuDNN"), both("convolutions on an NVIDIA GPU", "NVIDIA GPU 上的卷积")),
    ("onednn", both("oneDNN", "oneDNN"), both("convolutions on the CPU", "CPU 上的卷积")),
    ("mkl", both("MKL", "MKL"), both("float32 matrix products on the CPU", "CPU 上 float32 的矩阵乘法")),
    (
        "threads",
        both("Threads for one operation", "单个算子用的线程数"),
        both("changes the time, and the last digits of sums", "影响耗时，也影响求和结果的最后几位"),
    ),
    ("interop_threads", both("Threads between operations", "算子之间的线程数"), both("seldom used", "很少用到")),
    (
        "cores",
        both("Cores this process may use", "本进程可用的核心数"),
        both("more threads than cores slow each other down", "线程比核心多，会互相拖慢"),
    ),
    ("cpu", both("Processor", "处理器"), both("it also feeds the GPU", "GPU 的活儿也由它派发")),
    (
        "cpu_capability",
        both("Widest vector instructions", "最宽的向量指令"),
        both("how many numbers one instruction handles", "一条指令一次能算几个数"),
    ),
    ("os", both("Operating system", "操作系统"), ""),
    ("arch", both("Architecture", "架构"), ""),
    ("python", both("Python", "Python"), ""),
    ("course", both("This course", "本课程"), ""),
)
"""Key of ``machine.passport()``, what it is called, why it matters."""


def none_words(key: str, about: Mapping[str, Any]) -> str:
    """A sentence that says why a line of the passport is empty."""
    if key in ("cuda", "cudnn", "hip", "capability", "driver") and about["device"] != "cuda":
        return t("none: no such GPU in use", "无：没有用到这种 GPU")
    return t("none here", "此处没有")


def passport_words() -> str:
    """The passport of this machine as HTML, all but the first lines folded."""
    about = machine.passport()
    rows = {
        key: (pick(name), none_words(key, about) if about[key] is None else str(about[key]), pick(why))
        for key, name, why in LINES
    }
    title = t("🛂 The passport of this machine", "🛂 这台机器的护照")
    more = t(f"The other {len(rows) - len(FIRST)} lines", f"其余 {len(rows) - len(FIRST)} 行")
    note = t(
        "It travels with every measurement. No name of yours, no host, no path is in it.",
        "每次测量都带着它。里面没有你的名字、主机名和路径。",
    )
    heads = (t("What", "项目"), t("Here", "本机"), t("Why it matters", "为什么重要"))
    cells = {
        key: (html.escape(name), f"<b>{html.escape(value)}</b>", f"<small>{inline(why)}</small>")
        for key, (name, value, why) in rows.items()
    }
    first, others = [cells[key] for key in FIRST], [one for key, one in cells.items() if key not in FIRST]
    folded = f"<details><summary>{more}</summary>{table(heads, others, more)}</details>"
    return page(title, f"<p>{note}</p>", table(heads, first, title), folded)


@in_words
def passport() -> None:
    """Show this machine's passport. As data: ``course.core.machine.passport()``."""
    put(passport_words())

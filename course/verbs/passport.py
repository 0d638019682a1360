"""The verb ``passport``: this machine on one page."""

from __future__ import annotations

import html

from course.cards.page import page, table
from course.core import machine
from course.core.i18n import Text, both, pick, t
from course.verbs.say import in_words, put

FIRST = ("device", "device_name", "memory_gib", "threads", "torch")
"""The lines that everybody needs; the others are folded."""
NAMES: dict[str, Text] = {
    "device": both("Experiments run on", "实验在哪里跑"),
    "device_name": both("Its name", "型号"),
    "capability": both("GPU generation", "GPU 代号"),
    "driver": both("GPU driver", "GPU 驱动"),
    "memory_gib": both("Memory, GiB", "内存（显存），GiB"),
    "torch": both("PyTorch", "PyTorch"),
    "cuda": both("CUDA it was built for", "编译时的 CUDA"),
    "hip": both("ROCm it was built for", "编译时的 ROCm"),
    "cudnn": both("cuDNN", "cuDNN"),
    "onednn": both("oneDNN", "oneDNN"),
    "mkl": both("MKL", "MKL"),
    "threads": both("Threads for one operation", "单个算子用的线程数"),
    "interop_threads": both("Threads between operations", "算子之间的线程数"),
    "cores": both("Cores this process may use", "本进程可用的核心数"),
    "cpu": both("Processor", "处理器"),
    "cpu_capability": both("Widest vector instructions", "最宽的向量指令"),
    "os": both("Operating system", "操作系统"),
    "arch": both("Architecture", "架构"),
    "python": both("Python", "Python"),
    "course": both("This course", "本课程"),
}
"""Key of ``machine.passport()`` -> what it is called."""


def passport_html() -> str:
    """The passport of this machine as HTML, all but the first lines folded."""
    about, none = machine.passport(), t("none", "无")
    cells = {
        key: (html.escape(pick(name)), f"<b>{html.escape(none if about[key] is None else str(about[key]))}</b>")
        for key, name in NAMES.items()
    }
    title = t("🛂 The passport of this machine", "🛂 这台机器的护照")
    note = t(
        "It travels with every measurement. No name of yours, no host, no path is in it.",
        "每次测量都带着它。里面没有你的名字、主机名和路径。",
    )
    heads = (t("What", "项目"), t("Here", "本机"))
    more = t(f"The other {len(NAMES) - len(FIRST)} lines", f"其余 {len(NAMES) - len(FIRST)} 行")
    first, others = [cells[key] for key in FIRST], [one for key, one in cells.items() if key not in FIRST]
    folded = f"<details><summary>{more}</summary>{table(heads, others, more)}</details>"
    return page(title, f"<p>{note}</p>", table(heads, first, title), folded)


@in_words
def passport() -> None:
    """Show this machine's passport. As data: ``course.core.machine.passport()``."""
    put(passport_html())

"""torch.backends.mps, torch.backends.python_native, and the process-wide settings of torch beside them.

Sources: torch/backends/mps/__init__.py, torch/backends/python_native/__init__.py, torch/__init__.py,
https://docs.pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html,
https://docs.pytorch.org/docs/stable/generated/torch.set_num_threads.html
"""

from __future__ import annotations

from typing import Any

from course.flags.switch import DEPENDS, Switch
from course.i18n import both

MPS = (
    Switch(
        "mps.is_built",
        "query",
        DEPENDS,
        both("Was this torch built with MPS (Apple GPUs)?", "这个 torch 编译时是否带了 MPS（苹果 GPU）？"),
    ),
    Switch(
        "mps.is_available",
        "query",
        DEPENDS,
        both("Built with MPS and a usable Metal device is here.", "带了 MPS，并且本机有可用的 Metal 设备。"),
    ),
    Switch(
        "mps.is_macos_or_newer",
        "query",
        DEPENDS,
        both(
            "Is this at least that macOS? Asked here for 14.0; without MPS it raises.",
            "系统是否不低于某个 macOS 版本？这里问的是 14.0；没有 MPS 时会抛出异常。",
        ),
        get=lambda torch: torch.backends.mps.is_macos_or_newer(14, 0),
    ),
    Switch(
        "mps.is_macos13_or_newer",
        "query",
        DEPENDS,
        both("The older form of the same question.", "同一个问题的旧写法。"),
    ),
    Switch("mps.get_name", "query", DEPENDS, both("The name of the Metal device.", "Metal 设备的名称。")),
    Switch(
        "mps.get_core_count",
        "query",
        DEPENDS,
        both("How many GPU cores the Metal device has.", "Metal 设备有多少个 GPU 核。"),
    ),
)


def _dsl(name: str) -> Switch:
    return Switch(
        f"python_native.{name}.enabled",
        "switch",
        True,
        both(f"May operators be replaced by kernels written in {name}?", f"算子能否换成用 {name} 编写的 kernel？"),
        both("operators that register such a kernel", "注册了这类 kernel 的算子"),
        takes="bool",
        frozen=True,
        note=both(
            "There is no python_native.enabled: assigning one changes nothing.",
            "没有 python_native.enabled：给它赋值什么也不会改变。",
        ),
    )


NATIVE = (
    _dsl("triton"),
    _dsl("cutedsl"),
    Switch(
        "python_native.available_dsls",
        "query",
        DEPENDS,
        both("Which kernel languages are usable here.", "本机可用的 kernel 语言。"),
    ),
)


def _deterministic(torch: Any) -> Any:
    if not torch.are_deterministic_algorithms_enabled():
        return False
    return "warn" if torch.is_deterministic_algorithms_warn_only_enabled() else True


def _set_matmul(torch: Any, value: str) -> None:
    """torch only warns about a word it does not know; here that is an error."""
    if value not in ("highest", "high", "medium"):
        raise ValueError(f"{value!r} is not one of 'highest', 'high' or 'medium'")
    torch.set_float32_matmul_precision(value)


TORCH = (
    Switch(
        "torch.num_threads",
        "setter",
        DEPENDS,
        both(
            "How many threads one CPU operator may use (torch.set_num_threads).",
            "单个 CPU 算子可以使用多少个线程（torch.set_num_threads）。",
        ),
        both("PyTorch, oneDNN and MKL on a CPU", "CPU 上的 PyTorch、oneDNN 与 MKL"),
        takes="int",
        get=lambda torch: torch.get_num_threads(),
        set=lambda torch, value: torch.set_num_threads(value),
        note=both(
            "Neither purely per process nor per thread: set it once, first thing.",
            "既不完全按进程、也不完全按线程：请在一开始设置一次。",
        ),
    ),
    Switch(
        "torch.num_interop_threads",
        "query",
        DEPENDS,
        both(
            "How many threads run operators side by side; settable once, before the first parallel work.",
            "同时执行算子的线程数；只能在第一次并行工作之前设置一次。",
        ),
        get=lambda torch: torch.get_num_interop_threads(),
    ),
    Switch(
        "torch.deterministic_algorithms",
        "setter",
        False,
        both(
            "Use only deterministic implementations: True raises where there is none, 'warn' warns.",
            "只用确定性实现：没有时，True 会抛出异常，'warn' 只发警告。",
        ),
        both(
            "every operator with a nondeterministic implementation, cuDNN convolution included",
            "所有带有非确定性实现的算子，包括 cuDNN 卷积",
        ),
        takes="bool or 'warn'",
        get=_deterministic,
        set=lambda torch, value: torch.use_deterministic_algorithms(bool(value), warn_only=value == "warn"),
    ),
    Switch(
        "torch.fill_uninitialized_memory",
        "switch",
        True,
        both(
            "Fill torch.empty and its like with a known value while deterministic algorithms are on.",
            "启用确定性算法时，用固定值填充 torch.empty 等未初始化的内存。",
        ),
        both("torch.empty and its relatives", "torch.empty 及其同类"),
        takes="bool",
        get=lambda torch: torch.utils.deterministic.fill_uninitialized_memory,
        set=lambda torch, value: setattr(torch.utils.deterministic, "fill_uninitialized_memory", value),
    ),
    Switch(
        "torch.float32_matmul_precision",
        "setter",
        "highest",
        both(
            "A shortcut that sets two precision leaves: 'highest', 'high' or 'medium'.",
            "一次设置两个精度叶子的快捷方式：'highest'、'high' 或 'medium'。",
        ),
        both(
            "cuda.matmul and mkldnn.matmul, whose fp32_precision it overwrites",
            "cuda.matmul 与 mkldnn.matmul，它会覆盖两者的 fp32_precision",
        ),
        takes="text",
        get=lambda torch: torch.get_float32_matmul_precision(),
        set=_set_matmul,
    ),
)

"""What to try first, from what limits the layers that take longest."""

from __future__ import annotations

from course.i18n import Text, both, pick
from course.roofline.layer import Alike
from course.timing.faults import LARGE_SHARE

NEAR_THE_ROOF = 0.6
"""From this share of the roof on, the same work can hardly be done faster."""
_FAULTS = both(
    "let it write into memory that is there already: inplace=True, out=, or a memory allocator that keeps pages (jemalloc, tcmalloc)",
    "让它写进已有的内存：inplace=True、out=，或使用会保留内存页的分配器（jemalloc、tcmalloc）",
)
_OVERHEAD = both(
    "give each call more work: a larger batch; then torch.compile, which joins small calls",
    "让每次调用多干点活：增大 batch；再试 torch.compile，它会合并零碎的调用",
)
_AT_COMPUTE = both(
    "a smaller type (bfloat16 where the device computes it fast) or less work; the same work can hardly be faster",
    "换更小的类型（设备算得快时用 bfloat16），或减少工作量；同样的工作量很难再快了",
)
_AT_MEMORY = both(
    "move fewer bytes: a smaller type, or torch.compile, which joins it with its neighbours; the same bytes can hardly be faster",
    "少搬字节：换更小的类型，或用 torch.compile 把它和相邻的层合并；同样多的字节很难再快了",
)
_JOIN = both(
    "torch.compile, which joins it with its neighbours: it does more arithmetic than its 0 FLOPs say (exp, erf, divisions), or waits",
    "torch.compile，把它和相邻的层合并：它的实际运算比计为 0 的 FLOPs 多（exp、erf、除法），或者在等待",
)
_LAYOUT = both(
    "another layout, model.to(memory_format=torch.channels_last) and the input too, then another batch size",
    "换内存布局：模型和输入都 .to(memory_format=torch.channels_last)，再换一个批大小",
)
_SIZE = both(
    "another batch size: too few rows leave the units idle; on a CPU also another number of threads",
    "换一个批大小：行数太少，运算单元就闲着；在 CPU 上也可以换线程数",
)
_IDLE = both(
    'more work for each launch: a larger batch; then torch.compile(mode="reduce-overhead"), which issues all launches at once',
    '让每次启动多干点活：增大 batch；再试 torch.compile(mode="reduce-overhead")，它把所有启动一次发完',
)
_HALF = both(
    "torch.autocast with bfloat16 (or float16 with a GradScaler): float32 leaves most of this GPU's rate unused",
    "带 bfloat16 的 torch.autocast（或 float16 加 GradScaler）：float32 用不上这块 GPU 的大部分速率",
)
IDLE, CONVERTING = 0.2, 0.05
"""From these parts of the time on, the GPU's waiting, or changes of the memory layout, are what to try first."""


def for_whole(idle: float, conversions: float, dtype: str) -> str:
    """One sentence for a whole model on a GPU: launches, layout, number format, in this order; empty where none fits."""
    if idle >= IDLE:
        return _said(both(f"the GPU idles {idle:.0%}", f"GPU 有 {idle:.0%} 的时间闲着"), _IDLE)
    if conversions >= CONVERTING:
        part = f"{conversions:.0%}"
        why = both(f"{part} of the kernels' time only changes the layout", f"kernel 时间的 {part} 只在转换布局")
        return _said(why, _LAYOUT)
    if dtype == "float32":
        return _said(both("the GPU is busy, in float32", "GPU 一直在忙，用的是 float32"), _HALF)
    return ""


def _said(why: Text, what: Text) -> str:
    return pick(both(f"Try first ({why['en']}): {what['en']}.", f"先试这个（{why['zh']}）：{what['zh']}。"))


def try_first(longest: Alike) -> str:
    """One sentence for the layers that take longest."""
    label, what = longest.first.label, _for(longest)
    return pick(both(f"Try first, for {label}: {what['en']}.", f"先试这个，针对 {label}：{what['zh']}。"))


def _for(longest: Alike) -> Text:
    if longest.fault_share > LARGE_SHARE:
        return _FAULTS
    if longest.first.bound == "overhead":
        return _OVERHEAD
    if longest.share_interval[0] >= NEAR_THE_ROOF:
        return _AT_COMPUTE if longest.first.bound == "compute" else _AT_MEMORY
    if longest.first.memory_only:
        return _JOIN
    return _LAYOUT if "Conv" in longest.first.kind else _SIZE

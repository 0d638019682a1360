# %% [markdown] en
# # Checkpoint 13: who hears the switch?
#
# {{worth}} About 30 minutes. Cards say nothing about right or wrong here; answer as often as you like, the last
# answer counts. A task says what to hand in; its `check` looks at the form only. No GPU is needed.
# **Save the notebook** before you hand it in.
# %% [markdown] zh
# # 测验 13：这个开关，谁听得见？
#
# {{worth}}约 30 分钟。这里的卡片不显示对错；想改几次都行，以最后一次为准。每个任务写明了要交什么，`check` 只看形式。不需要 GPU。交卷前请**保存 notebook**。
# %% bootstrap
# %% question 13-c-math
# %% question 13-c-memory
# %% question 13-c-service
# %% question 13-c-count
# %% question 13-c-thread
# %% question 13-c-review
# %% task 13-t-kernel
# en: Which kernel computes this attention on a CPU: "flash", "math",
# en: or "error" (none is left)? allowed: a list of kernels.
# en: call: {"q": shape, "k": shape, "v": shape, "dropout": 0.1,
# en:        "mask": "none"|"fixed"|"learnt"}
# en: Flash needs (torch 2.13): 4 dimensions each; the same first two sizes; the
# en: same last size; dropout 0; no learnt mask. Math takes all.
# en: Flash goes first. Other kernels are not for the CPU.
# zh: 这次注意力在 CPU 上由哪个 kernel 计算："flash"、"math"，
# zh: 还是 "error"（一个也不剩）？allowed：允许的 kernel 列表。
# zh: call：{"q": 形状, "k": 形状, "v": 形状, "dropout": 0.1,
# zh:        "mask": "none"|"fixed"|"learnt"}
# zh: flash 要求（torch 2.13）：都是四维；前两维大小相同；最后一维大小相同；
# zh: dropout 为 0；没有可学习的掩码。math 什么都接。
# zh: flash 优先。其他 kernel 不是给 CPU 的。
def pick_kernel(call: dict, allowed: list[str]) -> str:
    ### BEGIN SOLUTION
    shapes = [call[name] for name in ("q", "k", "v")]
    fits = (
        all(len(shape) == 4 for shape in shapes)
        and all(shape[:2] == shapes[0][:2] and shape[-1] == shapes[0][-1] for shape in shapes)
        and call["dropout"] == 0
        and call["mask"] != "learnt"
    )
    if fits and "flash" in allowed:
        return "flash"
    return "math" if "math" in allowed else "error"
    ### END SOLUTION
# %% task 13-t-compiles
# en: How many times is a function compiled?
# en: calls: one dictionary of settings a call, such as
# en:        {"threads": 2, "grad": True, "cudnn.benchmark": False}
# en: guarded: the names that its checks look at
# en: limit: so many compiled versions are kept; what would need one
# en:        more runs uncompiled
# zh: 一个函数会被编译几次？
# zh: calls：每次调用时的设置，一个字典一次，例如
# zh:        {"threads": 2, "grad": True, "cudnn.benchmark": False}
# zh: guarded：检查清单上的名字
# zh: limit：最多保留几个编译版本；再需要新的，就不编译直接跑
def compilations(calls: list[dict], guarded: list[str], limit: int) -> int:
    ### BEGIN SOLUTION
    seen = []
    for call in calls:
        state = [call[name] for name in guarded]
        if state not in seen:
            seen.append(state)
    return min(len(seen), limit)
    ### END SOLUTION
# %% task 13-t-report
# en: Race flash against math on this CPU, any sizes, in turn:
# en: report = {"shape": [...], "threads": 1,
# en:           "kernels": ["flash", "math"],
# en:           "flash_ms": [...], "math_ms": [...],
# en:           "low": ..., "high": ..., "difference": ...,
# en:           "claim": "faster"|"slower"|"undecided"}
# en: kernels: what a profile shows for either side. At least six
# en: pairs; low, high: 95 % interval for the median of flash / math.
# en: difference: the largest between the two results. claim: of
# en: flash. Speed earns nothing.
# zh: 在这颗 CPU 上让 flash 和 math 轮流比赛，尺寸随意：
# zh: report = {"shape": [...], "threads": 1,
# zh:           "kernels": ["flash", "math"],
# zh:           "flash_ms": [...], "math_ms": [...],
# zh:           "low": ..., "high": ..., "difference": ...,
# zh:           "claim": "faster"|"slower"|"undecided"}
# zh: kernels：profile 里两边各是什么。至少六对；
# zh: low、high：flash / math 的中位数的 95% 区间。
# zh: difference：两个结果之间最大的差。claim：指 flash 一方。
# zh: 快慢不计分。
import torch
from time import perf_counter
from torch.nn.attention import SDPBackend, sdpa_kernel
from course.attention import kernel_of
from course.timing.stats import median_interval
### BEGIN SOLUTION
q = torch.randn(1, 2, 64, 16)
sides = {"flash": SDPBackend.FLASH_ATTENTION, "math": SDPBackend.MATH}
attend = lambda: torch.nn.functional.scaled_dot_product_attention(q, q, q)
times, kernels, results = {"flash": [], "math": []}, [], []
for name, only in sides.items():
    with sdpa_kernel(only):
        kernels.append(kernel_of(attend))
        results.append(attend())
for pair in range(20):
    for name in ("flash", "math") if pair % 2 else ("math", "flash"):
        with sdpa_kernel(sides[name]):
            start = perf_counter()
            attend()
            times[name].append((perf_counter() - start) * 1e3)
interval = median_interval([flash / math for flash, math in zip(times["flash"], times["math"])])
claim = "faster" if interval.high < 1 else "slower" if interval.low > 1 else "undecided"
report = {"shape": list(q.shape), "threads": torch.get_num_threads(), "kernels": kernels,
          "flash_ms": times["flash"], "math_ms": times["math"], "low": interval.low, "high": interval.high,
          "difference": (results[0] - results[1]).abs().max().item(), "claim": claim}
### END SOLUTION

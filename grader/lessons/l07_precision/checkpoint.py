# %% [markdown] en
# # Checkpoint 07: who decides, and what does it cost?
#
# {{worth}} About 30 minutes. Cards say nothing about right or wrong here; answer as often as you like, the
# last answer counts. A task says what to hand in; its `check` looks at the form only. Everything works without a GPU.
# **Save the notebook** before you hand it in.
# %% [markdown] zh
# # 测验 07：谁说了算，代价多大？
#
# {{worth}}约 30 分钟。这里的卡片不显示对错；想改几次都行，以最后一次为准。每个任务写明了要交什么，`check` 只看形式。全部内容都不需要 GPU。交卷前请**保存 notebook**。
# %% bootstrap
# %% question 07-c-spacing
# %% question 07-c-defaults
# %% question 07-c-inherit
# %% question 07-c-length
# %% question 07-c-permission
# %% question 07-c-where
# %% task 07-t-spacing
# en: The gap from |x| to the next larger number of a format that
# en: stores `bits` mantissa bits (exponent range: no limit). x is not 0.
# en: Example: 3.0 with 10 bits -> 2 ** -9.
# zh: 某种格式的尾数存 `bits` 位（指数不限），
# zh: 求 |x| 到下一个更大的数的间隔。x 不为 0。
# zh: 例如：3.0、10 位 -> 2 ** -9。
import math


def spacing(x: float, bits: int) -> float:
    ### BEGIN SOLUTION
    exponent = math.frexp(abs(x))[1] - 1
    return 2.0 ** (exponent - bits)
    ### END SOLUTION
# %% task 07-t-leaves
# en: The leaves at which "tf32" is in force, as a sorted list.
# en: Leaves: conv, matmul and rnn under "cuda" and under "mkldnn",
# en: such as "cuda.conv". stored: node -> value; nodes are "root",
# en: "cuda", "mkldnn" and the leaves. A missing node holds "none".
# zh: 返回生效值为 "tf32" 的叶子，排好序的列表。
# zh: 叶子："cuda" 和 "mkldnn" 之下各有 conv、matmul、rnn，如 "cuda.conv"。
# zh: stored：节点 -> 值；节点有 "root"、"cuda"、"mkldnn" 和各叶子。
# zh: 没写的节点存的是 "none"。
def tf32_leaves(stored: dict[str, str]) -> list[str]:
    ### BEGIN SOLUTION
    found = []
    for leaf in (f"{branch}.{kind}" for branch in ("cuda", "mkldnn") for kind in ("conv", "matmul", "rnn")):
        chain = [stored.get(node, "none") for node in (leaf, leaf.split(".")[0], "root")]
        if next((value for value in chain if value != "none"), "none") == "tf32":
            found.append(leaf)
    return sorted(found)
    ### END SOLUTION
# %% task 07-t-report
# en: Round the inputs of a product of your choice to TF32. Is that
# en: harmless for a tolerance you name?
# en: report = {"reference": ..., "errors": [...], "tolerance": ...,
# en:           "low": ..., "high": ...,
# en:           "claim": "harmless"|"harmful"|"undecided"}
# en: reference: the dtype of what you compare with. errors: relative,
# en: at least six inputs; low, high: 95 % interval for their median.
# en: How small the error is earns nothing.
# zh: 任选一个矩阵乘，把输入舍入到 TF32。对你自定的容忍度来说，这无害吗？
# zh: report = {"reference": ..., "errors": [...], "tolerance": ...,
# zh:           "low": ..., "high": ...,
# zh:           "claim": "harmless"|"harmful"|"undecided"}
# zh: reference：参考结果的 dtype。errors：相对误差，至少六组输入；
# zh: low、high：其中位数的 95% 区间。误差大小不计分。
import torch
from course.rounding import product, relative_error
from course.timing.stats import median_interval
### BEGIN SOLUTION
errors = []
for seed in range(9):
    torch.manual_seed(seed)
    a, b = torch.randn(32, 128), torch.randn(128, 32)
    errors.append(relative_error(product(a, b, "tf32"), a.double() @ b.double()))
interval = median_interval(errors)
tolerance = 1e-3
claim = ("harmless" if interval.high < tolerance else "harmful" if interval.low > tolerance
         else "undecided")
report = {"reference": "float64", "errors": errors, "tolerance": tolerance, "low": interval.low,
          "high": interval.high, "claim": claim}
### END SOLUTION
